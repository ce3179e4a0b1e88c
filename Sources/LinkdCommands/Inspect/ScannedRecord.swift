internal import ByteStorage
internal import LinkIngest
internal import StrictJSON

/// One record during the call of a scan's closure.
///
/// Its views end with the call.
struct ScannedRecord {
    /// The name of the topic.
    let topic: String
    /// The partition.
    let partition: Int32
    /// The offset.
    let offset: Int64
    /// The timestamp in milliseconds since 1970, or -1 for none.
    let timestamp: Int64
    /// The key, or nil for none.
    let key: ByteView?
    /// The value, or nil for none.
    let value: ByteView?
    /// The headers, in order.
    let headers: [HeaderView]

    /// Returns the value of the last header with a name, or nil.
    func header(_ name: ByteView) -> ByteView? {
        for header in headers.reversed() where header.name == name { return header.value }
        return nil
    }

    /// Returns the value of the last header with a name, or nil.
    func header(_ name: StaticString) -> ByteView? { header(ByteView(name)) }

    /// A Boolean value that indicates whether the record is a dead letter of a worker.
    var isDeadLetter: Bool { !headers.isEmpty && header("dlq.reason") != nil }

    /// Returns an item of a record with several messages as a record of its own, the record for nil, or nil if there is
    /// no such item.
    func item(_ index: Int?) -> ScannedRecord? {
        guard let index else { return self }
        guard let value, let batch = RecordBatch(value), batch.items.indices.contains(index) else { return nil }
        let place = batch.items[index]
        return ScannedRecord(
            topic: topic, partition: partition, offset: offset, timestamp: timestamp, key: key,
            value: value.slice(place.lowerBound, place.upperBound), headers: RecordBatch.headers(headers))
    }

    /// The value, or the bytes of the item whose dead letter the record is.
    var message: ByteView? { isDeadLetter ? item(DeadLetterHead(self)?.item)?.value ?? value : value }

    /// Returns a copy that owns its bytes.
    func copy() -> InspectedRecord {
        InspectedRecord(
            topic: topic, partition: partition, offset: offset, timestamp: timestamp, key: key?.array,
            value: value?.array, headers: headers.map(\.copied))
    }
}

extension InspectedRecord {
    /// Calls a function with views of the record.
    func withViews<Result>(_ body: (ScannedRecord) throws -> Result) rethrows -> Result {
        var bytes: [UInt8] = []
        func add(_ part: [UInt8]?) -> Range<Int>? {
            guard let part else { return nil }
            bytes += part
            return bytes.count - part.count..<bytes.count
        }
        let key = add(key)
        let value = add(value)
        let ranges = headers.map { (name: add($0.name), value: add($0.value)) }
        return try bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(buffer)
            func view(_ range: Range<Int>?) -> ByteView? { range.map { all.slice($0.lowerBound, $0.upperBound) } }
            return try body(
                ScannedRecord(
                    topic: topic, partition: partition, offset: offset, timestamp: timestamp, key: view(key),
                    value: view(value),
                    headers: ranges.map { HeaderView(name: view($0.name) ?? .empty, value: view($0.value)) }))
        }
    }
}

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

    /// Returns an item as a record of its own, as `ScannedRecord` does.
    func item(_ index: Int?) -> InspectedRecord? { index == nil ? self : withViews { $0.item(index)?.copy() } }

    /// The value as JSON, or nil.
    var json: JSONValue? { value.flatMap { try? JSONValue.parse($0, maxDepth: 512) } }

    /// Returns the text of the last header with a name, or nil.
    func header(_ name: String) -> String? {
        headers.last { $0.name.elementsEqual(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}
