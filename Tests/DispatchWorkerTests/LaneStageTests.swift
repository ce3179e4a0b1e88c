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
        var start: @Sendable () -> LaneMachine = { MachineTests.ready() }
        var change: @Sendable (inout LaneMachine) -> Void
    }

    private static let new: @Sendable () -> LaneMachine = { LaneMachine(policy: LanePolicy()) }
    /// An open transaction whose offsets are being sent.
    private static let full: @Sendable () -> LaneMachine = {
        var machine = MachineTests.ready { $0.commit.records = 3 }
        MachineTests.consume(&machine, 3, now: 1)
        _ = machine.next(now: 1)
        return machine
    }

    static let states: [State] = [
        State(testDescription: "before the first step", stage: .starting, call: .makeProducer, start: new) { _ in },
        State(
            testDescription: "a producer that is not initialized", stage: .initializing, call: .initTransactions,
            start: new
        ) {
            $0.producerMade()
        },
        State(testDescription: "topics that are not open", stage: .opening, call: .openTopics, start: new) {
            $0.producerMade()
            $0.transactionsInitialized()
        },
        State(testDescription: "before the subscription", stage: .joining, call: .subscribe, start: new) {
            $0.producerMade()
            $0.transactionsInitialized()
            $0.topicsOpened(now: 1)
        },
        State(testDescription: "a member without an assignment", stage: .joining, call: nil, start: new) {
            $0.producerMade()
            $0.transactionsInitialized()
            $0.topicsOpened(now: 1)
            $0.subscribed(now: 1)
        },
        State(testDescription: "a fenced member", stage: .fenced, call: .findHolders) {
            $0.failed(.consume, KafkaError(code: .fencedInstanceID, isFatal: true), now: 1)
            $0.abandoned(now: 1)
        },
        State(testDescription: "an assignment", stage: .idle, call: nil) { _ in },
        State(testDescription: "a surplus lane", stage: .idle, call: nil) {
            MachineTests.revoke(&$0, .revoke([MachineTests.partition]), now: 1)
        },
        State(testDescription: "a partition that must be moved", stage: .positioning, call: .fetchCommitted) {
            $0.partitions.markStale()
        },
        State(testDescription: "a batch", stage: .working, call: nil) {
            $0.polled(PollOutcome(records: 3, events: 0, rebalanced: false), isKeepAlive: false, now: 1)
        },
        State(testDescription: "an open transaction", stage: .working, call: nil) {
            MachineTests.consume(&$0, 3, now: 1)
        },
        State(testDescription: "offsets that are being sent", stage: .committing, call: .sendOffsets, start: full) {
            _ in
        },
        State(testDescription: "a commit", stage: .committing, call: .commit, start: full) {
            $0.offsetsSent(milliseconds: 1, now: 1)
        },
        State(testDescription: "an abort", stage: .aborting, call: .abort, start: full) {
            $0.failed(.sendOffsets, MachineTests.error(.unknownMember, abortable: true), now: 1)
        },
        State(testDescription: "a pause", stage: .paused, call: nil) {
            $0.pause(true)
            $0.pauseFinished([MachineTests.partition], failed: [], now: 1)
        },
        State(testDescription: "a pause with an open transaction", stage: .working, call: nil) {
            MachineTests.consume(&$0, 3, now: 1)
            $0.pause(true)
        },
        State(testDescription: "a stop during a pause", stage: .draining, call: nil) {
            $0.pause(true)
            $0.pauseFinished([MachineTests.partition], failed: [], now: 1)
            $0.drain()
        },
        State(testDescription: "a stop", stage: .draining, call: nil) { $0.drain() },
        State(testDescription: "the end", stage: .ended, call: .makeProducer, start: new) { $0.drain() },
    ]

    @Test("The stage follows from the state of the machine", arguments: states)
    func stages(state: State) {
        var machine = state.start()
        state.change(&machine)
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
