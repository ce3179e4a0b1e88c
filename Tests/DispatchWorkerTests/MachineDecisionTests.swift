@testable import DispatchWorker
@testable import KafkaClient
import Testing

/// Decisions of the machine for which an earlier version lost records, waited forever, or ended the worker without a
/// reason.
@Suite struct MachineDecisionTests {
    static let partition = MachineTests.partition
    static let other = TopicPartition(topic: "in", partition: 1)
    static let ms = MachineTests.ms

    static func offset(_ partition: TopicPartition, _ offset: Int64) -> PartitionOffset {
        PartitionOffset(partition, offset: offset)
    }

    /// Commits pending records, as the next action.
    static func commit(_ machine: inout LaneMachine, now: UInt64) {
        guard case .sendOffsets = machine.next(now: now) else {
            Issue.record("no commit is due")
            return
        }
        machine.offsetsSent(milliseconds: 1, now: now)
        machine.committed(coordinatorDrops: 0, now: now)
    }

    @Test("Repositioning one partition does not make another one current whose records were dropped")
    func staleAlone() {
        var machine = MachineTests.ready { $0.dataLoss = .earliest }
        MachineTests.assign(&machine, [Self.other], now: 1)
        machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 0, offset: 0), now: 1)
        machine.partitions.slots[0].isStarted = true
        // Brokers do not answer. A poll that keeps the membership alive drops a record of the other partition.
        machine.polled(PollOutcome(records: 1, events: 0, rebalanced: false), isKeepAlive: true, now: 2)
        #expect(machine.next(now: 2) == .fetchCommitted([Self.other]))
        machine.failed(.fetchCommitted, KafkaError(code: .timedOut), now: 2)
        #expect(machine.next(now: 2) == .findEnds(Self.partition))
        machine.endsFound(Self.partition, Watermarks(low: 10, high: 20))
        #expect(machine.next(now: 2) == .seek([Self.offset(Self.partition, 10)]))
        machine.seekFinished([Self.offset(Self.partition, 10)], failed: [])
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 10) != nil)
        #expect(machine.partitions.admit(topic: 0, partition: 1, offset: 5) == nil)
        #expect(machine.partitions.slots[1].positionState == .stale)
    }

    @Test("Credentials that are refused for start.timeout end a lane with 77, but isolated refusals do not")
    func refusals() {
        let refusal = KafkaError(code: .authentication, text: "no")
        let minute = 60_000 * Self.ms
        var idle = MachineTests.ready()
        for hour in 0..<3 { idle.failed(.consume, refusal, now: UInt64(hour) * 60 * minute) }
        #expect(idle.exit == nil)

        var served = MachineTests.ready()
        for round in 0..<10 {
            served.failed(.consume, refusal, now: UInt64(round) * minute / 2)
            served.handle(ConsumerEvent(kind: .endOfPartition, topic: 0, partition: 0, offset: 0), now: 0)
        }
        #expect(served.exit == nil)

        var refused = MachineTests.ready()
        refused.failed(.consume, refusal, now: minute)
        #expect(refused.exit == nil)
        refused.failed(.consume, refusal, now: minute + minute / 2)
        #expect(refused.exit?.code == .denied)
    }

    @Test("Credentials that are refused while a lane starts end it only after start.timeout")
    func refusalsAtTheStart() {
        let refusal = KafkaError(code: .authentication, text: "no")
        var machine = LaneMachine(policy: LanePolicy())
        var now: UInt64 = 1
        #expect(machine.next(now: now) == .makeProducer)
        machine.producerMade()
        #expect(machine.next(now: now) == .initTransactions(milliseconds: 1_000))
        machine.failed(.initTransactions, refusal, now: now)
        #expect(machine.exit == nil)
        now += 29_000 * Self.ms
        machine.failed(.initTransactions, refusal, now: now)
        #expect(machine.exit == nil)
        now += 1_000 * Self.ms
        machine.failed(.initTransactions, refusal, now: now)
        #expect(machine.exit?.code == .denied)
    }

    @Test("An end that arrives with records counts after them, and a later record revokes it")
    func endWithRecords() {
        var machine = MachineTests.ready()
        machine.polled(PollOutcome(records: 1, events: 1, rebalanced: false), isKeepAlive: false, now: 1)
        // After transactions: control records have offsets 1 and 3.
        machine.handle(ConsumerEvent(kind: .endOfPartition, topic: 0, partition: 0, offset: 2), now: 1)
        machine.partitions.setEnd(at: 0, 4)
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 0) == 0)
        #expect(machine.partitions.isAtEnd)
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 2) == 0)
        #expect(!machine.partitions.isAtEnd)
    }

    @Test("The start of from: latest is committed before any record and kept if that commit fails")
    func origin() {
        var machine = MachineTests.ready { $0.from = .latest }
        #expect(machine.next(now: 1) == .findEnds(Self.partition))
        machine.endsFound(Self.partition, Watermarks(low: 3, high: 7))
        let seven = [Self.offset(Self.partition, 7)]
        #expect(machine.next(now: 1) == .seek(seven))
        machine.seekFinished(seven, failed: [])
        #expect(machine.next(now: 1) == .begin)
        machine.begun(coordinatorDrops: 0, now: 1)
        #expect(machine.next(now: 1) == .sendOffsets(seven, isRepeat: false, milliseconds: nil))
        machine.failed(.sendOffsets, MachineTests.error(.illegalGeneration, abortable: true), now: 1)
        #expect(machine.next(now: 1) == .abort)
        machine.aborted(refusal: nil, coordinatorDrops: 0, now: 1)
        let later = 200 * Self.ms
        #expect(machine.next(now: later) == .fetchCommitted([Self.partition]))
        machine.committedOffsetsFetched([PartitionResult(partition: Self.partition, offset: nil)], now: later)
        #expect(machine.next(now: later) == .seek(seven))
    }

    /// The next action for a partition whose committed offset no longer exists.
    static let vanished: [(StartPolicy, LaneAction?)] = [
        (.earliest, .seek([offset(partition, LogicalOffset.beginning)])), (.latest, .findEnds(partition)), (.fail, nil),
    ]

    @Test(
        "A committed offset that no longer exists is noted and replaced according to from", arguments: vanished.indices)
    func vanishedCommit(row: Int) {
        let (from, action) = Self.vanished[row]
        var machine = MachineTests.ready()
        MachineTests.consume(&machine, 3, now: 1)
        Self.commit(&machine, now: 200 * Self.ms)
        var changed = MachineTests.ready { $0.from = from == .fail ? .earliest : from }
        if from == .fail {
            var policy = LanePolicy()
            policy.from = .fail
            changed = LaneMachine(policy: policy)
        }
        changed.producer = machine.producer
        changed.group = machine.group
        changed.partitions = machine.partitions
        changed.partitions.markStale()
        let now = 201 * Self.ms
        #expect(changed.next(now: now) == .fetchCommitted([Self.partition]))
        changed.committedOffsetsFetched([PartitionResult(partition: Self.partition, offset: nil)], now: now)
        #expect(changed.takeNotes().contains(.commitVanished(Self.partition, had: 3)))
        if let action { #expect(changed.next(now: now) == action) }
        #expect(changed.exit?.code == (from == .fail ? .configuration : nil))
    }

    @Test(
        "A partition that refuses a seek is assigned again, with a note unless it was just assigned",
        arguments: [(KafkaErrorCode.timedOut, 1), (.state, 0)])
    func seekRefused(code: KafkaErrorCode, notes: Int) {
        var machine = MachineTests.ready()
        MachineTests.consume(&machine, 3, now: 1)
        Self.commit(&machine, now: 200 * Self.ms)
        let now = 201 * Self.ms
        machine.partitions.markStale()
        _ = machine.next(now: now)
        machine.committedOffsetsFetched([PartitionResult(partition: Self.partition, offset: 3)], now: now)
        let three = [Self.offset(Self.partition, 3)]
        #expect(machine.next(now: now) == .seek(three))
        _ = machine.takeNotes()
        let error = KafkaError(code: code)
        machine.seekFinished(three, failed: [PartitionResult(partition: Self.partition, offset: nil, error: error)])
        #expect(machine.takeNotes().filter { $0 == .failed(.seek, error) }.count == notes)
        #expect(machine.next(now: now) == .reassign(three, all: three))
    }

    @Test("A logical offset is kept when all partitions are assigned again")
    func beginningStays() {
        var machine = MachineTests.ready()
        MachineTests.assign(&machine, [Self.other], now: 1)
        MachineTests.consume(&machine, 3, now: 1)
        Self.commit(&machine, now: 200 * Self.ms)
        let now = 201 * Self.ms
        machine.partitions.slots[0].positionState = .stale
        _ = machine.next(now: now)
        machine.committedOffsetsFetched([PartitionResult(partition: Self.partition, offset: 3)], now: now)
        let three = [Self.offset(Self.partition, 3)]
        #expect(machine.next(now: now) == .seek(three))
        machine.seekFinished(
            three,
            failed: [PartitionResult(partition: Self.partition, offset: nil, error: KafkaError(code: .timedOut))])
        #expect(machine.takeNotes().last == .failed(.seek, KafkaError(code: .timedOut)))
        #expect(
            machine.next(now: now)
                == .reassign(three, all: three + [Self.offset(Self.other, LogicalOffset.beginning)]))
    }

    @Test("A stop does not wait for a producer that is being initialized")
    func drainWhileInitializing() {
        var machine = MachineTests.ready()
        MachineTests.consume(&machine, 1, now: 1)
        _ = machine.next(now: 200 * Self.ms)
        machine.offsetsSent(milliseconds: 500, now: 200 * Self.ms)
        machine.committed(coordinatorDrops: 0, now: 200 * Self.ms)
        #expect(machine.next(now: 200 * Self.ms) == .dropProducer)
        machine.producerDropped(now: 200 * Self.ms)
        machine.producerMade()
        machine.failed(.initTransactions, KafkaError(code: .timedOut, isRetriable: true), now: 200 * Self.ms)
        machine.drain()
        #expect(machine.next(now: 200 * Self.ms) == .close)
    }

    /// Errors of a commit with at-least-once, and whether the group has continued without this member.
    static let storeErrors: [(KafkaErrorCode, Bool)] = [
        (.timedOut, false), (.transport, false), (.notCoordinator, false), (.coordinatorLoadInProgress, false),
        (.rebalanceInProgress, false), (.illegalGeneration, true), (.unknownMember, true),
    ]

    @Test("With at-least-once, a failed commit is repeated unless the membership is lost", arguments: storeErrors)
    func storeFails(code: KafkaErrorCode, isLost: Bool) {
        var machine = MachineTests.ready { $0.guarantee = .atLeastOnce }
        MachineTests.consume(&machine, 2, now: 1)
        let now = 200 * Self.ms
        #expect(machine.next(now: now) == .flush(milliseconds: 1_000))
        machine.flushed(undelivered: 0, failure: nil, now: now)
        let store = LaneAction.commitOffsets([Self.offset(Self.partition, 2)], milliseconds: 5_000)
        #expect(machine.next(now: now) == store)
        machine.failed(.commitOffsets, KafkaError(code: code), now: now)
        let next = machine.next(now: now + 100 * Self.ms)
        #expect(next == (isLost ? .dropProducer : store))
    }

    @Test("The delay before a rotation starts at zero and grows until a transaction succeeds")
    func rotationBackoff() {
        var machine = MachineTests.ready()
        var waits: [UInt64] = []
        var now: UInt64 = 1
        for round in 0..<4 {
            MachineTests.consume(&machine, 1, from: Int64(round), now: now)
            now += 200 * Self.ms
            _ = machine.next(now: now)
            machine.offsetsSent(milliseconds: 500, now: now)
            machine.committed(coordinatorDrops: 0, now: now)
            #expect(machine.next(now: now) == .dropProducer)
            machine.producerDropped(now: now)
            guard case .absent(let notBefore) = machine.producer else { return }
            waits.append((notBefore - now) / Self.ms)
            now = notBefore
            machine.producerMade()
            machine.transactionsInitialized()
            machine.topicsOpened(now: now)
        }
        #expect(waits == [0, 100, 200, 400])
    }

    @Test("A dead letter that is refused three times ends the lane with 78, and the exit names its record")
    func refusedDeadLetter() {
        var machine = MachineTests.ready()
        var now: UInt64 = 1
        for _ in 0..<6 where machine.exit == nil {
            MachineTests.consume(&machine, 1, now: now)
            now += 200 * Self.ms
            _ = machine.next(now: now)
            machine.failed(.sendOffsets, MachineTests.error(.invalidRecord, abortable: true), now: now)
            #expect(machine.next(now: now) == .abort)
            machine.aborted(refusal: .invalidRecord, coordinatorDrops: 0, now: now)
            if machine.exit == nil { MachineTests.recover(&machine, now: &now) }
        }
        #expect(machine.exit?.code == .configuration)
        #expect(machine.exit?.reason.contains("in [0] offset 0: INVALID_RECORD") == true)
        let refused = machine.takeNotes().compactMap { note -> Bool? in
            if case .refused(_, _, let isDeadLetter, _) = note { isDeadLetter } else { nil }
        }
        #expect(refused == [false, true, true, true])
    }

    @Test("A batch that takes a second is cut short, and the next ones are smaller")
    func lateBatch() {
        var machine = MachineTests.ready { $0.commit.intervalMilliseconds = 5_000 }
        #expect(machine.next(now: 1) == .poll(milliseconds: 50, maximum: 1_000))
        machine.polled(PollOutcome(records: 10, events: 0, rebalanced: false), isKeepAlive: false, now: 1)
        #expect(machine.next(now: 1) == .process(records: 50_000, until: 1 + 1_000 * Self.ms))
        _ = machine.partitions.admit(topic: 0, partition: 0, offset: 0)
        var result = BatchResult()
        result.messages = 1
        result.records = 1
        result.isLate = true
        machine.processed(result, now: 1_100 * Self.ms)
        #expect(machine.batch == .dropped)
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 1) == nil)
        #expect(machine.batchLimit == 500)
    }

    @Test("The search for a refused record continues with new producers and without a delay")
    func quickIsolation() {
        var machine = MachineTests.ready()
        var now: UInt64 = 1
        for _ in 0..<5 {
            MachineTests.consume(&machine, 1, now: now)
            now += 200 * Self.ms
            _ = machine.next(now: now)
            machine.failed(.sendOffsets, MachineTests.error(.messageTooLarge, abortable: true), now: now)
            machine.aborted(refusal: .messageTooLarge, coordinatorDrops: 0, now: now)
            #expect(machine.next(now: now) == .dropProducer)
            machine.producerDropped(now: now)
            #expect(machine.producer == .absent(notBefore: now))
            MachineTests.recover(&machine, now: &now)
        }
        #expect(machine.counters.rotations == 5 && machine.counters.recreations == 0)
    }

    @Test("A partition that waits for its dead-letter topic yields no records, and continues at its committed offset")
    func waiting() {
        var machine = MachineTests.ready()
        let name = Self.partition.topic
        machine.topicsNeeded()
        machine.topicsOpened(except: [name], now: 1)
        var now: UInt64 = 1
        for round in 0..<3 {
            #expect(machine.next(now: now) == .pause([Self.partition]) || round > 0)
            machine.pauseFinished([Self.partition], failed: [], now: now)
            // A batch that was fetched before the pause.
            machine.polled(PollOutcome(records: 1, events: 0, rebalanced: false), isKeepAlive: false, now: now)
            _ = machine.next(now: now)
            #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 5) == nil)
            machine.dropBatch()
            machine.discarded()
            guard case .poll = machine.next(now: now) else { return #expect(Bool(false), "no poll") }
            now += 1_000 * Self.ms
        }
        // Its end is asked for, so that its lag is known. That of its last fetch does not count.
        #expect(machine.next(now: now) == .findEnds(Self.partition))
        machine.endsFound(Self.partition, Watermarks(low: 0, high: 7))
        machine.updateEnds { _ in 1 }
        #expect(machine.partitions.slots.map(\.end) == [7])
        now += 1_000 * Self.ms
        #expect(machine.next(now: now) == .findEnds(Self.partition))
        machine.failed(.findEnds, KafkaError(code: .timedOut, isRetriable: true), now: now)
        for _ in 0..<5 {
            guard case .poll = machine.next(now: now) else { return #expect(Bool(false), "no poll") }
            now += 1_000 * Self.ms
        }
        #expect(machine.partitions.duplicates == 0 && machine.violation == nil)
        machine.topicsOpened(now: now)
        #expect(machine.next(now: now) == .resume([Self.partition]))
        machine.resumeFinished([Self.partition], failed: [], now: now)
        machine.polled(PollOutcome(records: 0, events: 0, rebalanced: false), isKeepAlive: true, now: now)
        #expect(machine.next(now: now) == .fetchCommitted([Self.partition]))
    }

    @Test(
        "The start of a partition that waits is committed before, so that records of the wait are not skipped",
        arguments: [nil, LaneCall.fetchCommitted, .sendOffsets])
    func waitingAtItsEnd(failing: LaneCall?) {
        var machine = MachineTests.ready { $0.from = .latest }
        var now: UInt64 = 1
        machine.rebalancing(.assign([AssignedPartition(Self.other, topic: 0)]), now: now)
        #expect(machine.nextInCallback(now: now) == .fetchCommitted([Self.other]))
        if failing == .fetchCommitted {
            machine.failed(.fetchCommitted, KafkaError(code: .timedOut, isRetriable: true), now: now)
        } else {
            machine.committedOffsetsFetched([PartitionResult(partition: Self.other, offset: nil)], now: now)
        }
        _ = machine.nextInCallback(now: now)
        machine.assigned(now: now)
        machine.polled(PollOutcome(records: 0, events: 0, rebalanced: true), isKeepAlive: false, now: now)
        machine.topicsNeeded()
        machine.topicsOpened(except: [Self.partition.topic], now: now)
        var sent: [PartitionOffset] = []
        var hasFailed = failing != .sendOffsets
        var end: Int64 = 41
        steps: for _ in 0..<200 {
            switch machine.next(now: now) {
            case .fetchCommitted(let names):
                machine.committedOffsetsFetched(
                    names.map { name in
                        PartitionResult(partition: name, offset: sent.last { $0.partition == name }?.offset)
                    }, now: now)
            case .findEnds(let partition):
                // A later request finds a later end. That of a partition that waits is only for its lag.
                if machine.partitions.slots.first(where: { $0.partition == partition })?.positionState != .waiting {
                    end += 1
                }
                machine.endsFound(partition, Watermarks(low: 0, high: end))
            case .seek(let offsets): machine.seekFinished(offsets, failed: [])
            case .begin: machine.begun(coordinatorDrops: 0, now: now)
            case .sendOffsets(let offsets, _, _):
                if hasFailed {
                    sent += offsets
                    machine.offsetsSent(milliseconds: 1, now: now)
                } else {
                    hasFailed = true
                    machine.failed(.sendOffsets, MachineTests.error(.illegalGeneration, abortable: true), now: now)
                }
            case .abort: machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
            case .commit: machine.committed(coordinatorDrops: 0, now: now)
            case .pause(let names):
                machine.pauseFinished(names, failed: [], now: now)
                if machine.partitions.slots.allSatisfy({ $0.positionState == .waiting }) { break steps }
            case .dropProducer: machine.producerDropped(now: now)
            case .makeProducer: machine.producerMade()
            case .initTransactions: machine.transactionsInitialized()
            case .openTopics: machine.topicsOpened(except: [Self.partition.topic], now: now)
            case .keepAlive, .poll:
                machine.polled(PollOutcome(records: 0, events: 0, rebalanced: false), isKeepAlive: true, now: now)
                now += 100 * Self.ms
            default: now += 100 * Self.ms
            }
        }
        #expect(Set(sent.map(\.offset)) == [42, 43] && sent.count == 2, "\(sent)")
        #expect(machine.partitions.slots.map(\.positionState) == [.waiting, .waiting])
        #expect(machine.violation == nil)
    }

    @Test("Missing topics are looked for again after 10 s, also after a failed look")
    func missingTopics() {
        var machine = MachineTests.ready()
        var now: UInt64 = 1
        for _ in 0..<3 {
            machine.topicsNeeded()
            #expect(machine.next(now: now) == .openTopics)
            machine.topicsOpened(except: [Self.partition.topic], now: now)
            machine.pauseFinished([Self.partition], failed: [], now: now)
            now += 11_000 * Self.ms
            #expect(machine.next(now: now) == .findEnds(Self.partition))
            #expect(machine.next(now: now) == .openTopics)
            machine.failed(.openTopics, KafkaError(code: .timedOut, isRetriable: true), now: now)
            #expect(machine.next(now: now) != .openTopics)
            now += 11_000 * Self.ms
            #expect(machine.next(now: now) == .findEnds(Self.partition))
            #expect(machine.next(now: now) == .openTopics)
        }
    }

    @Test("A topic that has lost a partition is opened again at once")
    func fewerPartitions() {
        for code in [KafkaErrorCode.unknownPartition, .unknownTopic, .unknownTopicOrPartition] {
            var machine = MachineTests.ready()
            MachineTests.consume(&machine, 1, now: 1)
            _ = machine.next(now: 200 * Self.ms)
            machine.failed(.sendOffsets, MachineTests.error(code, abortable: true), now: 200 * Self.ms)
            #expect(machine.next(now: 200 * Self.ms) == .abort)
            machine.aborted(refusal: nil, coordinatorDrops: 0, now: 200 * Self.ms)
            machine.discarded()
            #expect(machine.next(now: 200 * Self.ms) == .openTopics, "\(code)")
        }
    }

    @Test("The limit of records does not overflow while one partition of an aborted transaction does not advance")
    func endlessIsolation() {
        var isolation = Isolation()
        let pending = [PartitionOffset(Self.partition, offset: 9), PartitionOffset(Self.other, offset: 9)]
        for _ in 0..<Isolation.tries { _ = isolation.recordRefused(records: 8, pending: pending) }
        for _ in 0..<200 { isolation.committed { $0 == Self.partition ? 0 : 10 } }
        #expect(isolation.isActive && (isolation.limit ?? 0) > 1_000_000)
    }

    @Test("Two refused records at the heads of two partitions both become dead letters")
    func twoRefused() {
        var machine = MachineTests.ready()
        MachineTests.assign(&machine, [Self.other], now: 1)
        var now: UInt64 = 1
        for round in 0..<8 {
            // The partition whose record comes first in a batch is alone in its transaction.
            let partition = Int32(round % 2)
            machine.polled(PollOutcome(records: 1, events: 0, rebalanced: false), isKeepAlive: false, now: now)
            #expect(machine.partitions.admit(topic: 0, partition: partition, offset: 0) != nil)
            var result = BatchResult()
            result.messages = 1
            result.records = 1
            machine.processed(result, now: now)
            machine.begun(coordinatorDrops: 0, now: now)
            machine.produced()
            now += 200 * Self.ms
            _ = machine.next(now: now)
            machine.failed(.sendOffsets, MachineTests.error(.messageTooLarge, abortable: true), now: now)
            machine.aborted(refusal: .messageTooLarge, coordinatorDrops: 0, now: now)
            MachineTests.recover(&machine, now: &now)
            if machine.isolation.refused.count == 2 { break }
        }
        #expect(machine.isolation.refused.map(\.partition) == [Self.partition, Self.other])
    }
}
