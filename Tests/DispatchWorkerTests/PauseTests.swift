internal import SystemThreads
@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import TestSupport
import Testing

/// Pauses of a lane.
@Suite struct PauseTests {
    static let partition = MachineTests.partition
    static let other = TopicPartition(topic: "in", partition: 1)
    static let ms = MachineTests.ms

    /// Returns a machine whose partition is paused at time 1.
    static func paused(_ change: (inout LanePolicy) -> Void = { _ in }) -> LaneMachine {
        var machine = MachineTests.ready(change)
        machine.pause(true)
        #expect(machine.next(now: 1) == .pause([partition]))
        machine.pauseFinished([partition], failed: [], now: 1)
        return machine
    }

    /// Returns the results of a call that fails for partitions.
    static func failures(_ partitions: [TopicPartition]) -> [PartitionResult] {
        partitions.map { PartitionResult(partition: $0, offset: nil, error: KafkaError(code: .state)) }
    }

    @Test("A pause commits the open transaction, then pauses the partitions and polls only to keep the membership")
    func commitsFirst() {
        var machine = MachineTests.ready()
        MachineTests.consume(&machine, 3, now: 1)
        machine.pause(true)
        #expect(machine.next(now: 1) == .sendOffsets(MachineTests.offsets(3), isRepeat: false, milliseconds: nil))
        machine.offsetsSent(milliseconds: 1, now: 1)
        machine.committed(coordinatorDrops: 0, now: 2)
        #expect(machine.next(now: 2) == .pause([Self.partition]))
        #expect(!machine.isPaused)
        _ = machine.takeNotes()
        machine.pauseFinished([Self.partition], failed: [], now: 2)
        #expect(machine.isPaused)
        // The end of a paused partition, for its lag.
        #expect(machine.next(now: 2) == .findEnds(Self.partition))
        #expect(machine.takeNotes() == [.paused(partitions: 1)])
        machine.endsFound(Self.partition, Watermarks(low: 0, high: 25))
        #expect(machine.partitions.slots.map(\.end) == [25])
        #expect(machine.next(now: 2) == .wait(milliseconds: 20))
        #expect(machine.next(now: 1_000 * Self.ms) == .wait(milliseconds: 20))
        #expect(machine.next(now: 1_002 * Self.ms) == .findEnds(Self.partition))
        #expect(machine.next(now: 1_002 * Self.ms) == .keepAlive)
        #expect(machine.takeNotes() == [])
        #expect(machine.violation == nil)
    }

    @Test("A pause drops the rest of a batch, which is consumed again after it")
    func dropsBatch() {
        var machine = MachineTests.ready()
        machine.polled(PollOutcome(records: 5, events: 0, rebalanced: false), isKeepAlive: false, now: 1)
        machine.pause(true)
        #expect(machine.next(now: 1) == .discard)
        machine.discarded()
        #expect(machine.next(now: 1) == .pause([Self.partition]))
        machine.pauseFinished([Self.partition], failed: [], now: 1)
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 5) == nil)
        #expect(machine.isPaused)
        #expect(machine.stage == .paused)
    }

    @Test("After a pause every partition returns to its committed offset")
    func resumes() {
        var machine = Self.paused()
        _ = machine.next(now: 1)
        machine.pause(false)
        #expect(machine.next(now: 2) == .resume([Self.partition]))
        _ = machine.takeNotes()
        machine.resumeFinished([Self.partition], failed: [], now: 2)
        #expect(machine.next(now: 2) == .fetchCommitted([Self.partition]))
        #expect(machine.takeNotes() == [.resumed])
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 9) == nil)
        machine.committedOffsetsFetched([PartitionResult(partition: Self.partition, offset: 4)], now: 2)
        #expect(machine.next(now: 2) == .seek(MachineTests.offsets(4)))
        machine.seekFinished(MachineTests.offsets(4), failed: [])
        #expect(machine.next(now: 2) == .poll(milliseconds: 50, maximum: 1_000))
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 4) == 0)
    }

    @Test("Records that arrive during a pause are not processed")
    func lateRecords() {
        var machine = Self.paused()
        machine.polled(PollOutcome(records: 1, events: 0, rebalanced: false), isKeepAlive: true, now: 2)
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 0) == nil)
        #expect(machine.batch == .none)
        #expect(machine.violation == nil)
    }

    @Test("A partition that is assigned during a pause is paused after the callback")
    func newAssignment() {
        var machine = Self.paused()
        MachineTests.assign(&machine, [Self.other], now: 2)
        #expect(!machine.isPaused)
        #expect(machine.next(now: 2) == .pause([Self.other]))
        machine.pauseFinished([Self.other], failed: [], now: 2)
        #expect(machine.isPaused)
        #expect(machine.partitions.slots.map(\.isPaused) == [true, true])
    }

    @Test("A call that fails for a partition is repeated after a second")
    func failedCalls() {
        var machine = MachineTests.ready()
        MachineTests.assign(&machine, [Self.other], now: 1)
        machine.pause(true)
        #expect(machine.next(now: 1) == .pause([Self.partition, Self.other]))
        machine.pauseFinished([Self.partition, Self.other], failed: Self.failures([Self.other]), now: 1)
        #expect(machine.partitions.slots.map(\.isPaused) == [true, false])
        #expect(machine.next(now: 1) == .wait(milliseconds: 20))
        let later = 1 + 1_000 * Self.ms
        #expect(machine.next(now: later) == .pause([Self.other]))
        machine.pauseFinished([Self.other], failed: [], now: later)
        machine.pause(false)
        #expect(machine.next(now: later) == .resume([Self.partition, Self.other]))
        machine.resumeFinished([Self.partition, Self.other], failed: Self.failures([Self.partition]), now: later)
        #expect(machine.partitions.slots.map(\.isPaused) == [true, false])
        #expect(machine.next(now: later + 1_000 * Self.ms) == .resume([Self.partition]))
    }

    @Test("A partition that was assigned again is paused again")
    func reassigned() {
        var machine = Self.paused()
        machine.partitions.slots[0].positionState = .needsReassign(
            StartPosition(at: NextOffset(reported: 0)), tries: 0, retryAt: 0)
        machine.reassigned(MachineTests.offsets(0))
        #expect(machine.next(now: 2) == .pause([Self.partition]))
    }

    @Test("A stop and an exit do not wait for a pause", arguments: [true, false])
    func stops(isExit: Bool) {
        var machine = Self.paused()
        if isExit {
            machine.end(WorkerExit(.tryAgain, "test", advice: ""))
            machine.announced()
        } else {
            machine.drain()
        }
        #expect(machine.next(now: 2) == .close)
        machine.closed()
        #expect(machine.next(now: 2) == .dropProducer)
    }

    @Test("A failure to fetch the end of a paused partition is not logged")
    func endFails() {
        var machine = Self.paused()
        _ = machine.next(now: 1)
        _ = machine.takeNotes()
        machine.failed(.findEnds, KafkaError(code: .transport, isRetriable: true), now: 2)
        #expect(machine.takeNotes() == [])
        #expect(machine.next(now: 2) == .wait(milliseconds: 20))
    }

    @Test("Paused lanes keep their partitions for a minute and commit nothing, and then decide every record once")
    func simulated() {
        for isCooperative in [false, true] {
            let world = SimulatedWorld(
                seed: 4, callsPerFault: 0, lanes: 2, isStable: true, isCooperative: isCooperative)
            world.produce(200, SimulationTests.value)
            world.runSteps(200)
            for process in world.processes { process.shared?.setPaused(true) }
            world.runSteps(400)
            #expect(world.processes.map { $0.lane?.status.snapshot?.stage } == [.paused, .paused])
            let committed = world.broker.committed
            let owned = world.processes.map { $0.lane?.machine.partitions.names.sorted() ?? [] }
            #expect(owned.map(\.isEmpty) == [false, false])
            world.produce(200, SimulationTests.value)
            let end = world.broker.now + 60_000_000_000
            while world.broker.now < end && world.broken == nil { world.runSteps(10) }
            #expect(world.broker.committed == committed)
            #expect(world.processes.map { $0.lane?.machine.partitions.names.sorted() ?? [] } == owned)
            for process in world.processes { process.shared?.setPaused(false) }
            #expect(world.run(steps: 20_000))
            #expect(world.broken == nil)
            #expect(world.check() == OutcomeCheck.good, "\(world.check().summary)")
            #expect(world.drain())
        }
    }
}

/// A pause with a real broker.
@Suite(.serialized) struct BrokerPauseTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    @Test(
        "A paused worker keeps its partitions and decides nothing, and then continues at its offsets",
        .enabled(if: BrokerEnvironment.hasBroker))
    func pauseAndResume() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("pause", bootstrap: bootstrap)
            try run.produce(count: 3_000, BrokerTests.event)
            let log = Log(level: .warning, format: .text)
            defer { log.close() }
            let worker = Worker(run.configuration(lanes: 2), log: log)
            let ended = Monitor<Int32?>(nil)
            SystemThread.start("test") {
                let code = worker.run { _ in EchoProcessing() }.code
                ended.signal { $0 = code }
            }
            for round in 1...3 {
                let count = round * 3_000
                let isDone = becomesTrue(withinSeconds: 60) { Self.records(worker) == count }
                #expect(isDone)
                worker.setPaused(true)
                let isPaused = becomesTrue(withinSeconds: 30) {
                    Self.snapshots(worker).map(\.stage) == [.paused, .paused]
                }
                #expect(isPaused)
                try run.produce(count: 3_000, BrokerTests.event)
                // The lanes ask for the ends of the partitions, one per second and lane.
                let isKnown = becomesTrue(withinSeconds: 30) {
                    Self.snapshots(worker).flatMap(\.partitions).allSatisfy { ($0.end ?? 0) > $0.settled }
                }
                #expect(isKnown)
                let paused = Self.snapshots(worker)
                #expect(paused.flatMap(\.partitions).count == 6)
                #expect(Self.records(worker) == count)
                worker.setPaused(false)
            }
            let isDone = becomesTrue(withinSeconds: 60) { Self.records(worker) == 12_000 }
            #expect(isDone)
            worker.stop()
            let code = ended.wait(milliseconds: 60_000) { $0 }
            #expect(code == 0)
            try BrokerTests.check(run, count: 12_000)
        }
    }

    /// Returns the number of committed records, after a short time.
    private static func records(_ worker: Worker) -> Int {
        snapshots(worker).reduce(0) { $0 + $1.counters.records }
    }

    private static func snapshots(_ worker: Worker) -> [LaneSnapshot] {
        Thread.sleep(forTimeInterval: 0.01)
        return worker.status.snapshot(now: SystemClock.monotonicNanoseconds()).lanes.map(\.snapshot)
    }
}
