import Foundation
import KafkaClient
import StrictJSON

/// A record for the input topic, and what must come of it.
struct InputRecord: Sendable {
    var key: [UInt8]?
    var value: [UInt8]?
    /// What is wrong with it; nil for a record of the workload.
    ///
    /// It travels as the header `kind`.
    var kind: BadKind?

    /// The headers that it is produced with.
    var headers: [RecordHeader] {
        kind.map { [RecordHeader(name: Array("kind".utf8), value: Array($0.rawValue.utf8))] } ?? []
    }

    /// The records of a file that `generate.py` of the workload wrote: lines `{"key":…,"value":{…}}`.
    static func read(workload path: String) throws -> [InputRecord] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw RunFailure("cannot read the workload \(path)")
        }
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            let line = Array(line)
            let parsed = try JSONValue.parse(line)
            guard let key = parsed["key"]?.string, let value = parsed["value"] else {
                throw RunFailure("a line of \(path) is no record of the workload")
            }
            // The value's own bytes: up to the line's closing brace.
            return InputRecord(key: Array(key.utf8), value: Array(line[value.offset..<line.count - 1]))
        }
    }

    /// Replaces one record of each hundred by a bad one, the kinds in turn; returns how many.
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

/// Why a run cannot go on.
struct RunFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
