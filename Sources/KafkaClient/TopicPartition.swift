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
    /// The partition.
    package var partition: TopicPartition
    /// An offset, or one of `LogicalOffset`.
    package var offset: Int64

    /// Creates an offset.
    package init(_ partition: TopicPartition, offset: Int64) {
        self.partition = partition
        self.offset = offset
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
    /// The partition.
    package var partition: TopicPartition
    /// The offset, or nil if there is none (nothing committed, or no record that late).
    package var offset: Int64?
    /// The partition's own error, or nil.
    package var error: KafkaError?

    /// Creates a result.
    package init(partition: TopicPartition, offset: Int64?, error: KafkaError? = nil) {
        self.partition = partition
        self.offset = offset
        self.error = error
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
