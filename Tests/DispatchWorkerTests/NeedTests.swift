@testable import DispatchWorker
@testable import KafkaClient
import Testing

/// Unmet needs of a lane.
///
/// A need ends when it is met or when its last cause ends.
@Suite struct NeedTests {
    static let partition = MachineTests.partition
    static let other = MachineDecisionTests.other
    static let ms = MachineTests.ms
    static let timeout = KafkaError(code: .timedOut)

    /// Returns a machine with a partition whose committed offset was not fetched in time.
    static func machineWithUnmetNeed() -> LaneMachine {
        var machine = MachineTests.ready()
        machine.partitions.markStale()
        #expect(machine.next(now: 1) == .fetchCommitted([partition]))
        machine.failed(.fetchCommitted, timeout, now: 1)
        #expect(machine.needs == [.committedOffsets])
        return machine
    }

    /// Events that end the need for committed offsets.
    static let ends: [(name: String, change: @Sendable (inout LaneMachine) -> Void)] = [
        (
            "an answer",
            { $0.committedOffsetsFetched([PartitionResult(partition: partition, offset: 3)], now: 2) }
        ),
        ("a refusal that came in time", { $0.failed(.fetchCommitted, KafkaError(code: .notCoordinator), now: 2) }),
        ("a revocation", { MachineTests.revoke(&$0, .revoke([partition]), now: 2) }),
        ("a stop", { $0.drain() }),
        ("an end", { $0.end(WorkerExit(.tryAgain, "", advice: "")) }),
        ("leaving", { $0.closed() }),
        (
            "another assignment",
            { machine in
                MachineTests.revoke(&machine, .revoke([partition]), now: 2)
                MachineTests.assign(&machine, [other], now: 2)
            }
        ),
    ]

    @Test("The need for committed offsets ends when they arrive or are no longer needed", arguments: ends.indices)
    func committedOffsets(row: Int) {
        var machine = Self.machineWithUnmetNeed()
        Self.ends[row].change(&machine)
        #expect(machine.needs == [], "\(Self.ends[row].name)")
    }

    @Test("A need that ended does not return with the next request")
    func newQuestion() {
        var machine = Self.machineWithUnmetNeed()
        MachineTests.revoke(&machine, .revoke([Self.partition]), now: 2)
        _ = machine.next(now: 2)
        machine.rebalancing(.assign([AssignedPartition(Self.other, topic: 0)]), now: 3)
        #expect(machine.nextInCallback(now: 3) == .fetchCommitted([Self.other]))
        #expect(machine.needs == [])
        machine.failed(.fetchCommitted, Self.timeout, now: 3)
        #expect(machine.nextInCallback(now: 3) != nil)
        machine.assigned(now: 3)
        #expect(machine.needs == [.committedOffsets])
    }

    @Test("The need for membership ends with an assignment, even an empty one")
    func membership() {
        var machine = Self.machineWithUnmetNeed()
        MachineTests.revoke(&machine, .lost([Self.partition]), now: 2)
        #expect(machine.needs == [.membership])
        machine.rebalancing(.assign([]), now: 3)
        _ = machine.nextInCallback(now: 3)
        machine.assigned(now: 3)
        #expect(machine.needs == [])
        #expect(machine.violation == nil)
    }

    @Test("The need for an answer to a commit ends when one arrives or the records are lost")
    func committing() {
        for isLost in [false, true] {
            var machine = MachineTests.ready { $0.guarantee = .atLeastOnce }
            MachineTests.consume(&machine, 2, now: 1)
            let now = 200 * Self.ms
            #expect(machine.next(now: now) == .flush(milliseconds: 1_000))
            machine.flushed(undelivered: 0, failure: nil, now: now)
            guard case .commitOffsets = machine.next(now: now) else {
                Issue.record("no commit is due")
                return
            }
            machine.failed(.commitOffsets, Self.timeout, now: now)
            #expect(machine.needs == [.committing])
            if isLost {
                machine.failed(.commitOffsets, KafkaError(code: .unknownMember), now: now)
            } else {
                machine.committed(coordinatorDrops: 0, now: now)
            }
            #expect(machine.needs == [])
        }
    }
}
