internal import ByteStorage
internal import LinkDecider
internal import LinkIngest

/// A comparison of long-lived processors with fresh ones over millions of mutated records of all envelopes.
///
/// A processor that has processed all earlier records of its environment, and a fresh one, process each record. A
/// record depends on the seed and its number only.
package struct IngestRun {
    /// A violation of a rule.
    package struct Finding: Sendable {
        /// The violated rule.
        package let text: String
        /// The input of the target `ingest`.
        package let input: [UInt8]
    }

    /// One of so many records is also explained, and passes the checks of the target `ingest`.
    private static let audited = 16

    private let environments: [FuzzEnvironment]
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
    /// The greatest cost relative to the bound, the lesser of two measurements.
    package private(set) var slowest = 0.0

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - environments: The environments, `FuzzEnvironment.ingest()`.
    ///   - seeds: The records that are mutated.
    ///   - seed: The seed of all choices.
    ///   - cost: The cost bound of a record.
    package init(environments: [FuzzEnvironment], seeds: [FuzzRecord], seed: UInt64, cost: CostBound) {
        self.environments = environments
        self.seed = seed
        self.cost = cost
        mutations = environments.map { IngestMutation($0.words, seeds: seeds, allowsLarge: true) }
        runner = FuzzRunner(environments: environments, cost: cost)
        lanes = environments.map { LaneBox($0, isPacked: false) }
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

    /// Returns the index of the environment and the record with a number.
    private func record(_ number: Int) -> (environment: Int, record: FuzzRecord) {
        var random = RandomSource(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(number) &* 0xD134_2543_DE82_EF95)
        let environment = random.one(in: 2) ? 0 : random.below(environments.count)
        return (environment, mutations[environment].record(&random))
    }

    /// Returns the input with a number.
    package func input(of number: Int) -> [UInt8] {
        let (environment, record) = record(number)
        return IngestInput.input(record, letter: FuzzEnvironment.name(of: environment))
    }

    /// Runs the record with a number, and returns the violations.
    package mutating func run(_ number: Int) -> [Finding] {
        let (index, record) = record(number)
        let environment = environments[index]
        let used = result(record, &lanes[index].lane)
        var fresh = RecordLane(environment, isPacked: number & 1 == 1)
        let other = result(record, &fresh, counts: true)
        compared += 1
        let input = IngestInput.input(record, letter: FuzzEnvironment.name(of: index))
        var found: [String] = []
        if used.digest != other.digest { found.append("a different result after other records") }
        let time = min(lanes[index].lane.nanoseconds, fresh.nanoseconds)
        let share = Double(time) / cost.nanoseconds(bytes: used.bytes, devices: used.devices)
        if share > 1, let text = runner.ingestCostViolation(record, environment) { found.append(text) }
        if share <= 1 { slowest = max(slowest, share) }
        if number % Self.audited == 0 {
            if IngestReader(environment).digest(record) != readers[index].digest(record) {
                found.append("a different explanation after other records")
            }
            if let text = runner.run(.ingest, input) { found.append(text) }
        }
        return found.map { Finding(text: $0, input: input) }
    }

    private mutating func result(
        _ record: FuzzRecord, _ lane: inout RecordLane, counts: Bool = false
    ) -> (digest: UInt64, bytes: Int, devices: Int) {
        var result: (digest: UInt64, bytes: Int, devices: Int) = (0, record.value.count, 1)
        lane.run(CollectionOfOne(record)) { _, cause, decisions in
            result.digest = Digest.of(cause, decisions)
            result.bytes += decisions.reduce(0) { $0 + $1.value.count }
            if cause?.reason == .oversizeOutput { result.bytes += Limits().outputBytes }
            result.devices = max(1, decisions.count)
            guard counts else { return }
            if let cause { outcomes[cause.reason.rawValue, default: 0] += 1 }
            for decision in decisions.prefix(1) { outcomes["\(decision.outcome)", default: 0] += 1 }
        }
        return result
    }
}

/// A lane that processes all records of its environment.
final class LaneBox {
    var lane: RecordLane
    init(_ environment: FuzzEnvironment, isPacked: Bool) { lane = RecordLane(environment, isPacked: isPacked) }
}
