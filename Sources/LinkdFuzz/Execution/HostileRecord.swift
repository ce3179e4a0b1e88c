internal import DispatchWorker
internal import Foundation
internal import StrictJSON

/// A record that is expensive to process.
package struct HostileRecord: Sendable {
    /// A description of the cause.
    package let name: String
    /// The input in the format of `IngestInput`, whose value is a recipe.
    package let input: [UInt8]

    /// Creates a record.
    package init(name: String, input: [UInt8]) {
        self.name = name
        self.input = input
    }

    /// The letter of the environment.
    package var letter: UInt8 { (input.first ?? UInt8(ascii: "a")) | 0x20 }

    /// The recipe of the value.
    package var recipe: [UInt8] { Array(input.drop { $0 != UInt8(ascii: "\n") }.dropFirst()) }

    /// Returns the record with another recipe, and with another environment if there is a letter.
    package func with(recipe: [UInt8], letter: UInt8? = nil) -> HostileRecord {
        let head = input.prefix { $0 != UInt8(ascii: "\n") }.dropFirst()
        return HostileRecord(
            name: name, input: [(letter ?? self.letter) & ~0x20] + head + [UInt8(ascii: "\n")] + recipe)
    }

    /// Reads the records in the corpus.
    ///
    /// - Throws: An error if the file cannot be read.
    package static func readCorpus() throws -> [HostileRecord] {
        let text = try String(contentsOfFile: Seeds.corpus + "/hostile.txt", encoding: .utf8)
        var records: [HostileRecord] = []
        var name = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") {
                name = String(line.dropFirst(2))
            } else {
                records += CorpusFile.inputs(of: String(line)).map { HostileRecord(name: name, input: $0) }
            }
        }
        return records
    }
}

/// The cost of a record.
package struct RecordCost: Sendable {
    /// The number of bytes of the record's value.
    package let bytesRead: Int
    /// The number of bytes of its decisions.
    ///
    /// If they exceed the limit of a record, it is that limit.
    package let bytesWritten: Int
    /// The number of devices, at least 1.
    package let devices: Int
    /// The thread's CPU time in nanoseconds, the minimum of all runs.
    package let nanoseconds: UInt64
    /// The outcome or the reason of the dead letter.
    package let outcome: String

    /// The megabytes read and written.
    package var megabytes: Double { Double(bytesRead + bytesWritten) / 1_000_000 }
    /// The cost relative to the bound.
    ///
    /// A value above 1 is too much.
    package var share: Double {
        Double(nanoseconds) / CostBound.nanoseconds(bytes: bytesRead + bytesWritten, devices: devices)
    }

    /// Measures the cost of a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - environment: The environment that processes it.
    ///   - runs: The number of runs.
    ///   - limit: The size limit of the expanded recipe, in bytes.
    ///   - during: A function that is called while the decisions exist, to measure memory.
    package static func measure(
        _ record: HostileRecord, _ environment: FuzzEnvironment, runs: Int, limit: Int = 1 << 20,
        during: () -> Void = {}
    ) -> RecordCost {
        var read = IngestInput.record(record.input, limit: limit).record
        read.key = read.key ?? Array("d-1".utf8)
        let value = read.value
        let consumed = CollectionOfOne(read)
        var lane = RecordLane(environment)
        var least = UInt64.max
        var written = 0
        var abandoned = 0
        var devices = 0
        var outcome = ""
        for _ in 0..<max(runs, 1) {
            lane.run(consumed) { _, cause, decisions in
                devices = decisions.count
                outcome = cause?.reason.rawValue ?? decisions.first.map { "\($0.outcome)" } ?? ""
                let isAbandoned = cause?.detail.contains("limits.output.bytes") ?? false
                abandoned = isAbandoned ? OutputLimits().recordBytes : 0
                during()
            }
            least = min(least, lane.nanoseconds)
            written = lane.bytesWritten + abandoned
            // One run is enough if it takes seconds.
            if least > 2_000_000_000 { break }
        }
        if devices == 0, let event = try? JSONValue.parse(value) { devices = event["devices"]?.array?.count ?? 0 }
        return RecordCost(
            bytesRead: value.count, bytesWritten: written, devices: max(devices, 1), nanoseconds: least,
            outcome: outcome)
    }
}
