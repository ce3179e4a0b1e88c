internal import DispatchWorker
internal import KafkaClient

/// The form of a record on its way to a child process: fields, each a length of 8 bytes and that many bytes.
///
/// A field without a value has the length -1.
extension TriedRecord {
    /// Returns the fields of the record, with the hashes of the tables that resolve it and of the candidate, if any.
    func bytes(tables: [String], candidate: String? = nil) -> [UInt8] {
        var fields: [[UInt8]?] = [
            Array("\(mark.partition) \(mark.offset) \(timestamp)".utf8), Array(mark.topic.utf8),
            Array(tables.joined(separator: " ").utf8), candidate.map { Array($0.utf8) }, key, value,
        ]
        for header in headers { fields += [header.name, header.value] }
        var result: [UInt8] = []
        for field in fields {
            withUnsafeBytes(of: Int64(field?.count ?? -1).littleEndian) { result += $0 }
            result += field ?? []
        }
        return result
    }

    /// Reads the fields of a record and the hashes, or returns nil if they are not complete.
    static func read(_ bytes: [UInt8]) -> (record: TriedRecord, tables: [String], candidate: String?)? {
        var fields: [[UInt8]?] = []
        var index = 0
        while index < bytes.count {
            guard bytes.count - index >= 8 else { return nil }
            let length = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: Int64.self) }.littleEndian
            index += 8
            guard length >= -1, length <= bytes.count - index else { return nil }
            fields.append(length < 0 ? nil : Array(bytes[index..<index + Int(length)]))
            index += max(0, Int(length))
        }
        guard fields.count >= 6, fields.count % 2 == 0, let numbers = fields[0], let topic = fields[1],
            let tables = fields[2]
        else { return nil }
        let words = String(decoding: numbers, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let partition = Int32(words[0]), let offset = Int64(words[1]),
            let timestamp = Int64(words[2])
        else { return nil }
        var headers: [RecordHeader] = []
        for number in stride(from: 6, to: fields.count, by: 2) {
            guard let name = fields[number] else { return nil }
            headers.append(RecordHeader(name: name, value: fields[number + 1]))
        }
        let mark = CrashMark(topic: String(decoding: topic, as: UTF8.self), partition: partition, offset: offset)
        let record = TriedRecord(
            mark: mark, timestamp: timestamp, key: fields[4], value: fields[5], headers: headers)
        return (
            record, String(decoding: tables, as: UTF8.self).split(separator: " ").map(String.init),
            fields[3].map { String(decoding: $0, as: UTF8.self) }
        )
    }
}
