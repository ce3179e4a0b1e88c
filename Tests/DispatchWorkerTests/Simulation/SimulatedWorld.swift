@testable import DispatchWorker
import LinkDecider
@testable import KafkaClient
import ByteStorage
import TestSupport

/// A broker, lanes, and faults on one thread with a simulated clock.
///
/// The same seed repeats the same run.
final class SimulatedWorld {
    typealias SimulatedLane = Lane<SimulatedEnvironment, EchoProcessing>

    /// A lane, the life of its process, and its name, which survives restarts.
    struct Process {
        var name: String
        var isStable: Bool
        var starts = 0
        var lane: SimulatedLane?
        var life = SimulatedLife()
        var environment: SimulatedEnvironment?
        var shared: WorkerShared?
        var pausedUntil: UInt64 = 0
        var restartAt: UInt64 = 0
    }

    let broker = SimulatedBroker()
    var plan: FaultPlan
    var processes: [Process] = []
    var exits: [WorkerExit] = []
    let input = "in"
    let partitions: Int32
    var generator: SeededGenerator
    var policy = LanePolicy()
    /// A Boolean value that indicates whether the end of a partition may arrive with its last records.
    var hasEarlyEnds = false
    /// A Boolean value that indicates whether a process that has ended starts again.
    var restarts = true
    /// A Boolean value that indicates whether the end of a partition is sometimes not reported.
    var losesEnds = true
    /// A Boolean value that indicates whether fetches do not return the end of a partition.
    var hidesCachedEnds = false
    /// A Boolean value that indicates whether the dead letters of cursed records are refused.
    var refusesCursed = true
    /// A Boolean value that indicates whether the client refuses poison before it is sent.
    var clientRefuses = false
    /// A wrong decision that is applied to every lane after each of its steps.
    var wrong: WrongDecision?
    /// A Boolean value that indicates whether the run has faults.
    ///
    /// Their effects may appear after faults are turned off.
    var hasFaults: Bool
    /// Exits that the schedule causes.
    var expectedExits: Set<WorkerExitCode> = []
    /// The maximum number of records of a fetch.
    var maxFetchedRecords = 40
    /// The number of commits of offsets of which only one succeeds, or 0 if all succeed.
    var commitsPerSuccess = 0
    /// Called when a lane fetches committed offsets.
    var onCommittedRequest: () -> Void = {}
    var onAssignment: () -> Void = {}
    /// Called when a lane describes its group.
    var onDescription: () -> Void = {}
    /// The number of the broker that coordinates the group.
    var coordinator: Int32 = 1
    /// A Boolean value that indicates whether the group cannot be described.
    var isCoordinatorAway = false
    private var written = 0
    private static let log = Log(level: .error, format: .text) { _ in }

    init(
        seed: UInt64, callsPerFault: Int, lanes: Int, partitions: Int32 = 4, isStable: Bool,
        isCooperative: Bool = false,
        guarantee: Guarantee = .exactlyOnce
    ) {
        plan = FaultPlan(seed: seed ^ 0x5DEE_CE66, callsPerFault: callsPerFault)
        hasFaults = callsPerFault > 0
        generator = SeededGenerator(seed: seed)
        self.partitions = partitions
        for topic in [input, "out", "in.dlq"] { broker.create(topic, partitions: partitions) }
        broker.create("out-b", partitions: partitions + 1)
        broker.group.partitions = (0..<partitions).map { TopicPartition(topic: "in", partition: $0) }
        broker.group.isCooperative = isCooperative
        broker.ledger.isAtLeastOnce = guarantee == .atLeastOnce
        policy.guarantee = guarantee
        policy.transactionTimeoutMilliseconds = 10_000
        policy.sessionTimeoutMilliseconds = 6_000
        policy.commit.records = 60
        // Short intervals commit often. With long ones, pauses and rebalances happen during transactions.
        policy.commit.intervalMilliseconds = [50, 500, 9_000].randomElement(using: &generator)
        policy.isStable = isStable
        for number in 0..<lanes { processes.append(Process(name: "i\(number)", isStable: isStable)) }
        broker.heartbeat = { [unowned self] in beat() }
    }

    private func beat() {
        for process in processes where process.pausedUntil <= broker.now { process.environment?.consumer?.heartbeat() }
    }

    /// The first failure, or nil.
    var broken: String? { broker.ledger.broken }

    /// Writes records to the input topic.
    ///
    /// With `hasMarkers`, each partition then ends with a transaction marker.
    func produce(_ count: Int, hasMarkers: Bool = false, _ value: (Int) -> String) {
        for _ in 0..<count {
            let key = Array("d-\(written % 13)".utf8)
            let partition = key.withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: partitions) }
            broker.logs[TopicPartition(topic: input, partition: partition)]?.append(
                SimulatedEntry(
                    state: .committed, key: key, value: Array(value(written).utf8), timestamp: 1_000,
                    writtenAt: broker.now))
            written += 1
        }
        guard hasMarkers else { return }
        for partition in broker.group.partitions { _ = broker.logs[partition]?.end("", isCommit: true) }
    }

    /// The number of output topics.
    ///
    /// The schedules that detect wrong decisions are those of one topic.
    private var outputs: UInt8 { wrong == nil ? 2 : 1 }

    private func start(_ index: Int) {
        var process = processes[index]
        process.starts += 1
        let instance = process.isStable ? process.name : "\(process.name)-\(process.starts)"
        let identity = LaneIdentity(group: "g", instance: instance, isStable: process.isStable, lane: 0)
        process.life = SimulatedLife()
        let environment = SimulatedEnvironment(self, process.life, identity)
        var configuration = WorkerConfiguration(bootstrap: [])
        configuration.input = .topics([input])
        configuration.outputs = OutputTopics("out", applications: outputs == 1 ? [] : [("b", "out-b")])
        process.environment = environment
        let shared = WorkerShared(stopAfter: 0, log: Self.log)
        process.shared = shared
        let life = process.life
        let processing = EchoProcessing(outputs: outputs) { [unowned self] milliseconds in
            life.work += milliseconds
            broker.advance(milliseconds: milliseconds)
        }
        process.lane = Lane(
            number: 0, policy: policy, topics: LaneTopics(configuration), commitBytes: configuration.commit.bytes,
            worker: WorkerIdentity(group: "g", instance: identity.name, version: "1"), environment: environment,
            processing: processing, shared: shared)
        processes[index] = process
    }

    /// Runs the world until everything is committed or after `steps` steps.
    ///
    /// Faults are turned off in the last third.
    func run(steps: Int, stepsPerPause: Int = 0) -> Bool {
        for step in 0..<steps {
            let areFaultsOff = step >= steps * 2 / 3
            if areFaultsOff { plan.callsPerFault = 0 }
            let index = Int.random(in: 0..<processes.count, using: &generator)
            if !areFaultsOff && stepsPerPause > 0 && Int.random(in: 0..<stepsPerPause, using: &generator) == 0 {
                // The pause is longer than the session timeout, so the group removes the member.
                processes[index].pausedUntil = broker.now + 7_000_000_000
            }
            act(index)
            if broken != nil { return false }
            if step % 20 == 0 && isSettled { return true }
        }
        return isSettled
    }

    /// Runs one step of a process or its restart.
    func act(_ index: Int) {
        if processes[index].pausedUntil > broker.now {
            broker.advance(milliseconds: 50)
            return
        }
        guard let lane = processes[index].lane else {
            if processes[index].restartAt <= broker.now { start(index) } else { broker.advance(milliseconds: 20) }
            return
        }
        let isGoingOn = step(lane, processes[index].shared)
        if processes[index].life.isDead || !isGoingOn { ended(index, lane) }
    }

    private func step(_ lane: SimulatedLane, _ shared: WorkerShared?) -> Bool {
        guard let wrong else {
            let isGoingOn = lane.step()
            if let violation = lane.machine.violation { broker.ledger.fail(violation) }
            checkStatus(of: lane, isGoingOn: isGoingOn)
            return isGoingOn
        }
        wrong.prepare(&lane.machine, isStopping: shared?.isDraining ?? false, now: broker.now)
        let before = lane.machine
        let isGoingOn = lane.step()
        wrong.apply(to: &lane.machine, before: before, now: broker.now)
        if let violation = lane.machine.violation { broker.ledger.fail(violation) }
        return isGoingOn
    }

    /// Checks that the published totals are those of the report, and that the last state is the end.
    private func checkStatus(of lane: SimulatedLane, isGoingOn: Bool) {
        guard let snapshot = lane.status.snapshot else { return broker.ledger.fail("a lane has published nothing") }
        let totals = snapshot.metrics.topics
        var counters = snapshot.counters
        counters.records = Int(totals.reduce(0) { $0 + $1.records })
        counters.decisions = Int(snapshot.metrics.outcomes.reduce(0, +))
        counters.deadLetters = Int(totals.reduce(0) { $0 + $1.deadLetters.reduce(0, +) })
        counters.committed = Int(snapshot.metrics[.transactionsCommitted])
        if counters != snapshot.counters {
            broker.ledger.fail("the published totals \(counters) differ from the report \(snapshot.counters)")
        }
        // A processor's own counts are committed and lost with the records.
        if Int(snapshot.canary?.decided ?? 0) != counters.decisions {
            broker.ledger.fail("the processor counted \(snapshot.canary?.decided ?? 0) of \(counters.decisions)")
        }
        if !isGoingOn && (snapshot.stage != .ended || snapshot.counters != lane.machine.counters) {
            broker.ledger.fail("the last published state is \(snapshot.stage) with \(snapshot.counters)")
        }
    }

    private func ended(_ index: Int, _ lane: SimulatedLane) {
        if let exit = lane.machine.exit, !processes[index].life.isDead {
            exits.append(exit)
            checkExit(exit)
        }
        processes[index].lane = nil
        processes[index].environment = nil
        processes[index].restartAt =
            restarts ? broker.now + UInt64.random(in: 0...2_000_000_000, using: &generator) : .max
    }

    /// Fails the run for an unexpected exit, and otherwise does what its advice says.
    private func checkExit(_ exit: WorkerExit) {
        switch exit.code {
        case .tryAgain, .fenced: if !hasFaults { broker.ledger.fail("an exit without a fault: \(exit)") }
        case .deadLetterLimit where expectedExits.contains(.deadLetterLimit): break
        case .badData where expectedExits.contains(.badData): policy.dataLoss = .earliest
        case .configuration where expectedExits.contains(.configuration):
            policy.from = policy.from == .fail ? .earliest : policy.from
            refusesCursed = false
        default: broker.ledger.fail("an unexpected exit: \(exit)")
        }
    }

    /// A Boolean value that indicates whether everything is committed and no transaction is open.
    var isSettled: Bool {
        guard broker.late.isEmpty, broker.logs.values.allSatisfy({ $0.lastStable == $0.end }) else { return false }
        return broker.group.partitions.allSatisfy { partition in
            guard let log = broker.logs[partition] else { return true }
            if broker.committed[partition] == nil && broker.ledger.repeated.contains(partition.partition) {
                return broker.ledger.isDone(partition.partition, log)
            }
            // The committed offset of the old topic says nothing about the new one.
            if broker.ledger.renewed.contains(partition.partition),
                !broker.ledger.isDone(partition.partition, log)
            {
                return false
            }
            let next = max(broker.committed[partition] ?? 0, log.start)
            return !(next..<max(next, log.end)).contains { log.entries[Int($0)].state == .committed }
        }
    }

    /// Stops all lanes, like SIGTERM.
    ///
    /// Returns a Boolean value that indicates whether they ended without a failure.
    func drain() -> Bool {
        plan.callsPerFault = 0
        for index in processes.indices {
            processes[index].shared?.drain()
            guard let lane = processes[index].lane else { continue }
            var steps = 0
            while step(lane, processes[index].shared) {
                steps += 1
                if steps > 10_000 { return false }
            }
            if let exit = lane.machine.exit { checkExit(exit) }
            processes[index].lane = nil
        }
        return broken == nil
    }

    /// Returns all committed records of a topic, partition by partition.
    func visible(_ topic: String) -> [ReadRecord] {
        (0..<(broker.partitionCounts[topic] ?? 0)).flatMap { partition -> [ReadRecord] in
            let records = broker.logs[TopicPartition(topic: topic, partition: partition)]?.visible ?? []
            return records.map { record in
                var record = record
                record.partition = partition
                return record
            }
        }
    }

    /// Checks I1, I2, and I4 for everything that is visible, and that each decision is in its topic and partition.
    func check() -> OutcomeCheck {
        let decisions = ["out", "out-b"].map(visible)
        var check = OutcomeCheck(
            sources: visible(input).map { "\(input)-\($0.partition)-\($0.offset)" },
            decisions: decisions[0] + decisions[1], deadLetters: visible("in.dlq"))
        for (output, records) in decisions.enumerated() {
            for record in records {
                let key = record.key ?? []
                let partition = key.withUnsafeBufferPointer {
                    Murmur2.partition(of: ByteView($0), among: partitions + Int32(output))
                }
                guard record.partition != partition || Int((key.last ?? 0) % outputs) != output else { continue }
                check.disordered.append("\(record.valueText ?? "") in topic \(output), partition \(record.partition)")
            }
        }
        return check
    }

    // MARK: Reports of the clients

    /// The maximum time between two polls, in milliseconds: a second plus the work between two clock readings.
    static let maxWorkMilliseconds = 1_300

    /// Checks that the time between two polls of a lane was not too long.
    func polled(_ consumer: SimulatedConsumer) {
        if consumer.life.work > Self.maxWorkMilliseconds {
            broker.ledger.fail("a member did not poll while it worked for \(consumer.life.work) ms")
        }
        consumer.life.work = 0
    }

    /// Checks that a lane has announced its exit before it closes its consumer, which may never return.
    func closing(_ consumer: SimulatedConsumer) {
        guard let process = processes.first(where: { $0.environment?.consumer === consumer }) else { return }
        if process.lane?.machine.exit != nil && process.shared?.failure == nil {
            broker.ledger.fail("a lane closes its consumer before it announces its exit")
        }
    }

    /// Records the start that a lane without a valid committed offset has received.
    func recordEnds(_ consumer: SimulatedConsumer, _ partition: TopicPartition, _ ends: Watermarks) {
        // A paused lane fetches the ends of partitions whose position it knows.
        let lane = processes.first { $0.environment?.consumer === consumer }?.lane
        let slot = lane?.machine.partitions.slots.first { $0.partition == partition }
        if slot?.positionState == .current { return }
        let committed = broker.committed[partition]
        if committed == nil && policy.from == .latest {
            broker.ledger.startedAtEnd(partition.partition, ends.high)
        }
        if committed ?? 0 < ends.low, policy.dataLoss == .latest {
            broker.ledger.startedAtEnd(partition.partition, ends.high)
        }
    }
}

/// The environment of a lane in a simulated world.
final class SimulatedEnvironment: LaneEnvironment {
    private unowned let world: SimulatedWorld
    private let life: SimulatedLife
    private let identity: LaneIdentity
    private(set) var consumer: SimulatedConsumer?
    /// The times at which producers were created.
    private(set) var producerTimes: [UInt64] = []
    /// The unmet needs of the lane, which the watchdog would check.
    private(set) var unmetNeeds: [ClientNeed] = []
    private var answersBefore = 0

    init(_ world: SimulatedWorld, _ life: SimulatedLife, _ identity: LaneIdentity) {
        self.world = world
        self.life = life
        self.identity = identity
    }

    func makeConsumer(rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) -> SimulatedConsumer {
        let created = SimulatedConsumer(world, life, instance: identity.groupInstanceID, rebalance: rebalance)
        consumer = created
        return created
    }

    func subscribe(_ consumer: SimulatedConsumer) throws(KafkaError) { try consumer.subscribe() }

    func makeProducer() throws(KafkaError) -> SimulatedProducer {
        producerTimes.append(world.broker.now)
        return SimulatedProducer(
            world, life, transactionalID: world.policy.guarantee == .exactlyOnce ? identity.transactionalID : nil)
    }

    func setUnmetNeeds(_ needs: [ClientNeed]) {
        let answers = consumer?.answers ?? 0
        let isKept =
            world.wrong == .needOutlivesItsOwner && unmetNeeds.contains(.committedOffsets) && answers == answersBefore
        unmetNeeds = needs
        if isKept && !needs.contains(.committedOffsets) { unmetNeeds.append(.committedOffsets) }
        answersBefore = answers
    }

    func instanceHolders(timeoutMilliseconds: Int32) throws(KafkaError) -> InstanceHolders {
        world.onDescription()
        if world.isCoordinatorAway {
            world.broker.advance(milliseconds: Int(timeoutMilliseconds))
            throw KafkaError(code: .coordinatorNotAvailable)
        }
        world.broker.advance(milliseconds: 1)
        return InstanceHolders(
            members: world.broker.group.holders(of: identity.groupInstanceID).map(String.init),
            coordinator: world.coordinator)
    }

    var isMock: Bool { false }

    func messageLimit(of topic: String) -> Int { 100_000 }

    func now() -> UInt64 { world.broker.now }

    func wallMilliseconds() -> Int64 { Int64(world.broker.now / 1_000_000) }

    func sleep(milliseconds: Int) { world.broker.advance(milliseconds: milliseconds) }
}
