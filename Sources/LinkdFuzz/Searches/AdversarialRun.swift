internal import LinkDecider
internal import LinkIngest

/// A comparison of long-lived processors with fresh ones over millions of records.
///
/// Each round generates records and reads each one with a fresh processor. Then it sends them through other processors
/// in order, shuffled, sorted, and repeated. Some of these processors are new, and one has processed all earlier
/// rounds. The same record must always yield the same bytes.
package struct AdversarialRun: ~Copyable {
    /// A record with different results.
    package struct Difference: Sendable {
        /// The name of the environment.
        package let environment: String
        /// The name of the pass.
        package let pass: String
        /// The number of the round, from 0.
        package let round: Int
        package let record: FuzzRecord
        /// An input of the target `sequences` that reproduces the difference, or nil if the round alone does not
        /// reproduce it.
        package let input: [UInt8]?
    }

    private let recordsPerRound: Int
    private let environments: [FuzzEnvironment]
    private let seed: UInt64
    private var lanes: [LaneBox]
    private var round = 0
    /// The number of reduced differences.
    ///
    /// Only the first ones are reduced, because a few are enough to find the cause.
    private var reduced = 0
    private static let maxReduced = 5
    /// The number of compared records.
    package private(set) var compared = 0
    /// The number of records with each outcome and each reason of a dead letter.
    package private(set) var outcomes: [String: Int] = [:]

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - environments: The environments, which the rounds use in turn.
    ///   - seed: The seed of all choices.
    ///   - recordsPerRound: The number of generated records in each round. Each is compared five times.
    package init(environments: [FuzzEnvironment], seed: UInt64, recordsPerRound: Int = 2_000) {
        self.recordsPerRound = recordsPerRound
        self.environments = environments
        self.seed = seed
        lanes = environments.map { LaneBox($0, isPacked: true) }
    }

    /// Runs the next round and returns the first difference of each pass.
    package mutating func next() -> [Difference] {
        let index = round % environments.count
        var random = RandomSource(seed: seed &+ UInt64(round) &* 0x9E37_79B9)
        let records = records(environments[index], &random)
        let alone = freshDigests(records, environments[index])
        var found = lawViolations(records, environments[index], letter: FuzzEnvironment.name(of: index), &random)
        for pass in Pass.allCases {
            let order = pass.order(records, &random)
            let wrong: Int?
            if pass == .longLived {
                wrong = Self.firstWrong(order, records, alone, &lanes[index].lane, &random)
            } else {
                var lane = RecordLane(environments[index], isPacked: pass != .inOrder)
                wrong = Self.firstWrong(order, records, alone, &lane, &random)
            }
            compared += order.count
            guard let wrong else { continue }
            reduced += 1
            let history = reduced <= Self.maxReduced ? order[...wrong].map { records[$0] } : []
            let reduction = SequenceReduction(environments[index], letter: FuzzEnvironment.name(of: index))
            found.append(
                Difference(
                    environment: environments[index].name, pass: pass.rawValue, round: round,
                    record: records[order[wrong]],
                    input: reduction.reduce(history)))
        }
        round += 1
        return found
    }

    /// The orders in which the records of a round are sent.
    private enum Pass: String, CaseIterable {
        case inOrder, shuffled, longLived, bySize, again

        func order(_ records: [FuzzRecord], _ random: inout RandomSource) -> [Int] {
            switch self {
            case .inOrder, .longLived: Array(records.indices)
            case .shuffled: records.indices.shuffled(using: &random)
            case .bySize: records.indices.sorted { (records[$0].value.count, $0) < (records[$1].value.count, $1) }
            case .again:
                (0..<records.count / 2).flatMap { _ in
                    let index = random.below(records.count)
                    return [index, index]
                }
            }
        }
    }

    /// Generates the records of a round: a single phase with few or many deviations, or many short phases.
    private func records(_ environment: FuzzEnvironment, _ random: inout RandomSource) -> [FuzzRecord] {
        var generator = EventGenerator(environment.words)
        let kind = random.below(6)
        let span = kind == 5 ? 40 + random.below(100) : recordsPerRound
        var offset = Int64(random.below(1_000_000))
        return (0..<recordsPerRound).map { number in
            if number % span == 0 {
                switch kind {
                case 0: generator.begin(producers: 1 + random.below(4), deviation: 20, &random)
                case 1: generator.begin(producers: 5 + random.below(5), deviation: 12, &random)
                case 2: generator.begin(producers: 2, deviation: 1, &random)
                case 3: generator.beginNames(isTwice: random.one(in: 2), &random)
                default: generator.begin(producers: 1 + random.below(3), deviation: 5, &random)
                }
            }
            offset += random.one(in: 50) ? 7 : 1
            let key: [UInt8]? = random.one(in: 8) ? nil : Array("k-\(random.below(20))".utf8)
            return FuzzRecord(key: key, value: generator.record(&random), offset: offset)
        }
    }

    private mutating func freshDigests(_ records: [FuzzRecord], _ environment: FuzzEnvironment) -> [UInt64] {
        records.map { record in
            var lane = RecordLane(environment)
            var digest: UInt64 = 0
            lane.run(CollectionOfOne(record)) { _, cause, decisions in
                digest = Digest.of(cause, decisions)
                if let cause { outcomes[cause.reason.rawValue, default: 0] += 1 }
                for decision in decisions { outcomes["\(decision.outcome)", default: 0] += 1 }
            }
            return digest
        }
    }

    /// Compares some of the records with equivalent ones.
    private func lawViolations(
        _ records: [FuzzRecord], _ environment: FuzzEnvironment, letter: UInt8, _ random: inout RandomSource
    ) -> [Difference] {
        var found: [Difference] = []
        for record in records where random.one(in: 20) {
            let result = RecordLane.fresh(record, environment)
            guard let wrong = EventLaws(environment).wrong(result, of: record) else { continue }
            let input = SequenceReduction.input([record], letter: letter)
            found.append(
                Difference(environment: environment.name, pass: wrong, round: round, record: record, input: input))
        }
        return found
    }

    /// Sends the records in batches of various sizes, and returns the first index in the order with a different result.
    private static func firstWrong(
        _ order: [Int], _ records: [FuzzRecord], _ alone: [UInt64], _ lane: inout RecordLane,
        _ random: inout RandomSource
    ) -> Int? {
        var first = 0
        var wrong: Int?
        while first < order.count {
            let batch = order[first..<min(order.count, first + 1 + random.below(200))]
            let digests = lane.digests(batch.map { records[$0] })
            for (position, digest) in zip(batch.indices, digests) where digest != alone[order[position]] && wrong == nil
            {
                wrong = position
            }
            first = batch.endIndex
        }
        return wrong
    }
}

/// A reduction that removes records of a sequence while the last record still has another result than alone.
struct SequenceReduction {
    private let environment: FuzzEnvironment
    private let letter: UInt8

    /// Creates a reduction.
    init(_ environment: FuzzEnvironment, letter: UInt8) {
        self.environment = environment
        self.letter = letter
    }

    /// Returns the remaining records as an input of the target `sequences`, or nil if the last record has no different
    /// result.
    func reduce(_ records: [FuzzRecord]) -> [UInt8]? {
        guard var remaining = records.last.map({ _ in Array(records.dropLast()) }), let last = records.last,
            isWrong(remaining, last)
        else { return nil }
        var size = max(remaining.count / 2, 1)
        while true {
            var first = 0
            while first < remaining.count {
                var fewer = remaining
                fewer.removeSubrange(first..<min(first + size, remaining.count))
                if isWrong(fewer, last) { remaining = fewer } else { first += size }
            }
            if size == 1 { break }
            size /= 2
        }
        return Self.input(remaining + [last], letter: letter)
    }

    private func isWrong(_ records: [FuzzRecord], _ last: FuzzRecord) -> Bool {
        var lane = RecordLane(environment)
        let digests = lane.digests(records + [last])
        return digests.last != RecordLane.freshDigest(last, environment)
    }

    /// Returns records as an input of the target `sequences`.
    static func input(_ records: [FuzzRecord], letter: UInt8) -> [UInt8] {
        let lines = records.map { record -> [UInt8] in
            let isPlain =
                record.key == nil && !record.value.contains(UInt8(ascii: "\t"))
                && record.value.first != UInt8(ascii: "@")
            return isPlain ? record.value : (record.key ?? []) + [UInt8(ascii: "\t")] + record.value
        }
        return [letter, UInt8(ascii: "\n")] + Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
