@testable import DispatchWorker
@testable import KafkaClient
import LinkIngest
import Testing

/// Partitions whose dead letters exceed `dlq.max.ratio`.
@Suite struct SlowedPartitionTests {
    static let partition = MachineTests.partition
    static let ms = MachineTests.ms
    static let second = 1_000 * MachineTests.ms

    /// Returns a machine that allows 10 dead letters a second of a partition of which half of 100 records are.
    static func limited(_ change: (inout LanePolicy) -> Void = { _ in }) -> LaneMachine {
        MachineTests.ready {
            $0.deadLetterMaxRatio = 0.5
            $0.deadLetterWindow = 100
            $0.deadLetterMaxRate = 10
            $0.commit.records = 1_000_000
            change(&$0)
        }
    }

    /// Polls and processes records from `offset` on, of which `isBad` become dead letters.
    ///
    /// Returns the number of records that were admitted.
    @discardableResult
    static func process(
        _ machine: inout LaneMachine, _ count: Int, from offset: Int64, now: UInt64,
        isBad: (Int) -> Bool = { _ in true }
    ) -> Int {
        machine.polled(PollOutcome(records: count, events: 0, rebalanced: false), isKeepAlive: false, now: now)
        var result = BatchResult()
        result.messages = count
        for index in 0..<count {
            let position = offset + Int64(index)
            guard let slot = machine.partitions.admit(topic: 0, partition: 0, offset: position) else { continue }
            result.records += 1
            if isBad(index) {
                result.deadLetters += 1
                machine.partitions.countDeadLetter(.badJSON, offset: position, at: slot)
            } else {
                machine.partitions.countDecision(at: slot)
            }
        }
        machine.processed(result, now: now)
        #expect(machine.violation == nil)
        return result.records
    }

    /// Answers the machine's calls until it polls or waits, and returns their names without polls for the membership.
    ///
    /// `committed` is the committed offset.
    @discardableResult
    static func settle(_ machine: inout LaneMachine, committed: Int64, now: UInt64) -> [String] {
        var calls: [String] = []
        while true {
            let action = machine.next(now: now)
            switch action {
            case .begin: machine.begun(coordinatorDrops: 0, now: now)
            case .produce: machine.produced()
            case .sendOffsets: machine.offsetsSent(milliseconds: 1, now: now)
            case .commit: machine.committed(coordinatorDrops: 0, now: now)
            case .flush: machine.flushed(undelivered: 0, failure: nil, now: now)
            case .commitOffsets: machine.committed(coordinatorDrops: 0, now: now)
            case .abort: machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
            case .discard: machine.discarded()
            case .keepAlive:
                machine.polled(PollOutcome(records: 0, events: 0, rebalanced: false), isKeepAlive: true, now: now)
                continue
            case .fetchCommitted(let names):
                machine.committedOffsetsFetched(
                    names.map { PartitionResult(partition: $0, offset: committed) }, now: now)
            case .seek(let offsets): machine.seekFinished(offsets, failed: [])
            case .pause(let names): machine.pauseFinished(names, failed: [], now: now)
            case .resume(let names): machine.resumeFinished(names, failed: [], now: now)
            default: return calls
            }
            calls.append(String("\(action)".prefix { $0 != "(" }))
            #expect(machine.violation == nil)
        }
    }

    /// Returns a machine of which all 100 records were dead letters at time 1, and which has rolled them back.
    static func slowed(_ change: (inout LanePolicy) -> Void = { _ in }) -> LaneMachine {
        var machine = limited(change)
        process(&machine, 100, from: 0, now: 1)
        settle(&machine, committed: 0, now: 1)
        return machine
    }

    @Test("The transaction that exceeds the limit is dropped, and the partition is paused until its next period")
    func exceeds() throws {
        var machine = Self.limited()
        Self.process(&machine, 100, from: 0, now: 1)
        #expect(machine.exit == nil)
        #expect(machine.transaction == .none)
        let slowed = try #require(machine.partitions.slots[0].slowed)
        #expect(slowed.counts.deadLetters == 100 && slowed.counts.exampleText == "in-0-99")
        #expect(
            machine.takeNotes().suffix(1) == [.slowed(Self.partition, slowed.counts, ratio: 0.5, rate: 10)])
        #expect(Self.settle(&machine, committed: 0, now: 2) == ["fetchCommitted", "seek", "pause"])
        #expect(machine.next(now: 2) == .poll(milliseconds: 50, maximum: 1_000))
        #expect(Self.process(&machine, 5, from: 0, now: 3) == 0)
        #expect(machine.stage == .idle && !machine.isPaused)
        // The library returns nothing while the partition is paused, and the lane still polls.
        let late = Self.second - 1
        #expect(machine.next(now: late) == .poll(milliseconds: 1, maximum: 1_000))
        #expect(Self.settle(&machine, committed: 0, now: Self.second) == ["resume", "seek"])
        #expect(machine.takeNotes().filter { $0 == .rewound(partitions: 1) }.count == 1)
    }

    @Test("A period allows dlq.max.rate dead letters, and the next one continues after the last record")
    func allowance() {
        var machine = Self.slowed()
        _ = machine.takeNotes()
        var next: Int64 = 0
        for period in 1...5 {
            let now = UInt64(period) * Self.second
            #expect(Self.settle(&machine, committed: next, now: now).suffix(2) == ["resume", "seek"])
            #expect(machine.partitions.slots[0].next.value == next)
            #expect(Self.process(&machine, 30, from: next, now: now) == 10)
            next += 10
            #expect(Self.settle(&machine, committed: next, now: now + 1).contains("pause"))
            // The rest was not processed, and does not count as a duplicate.
            #expect(machine.partitions.duplicates == 0)
        }
        #expect(machine.takeNotes().allSatisfy { if case .committed = $0 { true } else { false } })
        #expect(machine.counters.deadLetters == 40)
    }

    @Test("Records that do not become dead letters do not use up the allowance")
    func decisions() {
        var machine = Self.slowed()
        let now = Self.second
        Self.settle(&machine, committed: 0, now: now)
        #expect(Self.process(&machine, 500, from: 0, now: now) { $0 % 100 == 0 } == 500)
        #expect(Self.process(&machine, 500, from: 500, now: now) { $0 % 100 == 0 } == 401)
    }

    @Test("With at-least-once, nothing is repeated: the batch is committed, and the partition is slowed after it")
    func atLeastOnce() {
        var machine = Self.limited { $0.guarantee = .atLeastOnce }
        Self.process(&machine, 100, from: 0, now: 1)
        #expect(machine.partitions.slots[0].slowed != nil)
        #expect(Self.settle(&machine, committed: 0, now: 2) == ["produce", "pause"])
        #expect(Self.process(&machine, 5, from: 100, now: 3) == 0)
        #expect(
            Self.settle(&machine, committed: 100, now: Self.second)
                == ["flush", "commitOffsets", "resume", "seek"])
        #expect(machine.partitions.slots[0].next.value == 100)
        #expect(machine.counters.aborted == 0 && machine.counters.deadLetters == 100)
    }

    @Test("An abort undoes the records of a period, and the next one repeats them")
    func abort() {
        var machine = Self.slowed()
        Self.settle(&machine, committed: 0, now: Self.second)
        #expect(Self.process(&machine, 30, from: 0, now: Self.second) == 10)
        #expect(Self.settle(&machine, committed: 0, now: Self.second + 1) == ["begin", "produce", "pause"])
        let late = Self.second + 200 * Self.ms
        #expect(machine.next(now: late) == .sendOffsets(MachineTests.offsets(10), isRepeat: false, milliseconds: nil))
        machine.failed(.sendOffsets, MachineTests.error(.illegalGeneration, abortable: true), now: late)
        #expect(Self.settle(&machine, committed: 0, now: 2 * Self.second) == ["abort", "resume"])
        let later = 2_900 * Self.ms
        #expect(Self.settle(&machine, committed: 0, now: later) == ["fetchCommitted", "seek"])
        #expect(Self.process(&machine, 30, from: 0, now: later) == 10)
    }

    @Test("A partition whose share falls recovers, at the earliest after 10 s, and may be slowed again")
    func recovers() {
        var machine = Self.slowed()
        var next: Int64 = 0
        for period in 1...9 {
            let now = UInt64(period) * Self.second
            Self.settle(&machine, committed: next, now: now)
            Self.process(&machine, 200, from: next, now: now) { _ in false }
            next += 200
        }
        #expect(machine.partitions.slots[0].slowed != nil)
        _ = machine.takeNotes()
        Self.settle(&machine, committed: next, now: 11 * Self.second)
        #expect(machine.partitions.slots[0].slowed == nil)
        #expect(machine.takeNotes().contains(.recovered(Self.partition, milliseconds: 11_000)))
        Self.process(&machine, 100, from: next, now: 11 * Self.second)
        #expect(machine.partitions.slots[0].slowed != nil)
    }

    @Test("A partition without dead letters for 60 s recovers, and one with few of them a second does not")
    func idle() {
        var machine = Self.slowed { $0.deadLetterMaxRate = 1 }
        var next: Int64 = 0
        for period in 1...100 {
            let now = UInt64(period) * Self.second
            Self.settle(&machine, committed: next, now: now)
            #expect(Self.process(&machine, 10, from: next, now: now) == 1)
            next += 1
        }
        #expect(machine.partitions.slots[0].slowed != nil)
        Self.settle(&machine, committed: next, now: 159 * Self.second)
        #expect(machine.partitions.slots[0].slowed != nil)
        Self.settle(&machine, committed: next, now: 160 * Self.second)
        #expect(machine.partitions.slots[0].slowed == nil && machine.partitions.slots[0].positionState == .current)
    }

    @Test("A record counts for 60 s", arguments: [(590, true), (610, false)])
    func age(milliseconds: Int, isSlowed: Bool) {
        // In 60 s, 101 records arrive, or 99.
        var machine = Self.limited()
        for index in 0..<300 where machine.partitions.slots[0].slowed == nil {
            let now = UInt64(1 + index * milliseconds) * Self.ms
            Self.settle(&machine, committed: 0, now: now)
            Self.process(&machine, 1, from: Int64(index), now: now)
        }
        #expect((machine.partitions.slots[0].slowed != nil) == isSlowed)
    }

    @Test("A new owner measures again")
    func newOwner() {
        var machine = Self.slowed()
        MachineTests.revoke(&machine, .revoke([Self.partition]), now: 2)
        MachineTests.assign(&machine, [Self.partition], now: 3)
        #expect(machine.partitions.slots.map(\.slowed) == [nil])
        #expect(Self.process(&machine, 99, from: 0, now: 4) == 99)
        #expect(machine.partitions.slots[0].slowed == nil)
    }

    @Test("A call to pause that fails admits nothing")
    func failedPause() {
        var machine = Self.limited()
        Self.process(&machine, 100, from: 0, now: 1)
        while true {
            let action = machine.next(now: 2)
            if case .pause(let names) = action {
                machine.pauseFinished(names, failed: PauseTests.failures(names), now: 2)
                break
            }
            guard case .seek(let offsets) = action else {
                machine.committedOffsetsFetched([PartitionResult(partition: Self.partition, offset: 0)], now: 2)
                continue
            }
            machine.seekFinished(offsets, failed: [])
        }
        #expect(machine.next(now: 2) == .poll(milliseconds: 50, maximum: 1_000))
        #expect(Self.process(&machine, 5, from: 0, now: 3) == 0)
        #expect(Self.settle(&machine, committed: 0, now: Self.second) == ["seek"])
        #expect(Self.process(&machine, 30, from: 0, now: Self.second) == 10)
    }

    @Test("A pause by an operator holds all partitions, and a slowed one continues after it")
    func operatorPause() {
        var machine = Self.slowed()
        machine.pause(true)
        Self.settle(&machine, committed: 0, now: 5 * Self.second)
        #expect(machine.isPaused)
        machine.pause(false)
        #expect(Self.settle(&machine, committed: 0, now: 6 * Self.second).prefix(2) == ["resume", "seek"])
        #expect(Self.process(&machine, 30, from: 0, now: 6 * Self.second) == 10)
    }

    // MARK: The limit of the process

    /// Reports of two lanes at some seconds, and the second at which the limit is exceeded.
    struct Report: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The slowed and active partitions of both lanes at a second.
        var loads: @Sendable (UInt64) -> [(slowed: Int, active: Int)]
        var exceededAt: UInt64?
    }

    static let reports: [Report] = [
        Report(testDescription: "all", loads: { _ in [(3, 3), (3, 3)] }, exceededAt: 301),
        Report(testDescription: "one of six", loads: { _ in [(1, 3), (0, 3)] }, exceededAt: nil),
        Report(testDescription: "half", loads: { _ in [(3, 3), (0, 3)] }, exceededAt: nil),
        Report(testDescription: "most, of both lanes together", loads: { _ in [(3, 3), (1, 3)] }, exceededAt: 301),
        Report(testDescription: "the only one with records", loads: { _ in [(1, 1), (0, 0)] }, exceededAt: nil),
        Report(testDescription: "the only two with records", loads: { _ in [(1, 1), (1, 1)] }, exceededAt: 301),
        Report(
            testDescription: "a rebalance in between", loads: { $0 == 200 ? [(0, 0), (0, 0)] : [(3, 3), (3, 3)] },
            exceededAt: 301),
        Report(
            testDescription: "a recovery of more than 60 s",
            loads: { (200..<270).contains($0) ? [(0, 3), (0, 3)] : [(3, 3), (3, 3)] }, exceededAt: 570),
        Report(testDescription: "none", loads: { _ in [(0, 0), (0, 0)] }, exceededAt: nil),
    ]

    @Test(
        "Most partitions of all lanes that are slowed for 5 minutes exceed the limit of the process", arguments: reports
    )
    func majority(report: Report) {
        var majority = DeadLetterMajority()
        var exceededAt: UInt64?
        for time in UInt64(1)...900 {
            for (lane, numbers) in report.loads(time).enumerated() {
                var load = DeadLetterLoad()
                (load.slowed, load.active) = numbers
                // The report of the second lane completes those of a second.
                if majority.report(load, lane: lane, now: time * Self.second) != nil && exceededAt == nil {
                    exceededAt = time
                }
            }
        }
        #expect(exceededAt == report.exceededAt)
    }

    @Test("A majority that persists ends the lane with the code 81 and an example")
    func persists() throws {
        var machine = Self.slowed()
        _ = machine.takeNotes()
        var load = DeadLetterLoad()
        (load.slowed, load.active) = (4, 6)
        machine.deadLettersPersist(load)
        let exit = try #require(machine.exit)
        #expect(exit.code == .deadLetterLimit)
        #expect(
            exit.reason.hasPrefix(
                "4 of 6 partitions with records have exceeded dlq.max.ratio, which is 0.5, for 5 minutes: "))
        guard case .deadLetterLimit? = machine.takeNotes().last else {
            Issue.record("the limit is not logged")
            return
        }
        // A lane without a slowed partition leaves the end to the others.
        var other = Self.limited()
        other.deadLettersPersist(load)
        #expect(other.exit == nil)
    }
}
