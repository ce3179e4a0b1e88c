package import ByteStorage

/// One record to produce without headers.
///
/// Its topic and partition are arguments of the call.
///
/// The value is not copied. Its bytes must be valid until the transaction has ended or, with at-least-once, until every
/// delivery was reported. The key is copied.
package struct OutboundRecord {
    /// The key, or nil for none.
    package var key: ByteView?
    package var value: ByteView

    /// Creates a record.
    package init(key: ByteView?, value: ByteView) {
        self.key = key
        self.value = value
    }
}

/// The counts of delivery reports since the producer was created.
package struct DeliveryCounts: Sendable, Equatable {
    /// Records that a broker has stored.
    package var delivered: Int = 0
    /// Records that failed, not including purged ones.
    package var failed: Int = 0
    /// Records that were purged, by `purge` or by an abort.
    package var purged: Int = 0
    /// Failed records by code since `forgetDeliveryErrors`.
    package var failures: [KafkaErrorCode: Int] = [:]
    /// The last error since `forgetDeliveryErrors` that is about one record (too large, invalid, bad timestamp), or
    /// nil.
    package var lastRecordError: KafkaError? = nil
    /// The last error since `forgetDeliveryErrors`, or nil.
    package var lastError: KafkaError? = nil

    /// The number of records with a delivery report.
    package var reported: Int { delivered + failed + purged }
}

/// A numbered record that no broker has acknowledged.
package struct UndeliveredRecord: Sendable, Equatable {
    /// The number with which the record was produced.
    package var number: UInt
    /// The error of its delivery report.
    package var code: KafkaErrorCode
    /// A Boolean value that indicates whether a broker can have stored the record, because it was sent and no answer
    /// tells.
    package var mayBeStored: Bool
}

/// A partition of a topic.
package struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The topic's name.
    package var topic: String
    /// The partition's number, starting at 0.
    package var partition: Int32

    /// Creates a partition.
    package init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// `topic [partition]`, as librdkafka prints it.
    package var description: String { "\(topic) [\(partition)]" }

    /// Compares topics, then numbers.
    package static func < (a: TopicPartition, b: TopicPartition) -> Bool {
        a.topic == b.topic ? a.partition < b.partition : a.topic < b.topic
    }
}

/// A partition with an offset.
///
/// For commits and seeks it is the offset of the *next* record, never of the last one.
package struct PartitionOffset: Hashable, Sendable {
    package var partition: TopicPartition
    /// An offset, or one of `LogicalOffset`.
    package var offset: Int64
    /// The text that a commit stores with the offset.
    ///
    /// Brokers accept up to 4,096 bytes.
    package var metadata: String

    /// Creates an offset.
    package init(_ partition: TopicPartition, offset: Int64, metadata: String = "") {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }

    /// Creates an offset.
    package init(topic: String, partition: Int32, offset: Int64) {
        self.init(TopicPartition(topic: topic, partition: partition), offset: offset)
    }
}

/// Logical offsets (`RD_KAFKA_OFFSET_…`).
package enum LogicalOffset {
    /// The first record that exists.
    package static let beginning: Int64 = -2
    /// After the last record.
    package static let end: Int64 = -1
    /// No offset.
    package static let invalid: Int64 = -1001
}

/// The result of a call for one of several partitions.
package struct PartitionResult: Sendable, Equatable {
    package var partition: TopicPartition
    /// The offset, or nil if there is none (nothing committed, or no record that late).
    package var offset: Int64?
    /// The partition's own error, or nil.
    package var error: KafkaError?
    /// The text that was committed with the offset, from any client.
    package var metadata: String

    /// Creates a result.
    package init(partition: TopicPartition, offset: Int64?, error: KafkaError? = nil, metadata: String = "") {
        self.partition = partition
        self.offset = offset
        self.error = error
        self.metadata = metadata
    }
}

/// The low and high watermarks of a partition.
package struct Watermarks: Sendable, Equatable {
    /// The offset of the first record that exists.
    package var low: Int64
    /// The offset after the last record: the last stable offset for a read_committed client, otherwise the high
    /// watermark.
    package var high: Int64

    /// Creates a pair.
    package init(low: Int64, high: Int64) {
        self.low = low
        self.high = high
    }
}

/// An event of a client instance other than records and results.
package enum ClientEvent: Sendable, Equatable {
    /// A log line of librdkafka.
    case log(LogLine)
    /// The statistics document (JSON), which arrives every `statistics.interval.ms`.
    case statistics([UInt8])
    /// An error of the instance, such as all brokers down or a failed authentication.
    case error(KafkaError)
}

/// One log line of librdkafka.
package struct LogLine: Sendable, Equatable {
    /// The severity as in syslog: 0 emergency … 3 error, 4 warning, 5 notice, 6 info, 7 debug.
    package var level: Int32
    /// The part of the library that logs, such as `FAIL`.
    package var facility: String
    /// The text, which names the thread and the broker.
    package var text: String
}

/// An event of a poll other than a record.
package struct ConsumerEvent: Sendable, Equatable {
    /// The kind of an event.
    package enum Kind: Sendable, Equatable {
        /// All records of the partition were consumed. `offset` is the offset of its next record.
        case endOfPartition
        /// The requested offset does not exist. Data was lost, or the topic was created again.
        case offsetOutOfRange
        /// An ACL for the topic or the group is missing.
        case authorization
        /// The topic or the partition does not exist.
        case unknownTopic
        /// There was no poll for `max.poll.interval.ms`. The group continues without this member.
        case maxPollExceeded
        /// The consumer has a fatal error.
        case fatal
        /// Any other event. librdkafka recovers from it.
        case other
    }

    /// The kind of the event.
    package var kind: Kind
    /// The index of the topic (`KafkaConsumer.topicName(at:)`), or -1.
    package var topic: Int32 = -1
    /// The partition, or -1.
    package var partition: Int32 = -1
    /// The offset of the event, or a negative number.
    package var offset: Int64 = -1
    /// The error, or nil at the end of a partition.
    package var error: KafkaError?
}

/// The result of one poll.
package struct PollOutcome: Sendable, Equatable {
    /// The number of records in the batch.
    package var records: Int
    /// The number of events in the batch.
    package var events: Int
    /// A Boolean value that indicates whether a rebalance callback ran inside the call.
    ///
    /// A message does not identify its assignment. The caller must drop everything that this call returned and rewind
    /// the owned partitions.
    package var rebalanced: Bool
}

/// A rebalance of the group.
package enum RebalanceEvent: Sendable, Equatable {
    /// These partitions are assigned to this member: all of them with the eager protocol, the new ones with the
    /// cooperative one.
    case assign([TopicPartition])
    /// These partitions are revoked, and pending offsets can still be committed.
    case revoke([TopicPartition])
    /// These partitions are already lost, so no offset can be committed for them.
    case lost([TopicPartition])
    /// The rebalance failed.
    case failed(KafkaError)
}
