internal import DispatchWorker

/// Millions of records through processors that live long, each record's answer beside that of a fresh processor.
///
/// A round makes some thousand records, asks a fresh processor about each, and then sends them through others: in
/// order, shuffled, sorted and again and again, through new processors and through one that has seen all rounds before.
/// The same record must come to the same bytes everywhere.
package struct AdversarialRun: ~Copyable {
    /// A record that came out otherwise.
    package struct Difference: Sendable {
        /// The world.
        package let world: String
        /// The way it was sent.
        package let pass: String
        /// Number of the round, from 0.
        package let round: Int
        /// The record.
        package let record: FuzzRecord
        /// An input of the target `sequences` that shows it, or nil where the round alone does not.
        package let input: [UInt8]?
    }

    private let recordsPerRound: Int
    private let worlds: [World]
    private let seed: UInt64
    private var lanes: [LaneBox]
    private var round = 0
    /// Differences that were reduced: a few are enough to mend what is wrong.
    private var reduced = 0
    private static let mostReduced = 5
    /// Records that were compared.
    package private(set) var compared = 0
    /// What became of the records: how often each outcome, and each reason of a dead letter.
    package private(set) var outcomes: [String: Int] = [:]

    /// A lane that lives through all rounds.
    private final class LaneBox {
        var lane: RecordLane
        init(_ world: World) { lane = RecordLane(world, isPacked: true) }
    }

    /// Makes a run.
    ///
    /// - Parameters:
    ///   - worlds: What the rounds go through in turn.
    ///   - seed: What all choices come from.
    ///   - recordsPerRound: Records that are made for a round; each is compared five times.
    package init(worlds: [World], seed: UInt64, recordsPerRound: Int = 2_000) {
        self.recordsPerRound = recordsPerRound
        self.worlds = worlds
        self.seed = seed
        lanes = worlds.map { LaneBox($0) }
    }

    /// Compares one more round; returns what came out otherwise, the first of each pass.
    package mutating func next() -> [Difference] {
        let index = round % worlds.count
        var dice = Dice(seed: seed &+ UInt64(round) &* 0x9E37_79B9)
        let records = records(worlds[index], &dice)
        let alone = freshDigests(records, worlds[index])
        var found = lawBreaches(records, worlds[index], letter: World.name(of: index), &dice)
        for pass in Pass.allCases {
            let order = pass.order(records, &dice)
            let wrong: Int?
            if pass == .longLived {
                wrong = Self.firstWrong(order, records, alone, &lanes[index].lane, &dice)
            } else {
                var lane = RecordLane(worlds[index], isPacked: pass != .inOrder)
                wrong = Self.firstWrong(order, records, alone, &lane, &dice)
            }
            compared += order.count
            guard let wrong else { continue }
            reduced += 1
            let history = reduced <= Self.mostReduced ? order[...wrong].map { records[$0] } : []
            let reduction = SequenceReduction(worlds[index], letter: World.name(of: index))
            found.append(
                Difference(
                    world: worlds[index].name, pass: pass.rawValue, round: round, record: records[order[wrong]],
                    input: reduction.reduce(history)))
        }
        round += 1
        return found
    }

    /// The ways in which a round's records are sent.
    private enum Pass: String, CaseIterable {
        case inOrder, shuffled, longLived, bySize, again

        func order(_ records: [FuzzRecord], _ dice: inout Dice) -> [Int] {
            switch self {
            case .inOrder, .longLived: Array(records.indices)
            case .shuffled: records.indices.shuffled(using: &dice)
            case .bySize: records.indices.sorted { (records[$0].value.count, $0) < (records[$1].value.count, $1) }
            case .again:
                (0..<records.count / 2).flatMap { _ in
                    let index = dice.below(records.count)
                    return [index, index]
                }
            }
        }
    }

    /// The records of a round: a calm time, producers in turn, a storm, or times that change often.
    private func records(_ world: World, _ dice: inout Dice) -> [FuzzRecord] {
        var maker = EventMaker(world.words)
        let kind = dice.below(6)
        let span = kind == 5 ? 40 + dice.below(100) : recordsPerRound
        var offset = Int64(dice.below(1_000_000))
        return (0..<recordsPerRound).map { number in
            if number % span == 0 {
                switch kind {
                case 0: maker.begin(producers: 1 + dice.below(4), betrayal: 20, &dice)
                case 1: maker.begin(producers: 5 + dice.below(5), betrayal: 12, &dice)
                case 2: maker.begin(producers: 2, betrayal: 1, &dice)
                case 3: maker.beginNames(isTwice: dice.one(in: 2), &dice)
                default: maker.begin(producers: 1 + dice.below(3), betrayal: 5, &dice)
                }
            }
            offset += dice.one(in: 50) ? 7 : 1
            let key: [UInt8]? = dice.one(in: 8) ? nil : Array("k-\(dice.below(20))".utf8)
            return FuzzRecord(key: key, value: maker.record(&dice), offset: offset)
        }
    }

    private mutating func freshDigests(_ records: [FuzzRecord], _ world: World) -> [UInt64] {
        records.map { record in
            var lane = RecordLane(world)
            var digest: UInt64 = 0
            lane.run(CollectionOfOne(record)) { _, cause, decisions in
                digest = Digest.of(cause, decisions)
                if let cause { outcomes[cause.reason.rawValue, default: 0] += 1 }
                for decision in decisions { outcomes["\(decision.outcome)", default: 0] += 1 }
            }
            return digest
        }
    }

    /// Holds some of the records against others that say the same.
    private func lawBreaches(
        _ records: [FuzzRecord], _ world: World, letter: UInt8, _ dice: inout Dice
    ) -> [Difference] {
        var found: [Difference] = []
        for record in records where dice.one(in: 20) {
            let answer = RecordLane.fresh(record, world)
            guard let wrong = EventLaws(world).wrong(answer, of: record) else { continue }
            let input = SequenceReduction.input([record], letter: letter)
            found.append(Difference(world: world.name, pass: wrong, round: round, record: record, input: input))
        }
        return found
    }

    /// Sends records in batches of all sizes; returns the place in the order of the first that comes out otherwise.
    private static func firstWrong(
        _ order: [Int], _ records: [FuzzRecord], _ alone: [UInt64], _ lane: inout RecordLane, _ dice: inout Dice
    ) -> Int? {
        var first = 0
        var wrong: Int?
        while first < order.count {
            let batch = order[first..<min(order.count, first + 1 + dice.below(200))]
            let digests = lane.digests(batch.map { records[$0] })
            for (place, digest) in zip(batch.indices, digests) where digest != alone[order[place]] && wrong == nil {
                wrong = place
            }
            first = batch.endIndex
        }
        return wrong
    }
}

/// Leaves out of a sequence what is not needed for its last record to come out otherwise than alone.
package struct SequenceReduction {
    private let world: World
    private let letter: UInt8

    /// Makes a reduction.
    package init(_ world: World, letter: UInt8) {
        self.world = world
        self.letter = letter
    }

    /// Returns the records that are left as an input of the target `sequences`; nil where the last one comes out right.
    package func reduce(_ records: [FuzzRecord]) -> [UInt8]? {
        guard var left = records.last.map({ _ in Array(records.dropLast()) }), let last = records.last,
            isWrong(left, last)
        else { return nil }
        var size = max(left.count / 2, 1)
        while true {
            var first = 0
            while first < left.count {
                var fewer = left
                fewer.removeSubrange(first..<min(first + size, left.count))
                if isWrong(fewer, last) { left = fewer } else { first += size }
            }
            if size == 1 { break }
            size /= 2
        }
        return Self.input(left + [last], letter: letter)
    }

    private func isWrong(_ records: [FuzzRecord], _ last: FuzzRecord) -> Bool {
        var lane = RecordLane(world)
        let digests = lane.digests(records + [last])
        return digests.last != RecordLane.freshDigest(last, world)
    }

    /// Returns records as an input of the target `sequences`.
    package static func input(_ records: [FuzzRecord], letter: UInt8) -> [UInt8] {
        let lines = records.map { record -> [UInt8] in
            let isPlain =
                record.key == nil && !record.value.contains(UInt8(ascii: "\t"))
                && record.value.first != UInt8(ascii: "@")
            return isPlain ? record.value : (record.key ?? []) + [UInt8(ascii: "\t")] + record.value
        }
        return [letter, UInt8(ascii: "\n")] + Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
