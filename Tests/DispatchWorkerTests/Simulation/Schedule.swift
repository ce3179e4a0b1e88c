@testable import DispatchWorker
@testable import KafkaClient
import TestSupport

/// A run of a simulated world that its seed determines completely.
struct Schedule {
    /// The subject of a schedule.
    enum Kind: CaseIterable {
        /// All kinds of faults.
        case allFaults
        /// No faults and few records. A record that no other follows must be committed at once.
        case idle
        /// Nothing is committed, and `from` is `latest`.
        case latest
        /// The outcome of every transaction is unknown.
        case flapping
        /// At-least-once: commits of offsets fail with transient errors, and nothing else fails.
        case store
        /// Lanes are stopped while their producers are replaced in the middle of a batch.
        case stops
        /// Brokers refuse the credentials once, and again an hour later.
        case refusals
        /// The input is deleted and created again while lanes do not see it.
        case recreations
        /// Transactions end every partition, and retention removes everything that was decided.
        case retention
    }

    let seed: UInt64
    let kind: Kind
    var wrong: WrongDecision?

    /// Creates a run.
    ///
    /// One in ten is of each kind other than `allFaults`.
    init(seed: UInt64, wrong: WrongDecision? = nil) {
        self.seed = seed
        self.wrong = wrong
        kind =
            switch seed % 20 == 16 ? 10 : seed % 20 == 6 ? 11 : seed % 10 {
            case 0: .idle
            case 1: .latest
            case 2: .flapping
            case 3: .store
            case 4: .refusals
            case 5: .stops
            case 10: .recreations
            case 11: .retention
            default: .allFaults
            }
    }

    /// Runs the schedule.
    ///
    /// Returns a description of the first failure, or nil.
    func run() -> String? {
        switch kind {
        case .allFaults: allFaults()
        case .idle: idle()
        case .latest: latest()
        case .flapping: flapping()
        case .store: store()
        case .refusals: refusals()
        case .stops: stops()
        case .recreations: recreations()
        case .retention: retention()
        }
    }

    private func finish(_ world: SimulatedWorld, isDrained: Bool = true) -> String? {
        if let broken = world.broken { return broken }
        if !world.isSettled { return "not settled: \(world.state)" }
        if let unmet = world.unmetNeedWithoutFaults() { return unmet }
        if isDrained && !world.drain() { return world.broken ?? "the stop failed: \(world.state)" }
        for partition in world.broker.group.partitions {
            world.broker.ledger.finish(partition.partition, world.broker.logs[partition] ?? SimulatedLog())
        }
        if let broken = world.broken { return broken }
        // The outputs have the outcomes of the old topics as well.
        let isOrdered = world.broker.ledger.repeated.isEmpty && world.broker.ledger.renewed.isEmpty
        if world.policy.guarantee == .exactlyOnce && isOrdered {
            let check = world.check()
            if let first = check.disordered.first { return "I4: \(first)" }
        }
        return nil
    }

    // MARK: All faults

    private func allFaults() -> String? {
        var random = SeededGenerator(seed: seed &* 31 &+ 7)
        func chance(_ bound: Int) -> Bool { Int.random(in: 0..<bound, using: &random) == 0 }
        let world = SimulatedWorld(
            seed: seed, callsPerFault: [5, 9, 16, 30, 80, 200].randomElement(using: &random) ?? 30,
            lanes: Int.random(in: 1...3, using: &random), partitions: Int32.random(in: 2...5, using: &random),
            isStable: chance(2), isCooperative: chance(2), guarantee: chance(5) ? .atLeastOnce : .exactlyOnce)
        world.wrong = wrong
        world.hasEarlyEnds = chance(2)
        world.hidesCachedEnds = chance(3)
        world.policy.dataLoss = DataLossPolicy.allCases.randomElement(using: &random) ?? .stop
        world.policy.from = chance(6) ? .latest : .earliest
        let hasPoison = chance(5)
        let isSlow = chance(6)
        let hasMarkers = chance(4)
        let hasRetention = chance(3)
        let hasVanishing = chance(6)
        let hasStops = chance(3)
        let hasPauses = chance(4)
        // Its own generator, so that the other faults of a seed stay the same.
        var operatorRandom = SeededGenerator(seed: seed &* 37 &+ 11)
        let hasOperator = Int.random(in: 0..<3, using: &operatorRandom) == 0
        world.clientRefuses = Bool.random(using: &operatorRandom)
        if hasRetention { world.expectedExits.insert(.badData) }
        if hasPoison { world.expectedExits.insert(.configuration) }
        func value(_ index: Int) -> String {
            switch index % 40 {
            case 7: "bad"
            case 19: "fan 3"
            case 33: hasPoison ? "a poison" : "v\(index)"
            case 38: hasPoison && index < 40 ? "a cursed" : "v\(index)"
            default: isSlow && index % 4 > 0 ? "slow 60" : "v\(index)"
            }
        }
        if isSlow { world.maxFetchedRecords = 200 }
        if chance(3) {
            world.produce(20, value)
            for partition in world.broker.group.partitions where chance(2) { world.expire(partition, &random) }
        }
        world.produce(isSlow ? 150 : Int.random(in: 20...80, using: &random), hasMarkers: hasMarkers, value)
        for step in 0..<1_500 {
            world.act(Int.random(in: 0..<world.processes.count, using: &random))
            if world.broken != nil { break }
            if step % 150 == 75 { world.produce(10, hasMarkers: hasMarkers, value) }
            let index = Int.random(in: 0..<world.processes.count, using: &random)
            if hasPauses && chance(400) { world.processes[index].pausedUntil = world.broker.now + 7_000_000_000 }
            if hasOperator { world.pauseOrResume(&operatorRandom) }
            if hasStops && chance(300) { world.processes[index].shared?.drain() }
            guard let partition = world.broker.group.partitions.randomElement(using: &random) else { continue }
            if hasRetention && chance(100) { world.expire(partition, &random) }
            if hasVanishing && chance(300) { world.vanish(partition) }
        }
        for process in world.processes { process.shared?.setPaused(false) }
        world.settle(steps: hasPoison ? 20_000 : 6_000)
        return finish(world)
    }

    // MARK: Other kinds

    private func idle() -> String? {
        let world = SimulatedWorld(seed: seed, callsPerFault: 0, lanes: 1, partitions: 3, isStable: true)
        world.wrong = wrong
        world.policy.commit.intervalMilliseconds = 9_000
        // After transactions the consumer must report the end, because fetches return an offset that no record has.
        let hasMarkers = seed % 20 == 0
        world.hasEarlyEnds = hasMarkers
        for round in 0..<6 {
            world.produce(1 + round % 3, hasMarkers: hasMarkers) { "v\($0)" }
            let began = world.broker.now
            world.settle(steps: 400, checkEvery: 1)
            let took = Int((world.broker.now - began) / 1_000_000)
            // The limit covers a poll that has just begun to wait, the record, `commit.idle`, and the commit itself. An
            // end that does not arrive with the last record arrives after an empty fetch.
            if round > 1 && took > (hasMarkers ? 190 : 90) {
                return world.broken ?? "a record waited \(took) ms for its commit"
            }
        }
        return finish(world)
    }

    private func latest() -> String? {
        let world = SimulatedWorld(
            seed: seed, callsPerFault: 0, lanes: 2, isStable: true, isCooperative: seed % 20 == 1)
        world.wrong = wrong
        world.policy.from = .latest
        world.produce(20) { "v\($0)" }
        world.runSteps(400)
        for partition in world.broker.group.partitions where world.broker.committed[partition] == nil {
            return world.broken ?? "the end of \(partition), where it starts, is not committed"
        }
        world.produce(20) { "v\($0)" }
        world.settle(steps: 2_000)
        let partition = world.broker.group.partitions[0]
        world.vanish(partition)
        world.produce(20) { "v\($0)" }
        world.plan.only = [.abort]
        world.plan.callsPerFault = 2
        world.hasFaults = true
        world.runSteps(300)
        world.settle(steps: 4_000)
        return finish(world)
    }

    private func flapping() -> String? {
        let world = SimulatedWorld(seed: seed, callsPerFault: 1, lanes: 1, isStable: true)
        world.wrong = wrong
        world.plan.only = [.late]
        world.policy.commit.intervalMilliseconds = 5
        world.produce(40) { "v\($0)" }
        for step in 0..<800 {
            world.act(0)
            if step % 20 == 0 { world.produce(3) { "v\($0)" } }
            if world.broken != nil { break }
        }
        let times = world.processes[0].environment?.producerTimes ?? []
        for (index, time) in times.enumerated() where index >= 5 && time - times[index - 5] < 1_000_000_000 {
            return "6 producers were created within a second"
        }
        world.settle(steps: 4_000)
        return finish(world)
    }

    private func store() -> String? {
        let world = SimulatedWorld(seed: seed, callsPerFault: 0, lanes: 1, isStable: true, guarantee: .atLeastOnce)
        world.wrong = wrong
        world.policy.commit.intervalMilliseconds = 50
        world.produce(60) { "v\($0)" }
        world.runSteps(20)
        world.commitsPerSuccess = 4
        for step in 0..<600 {
            world.act(0)
            if step % 100 == 0 { world.produce(10) { "v\($0)" } }
        }
        world.commitsPerSuccess = 0
        world.settle(steps: 4_000)
        if let first = world.broker.ledger.duplicated.first {
            return "\(first) was decided twice after a transient error"
        }
        return finish(world)
    }

    private func stops() -> String? {
        let world = SimulatedWorld(seed: seed, callsPerFault: 2, lanes: 1, isStable: true)
        world.wrong = wrong
        world.plan.only = [.late, .retryBefore]
        world.policy.commit.intervalMilliseconds = 50
        world.produce(200) { _ in "slow 20" }
        for _ in 0..<600 {
            world.act(0)
            guard let machine = world.processes[0].lane?.machine, machine.batch != .none else { continue }
            if case .initializing = machine.producer { world.processes[0].shared?.drain() }
        }
        world.settle(steps: 4_000)
        return finish(world)
    }

    private func recreations() -> String? {
        var random = SeededGenerator(seed: seed &* 41 &+ 13)
        let world = SimulatedWorld(
            seed: seed, callsPerFault: [0, 0, 40, 200].randomElement(using: &random) ?? 0,
            lanes: Int.random(in: 1...2, using: &random), isStable: true,
            isCooperative: Bool.random(using: &random),
            guarantee: Int.random(in: 0..<4, using: &random) == 0 ? .atLeastOnce : .exactlyOnce)
        world.wrong = wrong
        world.policy.dataLoss = Bool.random(using: &random) ? .stop : .earliest
        world.policy.hasTopicIDs = Bool.random(using: &random)
        if world.policy.hasTopicIDs { world.policy.compactedInputs = [world.input] }
        world.expectedExits.insert(.badData)
        world.policy.commit.intervalMilliseconds = [50, 500].randomElement(using: &random)
        world.produce(60) { "v\($0)" }
        for round in 1...3 {
            world.runSteps(Int.random(in: 0..<600, using: &random))
            if world.policy.hasTopicIDs && Bool.random(using: &random) { world.learnIDs() }
            for _ in 0..<2_000 where world.broken == nil && !world.canRecreate { world.runSteps(1) }
            world.recreate(round, &random)
        }
        world.settle(steps: 6_000)
        return finish(world)
    }

    private func retention() -> String? {
        var random = SeededGenerator(seed: seed &* 43 &+ 17)
        let callsPerFault = [0, 0, 40, 200].randomElement(using: &random) ?? 0
        let world = SimulatedWorld(
            seed: seed, callsPerFault: callsPerFault, lanes: Int.random(in: 1...2, using: &random), isStable: true,
            isCooperative: Bool.random(using: &random),
            guarantee: Int.random(in: 0..<4, using: &random) == 0 ? .atLeastOnce : .exactlyOnce)
        world.wrong = wrong
        world.hasEarlyEnds = Bool.random(using: &random)
        world.losesEnds = false
        world.policy.hasTopicIDs = Bool.random(using: &random)
        for _ in 0..<4 {
            world.plan.callsPerFault = callsPerFault
            world.produce(Int.random(in: 0...40, using: &random), hasMarkers: true) { "v\($0)" }
            world.runSteps(Int.random(in: 0..<200, using: &random))
            if world.policy.hasTopicIDs && Bool.random(using: &random) { world.learnIDs() }
            world.settle(steps: 4_000)
            if Bool.random(using: &random) { world.processes[0].shared?.drain() }
            // A stop can precede the end of a partition. The next start commits it.
            for _ in 0..<4_000 where world.broken == nil && !world.areEndsCommitted { world.runSteps(1) }
            if !world.areEndsCommitted { return world.broken ?? "an end is not committed: \(world.state)" }
            let commits = world.broker.commits
            world.runSteps(400)
            if world.broker.commits > commits { return world.broken ?? "the same ends are committed again" }
            for partition in world.broker.group.partitions {
                world.expire(partition, to: world.broker.logs[partition]?.end ?? 0)
            }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: world.processes[0].environment?.consumer?.interruptions.isConnectionLost = true
            case 1: world.processes[0].shared?.drain()
            default: break
            }
        }
        if !world.drain() { return world.broken ?? "the stop failed: \(world.state)" }
        // What nobody has read is lost.
        world.expectedExits.insert(.badData)
        world.produce(40, hasMarkers: true) { "v\($0)" }
        for partition in world.broker.group.partitions {
            world.expire(partition, to: world.broker.logs[partition]?.end ?? 0)
        }
        world.runSteps(400)
        if !world.exits.contains(where: { $0.code == .badData }) { return world.broken ?? "a loss is not told" }
        world.produce(20, hasMarkers: true) { "v\($0)" }
        world.settle(steps: 4_000)
        return finish(world)
    }

    private func refusals() -> String? {
        let world = SimulatedWorld(seed: seed, callsPerFault: 0, lanes: 1, isStable: true)
        world.wrong = wrong
        world.produce(10) { "v\($0)" }
        world.settle(steps: 1_000)
        for _ in 0..<2 {
            world.processes[0].environment?.consumer?.pendingErrors.append(
                KafkaError(code: .authentication, text: "refused"))
            world.runSteps(20)
            for _ in 0..<120 {
                world.broker.advance(milliseconds: 30_000)
                world.act(0)
            }
        }
        if world.broken != nil { return world.broken }
        world.produce(10) { "v\($0)" }
        world.settle(steps: 2_000)
        return finish(world)
    }
}

extension SimulatedWorld {
    /// Runs random processes for a number of steps.
    func runSteps(_ steps: Int) {
        for _ in 0..<steps where broken == nil {
            act(Int.random(in: 0..<processes.count, using: &generator))
        }
    }

    /// Turns faults off and runs processes until everything is committed.
    func settle(steps: Int, checkEvery: Int = 5) {
        plan.callsPerFault = 0
        for step in 0..<steps where broken == nil {
            if step % checkEvery == 0 && isSettled { return }
            act(Int.random(in: 0..<processes.count, using: &generator))
        }
    }

    /// Runs without faults and returns a description if a need remains unmet, or nil.
    ///
    /// The watchdog would end the process for a need that is unmet for so long.
    func unmetNeedWithoutFaults() -> String? {
        for _ in 0..<400 * processes.count where broken == nil {
            if processes.allSatisfy({ $0.environment?.unmetNeeds.isEmpty ?? true }) { return broken }
            act(Int.random(in: 0..<processes.count, using: &generator))
        }
        return broken ?? "a need remains unmet: \(state)"
    }

    /// Pauses a lane or resumes it in one of 60 calls, as an operator does.
    func pauseOrResume(_ random: inout SeededGenerator) {
        guard Int.random(in: 0..<60, using: &random) == 0 else { return }
        let index = Int.random(in: 0..<processes.count, using: &random)
        guard let shared = processes[index].shared else { return }
        shared.setPaused(!shared.isPaused)
    }

    /// Removes the first records of a partition, as retention does.
    func expire(_ partition: TopicPartition, _ random: inout SeededGenerator) {
        guard let log = broker.logs[partition], log.start < log.lastStable else { return }
        expire(partition, to: Int64.random(in: log.start...log.lastStable, using: &random))
    }

    func expire(_ partition: TopicPartition, to start: Int64) {
        broker.ledger.removed(partition.partition, below: start)
        broker.logs[partition]?.start = start
    }

    /// A Boolean value that indicates whether the committed offsets are the ends of their partitions.
    var areEndsCommitted: Bool {
        broker.committed.allSatisfy { partition, offset in offset == broker.logs[partition]?.end }
    }

    /// A Boolean value that indicates whether no transaction is being committed.
    ///
    /// A commit that has begun may hold the old topic's records and arrive later.
    var canRecreate: Bool {
        broker.late.isEmpty
            && processes.allSatisfy { process in
                switch process.lane?.machine.transaction ?? .none {
                case .none, .running(_, .idle): true
                default: false
                }
            }
    }

    /// Deletes a committed offset.
    func vanish(_ partition: TopicPartition) {
        guard broker.committed[partition] != nil else { return }
        broker.committed[partition] = nil
        broker.ledger.vanished(partition.partition)
    }

    /// The state of the lanes, for the text of a failure.
    var state: String {
        processes.map { process in
            guard let machine = process.lane?.machine else { return "\(process.name) is down" }
            return "\(process.name) \(machine.producer) \(machine.group) \(machine.batch) "
                + machine.partitions.slots.map { "\($0.partition.partition)@\($0.next.value) \($0.positionState)" }
                .joined(separator: " ")
        }.joined(separator: "; ") + "; committed \(broker.committed.map { "\($0.key.partition):\($0.value)" }.sorted())"
            + " ends \(broker.group.partitions.map { broker.logs[$0]?.end ?? 0 })"
    }
}
