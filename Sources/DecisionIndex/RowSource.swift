/// The topic and the partition of a row.
///
/// Topic 0 has decisions. The others have dead letters.
package struct RowSource: Hashable, Sendable, BitwiseCopyable {
    /// The number of topics that can be told apart.
    package static let topicLimit = 4096
    /// The number of partitions of a topic that can be told apart.
    package static let partitionLimit: Int32 = 1 << 20

    /// The topic in the upper 12 bits, and the partition in the lower 20 bits.
    let raw: UInt32

    /// Creates a source, or returns nil if a number is outside its limit.
    package init?(topic: Int, partition: Int32) {
        guard (0..<Self.topicLimit).contains(topic), (0..<Self.partitionLimit).contains(partition) else { return nil }
        raw = UInt32(topic) << 20 | UInt32(partition)
    }

    /// Creates a source from the number in a column.
    init(raw: UInt32) { self.raw = raw }

    /// The number of the topic.
    package var topic: Int { Int(raw >> 20) }
    /// The partition.
    package var partition: Int32 { Int32(raw & 0xF_FFFF) }
    /// The kind of the topic's records.
    package var kind: RowKind { topic == 0 ? .decision : .deadLetter }
}

/// The kind of a record.
package enum RowKind: String, Sendable, CaseIterable {
    case decision
    case deadLetter = "dead_letter"
}

/// The place of a row in the order of all rows: by time, then by topic, partition, and offset.
///
/// Its text is a cursor, which stays valid when rows are added or fall out.
package struct RowKey: Hashable, Sendable, Comparable, BitwiseCopyable {
    /// The time in milliseconds since 1970, or a negative number for none.
    package var time: Int64
    /// The topic and the partition.
    package var source: RowSource
    /// The offset.
    package var offset: Int64

    /// Creates a key.
    package init(time: Int64, source: RowSource, offset: Int64) {
        self.time = time
        self.source = source
        self.offset = offset
    }

    /// Reads a cursor of the form `TIME.TOPIC.PARTITION.OFFSET`, or returns nil if the text is none.
    package init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let time = Int64(parts[0]), let topic = Int(parts[1]), let partition = Int32(parts[2]),
            let offset = Int64(parts[3]), let source = RowSource(topic: topic, partition: partition)
        else { return nil }
        self.init(time: time, source: source, offset: offset)
        guard self.text == text else { return nil }
    }

    /// The cursor.
    package var text: String { "\(time).\(source.topic).\(source.partition).\(offset)" }

    /// Returns a Boolean value that indicates whether a row comes before another: by time, then by position.
    package static func < (a: RowKey, b: RowKey) -> Bool {
        if a.time != b.time { return a.time < b.time }
        if a.source.raw != b.source.raw { return a.source.raw < b.source.raw }
        return a.offset < b.offset
    }
}
