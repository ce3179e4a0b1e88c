package import ByteStorage

/// A property of rows that has few different values.
package enum RowField: String, Sendable, CaseIterable {
    case outcome, route, table, reason, campaign, application
    /// All items of the link's query together, as the text of their object.
    case query = "context.query"

    /// The index of the property's column.
    var column: Int {
        switch self {
        case .outcome: 0
        case .route: 1
        case .table: 2
        case .reason: 3
        case .campaign: 4
        case .application: 5
        case .query: 6
        }
    }
}

/// A decision or a dead letter to add to an index.
///
/// The views are read during the call only. A member is nil if the record does not have it.
package struct RowFacts {
    /// The place in the order of all rows.
    package var key: RowKey
    /// The id of the device.
    package var device: ByteView?
    /// The id of the event.
    package var event: ByteView?
    /// The outcome of a decision.
    package var outcome: ByteView?
    /// The id of the route.
    package var route: ByteView?
    /// The identity of the table.
    package var table: ByteView?
    /// The reason of a decision or a dead letter.
    package var reason: ByteView?
    package var campaign: ByteView?
    package var application: ByteView?
    /// The items of the link's query, as the text of a JSON object.
    package var query: ByteView?

    /// Creates a row that has only a place.
    package init(_ key: RowKey) { self.key = key }

    /// Returns the value of a property.
    package subscript(field: RowField) -> ByteView? {
        switch field {
        case .outcome: outcome
        case .route: route
        case .table: table
        case .reason: reason
        case .campaign: campaign
        case .application: application
        case .query: query
        }
    }
}

/// The topic and the partition of a row.
///
/// Topic 0 has decisions. The others have dead letters.
package struct RowSource: Hashable, Sendable, BitwiseCopyable {
    /// The number of topics that the index can distinguish.
    package static let topicLimit = 4096
    /// The first topic of those that have the decisions of applications, as topic 0 has all others.
    package static let applicationTopics = topicLimit - 64
    /// The number of partitions of a topic that the index can distinguish.
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
    package var partition: Int32 { Int32(raw & 0xF_FFFF) }
    /// The kind of the topic's records.
    package var kind: RowKind { Self.isDeadLetter(raw: raw) ? .deadLetter : .decision }

    /// Returns a Boolean value that indicates whether the number in a column is of a topic of dead letters.
    @inline(__always)
    static func isDeadLetter(raw: UInt32) -> Bool { raw &- (1 << 20) < UInt32(applicationTopics - 1) << 20 }
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

/// A hash with a secret key, which is the same for equal bytes as long as the process runs.
///
/// Without the key, nobody can choose bytes with a certain hash or find the bytes of a hash.
package struct KeyedHash: Sendable {
    private let salt: (UInt64, UInt64)

    /// Creates a hash with a random key.
    package init() { salt = (.random(in: .min ... .max), .random(in: .min ... .max)) }

    /// Returns the hash of bytes.
    package func callAsFunction(_ bytes: ByteView) -> UInt64 {
        // The hasher of the standard library is SipHash-1-3 with a random key of the process.
        var hasher = Hasher()
        hasher.combine(salt.0)
        hasher.combine(salt.1)
        hasher.combine(bytes: UnsafeRawBufferPointer(bytes.buffer))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns the hash of a text's UTF-8 bytes.
    package func callAsFunction(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { self(ByteView($0)) }
    }
}
