@testable import DispatchWorker
@testable import KafkaClient
import TestSupport
import Testing

/// Lanes that were fenced: another process has their instance name, or only a coordinator says so.
@Suite struct ContestTests {
    private static let ms = MachineTests.ms
    private static let second = 1_000 * ms
    private static let fenced = KafkaError(code: .fencedInstanceID, isFatal: true)

    /// Returns a fenced machine that has destroyed its clients and asks the group, after records without a commit.
    private static func contested(_ change: (inout LanePolicy) -> Void = { _ in }) -> LaneMachine {
        var machine = MachineTests.ready {
            $0.isStable = true
            change(&$0)
        }
        machine.joined(as: "own-1")
        MachineTests.consume(&machine, 3, now: 1)
        machine.failed(.consume, fenced, now: 1)
        #expect(machine.exit == nil)
        #expect(machine.next(now: 1) == .dropProducer)
        machine.producerDropped(now: 1)
        #expect(machine.next(now: 1) == .abandon)
        machine.joined(as: "own-2")
        machine.abandoned(now: 1)
        #expect(machine.partitions.isEmpty && machine.violation == nil)
        return machine
    }

    /// Steps over waits, and returns the next other action and its time.
    private static func action(_ machine: inout LaneMachine, after time: UInt64) -> (LaneAction, UInt64) {
        var now = time
        while true {
            let action = machine.next(now: now)
            guard case .wait(let milliseconds) = action else { return (action, now) }
            now += UInt64(max(1, milliseconds)) * ms
        }
    }

    @Test(
        "A fenced lane joins with new clients if no member or only one of its own has its name",
        arguments: [[], ["own-1"], ["own-2"], ["own-1", "own-2"]])
    func nobody(members: [String]) {
        var machine = Self.contested()
        let (action, now) = Self.action(&machine, after: 1)
        #expect(action == .findHolders)
        machine.holdersFound(InstanceHolders(members: members, coordinator: 1), now: now)
        #expect(machine.next(now: now) == .makeProducer)
        machine.producerMade()
        machine.transactionsInitialized()
        machine.topicsOpened(now: now)
        #expect(machine.next(now: now) == .subscribe)
        #expect(machine.exit == nil && machine.violation == nil)
    }

    /// Answers every question with another process's member, until the lane has ended or `seconds` have passed.
    private static func meetRival(
        _ machine: inout LaneMachine, from begin: UInt64, seconds: UInt64, coordinator: (UInt64) -> Int32 = { _ in 1 }
    ) -> UInt64 {
        var now = begin
        while machine.exit == nil && now < begin + seconds * second {
            let (action, time) = action(&machine, after: now)
            #expect(action == .findHolders)
            now = time
            machine.holdersFound(
                InstanceHolders(members: ["other"], coordinator: coordinator((now - begin) / second)), now: now)
        }
        return now - begin
    }

    @Test("A fenced lane ends with 79 when another process's member is still there after a session timeout")
    func rival() {
        var machine = Self.contested()
        let passed = Self.meetRival(&machine, from: 1, seconds: 100)
        #expect(machine.exit?.code == .fenced)
        #expect((45 * Self.second...48 * Self.second).contains(passed))
    }

    @Test("A member of a process that has ended expires, and then the lane joins")
    func predecessor() {
        var machine = Self.contested()
        let passed = Self.meetRival(&machine, from: 1, seconds: 44)
        #expect(machine.exit == nil)
        let (action, now) = Self.action(&machine, after: 1 + passed)
        #expect(action == .findHolders)
        machine.holdersFound(InstanceHolders(members: [], coordinator: 1), now: now)
        #expect(machine.next(now: now) == .makeProducer)
    }

    @Test("The time counts from the first answer of the coordinator that answers now")
    func coordinators() {
        var machine = Self.contested()
        let passed = Self.meetRival(&machine, from: 1, seconds: 100) { $0 < 40 ? 1 : 2 }
        #expect(machine.exit?.code == .fenced)
        #expect(passed >= 85 * Self.second)
        var waiting = Self.contested()
        _ = Self.meetRival(&waiting, from: 1, seconds: 40)
        let (_, time) = Self.action(&waiting, after: 41 * Self.second)
        waiting.failed(.findHolders, KafkaError(code: .timedOut), now: time)
        _ = Self.meetRival(&waiting, from: time, seconds: 44)
        #expect(waiting.exit == nil)
    }

    @Test("While no coordinator answers, the lane waits without a limit, says so once, and a stop ends it at once")
    func waits() {
        var machine = Self.contested()
        _ = machine.takeNotes()
        var now: UInt64 = 1
        for _ in 0..<200 {
            let (action, time) = Self.action(&machine, after: now)
            #expect(action == .findHolders)
            now = time
            machine.failed(.findHolders, KafkaError(code: .coordinatorNotAvailable), now: now)
        }
        #expect(now > 900 * Self.second)
        #expect(machine.exit == nil)
        #expect(machine.stage == .fenced && machine.waitsFor == .findHolders && machine.needs == [])
        #expect(machine.takeNotes() == [.failed(.findHolders, KafkaError(code: .coordinatorNotAvailable))])
        machine.drain()
        #expect(machine.next(now: now) == .end)
        #expect(machine.exit == nil)
    }

    @Test("The second fencing of the producer in a minute leads to the same question")
    func producer() {
        var machine = MachineTests.ready { $0.isStable = true }
        var now: UInt64 = 1
        for round in 0..<2 {
            MachineTests.consume(&machine, 1, now: now)
            machine.failed(.sendOffsets, KafkaError(code: .fenced, isFatal: true), now: now)
            if round == 0 { MachineTests.recover(&machine, now: &now) }
        }
        #expect(machine.next(now: now) == .dropProducer)
        machine.producerDropped(now: now)
        #expect(machine.next(now: now) == .abandon)
        machine.joined(as: "own")
        machine.abandoned(now: now)
        _ = Self.meetRival(&machine, from: now, seconds: 100)
        #expect(machine.exit?.code == .fenced)
    }

    @Test("Only the first lane of a process ends it, so that two processes with several lanes do not both end")
    func otherLanes() {
        var machine = Self.contested { $0.decidesContest = false }
        _ = Self.meetRival(&machine, from: 1, seconds: 600)
        #expect(machine.exit == nil)
    }

    @Test("A lane that is fenced in a rebalance answers it, and then gives up its clients")
    func inCallback() {
        var machine = MachineTests.ready { $0.isStable = true }
        let added = TopicPartition(topic: "in", partition: 1)
        machine.rebalancing(.assign([AssignedPartition(added, topic: 0)]), now: 1)
        #expect(machine.nextInCallback(now: 1) == .fetchCommitted([added]))
        machine.failed(.fetchCommitted, Self.fenced, now: 1)
        guard case .assign = machine.nextInCallback(now: 1) else {
            Issue.record("the assignment is not answered")
            return
        }
        machine.failed(.assign, Self.fenced, now: 1)
        machine.assigned(now: 1)
        #expect(machine.nextInCallback(now: 1) == nil)
        #expect(machine.next(now: 1) == .dropProducer)
        machine.producerDropped(now: 1)
        #expect(machine.next(now: 1) == .abandon)
        machine.abandoned(now: 1)
        #expect(machine.exit == nil && machine.violation == nil)
    }

    // MARK: Whole lanes

    @Test("Of two living twins exactly one survives, and every record is decided once", arguments: 0..<40)
    func twins(seed: Int) {
        let world = SimulatedWorld(
            seed: UInt64(seed), callsPerFault: 0, lanes: 2, isStable: true, isCooperative: seed % 3 == 0)
        world.processes[1].name = world.processes[0].name
        // The second process starts later, sometimes much later. A process that ends does not start again.
        world.processes[1].restartAt = world.broker.now + UInt64(seed % 4) * 3 * Self.second
        world.restarts = false
        world.hasFaults = true
        world.produce(200, SimulationTests.value)
        for step in 0..<12_000 where world.broken == nil {
            world.act(step % 2)
            if step % 100 == 0 { world.produce(2, SimulationTests.value) }
        }
        #expect(world.broken == nil, "seed \(seed)")
        #expect(world.exits.map(\.code) == [.fenced], "seed \(seed): \(world.state)")
        #expect(world.processes.filter { $0.lane != nil }.count == 1, "seed \(seed)")
        world.settle(steps: 6_000)
        #expect(world.isSettled, "seed \(seed): \(world.state)")
        #expect(world.check() == OutcomeCheck.good, "seed \(seed): \(world.check().summary)")
    }

    @Test(
        "A coordinator that goes back to old members ends no lane, and every record is decided once", arguments: 0..<40)
    func reverted(seed: Int) {
        let world = SimulatedWorld(
            seed: UInt64(seed), callsPerFault: [0, 30, 100][seed % 3], lanes: 1 + seed % 3, isStable: true,
            isCooperative: seed % 2 == 0, guarantee: seed % 5 == 0 ? .atLeastOnce : .exactlyOnce)
        world.produce(200, SimulationTests.value)
        var reverts = 0
        for step in 0..<6_000 where world.broken == nil {
            world.act(step % world.processes.count)
            if step % 150 == 0 {
                world.produce(3, SimulationTests.value)
                world.isCoordinatorAway = !world.isCoordinatorAway && step % 300 == 0
                if world.broker.group.revert(now: world.broker.now) {
                    reverts += 1
                    world.coordinator += 1
                }
            }
            // A member is replaced when its process starts again.
            if step % 700 == 350 { world.processes[0].life.isDead = true }
        }
        world.isCoordinatorAway = false
        world.settle(steps: 10_000)
        #expect(reverts > 0, "seed \(seed): no member was replaced")
        #expect(world.broken == nil, "seed \(seed)")
        #expect(!world.exits.contains { $0.code == .fenced }, "seed \(seed): \(world.exits)")
        #expect(world.isSettled, "seed \(seed): \(world.state)")
        #expect(world.check().lost == [], "seed \(seed)")
        if world.policy.guarantee == .exactlyOnce { #expect(world.check() == OutcomeCheck.good, "seed \(seed)") }
    }
}
