@testable import DispatchWorker
@testable import KafkaClient
import Testing

/// The ids of topics, which decide if a witness no longer exists.
@Suite struct WitnessIDTests {
    typealias Base = WitnessMachineTests
    static let partition = Base.partition
    static let ms: UInt64 = 1_000_000
    static let identify = LaneAction.identify(["in"])

    /// A lane that owns another partition whose committed witness, at offset 6, has this id.
    ///
    /// Every topic is compacted.
    static func assigned(_ id: String?, hasTopicIDs: Bool = true) -> LaneMachine {
        var machine = MachineTests.ready { policy in
            policy.hasTopicIDs = hasTopicIDs
            policy.compactedInputs = ["in"]
        }
        let witness = Witness(Base.record(6, 6, partition: 1), topicID: id)
        machine.rebalancing(.assign([AssignedPartition(Base.other, topic: 0)]), now: 1)
        _ = machine.nextInCallback(now: 1)
        machine.committedOffsetsFetched(
            [PartitionResult(partition: Base.other, offset: 7, metadata: witness.text)], now: 1)
        _ = machine.nextInCallback(now: 1)
        machine.assigned(now: 1)
        return machine
    }

    static func slot(_ machine: LaneMachine) throws -> OwnedPartition {
        try #require(machine.partitions.slots.first { $0.partition == Base.other })
    }

    static func unknown(_ machine: inout LaneMachine) -> Bool {
        machine.takeNotes().contains { if case .witnessUnknown = $0 { true } else { false } }
    }

    /// Returns from the witness to the consumer's next poll, in which the witness is missing.
    static func readMissing(_ machine: inout LaneMachine, now: UInt64) {
        Base.poll(&machine, [Base.record(9, 9, partition: 1)], now: now)
        Base.process(&machine, [Base.record(9, 9, partition: 1)], now: now)
        if machine.next(now: now) == .discard { machine.discarded() }
    }

    static func readWitness(_ machine: inout LaneMachine, now: UInt64) {
        Base.poll(&machine, [Base.record(6, 6, partition: 1)], now: now)
        Base.process(&machine, [Base.record(6, 6, partition: 1)], now: now)
    }

    static func seek(_ machine: inout LaneMachine, now: UInt64) {
        #expect(machine.next(now: now) == .seek([PartitionOffset(Base.other, offset: 6)]))
        machine.seekFinished([PartitionOffset(Base.other, offset: 6)], failed: [])
    }

    @Test("A missing witness whose topic has the same id is no reason for anything")
    func same() throws {
        var machine = Self.assigned("one")
        Self.readMissing(&machine, now: 2)
        #expect(machine.next(now: 2) == Self.identify)
        machine.identified(["in"], ["in": "one"], now: 2)
        Self.seek(&machine, now: 2)
        Base.poll(&machine, [Base.record(9, 9, partition: 1)], now: 3)
        Base.process(&machine, [Base.record(9, 9, partition: 1)], now: 3)
        #expect(try Self.slot(machine).pending?.value == 10)
        #expect(machine.partitions.pendingOffsets.last?.metadata.hasSuffix(" one") == true)
        #expect(!Self.unknown(&machine))
        #expect(machine.exit == nil && machine.violation == nil)
    }

    @Test("A missing witness whose topic has another id twice ends the lane with 65")
    func other() {
        var machine = Self.assigned("one")
        for _ in 0..<2 {
            Self.readMissing(&machine, now: 2)
            #expect(machine.next(now: 2) == Self.identify)
            machine.identified(["in"], ["in": "two"], now: 2)
            #expect(machine.exit == nil)
            if case .seek = machine.next(now: 2) {
                machine.seekFinished([PartitionOffset(Base.other, offset: 6)], failed: [])
            }
        }
        #expect(machine.next(now: 2) == .findEnds(Base.other))
        machine.endsFound(Base.other, Watermarks(low: 0, high: 10))
        #expect(machine.exit?.code == .badData)
        #expect(machine.exit?.reason.contains("the topic id two in place of one") == true)
    }

    @Test("A record that is found again wins over another id")
    func recordWins() throws {
        var machine = Self.assigned("one")
        Self.readMissing(&machine, now: 2)
        _ = machine.next(now: 2)
        machine.identified(["in"], ["in": "two"], now: 2)
        Self.seek(&machine, now: 2)
        Base.poll(&machine, [Base.record(6, 6, partition: 1)], now: 3)
        #expect(try Self.slot(machine).positionState == .current)
        #expect(machine.exit == nil)
    }

    @Test(
        "Without an answer, or with a library without ids, a missing witness is unknown, and its id is forgotten",
        arguments: [true, false])
    func noAnswer(hasTopicIDs: Bool) throws {
        var machine = Self.assigned("one", hasTopicIDs: hasTopicIDs)
        Self.readMissing(&machine, now: 2)
        if hasTopicIDs {
            #expect(machine.next(now: 2) == Self.identify)
            machine.identified(["in"], [:], now: 2)
            Self.seek(&machine, now: 2)
            Self.readMissing(&machine, now: 3)
        }
        #expect(Self.unknown(&machine))
        #expect(try Self.slot(machine).positionState == .current)
        #expect(try Self.slot(machine).witness?.topicID == nil)
        #expect(machine.exit == nil)
    }

    @Test("A witness that retention has removed is not told if the topic has the same id")
    func retention() throws {
        var machine = Self.assigned("one")
        for round in 0..<2 {
            machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 1), now: 2)
            #expect(machine.next(now: 2) == .findEnds(Base.other))
            machine.endsFound(Base.other, Watermarks(low: 7, high: 9))
            guard round == 0 else { continue }
            #expect(machine.next(now: 2) == Self.identify)
            machine.identified(["in"], ["in": "one"], now: 2)
            Self.seek(&machine, now: 2)
        }
        #expect(machine.next(now: 2) == .seek([PartitionOffset(Base.other, offset: 7)]))
        #expect(!Self.unknown(&machine))
    }

    @Test(
        "A library that refuses to seek after an offset out of range does not make the check of an id begin again",
        arguments: [false, true])
    func refusedSeek(isDoubted: Bool) throws {
        var machine = Self.assigned("one")
        var rounds: [(offset: Int64, asks: Bool)] = [(6, true), (7, false)]
        // The topic can have been created again before the partition is assigned again, so its id is fetched again.
        if isDoubted { rounds.insert((6, true), at: 0) }
        for (round, expected) in rounds.enumerated() {
            machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 1), now: 2)
            #expect(machine.next(now: 2) == .findEnds(Base.other))
            machine.endsFound(Base.other, Watermarks(low: 7, high: 9))
            if expected.asks {
                #expect(machine.next(now: 2) == Self.identify)
                machine.identified(["in"], ["in": "one"], now: 2)
            }
            let target = [PartitionOffset(Base.other, offset: expected.offset)]
            #expect(machine.next(now: 2) == .seek(target))
            let refusal = KafkaError(code: .state)
            machine.seekFinished(
                target, failed: [PartitionResult(partition: Base.other, offset: nil, error: refusal)])
            if isDoubted && round == 0 { machine.interrupted(Base.connectionLost()) }
            guard case .reassign(target, _) = machine.next(now: 2) else {
                Issue.record("the partition is not assigned again")
                return
            }
            machine.reassigned(target)
        }
        #expect(try Self.slot(machine).positionState == .current)
        #expect(try Self.slot(machine).witness?.topicID == "one")
        #expect(!Self.unknown(&machine))
        #expect(machine.exit == nil && machine.violation == nil)
    }

    @Test("An interruption while a partition without a check is assigned again requires its witness")
    func doubtedDuringAssignment() throws {
        var machine = Self.assigned("one")
        machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 1), now: 2)
        _ = machine.next(now: 2)
        machine.endsFound(Base.other, Watermarks(low: 7, high: 9))
        _ = machine.next(now: 2)
        machine.identified(["in"], ["in": "one"], now: 2)
        Self.seek(&machine, now: 2)
        machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 1), now: 2)
        _ = machine.next(now: 2)
        machine.endsFound(Base.other, Watermarks(low: 7, high: 9))
        let seven = [PartitionOffset(Base.other, offset: 7)]
        #expect(machine.next(now: 2) == .seek(seven))
        machine.seekFinished(
            seven, failed: [PartitionResult(partition: Base.other, offset: nil, error: KafkaError(code: .state))])
        machine.interrupted(Base.connectionLost())
        #expect(machine.next(now: 2) == .seek([PartitionOffset(Base.other, offset: 6)]))
    }

    @Test("An interruption after the id was fetched requires it again")
    func doubtedAgain() {
        var machine = Self.assigned("one")
        Self.readMissing(&machine, now: 2)
        _ = machine.next(now: 2)
        machine.identified(["in"], ["in": "one"], now: 2)
        Self.seek(&machine, now: 2)
        machine.interrupted(Base.connectionLost())
        Self.readMissing(&machine, now: 3)
        #expect(machine.next(now: 3) == Self.identify)
        #expect(machine.partitions.pendingOffsets.isEmpty)
    }

    @Test("A new id counts after the witness was read again and the topic still has it", arguments: [true, false])
    func learned(isStill: Bool) throws {
        var machine = Self.assigned(nil)
        Self.readWitness(&machine, now: 2)
        #expect(machine.next(now: 2) != Self.identify)
        machine.polled(PollOutcome(records: 0, events: 0, rebalanced: false), isKeepAlive: false, now: 2)
        var now: UInt64 = 2
        // Each step is short, so that nothing is doubted.
        func wait(_ machine: inout LaneMachine) -> LaneAction {
            for _ in 0..<80 {
                now += 100 * Self.ms
                let action = machine.next(now: now)
                if case .poll = action {
                    let nothing = PollOutcome(records: 0, events: 0, rebalanced: false)
                    machine.polled(nothing, isKeepAlive: false, now: now)
                } else {
                    return action
                }
            }
            return .end
        }
        #expect(wait(&machine) == Self.identify)
        machine.identified(["in"], ["in": "one"], now: now)
        #expect(try Self.slot(machine).witness?.topicID == nil)
        Self.seek(&machine, now: now)
        Self.readWitness(&machine, now: now)
        #expect(try Self.slot(machine).witness?.topicID == nil)
        #expect(wait(&machine) == Self.identify)
        machine.identified(["in"], ["in": isStill ? "one" : "two"], now: now)
        if isStill {
            #expect(try Self.slot(machine).witness?.topicID == "one")
        } else {
            #expect(try Self.slot(machine).witness?.topicID == nil)
            Self.seek(&machine, now: now)
        }
        #expect(!Self.unknown(&machine))
    }

    @Test("An id whose record was found again counts when the topic still has it")
    func confirmed() throws {
        var machine = Self.assigned("one")
        Base.poll(&machine, [Base.record(6, 6, partition: 1)], now: 2)
        #expect(try Self.slot(machine).witness?.topicID == nil)
        machine.identified(["in"], ["in": "one"], now: 2)
        #expect(try Self.slot(machine).witness?.topicID == "one")
        #expect(try Self.slot(machine).positionState == .current)
    }
}
