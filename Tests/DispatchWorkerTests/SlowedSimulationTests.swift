internal import SystemThreads
@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import TestSupport
import Testing

/// Lanes in a simulated world with slowed partitions.
///
/// Every record must have one outcome, in order.
@Suite struct SlowedSimulationTests {
    /// Returns a world with a partition of which half of the records of a window are dead letters.
    static func world(
        seed: UInt64 = 1, callsPerFault: Int = 0, lanes: Int, partitions: Int32, window: Int = 100, rate: Int,
        isCooperative: Bool = false, guarantee: Guarantee = .exactlyOnce
    ) -> SimulatedWorld {
        let world = SimulatedWorld(
            seed: seed, callsPerFault: callsPerFault, lanes: lanes, partitions: partitions, isStable: true,
            isCooperative: isCooperative, guarantee: guarantee)
        world.policy.deadLetterMaxRatio = 0.5
        world.policy.deadLetterWindow = window
        world.policy.deadLetterMaxRate = rate
        world.policy.commit.intervalMilliseconds = 100
        world.policy.commit.records = 1_000
        world.maxFetchedRecords = 500
        return world
    }

    static func append(_ count: Int, _ value: String, to partition: Int32, of world: SimulatedWorld) {
        for index in 0..<count {
            world.broker.logs[TopicPartition(topic: world.input, partition: partition)]?.append(
                SimulatedEntry(
                    state: .committed, key: value == "bad" ? nil : Array("d-\(partition)-\(index % 7)".utf8),
                    value: Array(value.utf8), timestamp: 1_000, writtenAt: world.broker.now))
        }
    }

    static func deadLetters(_ world: SimulatedWorld) -> Int {
        world.processes.reduce(0) { $0 + ($1.lane?.machine.counters.deadLetters ?? 0) }
    }

    static func slowed(_ world: SimulatedWorld) -> [TopicPartition] {
        world.processes.flatMap { $0.lane?.machine.partitions.slots.filter { $0.slowed != nil } ?? [] }.map(\.partition)
    }

    static func isHealthyDone(_ world: SimulatedWorld) -> Bool {
        (1..<world.partitions).allSatisfy { number in
            let partition = TopicPartition(topic: world.input, partition: number)
            return world.broker.committed[partition] ?? 0 == world.broker.logs[partition]?.end
        }
    }

    @Test("2,000 bad records in one of six partitions slow only that partition, and each becomes one dead letter")
    func oneOfSix() {
        let world = Self.world(lanes: 2, partitions: 6, window: 1_000, rate: 100)
        world.policy.deadLetterMaxRatio = 0.95
        for partition in Int32(0)..<6 { Self.append(500, "v", to: partition, of: world) }
        Self.append(2_000, "bad", to: 0, of: world)
        for partition in Int32(1)..<6 { Self.append(20_000, "v", to: partition, of: world) }
        Self.append(500, "v", to: 0, of: world)
        var healthyAt: UInt64?
        var slowedAt: (time: UInt64, deadLetters: Int)?
        for _ in 0..<40_000 where !world.isSettled && world.broken == nil {
            world.act(Int.random(in: 0..<2, using: &world.generator))
            let now = world.broker.now
            if slowedAt == nil, !Self.slowed(world).isEmpty { slowedAt = (now, Self.deadLetters(world)) }
            if let slowedAt {
                let periods = Int((now - slowedAt.time) / 1_000_000_000) + 1
                #expect(Self.deadLetters(world) - slowedAt.deadLetters <= 100 * periods)
            }
            if healthyAt == nil && Self.isHealthyDone(world) { healthyAt = now }
        }
        #expect(world.isSettled && world.broken == nil)
        #expect(world.exits == [])
        #expect(world.check() == OutcomeCheck.good, "\(world.check().summary)")
        #expect(world.visible("in.dlq").count == 2_000)
        let began = slowedAt?.time ?? 0
        // The others are done long before the slowed partition, which takes a second for 100 dead letters.
        #expect((healthyAt ?? .max) < world.broker.now - 5_000_000_000)
        #expect(world.broker.now > began + 9_000_000_000 && world.broker.now < began + 25_000_000_000)
        #expect(world.drain())
    }

    @Test("All partitions of a lane that are slowed for longer than max.poll.interval.ms stay its own")
    func allSlowed() {
        for isCooperative in [false, true] {
            let world = Self.world(lanes: 1, partitions: 4, rate: 2, isCooperative: isCooperative)
            for partition in Int32(0)..<4 { Self.append(300, "bad", to: partition, of: world) }
            world.runSteps(200)
            let generation = world.broker.group.generation
            #expect(Self.slowed(world).count == 4)
            for _ in 0..<20_000 where !world.isSettled && world.broken == nil { world.act(0) }
            #expect(world.isSettled && world.broken == nil)
            #expect(world.broker.now > 2 * world.broker.group.maxPollInterval)
            #expect(world.broker.group.generation == generation)
            #expect(world.exits == [])
            #expect(world.check() == OutcomeCheck.good, "\(world.check().summary)")
            #expect(world.visible("in.dlq").count == 1_200)
        }
    }

    @Test("Bad records in all partitions end the worker with 81 after 5 minutes, and lose nothing")
    func everywhere() throws {
        let world = Self.world(lanes: 1, partitions: 4, rate: 1)
        world.expectedExits = [.deadLetterLimit]
        for partition in Int32(0)..<4 { Self.append(1_000, "bad", to: partition, of: world) }
        var slowedAt: UInt64?
        for _ in 0..<40_000 where world.exits.isEmpty && world.broken == nil {
            world.act(0)
            if slowedAt == nil, Self.slowed(world).count == 4 { slowedAt = world.broker.now }
        }
        #expect(world.broken == nil)
        let exit = try #require(world.exits.first)
        #expect(exit.code == .deadLetterLimit)
        #expect(exit.reason.contains("4 of 4 partitions") && exit.reason.contains("for 5 minutes"))
        let took = world.broker.now - (slowedAt ?? 0)
        #expect(took >= 298_000_000_000 && took < 310_000_000_000)
        // A start with the limit turned off decides the rest.
        world.policy.deadLetterMaxRatio = 0
        #expect(world.run(steps: 20_000))
        #expect(world.check() == OutcomeCheck.good, "\(world.check().summary)")
        #expect(world.visible("in.dlq").count == 4_000)
    }

    @Test("With dlq.excess stop, one partition above the limit ends the worker with 81")
    func stops() {
        let world = Self.world(lanes: 1, partitions: 4, rate: 10)
        world.policy.deadLetterExcess = .stop
        world.expectedExits = [.deadLetterLimit]
        for partition in Int32(0)..<4 { Self.append(1_000, partition == 0 ? "bad" : "v", to: partition, of: world) }
        for _ in 0..<10_000 where world.exits.isEmpty && world.broken == nil { world.act(0) }
        #expect(world.exits.map(\.code) == [.deadLetterLimit])
    }

    @Test("Rebalances and ends of processes while partitions are slowed change no outcome", arguments: 0..<24)
    func rebalances(seed: Int) {
        let world = Self.world(
            seed: UInt64(seed), lanes: 2, partitions: 4, window: 20, rate: 5, isCooperative: seed % 2 == 0)
        world.hasFaults = true
        for partition in Int32(0)..<4 {
            Self.append(100, "v", to: partition, of: world)
            Self.append(partition < 2 ? 150 : 0, "bad", to: partition, of: world)
            Self.append(100, "v", to: partition, of: world)
        }
        var hasSlowed = false
        for step in 0..<12_000 where !world.isSettled && world.broken == nil {
            world.act(Int.random(in: 0..<2, using: &world.generator))
            hasSlowed = hasSlowed || !Self.slowed(world).isEmpty
            switch step % 400 {
            // The group removes a member that is paused, and a process that is dead starts again.
            case 150: world.processes[step / 400 % 2].pausedUntil = world.broker.now + 7_000_000_000
            case 300: world.processes[step / 400 % 2].life.isDead = true
            default: break
            }
        }
        #expect(hasSlowed)
        #expect(world.isSettled && world.broken == nil, "seed \(seed): \(world.broken ?? world.state)")
        #expect(world.check() == OutcomeCheck.good, "seed \(seed): \(world.check().summary)")
        #expect(world.visible("in.dlq").count == 300)
    }

    @Test("Partitions are slowed without a loss or a duplicate in spite of all kinds of faults", arguments: 0..<60)
    func faults(seed: Int) {
        let world = Self.world(
            seed: UInt64(seed), callsPerFault: [6, 15, 40][seed % 3], lanes: 1 + seed % 3, partitions: 4, window: 10,
            rate: 2, isCooperative: seed % 2 == 0, guarantee: seed % 5 == 4 ? .atLeastOnce : .exactlyOnce)
        world.maxFetchedRecords = 40
        world.policy.commit.intervalMilliseconds = [50, 500, 3_000][seed % 3]
        world.hasEarlyEnds = seed % 4 < 2
        for partition in Int32(0)..<4 {
            Self.append(20, "v", to: partition, of: world)
            Self.append(seed % 4 >= Int(partition) ? 25 : 1, "bad", to: partition, of: world)
            Self.append(20, "v", to: partition, of: world)
        }
        let isSettled = world.run(steps: 30_000, stepsPerPause: seed % 5 == 0 ? 400 : 0)
        #expect(isSettled, "seed \(seed): not settled: \(world.broken ?? world.state)")
        #expect(world.broken == nil, "seed \(seed)")
        let check = world.check()
        #expect(seed % 5 == 4 ? check.lost == [] : check == OutcomeCheck.good, "seed \(seed): \(check.summary)")
        #expect(world.drain(), "seed \(seed): the stop failed")
    }
}

/// Slowed partitions with a real broker.
@Suite(.serialized) struct BrokerSlowedTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    @Test(
        "2,000 bad records in one of six partitions stop nothing, and a new owner goes on",
        .enabled(if: BrokerEnvironment.hasBroker))
    func oneOfSix() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("slowed", bootstrap: bootstrap)
            let lines = Monitor([String]())
            let log = Log(level: .info, format: .json) { line in lines.signal { $0.append(line) } }
            defer { log.close() }
            var configuration = run.configuration(lanes: 2)
            configuration.stopAfter = 0
            // On a slow machine too, the partition is slowed for longer than the others need.
            configuration.deadLetterMaxRate = 10
            let first = RunningWorker(configuration, log: log)
            // A partition that gets another owner is measured again, so the lanes share them before.
            let isSplit = becomesTrue(withinSeconds: 60) {
                first.lanes.map(\.partitions.count) == [3, 3] && first.partitions.allSatisfy { $0.end != nil }
            }
            #expect(isSplit, "\(first.partitions)")
            let good = 24_000
            try run.produce(count: good / 2, BrokerTests.event)
            // They have one key, so that they are in one partition.
            try run.produce(count: 2_000) { _ in ("d", Array("bad".utf8), []) }
            try run.produce(count: good / 2) { index in BrokerTests.event(index + good / 2) }
            // All but the slowed partition.
            var views: [PartitionView] = []
            let isHealthyDone = becomesTrue(withinSeconds: 120) {
                views = first.partitions
                return views.count == 6 && views.reduce(0) { $0 + ($1.end ?? 0) } == good + 2_000
                    && views.allSatisfy { ($0.end ?? 0) > 0 && ($0.slowed != nil || $0.settled >= $0.end ?? .max) }
                    && views.contains { $0.slowed != nil }
            }
            #expect(isHealthyDone, "\(views)")
            let slowed = try #require(views.first { $0.slowed != nil })
            #expect(slowed.settled < slowed.end ?? 0)
            #expect(lines.withLock { $0 }.filter { $0.contains(#""event":"dlq.slowed""#) }.count == 1)
            func snapshot() -> WorkerSnapshot {
                first.worker.status.snapshot(now: SystemClock.monotonicNanoseconds())
            }
            let now = snapshot()
            #expect(Health.notLive(now, maxLoopAge: 60_000_000_000) == [])
            #expect(now.partitions.filter(\.isSlowed).map(\.partition) == [slowed.partition])
            // The probe of the brokers may not have their first answer yet.
            let isReady = becomesTrue(withinSeconds: 30) { Health.notReady(snapshot()) == [] }
            #expect(isReady, "\(Health.notReady(snapshot()))")
            // A second worker takes over some partitions, then the first one ends.
            let second = RunningWorker(run.configuration(lanes: 2), log: log)
            let isShared = becomesTrue(withinSeconds: 30) { !second.partitions.isEmpty }
            #expect(isShared)
            #expect(first.stop() == 0)
            let isDone = try becomesTrue(withinSeconds: 90) { try run.unsettled().isEmpty }
            #expect(isDone)
            #expect(second.stop() == 0)
            let check = OutcomeCheck(
                sources: try run.read(run.input).map { "\(run.input)-\($0.partition)-\($0.offset)" },
                decisions: try run.read(run.output), deadLetters: try run.read(run.deadLetters))
            #expect(check == OutcomeCheck.good, "\(check.summary)")
            // One in 100 of the other records is bad, too.
            #expect(try run.read(run.deadLetters).count == 2_000 + good / 100)
        }
    }
}

/// A worker on a thread of its own.
private struct RunningWorker {
    let worker: Worker
    private let ended: Monitor<Int32?>

    init(_ configuration: WorkerConfiguration, log: Log) {
        let worker = Worker(configuration, log: log)
        let ended = Monitor<Int32?>(nil)
        (self.worker, self.ended) = (worker, ended)
        SystemThread.start("test") {
            let code = worker.run { _ in EchoProcessing() }.code
            ended.signal { $0 = code }
        }
    }

    var partitions: [PartitionView] { lanes.flatMap(\.partitions) }

    var lanes: [LaneSnapshot] {
        Thread.sleep(forTimeInterval: 0.01)
        return worker.status.snapshot(now: SystemClock.monotonicNanoseconds()).lanes.map(\.snapshot)
    }

    func stop() -> Int32? {
        worker.stop()
        return ended.wait(milliseconds: 60_000) { $0 }
    }
}
