/// A partition of a topic.
package struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The topic's name.
    package var topic: String
    /// The partition's number, from 0.
    package var partition: Int32

    /// Names a partition.
    package init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// `topic [partition]`, as librdkafka prints it.
    package var description: String { "\(topic) [\(partition)]" }

    /// Orders by topic, then by number.
    package static func < (a: TopicPartition, b: TopicPartition) -> Bool {
        a.topic == b.topic ? a.partition < b.partition : a.topic < b.topic
    }
}

/// A partition and an offset in it: for commits and seeks the offset of the *next* record, never of the last one.
package struct PartitionOffset: Hashable, Sendable {
    /// Which partition.
    package var partition: TopicPartition
    /// An offset, or one of `LogicalOffset`.
    package var offset: Int64

    /// Names an offset.
    package init(_ partition: TopicPartition, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// Names an offset.
    package init(topic: String, partition: Int32, offset: Int64) {
        self.init(TopicPartition(topic: topic, partition: partition), offset: offset)
    }
}

/// Offsets that stand for a place, not for a number (`RD_KAFKA_OFFSET_…`).
package enum LogicalOffset {
    /// The first record that the partition still has.
    package static let beginning: Int64 = -2
    /// Behind the last record.
    package static let end: Int64 = -1
    /// No offset.
    package static let invalid: Int64 = -1001
}

/// What a call over several partitions says of one of them.
package struct PartitionResult: Sendable, Equatable {
    /// Which partition.
    package var partition: TopicPartition
    /// The offset, or nil when there is none (nothing committed, no record so late).
    package var offset: Int64?
    /// The partition's own error, or nil.
    package var error: KafkaError?

    /// Makes a result.
    package init(partition: TopicPartition, offset: Int64?, error: KafkaError? = nil) {
        self.partition = partition
        self.offset = offset
        self.error = error
    }
}

/// The two ends of a partition.
package struct Watermarks: Sendable, Equatable {
    /// Offset of the first record that is still there.
    package var low: Int64
    /// Offset behind the last record: the last stable offset for a read_committed client, else the high watermark.
    package var high: Int64

    /// Makes a pair.
    package init(low: Int64, high: Int64) {
        self.low = low
        self.high = high
    }
}

/// What became of a commit of offsets.
package struct CommitOutcome: Sendable, Equatable {
    /// Why not, or nil where all partitions were committed.
    package var error: KafkaError?

    /// Makes an outcome.
    package init(error: KafkaError?) { self.error = error }
}
