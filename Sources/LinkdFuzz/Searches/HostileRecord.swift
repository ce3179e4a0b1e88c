internal import LinkDecider
internal import LinkIngest
internal import Foundation
internal import StrictJSON

/// A record that is expensive to process.
package struct HostileRecord: Sendable {
    /// A description of the cause.
    package let name: String
    /// The input in the format of `IngestInput`, whose value is a recipe.
    package let input: [UInt8]

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
        let text = try String(contentsOfFile: FuzzEnvironment.corpus + "/hostile.txt", encoding: .utf8)
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
    /// The number of decisions and, in a list, of items that become dead letters, at least 1.
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
                let deadLetters = cause?.all.count ?? 0
                devices = decisions.count + (deadLetters > 1 ? deadLetters : 0)
                outcome = cause?.reason.rawValue ?? decisions.first.map { "\($0.outcome)" } ?? ""
                let isAbandoned = cause?.detail.contains("limits.output.bytes") ?? false
                abandoned = isAbandoned ? Limits().outputBytes : 0
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

/// A search for records that are more expensive than the known ones.
///
/// It mutates the most expensive records.
package struct HostileSearch {
    private let environments: [FuzzEnvironment]
    private var random: RandomSource
    /// The most expensive records found so far, in descending order.
    package private(set) var worst: [(record: HostileRecord, cost: RecordCost)] = []
    /// The number of measured records.
    package private(set) var measured = 0

    private static let maxCount = 40

    /// Creates a search that starts with measured records.
    package init(
        environments: [FuzzEnvironment], seed: UInt64, from records: [(record: HostileRecord, cost: RecordCost)]
    ) {
        self.environments = environments
        random = RandomSource(seed: seed)
        worst = records
        sort()
    }

    /// Mutates one of the most expensive records, and keeps the result if it is more expensive than the last one.
    package mutating func step() {
        // More expensive records are selected more often.
        guard !worst.isEmpty else { return }
        let parent = worst[min(random.below(worst.count), random.below(worst.count))]
        let record = changed(parent.record)
        let environment = FuzzEnvironment.named(record.letter, of: environments)
        var cost = RecordCost.measure(record, environment, runs: 1)
        measured += 1
        guard cost.share > (worst.last?.cost.share ?? 0) else { return }
        // Measures again, because other processes can affect the first measurement.
        cost = RecordCost.measure(record, environment, runs: 2)
        guard worst.count < Self.maxCount || cost.share > (worst.last?.cost.share ?? 0) else { return }
        worst.append((HostileRecord(name: "found from: " + Self.root(parent.record.name), input: record.input), cost))
        sort()
    }

    private static func root(_ name: String) -> String {
        name.hasPrefix("found from: ") ? String(name.dropFirst("found from: ".count)) : name
    }

    private mutating func changed(_ record: HostileRecord) -> HostileRecord {
        var letter = record.letter
        if random.one(in: 8) { letter = FuzzEnvironment.name(of: random.below(environments.count)) }
        let mutation = JSONMutation(FuzzEnvironment.named(letter, of: environments).words, hasGroups: true)
        var recipe = record.recipe
        for _ in 0...random.below(3) { mutation.change(&recipe, &random) }
        return record.with(recipe: recipe, letter: letter)
    }

    /// Sorts the records by cost.
    ///
    /// Keeps only a few records of each origin, so that others are mutated too.
    private mutating func sort() {
        worst.sort { $0.cost.share > $1.cost.share }
        var counts: [String: Int] = [:]
        worst = worst.filter {
            counts[Self.root($0.record.name), default: 0] += 1
            return counts[Self.root($0.record.name), default: 0] <= 4
        }
        if worst.count > Self.maxCount { worst.removeLast(worst.count - Self.maxCount) }
    }
}

extension HostileRecord {
    /// Creates records with names whose hashes are equal in the search for duplicate names.
    ///
    /// The hash of a name (`ByteView.nameHash`) has no secret, so anyone can compute such names.
    package static func withCollidingNames() -> [HostileRecord] {
        let names = collidingNames(79_000)
        func members(_ kind: String) -> String {
            names.map { "\"" + String(decoding: $0, as: UTF8.self) + "\":" + kind }.joined(separator: ",")
        }
        let zeros = members("0")
        return [
            ("colliding names", "{\"link\":\"shop:///\",\"device\":{\"id\":\"d\"},\"x\":{\(zeros)}}"),
            ("APNs with colliding names", "{\"aps\":{},\(zeros)}"),
            ("colliding params", "{\"route\":\"order\",\"params\":{\(zeros)},\"device\":{\"id\":\"d\"}}"),
            (
                "500 devices, colliding params",
                "{\"route\":\"order\",\"params\":{\(zeros)},"
                    + "\"devices\":[<<500,:{\"id\":\"d#\"}>>]}"
            ),
            ("a vendor's object with colliding names", "{\"aps\":{},\"itbl\":{\(zeros)}}"),
            ("a repeated name among colliding names", "{\"aps\":{},\(zeros),\(zeros.prefix(12))}"),
        ].map { HostileRecord(name: "vendors: " + $0.0, input: Array("N\t=k\n\($0.1)".utf8)) }
    }

    /// Returns names of eight bytes with the same hash.
    ///
    /// It computes the steps of the hash backwards.
    private static func collidingNames(_ count: Int) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var known: Set<UInt64> = []
        var random = RandomSource(seed: 1)
        let inverse = inverse(of: 0x94D0_49BB_1331_11EB)
        while names.count < count {
            // The upper half is free, and the lower half follows from the result 0.
            let upper = random.next() >> 32
            let mixed = upper << 32 | unmixed(upper)
            let text = ((mixed ^ mixed >> 32) &* inverse) ^ 0x9E37_79B9_7F4A_7C15 ^ 8
            guard isPlain(text), known.insert(text).inserted else { continue }
            names.append((0..<8).map { UInt8(truncatingIfNeeded: text >> ($0 * 8)) })
        }
        return names
    }

    /// Returns the lower half for which the result of the hash is 0.
    private static func unmixed(_ upper: UInt64) -> UInt64 {
        // The result is the lower half of `hash ^ hash >> 17`, in which bits 17 and above of the lower half are known.
        let shifted = upper << 15 & 0xFFFF_FFFF
        var lower = shifted
        lower = shifted ^ lower >> 17
        return lower
    }

    /// Returns a Boolean value that indicates whether eight bytes are text without escapes and without recipes.
    private static func isPlain(_ text: UInt64) -> Bool {
        var rest = text
        while rest != 0 {
            let byte = UInt8(truncatingIfNeeded: rest)
            if byte < 0x24 || byte > 0x7A || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "<") { return false }
            rest >>= 8
        }
        return text >> 56 != 0
    }

    private static func inverse(of factor: UInt64) -> UInt64 {
        var result = factor
        for _ in 0..<6 { result = result &* (2 &- factor &* result) }
        return result
    }
}
