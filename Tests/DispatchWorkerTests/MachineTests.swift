@testable import DispatchWorker
@testable import KafkaClient
import Testing

/// The machine's responses to single events.
///
/// Each test covers one transition.
@Suite struct MachineTests {
    static let partition = TopicPartition(topic: "in", partition: 0)
    static let ms: UInt64 = 1_000_000

    /// Returns a machine that is ready to poll, with one partition at offset 0, at time 0.
    static func ready(_ change: (inout LanePolicy) -> Void = { _ in }) -> LaneMachine {
        var policy = LanePolicy()
        change(&policy)
        var machine = LaneMachine(policy: policy)
        #expect(machine.next(now: 1) == .makeProducer)
        machine.producerMade()
        if policy.guarantee == .exactlyOnce {
            #expect(machine.next(now: 1) == .initTransactions(milliseconds: 1_000))
            machine.transactionsInitialized()
        }
        #expect(machine.next(now: 1) == .openTopics)
        machine.topicsOpened(now: 1)
        #expect(machine.next(now: 1) == .subscribe)
        machine.subscribed(now: 1)
        assign(&machine, [partition], now: 1)
        return machine
    }

    /// Assigns partitions without committed offsets.
    static func assign(_ machine: inout LaneMachine, _ partitions: [TopicPartition], now: UInt64) {
        machine.rebalancing(.assign(partitions.map { AssignedPartition($0, topic: 0) }), now: now)
        #expect(machine.nextInCallback(now: now) == .fetchCommitted(partitions))
        machine.committedOffsetsFetched(partitions.map { PartitionResult(partition: $0, offset: nil) }, now: now)
        guard case .assign = machine.nextInCallback(now: now) else {
            Issue.record("an assignment is not answered")
            return
        }
        machine.assigned(now: now)
        #expect(machine.nextInCallback(now: now) == nil)
    }

    /// Revokes partitions, as a rebalance callback does.
    static func revoke(_ machine: inout LaneMachine, _ request: RebalanceRequest, now: UInt64) {
        machine.rebalancing(request, now: now)
        guard case .unassign = machine.nextInCallback(now: now) else {
            Issue.record("a revocation is not answered")
            return
        }
        machine.unassigned()
        machine.polled(PollOutcome(records: 0, events: 0, rebalanced: true), isKeepAlive: false, now: now)
    }

    /// Polls and processes `count` records, and the producer accepts their outputs.
    static func consume(
        _ machine: inout LaneMachine, _ count: Int, from offset: Int64 = 0, bytes: Int = 0, now: UInt64
    ) {
        machine.polled(PollOutcome(records: count, events: 0, rebalanced: false), isKeepAlive: false, now: now)
        for index in 0..<count { _ = machine.partitions.admit(topic: 0, partition: 0, offset: offset + Int64(index)) }
        var result = BatchResult()
        result.messages = count
        result.records = count
        result.decisions = count
        result.bytes = bytes
        machine.processed(result, now: now)
        if machine.next(now: now) == .begin { machine.begun(coordinatorDrops: 0, now: now) }
        #expect(machine.next(now: now) == .produce)
        machine.produced()
        #expect(machine.violation == nil)
    }

    static func offsets(_ offset: Int64) -> [PartitionOffset] { [PartitionOffset(partition, offset: offset)] }

    static func error(_ code: KafkaErrorCode, retriable: Bool = false, abortable: Bool = false) -> KafkaError {
        KafkaError(code: code, isFatal: !retriable && !abortable, isRetriable: retriable, isAbortable: abortable)
    }

    @Test("A transaction is committed by age, by records, by bytes, and earlier at the end of its partitions")
    func commitTriggers() {
        var byAge = Self.ready()
        Self.consume(&byAge, 3, now: 1)
        #expect(byAge.next(now: 1) == .poll(milliseconds: 50, maximum: 1_000))
        #expect(byAge.next(now: 80 * Self.ms) == .poll(milliseconds: 21, maximum: 1_000))
        #expect(
            byAge.next(now: 101 * Self.ms) == .sendOffsets(Self.offsets(3), isRepeat: false, milliseconds: nil))

        var byRecords = Self.ready { $0.commit.records = 3 }
        Self.consume(&byRecords, 3, now: 1)
        #expect(byRecords.next(now: 1) == .sendOffsets(Self.offsets(3), isRepeat: false, milliseconds: nil))

        var byBytes = Self.ready { $0.commit.bytes = 100 }
        Self.consume(&byBytes, 1, bytes: 99, now: 1)
        #expect(byBytes.next(now: 1) == .poll(milliseconds: 50, maximum: 1_000))
        Self.consume(&byBytes, 1, from: 1, bytes: 100, now: 1)
        #expect(byBytes.next(now: 1) == .sendOffsets(Self.offsets(2), isRepeat: false, milliseconds: nil))

        var idle = Self.ready()
        Self.consume(&idle, 3, now: 1)
        #expect(idle.next(now: 1) == .poll(milliseconds: 50, maximum: 1_000))
        idle.partitions.setEnd(at: 0, 3)
        #expect(idle.next(now: 1) == .poll(milliseconds: 10, maximum: 1_000))
        #expect(idle.next(now: 11 * Self.ms) == .sendOffsets(Self.offsets(3), isRepeat: false, milliseconds: nil))

        var caughtUp = Self.ready { $0.commit.idleMilliseconds = 500 }
        Self.consume(&caughtUp, 3, now: 1)
        caughtUp.partitions.setEnd(at: 0, 3)
        #expect(caughtUp.next(now: 30 * Self.ms) == .poll(milliseconds: 4, maximum: 1_000))
        #expect(caughtUp.next(now: 34 * Self.ms) == .sendOffsets(Self.offsets(3), isRepeat: false, milliseconds: nil))
    }

    @Test("Nothing is committed without records")
    func emptyTransaction() {
        var machine = Self.ready()
        #expect(machine.next(now: 10_000 * Self.ms) == .poll(milliseconds: 50, maximum: 1_000))
    }

    @Test("A retriable send_offsets is repeated with the same offsets, and the producer is replaced after the commit")
    func retriedOffsets() {
        var machine = Self.ready()
        Self.consume(&machine, 2, now: 1)
        let late = 200 * Self.ms
        #expect(machine.next(now: late) == .sendOffsets(Self.offsets(2), isRepeat: false, milliseconds: nil))
        machine.failed(.sendOffsets, Self.error(.timedOut, retriable: true), now: late)
        #expect(machine.next(now: late) == .wait(milliseconds: 20))
        #expect(
            machine.next(now: late + 20 * Self.ms)
                == .sendOffsets(Self.offsets(2), isRepeat: true, milliseconds: nil))
        machine.offsetsSent(milliseconds: 1, now: late)
        #expect(machine.next(now: late + 20 * Self.ms) == .commit(milliseconds: nil))
        machine.committed(coordinatorDrops: 0, now: late + 30 * Self.ms)
        #expect(machine.next(now: late + 30 * Self.ms) == .dropProducer)
        machine.producerDropped(now: late + 30 * Self.ms)
        #expect(machine.next(now: late + 30 * Self.ms) == .makeProducer)
        #expect(machine.counters.rotations == 1)
        #expect(machine.counters.recreations == 0)
    }

    /// Observations that make the outcome of a commit uncertain.
    static let suspects: [(offsets: Int, commit: Int, drops: Int, isRotated: Bool)] = [
        (1, 5, 0, false), (399, 2_000, 0, false), (400, 5, 0, true), (1, 2_001, 0, true), (1, 5, 1, true),
    ]

    @Test("The producer is replaced after slow offsets, a slow commit, or a lost coordinator", arguments: suspects)
    func suspect(offsets: Int, commit: Int, drops: Int, isRotated: Bool) {
        var machine = Self.ready()
        Self.consume(&machine, 1, now: 1)
        _ = machine.next(now: 200 * Self.ms)
        machine.offsetsSent(milliseconds: offsets, now: 200 * Self.ms)
        let now = UInt64(200 + commit) * Self.ms
        machine.committed(coordinatorDrops: drops, now: now)
        #expect((machine.next(now: now) == .dropProducer) == isRotated)
    }

    /// Errors of `commit_transaction` and the next action.
    static let commitErrors: [(KafkaError, LaneAction)] = [
        (error(.timedOut, retriable: true), .wait(milliseconds: 20)),
        (error(.requestTimedOut, abortable: true), .abort),
        (error(.messageTooLarge, abortable: true), .abort),
        (error(.fenced, abortable: true), .dropProducer),
        (error(.fenced), .dropProducer),
        (error(.outOfOrderSequence), .dropProducer),
        (error(.invalidTransactionState), .dropProducer),
        (error(.topicAuthorizationFailed, abortable: true), .abort),
    ]

    @Test(
        "A failed commit is repeated, aborted, or replaces the producer, according to its class",
        arguments: commitErrors.indices
    )
    func commitFails(row: Int) {
        let (error, action) = Self.commitErrors[row]
        var machine = Self.ready()
        Self.consume(&machine, 1, now: 1)
        _ = machine.next(now: 200 * Self.ms)
        machine.offsetsSent(milliseconds: 1, now: 200 * Self.ms)
        machine.failed(.commit, error, now: 201 * Self.ms)
        if case .announce = machine.next(now: 201 * Self.ms) { machine.announced() }
        #expect(machine.next(now: 201 * Self.ms) == action)
    }

    @Test("An abort rewinds to the committed offsets of the group, never to local ones")
    func abortAndRewind() {
        var machine = Self.ready()
        Self.consume(&machine, 5, now: 1)
        let now = 200 * Self.ms
        _ = machine.next(now: now)
        machine.failed(.sendOffsets, Self.error(.illegalGeneration, abortable: true), now: now)
        #expect(machine.next(now: now) == .abort)
        machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
        #expect(machine.takeLostRecords() == 5)
        #expect(machine.next(now: now + 99 * Self.ms) == .wait(milliseconds: 1))
        #expect(machine.next(now: now + 100 * Self.ms) == .fetchCommitted([Self.partition]))
        machine.committedOffsetsFetched(
            [PartitionResult(partition: Self.partition, offset: 2)], now: now + 100 * Self.ms)
        #expect(machine.next(now: now + 100 * Self.ms) == .seek(Self.offsets(2)))
        machine.seekFinished(Self.offsets(2), failed: [])
        #expect(machine.next(now: now + 100 * Self.ms) == .poll(milliseconds: 50, maximum: 1_000))
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 1) == nil)
        #expect(machine.partitions.admit(topic: 0, partition: 0, offset: 2) == 0)
    }

    @Test("A revocation commits pending records before its deadline, then removes the partitions")
    func revocation() {
        var machine = Self.ready()
        Self.consume(&machine, 5, now: 1)
        machine.rebalancing(.revoke([Self.partition]), now: 10)
        #expect(
            machine.nextInCallback(now: 10)
                == .sendOffsets(Self.offsets(5), isRepeat: false, milliseconds: 10_000))
        machine.offsetsSent(milliseconds: 3, now: 10)
        #expect(machine.nextInCallback(now: 2_000 * Self.ms + 10) == .commit(milliseconds: 8_000))
        machine.committed(coordinatorDrops: 0, now: 20)
        #expect(machine.nextInCallback(now: 20) == .unassign([Self.partition]))
        machine.unassigned()
        #expect(machine.nextInCallback(now: 20) == nil)
        #expect(machine.partitions.isEmpty)
        #expect(machine.counters.committed == 1)
    }

    @Test("A revocation after its deadline replaces the producer")
    func revocationTimeout() {
        var machine = Self.ready()
        Self.consume(&machine, 5, now: 1)
        machine.rebalancing(.revoke([Self.partition]), now: 10)
        _ = machine.nextInCallback(now: 10)
        machine.offsetsSent(milliseconds: 3, now: 10)
        machine.failed(.commit, Self.error(.timedOut, retriable: true), now: 9_999 * Self.ms)
        #expect(machine.nextInCallback(now: 10_011 * Self.ms) == .unassign([Self.partition]))
        machine.unassigned()
        machine.polled(
            PollOutcome(records: 0, events: 0, rebalanced: true), isKeepAlive: false, now: 10_001 * Self.ms)
        #expect(machine.next(now: 10_100 * Self.ms) == .dropProducer)
        #expect(machine.counters.rotations == 1)
    }

    @Test("Records of lost partitions are aborted, never committed")
    func lost() {
        var machine = Self.ready()
        Self.consume(&machine, 5, now: 1)
        Self.revoke(&machine, .lost([Self.partition]), now: 10)
        #expect(machine.next(now: 10) == .abort)
    }

    @Test("More than three new producers in five minutes end the lane with 75")
    func recreations() {
        var machine = Self.ready()
        var now: UInt64 = 1
        for round in 0..<4 {
            Self.consume(&machine, 1, from: Int64(round), now: now)
            machine.failed(.produce, Self.error(.outOfOrderSequence), now: now)
            #expect(machine.exit?.code == (round < 3 ? nil : .tryAgain))
            guard machine.exit == nil else { return }
            Self.recover(&machine, now: &now)
        }
    }

    @Test("Fencing twice in a minute leads to a question to the group with a stable name, and is a timeout without one")
    func fencedTwice() {
        for isStable in [true, false] {
            var machine = Self.ready { $0.isStable = isStable }
            var now: UInt64 = 1
            Self.consume(&machine, 1, now: now)
            machine.failed(.sendOffsets, Self.error(.fenced), now: now)
            #expect(machine.exit == nil)
            Self.recover(&machine, now: &now)
            Self.consume(&machine, 1, now: now)
            machine.failed(.sendOffsets, Self.error(.fenced), now: now)
            #expect(machine.exit == nil)
            #expect((machine.group == .fenced) == isStable)
        }
    }

    /// Runs the machine from a failed producer until its next poll.
    static func recover(_ machine: inout LaneMachine, now: inout UInt64) {
        for _ in 0..<50 {
            switch machine.next(now: now) {
            case .dropProducer: machine.producerDropped(now: now)
            case .discard: machine.discarded()
            case .wait: now += 6_000 * ms
            case .keepAlive:
                machine.polled(PollOutcome(records: 0, events: 0, rebalanced: false), isKeepAlive: true, now: now)
            case .makeProducer: machine.producerMade()
            case .initTransactions: machine.transactionsInitialized()
            case .openTopics: machine.topicsOpened(now: now)
            case .fetchCommitted(let partitions):
                machine.committedOffsetsFetched(partitions.map { PartitionResult(partition: $0, offset: 0) }, now: now)
            case .seek(let offsets): machine.seekFinished(offsets, failed: [])
            case .poll: return
            default: break
            }
        }
        Issue.record("the machine did not recover")
    }

    @Test(
        "Lost data exits with 65 or continues at the configured position",
        arguments: DataLossPolicy.allCases)
    func dataLoss(policy: DataLossPolicy) {
        var machine = Self.ready { $0.dataLoss = policy }
        Self.consume(&machine, 3, now: 1)
        _ = machine.next(now: 200 * Self.ms)
        machine.offsetsSent(milliseconds: 1, now: 200 * Self.ms)
        machine.committed(coordinatorDrops: 0, now: 200 * Self.ms)
        machine.handle(ConsumerEvent(kind: .offsetOutOfRange, topic: 0, partition: 0, offset: 3), now: 1)
        #expect(machine.next(now: 1) == .findEnds(Self.partition))
        machine.endsFound(Self.partition, Watermarks(low: 10, high: 20))
        switch policy {
        case .stop: #expect(machine.exit?.code == .badData)
        case .earliest: #expect(machine.next(now: 1) == .seek(Self.offsets(10)))
        case .latest: #expect(machine.next(now: 1) == .seek(Self.offsets(20)))
        }
        let isReported = machine.takeNotes().contains { if case .dataLost = $0 { true } else { false } }
        #expect(isReported)
    }

    @Test("A stop commits pending records and leaves the group")
    func drain() {
        var machine = Self.ready()
        Self.consume(&machine, 2, now: 1)
        machine.drain()
        #expect(machine.next(now: 2) == .sendOffsets(Self.offsets(2), isRepeat: false, milliseconds: nil))
        machine.offsetsSent(milliseconds: 1, now: 2)
        machine.committed(coordinatorDrops: 0, now: 3)
        #expect(machine.next(now: 3) == .close)
        machine.closed()
        #expect(machine.next(now: 4) == .dropProducer)
        machine.producerDropped(now: 5)
        #expect(machine.next(now: 5) == .end)
        #expect(machine.exit == nil)
    }

    @Test("A start without a broker for start.timeout exits with 69, but a ready lane waits forever")
    func brokersAway() {
        var starting = LaneMachine(policy: LanePolicy())
        _ = starting.next(now: 1)
        starting.producerMade()
        starting.failed(.initTransactions, Self.error(.timedOut, retriable: true), now: 29_000 * Self.ms)
        #expect(starting.exit == nil)
        starting.failed(.initTransactions, Self.error(.timedOut, retriable: true), now: 31_000 * Self.ms)
        #expect(starting.exit?.code == .unavailable)
        #expect(starting.exit?.reason.hasPrefix("no broker answered") == true)
        var loading = LaneMachine(policy: LanePolicy())
        _ = loading.next(now: 1)
        loading.producerMade()
        loading.failed(
            .initTransactions, Self.error(.coordinatorLoadInProgress, retriable: true), now: 31_000 * Self.ms)
        #expect(loading.exit?.code == .unavailable)
        #expect(loading.exit?.reason.contains("COORDINATOR_LOAD_IN_PROGRESS") == true)
        #expect(loading.exit?.reason.contains("no broker answered") == false)
        var running = Self.ready()
        running.failed(.fetchCommitted, Self.error(.timedOut, retriable: true), now: 900_000 * Self.ms)
        #expect(running.exit == nil)
    }
}
