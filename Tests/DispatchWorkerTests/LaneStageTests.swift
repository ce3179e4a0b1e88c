@testable import DispatchWorker
@testable import KafkaClient
import Testing

/// The stage of a lane and the call that it waits for.
@Suite struct LaneStageTests {
    static let ms = MachineTests.ms

    /// A state of a machine with the expected stage and call.
    struct State: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var stage: LaneStage
        var call: LaneCall?
        var machine: @Sendable () -> LaneMachine
    }

    static let states: [State] = [
        State(testDescription: "before the first step", stage: .starting, call: .makeProducer) {
            LaneMachine(policy: LanePolicy())
        },
        State(testDescription: "a producer that is not initialized", stage: .initializing, call: .initTransactions) {
            var machine = LaneMachine(policy: LanePolicy())
            machine.producerMade()
            return machine
        },
        State(testDescription: "topics that are not open", stage: .opening, call: .openTopics) {
            var machine = LaneMachine(policy: LanePolicy())
            machine.producerMade()
            machine.transactionsInitialized()
            return machine
        },
        State(testDescription: "before the subscription", stage: .joining, call: .subscribe) {
            var machine = LaneMachine(policy: LanePolicy())
            machine.producerMade()
            machine.transactionsInitialized()
            machine.topicsOpened(now: 1)
            return machine
        },
        State(testDescription: "a member without an assignment", stage: .joining, call: nil) {
            var machine = LaneMachine(policy: LanePolicy())
            machine.producerMade()
            machine.transactionsInitialized()
            machine.topicsOpened(now: 1)
            machine.subscribed(now: 1)
            return machine
        },
        State(testDescription: "a fenced member", stage: .fenced, call: .findHolders) {
            var machine = MachineTests.ready()
            machine.failed(.consume, KafkaError(code: .fencedInstanceID, isFatal: true), now: 1)
            machine.abandoned(now: 1)
            return machine
        },
        State(testDescription: "an assignment", stage: .idle, call: nil) { MachineTests.ready() },
        State(testDescription: "a surplus lane", stage: .idle, call: nil) {
            var machine = MachineTests.ready()
            MachineTests.revoke(&machine, .revoke([MachineTests.partition]), now: 1)
            return machine
        },
        State(testDescription: "a partition that must be moved", stage: .positioning, call: .fetchCommitted) {
            var machine = MachineTests.ready()
            machine.partitions.markStale()
            return machine
        },
        State(testDescription: "a batch", stage: .working, call: nil) {
            var machine = MachineTests.ready()
            machine.polled(PollOutcome(records: 3, events: 0, rebalanced: false), isKeepAlive: false, now: 1)
            return machine
        },
        State(testDescription: "an open transaction", stage: .working, call: nil) {
            var machine = MachineTests.ready()
            MachineTests.consume(&machine, 3, now: 1)
            return machine
        },
        State(testDescription: "offsets that are being sent", stage: .committing, call: .sendOffsets) {
            var machine = MachineTests.ready { $0.commit.records = 3 }
            MachineTests.consume(&machine, 3, now: 1)
            _ = machine.next(now: 1)
            return machine
        },
        State(testDescription: "a commit", stage: .committing, call: .commit) {
            var machine = MachineTests.ready { $0.commit.records = 3 }
            MachineTests.consume(&machine, 3, now: 1)
            _ = machine.next(now: 1)
            machine.offsetsSent(milliseconds: 1, now: 1)
            return machine
        },
        State(testDescription: "an abort", stage: .aborting, call: .abort) {
            var machine = MachineTests.ready { $0.commit.records = 3 }
            MachineTests.consume(&machine, 3, now: 1)
            _ = machine.next(now: 1)
            machine.failed(.sendOffsets, MachineTests.error(.unknownMember, abortable: true), now: 1)
            return machine
        },
        State(testDescription: "a pause", stage: .paused, call: nil) {
            var machine = MachineTests.ready()
            machine.pause(true)
            machine.pauseFinished([MachineTests.partition], failed: [], now: 1)
            return machine
        },
        State(testDescription: "a pause with an open transaction", stage: .working, call: nil) {
            var machine = MachineTests.ready()
            MachineTests.consume(&machine, 3, now: 1)
            machine.pause(true)
            return machine
        },
        State(testDescription: "a stop during a pause", stage: .draining, call: nil) {
            var machine = MachineTests.ready()
            machine.pause(true)
            machine.pauseFinished([MachineTests.partition], failed: [], now: 1)
            machine.drain()
            return machine
        },
        State(testDescription: "a stop", stage: .draining, call: nil) {
            var machine = MachineTests.ready()
            machine.drain()
            return machine
        },
        State(testDescription: "the end", stage: .ended, call: .makeProducer) {
            var machine = LaneMachine(policy: LanePolicy())
            machine.drain()
            return machine
        },
    ]

    @Test("The stage follows from the state of the machine", arguments: states)
    func stages(state: State) {
        let machine = state.machine()
        #expect(machine.stage == state.stage)
        #expect(machine.waitsFor == state.call)
        #expect(machine.violation == nil)
    }

    @Test("An offset is settled if every record before it has its outcome")
    func settled() {
        var machine = MachineTests.ready { $0.commit.records = 3 }
        #expect(machine.partitions.slots.map { PartitionView($0).settled } == [0])
        MachineTests.consume(&machine, 3, now: 1)
        #expect(machine.partitions.slots.map { PartitionView($0).next } == [3])
        #expect(machine.partitions.slots.map { PartitionView($0).settled } == [0])
        _ = machine.next(now: 1)
        machine.offsetsSent(milliseconds: 1, now: 1)
        machine.committed(coordinatorDrops: 0, now: 2)
        #expect(machine.partitions.slots.map { PartitionView($0).settled } == [3])
        // The control record of a transaction has the offset 3.
        machine.partitions.reachedEnd(topic: 0, partition: 0, offset: 4)
        #expect(machine.partitions.slots.map { PartitionView($0).settled } == [4])
    }
}
