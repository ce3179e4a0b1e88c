internal import ByteStorage
internal import DispatchWorker

/// A comparison of long-lived processors with fresh ones over millions of mutated records of all envelopes.
///
/// The processor that has processed all earlier batches of its environment processes a batch in order, and a fresh one
/// in reverse order. A batch depends on the seed and its number only.
package struct IngestRun {
    /// A violation of a rule.
    package struct Finding: Sendable {
        /// The violated rule.
        package let text: String
        /// The inputs of the target `ingest` that were processed, the last of which violates the rule.
        package let inputs: [[UInt8]]
    }

    /// The number of records in a batch.
    package static let recordsPerBatch = 1
    /// One of so many batches is also explained, and one of its records passes the checks of the target `ingest`.
    private static let audited = 16

    private let environments: [FuzzEnvironment]
    private let seeds: [FuzzRecord]
    private let mutations: [IngestMutation]
    private let seed: UInt64
    private let cost: CostBound
    private let runner: FuzzRunner
    private var lanes: [LaneBox]
    private let readers: [IngestReader]
    /// The number of compared records.
    package private(set) var compared = 0
    /// The number of records with each outcome and each reason of a dead letter.
    package private(set) var outcomes: [String: Int] = [:]
    /// The greatest cost relative to the bound, the lesser of two measurements, and its input.
    package private(set) var slowest: (share: Double, input: [UInt8]) = (0, [])

    private final class LaneBox {
        var lane: RecordLane
        init(_ environment: FuzzEnvironment) { lane = RecordLane(environment) }
    }

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - environments: The environments, `FuzzEnvironment.ingest()`.
    ///   - seeds: The records that are mutated.
    ///   - seed: The seed of all choices.
    ///   - cost: The cost bound of a record.
    package init(environments: [FuzzEnvironment], seeds: [FuzzRecord], seed: UInt64, cost: CostBound) {
        self.environments = environments
        self.seeds = seeds
        self.seed = seed
        self.cost = cost
        mutations = environments.map { IngestMutation($0.words, seeds: seeds, allowsLarge: true) }
        runner = FuzzRunner(environments: environments, cost: cost)
        lanes = environments.map { LaneBox($0) }
        readers = environments.map { IngestReader($0) }
        warmUp()
    }

    /// Processes records that need as much memory as possible, so that memory does not grow later.
    private mutating func warmUp() {
        for recipe in Self.large {
            let record = FuzzRecord(key: Array("k".utf8), value: Recipe.expand(recipe.utf8, limit: 1 << 20))
            for index in environments.indices {
                _ = lanes[index].lane.digests([record])
                _ = readers[index].digest(record)
            }
        }
    }

    private static let large = [
        ##"{"payload":{"aps":{},<<90000,:"#":0>>},"devices":[<<125,:{"id":"i#","platform":"ios"},"##
            + ##"{"id":"a#","platform":"android"},{"id":"w#","platform":"web"},{"id":"x#"}>>]}"##,
        ##"{"message":{"data":{<<20000,:"s#":"{\"a\":\"{}\"}">>,"itbl":"{<<20000,:\"a#\":0>>}"}}}"##,
        ##"{"specversion":"1.0","id":"i","source":"s","type":"t","data_base64":"<<180000:eHh4>>"}"##,
        ##"{"aps":{},"ab":{},"ab_uri":"shop:///<<150000:\u0061>>"}"##,
        ##"{"link":"shop:///","device":{"id":"d"},"x":{<<60000,:"\u0061#":"\u0061">>}}"##,
        ##"{"route":"order","params":{<<60000,:"p#":["1"]>>},"device":{"id":"d"}}"##,
    ]

    /// Returns the index of the environment and the records of a batch.
    package func batch(_ number: Int) -> (environment: Int, records: [FuzzRecord]) {
        var random = RandomSource(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(number) &* 0xD134_2543_DE82_EF95)
        let environment = random.one(in: 2) ? 0 : random.below(environments.count)
        return (environment, (0..<Self.recordsPerBatch).map { _ in mutations[environment].record(&random) })
    }

    /// Returns the inputs of a batch.
    package func inputs(of number: Int) -> [[UInt8]] {
        let (environment, records) = batch(number)
        return records.map { IngestInput.input($0, letter: FuzzEnvironment.name(of: environment)) }
    }

    /// The results of a batch.
    private struct Results {
        var digests: [UInt64] = []
        var sizes: [(bytes: Int, devices: Int)] = []
        var times: [UInt64] = []
    }

    /// Runs a batch, and returns the violations.
    package mutating func run(_ number: Int) -> [Finding] {
        let (index, records) = batch(number)
        let environment = environments[index]
        let used = results(records, &lanes[index].lane)
        var fresh = RecordLane(environment, isPacked: number & 1 == 1)
        let other = results(records.reversed(), &fresh, counts: true)
        compared += records.count
        var found: [Finding] = []
        let letter = FuzzEnvironment.name(of: index)
        for (position, record) in records.enumerated() {
            let opposite = records.count - 1 - position
            if used.digests[position] != other.digests[opposite] {
                found.append(Finding(text: "a different result after other records", inputs: inputs(of: number)))
            }
            let time = min(used.times[position], other.times[opposite])
            let size = used.sizes[position]
            let share = Double(time) / cost.nanoseconds(bytes: size.bytes, devices: size.devices)
            guard share > slowest.share else { continue }
            let input = IngestInput.input(record, letter: letter)
            if share <= 1 {
                slowest = (share, input)
            } else if let text = runner.ingestCostViolation(record, environment) {
                found.append(Finding(text: text, inputs: [input]))
            }
        }
        return found + (number % Self.audited == 0 ? audit(records, index, number) : [])
    }

    private mutating func results(
        _ records: [FuzzRecord], _ lane: inout RecordLane, counts: Bool = false
    ) -> Results {
        var results = Results()
        lane.run(records) { index, cause, decisions in
            results.digests.append(Digest.of(cause, decisions))
            let written = decisions.reduce(0) { $0 + $1.value.count }
            let abandoned = cause?.reason == .oversizeOutput ? OutputLimits().recordBytes : 0
            results.sizes.append((records[index].value.count + written + abandoned, max(1, decisions.count)))
            guard counts else { return }
            if let cause { outcomes[cause.reason.rawValue, default: 0] += 1 }
            for decision in decisions.prefix(1) { outcomes["\(decision.outcome)", default: 0] += 1 }
        }
        results.times = lane.times
        return results
    }

    /// Compares the explanations of a batch, and checks the result of one record.
    private func audit(_ records: [FuzzRecord], _ index: Int, _ number: Int) -> [Finding] {
        var found: [Finding] = []
        let letter = FuzzEnvironment.name(of: index)
        let digests = records.map { readers[index].digest($0) }
        let fresh = IngestReader(environments[index])
        for (record, digest) in zip(records, digests).reversed() where fresh.digest(record) != digest {
            let input = IngestInput.input(record, letter: letter)
            found.append(Finding(text: "a different explanation after other records", inputs: [input]))
        }
        let input = IngestInput.input(records[number / Self.audited % records.count], letter: letter)
        if let text = runner.run(.ingest, input) { found.append(Finding(text: text, inputs: [input])) }
        return found
    }
}
