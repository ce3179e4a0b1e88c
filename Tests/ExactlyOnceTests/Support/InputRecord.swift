import Foundation
import KafkaClient
import StrictJSON
import ByteStorage

/// A record for the input topic and its expected result.
struct InputRecord: Sendable {
    var key: [UInt8]?
    var value: [UInt8]?
    /// The kind of an invalid record, or nil for a record of the workload.
    ///
    /// The header `kind` contains it.
    var kind: BadKind?

    /// The headers of the produced record.
    var headers: [RecordHeader] {
        kind.map { [RecordHeader(name: Array("kind".utf8), value: Array($0.rawValue.utf8))] } ?? []
    }

    /// Reads the records of a file that the workload's `generate.py` wrote, with lines `{"key":…,"value":{…}}`.
    static func read(workload path: String) throws -> [InputRecord] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw RunFailure("cannot read the workload \(path)")
        }
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            let line = Array(line)
            let parsed = try JSONValue.parse(line)
            guard let key = parsed["key"]?.string, let value = parsed["value"] else {
                throw RunFailure("a line of \(path) is not a record of the workload")
            }
            // The value's own bytes, up to the line's closing brace.
            return InputRecord(key: Array(key.utf8), value: Array(line[value.offset..<line.count - 1]))
        }
    }

    /// Replaces one of every hundred records with an invalid one, alternating the kinds.
    ///
    /// Returns the number of invalid records.
    static func spoil(_ records: inout [InputRecord], using random: inout some RandomNumberGenerator) -> Int {
        var count = 0
        for start in stride(from: 0, to: records.count, by: 100) {
            let index = start + Int.random(in: 0..<100, using: &random)
            guard index < records.count else { break }
            let kind = BadKind.allCases[count % BadKind.allCases.count]
            records[index] = kind.record(number: index, key: records[index].key ?? [])
            count += 1
        }
        return count
    }
}

/// The reason why a run cannot continue.
struct RunFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
