internal import KafkaClient
internal import StrictJSON

/// A copy of a record: a decision, a dead letter, or any other record.
struct InspectedRecord {
    /// The name of the topic.
    var topic: String
    /// The partition.
    var partition: Int32
    /// The offset.
    var offset: Int64
    /// The timestamp in milliseconds since 1970, or -1 for none.
    var timestamp: Int64
    /// The key, or nil for none.
    var key: [UInt8]?
    /// The value, or nil for none.
    var value: [UInt8]?
    /// The headers, in order.
    var headers: [RecordHeader]

    /// The value as JSON, or nil.
    var json: JSONValue? { value.flatMap { try? JSONValue.parse($0, maxDepth: 512) } }

    /// A Boolean value that indicates whether the record is a dead letter of a worker.
    var isDeadLetter: Bool { header("dlq.reason") != nil }

    /// Returns the text of the last header with a name, or nil.
    func header(_ name: String) -> String? {
        headers.last { $0.name.elementsEqual(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}
