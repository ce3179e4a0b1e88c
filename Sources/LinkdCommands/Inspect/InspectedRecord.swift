internal import KafkaClient
internal import StrictJSON

/// One record of a topic, copied: a decision, a dead letter, or anything else.
struct InspectedRecord {
    /// The topic's name.
    var topic: String
    /// The partition.
    var partition: Int32
    /// The offset.
    var offset: Int64
    /// Milliseconds since 1970, or -1 when the record has none.
    var timestamp: Int64
    /// The key, or nil for none.
    var key: [UInt8]?
    /// The value, or nil for none.
    var value: [UInt8]?
    /// The headers in their order.
    var headers: [RecordHeader]

    /// The value as JSON, or nil.
    var json: JSONValue? { value.flatMap { try? JSONValue.parse($0, maxDepth: 512) } }

    /// Whether a worker made it from a record that it could not resolve.
    var isDeadLetter: Bool { header("dlq.reason") != nil }

    /// The text of the last header of this name, or nil.
    func header(_ name: String) -> String? {
        headers.last { $0.name.elementsEqual(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}
