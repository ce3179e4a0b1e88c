internal import DispatchWorker
internal import Foundation
internal import StrictJSON

/// A record that is made to cost much: what it is called, what it is sent to, and its text as a recipe.
package struct HostileRecord: Sendable {
    /// What makes it costly, in words.
    package let name: String
    /// The input: a line with the world's letter and the key, then the recipe, as the target `events` has them.
    package let input: [UInt8]

    /// Makes a record.
    package init(name: String, input: [UInt8]) {
        self.name = name
        self.input = input
    }

    /// The letter of its world.
    package var letter: UInt8 { (input.first ?? UInt8(ascii: "a")) | 0x20 }

    /// The recipe.
    package var recipe: [UInt8] { Array(input.drop { $0 != UInt8(ascii: "\n") }.dropFirst()) }

    /// Returns the same record with another recipe.
    package func with(recipe: [UInt8]) -> HostileRecord {
        HostileRecord(name: name, input: [letter & ~0x20, UInt8(ascii: "\n")] + recipe)
    }

    /// Reads the records that the checkout keeps.
    ///
    /// - Throws: Errors of a file that cannot be read.
    package static func kept() throws -> [HostileRecord] {
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

/// What a record cost.
package struct RecordCost: Sendable {
    /// Bytes of the record's value.
    package let bytesRead: Int
    /// Bytes of its decisions, or where they passed the bound of a record, as many as the bound allows.
    package let bytesWritten: Int
    /// Devices that the record is for, at least 1.
    package let devices: Int
    /// Nanoseconds of the thread's time, the least of all runs.
    package let nanoseconds: UInt64
    /// What became of it.
    package let outcome: String

    /// Megabytes read and written.
    package var megabytes: Double { Double(bytesRead + bytesWritten) / 1_000_000 }
    /// How much of what it may cost it costs: over 1 is too much.
    package var share: Double {
        Double(nanoseconds) / CostBound.nanoseconds(bytes: bytesRead + bytesWritten, devices: devices)
    }

    /// Measures a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - world: What it is sent to.
    ///   - runs: How often it is processed.
    ///   - limit: Most bytes that its recipe comes to.
    ///   - during: Called while the decisions are there, for measures of memory.
    package static func measure(
        _ record: HostileRecord, _ world: World, runs: Int, limit: Int = 1 << 20, during: () -> Void = {}
    ) -> RecordCost {
        let value = Recipe.expand(record.recipe, limit: limit)
        let consumed = CollectionOfOne(FuzzRecord(key: Array("d-1".utf8), value: value))
        var lane = RecordLane(world)
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
            // Once is enough where it takes seconds.
            if least > 2_000_000_000 { break }
        }
        if devices == 0, let event = try? JSONValue.parse(value) { devices = event["devices"]?.array?.count ?? 0 }
        return RecordCost(
            bytesRead: value.count, bytesWritten: written, devices: max(devices, 1), nanoseconds: least,
            outcome: outcome)
    }
}
