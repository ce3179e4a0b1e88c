@testable import DispatchWorker
@testable import KafkaClient
import LinkIngest
import Testing

/// The limits on dead letters.
@Suite struct DeadLetterLimitTests {
    static let partition = MachineTests.partition
    static let ms = MachineTests.ms

    /// Polls and processes `count` records, the first `bad` of which are dead letters, and the producer accepts them.
    ///
    /// The first `replayed` records are replays.
    static func consume(
        _ machine: inout LaneMachine, _ count: Int, bad: Int, replayed: Int = 0, from offset: Int64, now: UInt64
    ) {
        machine.polled(PollOutcome(records: count, events: 0, rebalanced: false), isKeepAlive: false, now: now)
        var result = BatchResult()
        result.messages = count
        result.records = count
        for index in 0..<count {
            let position = offset + Int64(index)
            guard let slot = machine.partitions.admit(topic: 0, partition: 0, offset: position) else {
                Issue.record("the record \(position) is not admitted")
                return
            }
            let isBad = index < bad
            let isReplay = index < replayed
            if isBad { result.deadLetters += 1 }
            guard !isReplay else { continue }
            if isBad {
                let reason = index % 3 == 2 ? DeadLetterReason.nullValue : .badJSON
                machine.partitions.countDeadLetter(reason, offset: position, at: slot)
            } else {
                machine.partitions.countDecision(at: slot)
            }
        }
        machine.processed(result, now: now)
        guard machine.exit == nil else { return }
        if machine.next(now: now) == .begin { machine.begun(coordinatorDrops: 0, now: now) }
        #expect(machine.next(now: now) == .produce)
        machine.produced()
        #expect(machine.violation == nil)
    }

    /// Commits the open transaction.
    static func commit(_ machine: inout LaneMachine, now: UInt64) {
        guard case .sendOffsets = machine.next(now: now) else {
            Issue.record("the transaction is not committed")
            return
        }
        machine.offsetsSent(milliseconds: 1, now: now)
        machine.committed(coordinatorDrops: 0, now: now)
    }

    /// Aborts the open transaction and continues at an offset.
    static func abort(_ machine: inout LaneMachine, to offset: Int64, now: UInt64) {
        _ = machine.next(now: now)
        machine.failed(.sendOffsets, MachineTests.error(.illegalGeneration, abortable: true), now: now)
        #expect(machine.next(now: now) == .abort)
        machine.aborted(refusal: nil, coordinatorDrops: 0, now: now)
        let later = now + 1_000 * ms
        _ = machine.takeLostRecords()
        while true {
            switch machine.next(now: later) {
            case .keepAlive:
                machine.polled(PollOutcome(records: 0, events: 0, rebalanced: false), isKeepAlive: true, now: later)
            case .discard: machine.discarded()
            case .fetchCommitted(let partitions):
                machine.committedOffsetsFetched(
                    partitions.map { PartitionResult(partition: $0, offset: offset) }, now: later)
            case .seek(let offsets):
                machine.seekFinished(offsets, failed: [])
                return
            case let action:
                Issue.record("unexpected \(action)")
                return
            }
        }
    }

    /// Sizes of batches with their dead letters, and whether `dlq.max.ratio` 0.95 is exceeded after the last one.
    static let ratios: [(batches: [(count: Int, bad: Int)], isExceeded: Bool)] = [
        ([(999, 999)], false), ([(1_000, 950)], false), ([(1_000, 951)], true), ([(1_000, 1_000)], true),
        ([(500, 500), (500, 500)], true), ([(500, 500), (499, 499)], false),
        // Good records leave the window.
        ([(1_000, 0), (1_000, 1_000)], true), ([(60, 0), (940, 940)], false), ([(60, 0), (1_000, 1_000)], true),
        ([(1_000, 1_000 * 9 / 10), (50, 50)], false),
        (Array(repeating: (1, 1), count: 999), false), (Array(repeating: (1, 1), count: 1_000), true),
        (Array(repeating: (1, 0), count: 2_000) + Array(repeating: (1, 1), count: 1_064), true),
        (Array(repeating: (1, 0), count: 2_000) + Array(repeating: (1, 1), count: 900), false),
    ]

    @Test("The share of dead letters counts the last 1,000 records of a partition", arguments: ratios.indices)
    func ratio(row: Int) {
        var machine = MachineTests.ready {
            $0.deadLetterMaxRatio = 0.95
            $0.deadLetterExcess = .stop
            $0.commit.records = 1_000_000
        }
        var offset: Int64 = 0
        for batch in Self.ratios[row].batches where machine.exit == nil {
            Self.consume(&machine, batch.count, bad: batch.bad, from: offset, now: 1)
            offset += Int64(batch.count)
        }
        #expect((machine.exit?.code == .deadLetterLimit) == Self.ratios[row].isExceeded)
    }

    @Test("Replayed records count for no limit, neither as dead letters nor as other records")
    func replays() throws {
        func limited() -> LaneMachine {
            MachineTests.ready {
                $0.deadLetterMaxRatio = 0.95
                $0.deadLetterExcess = .stop
                $0.deadLetterMaxConsecutive = 2_000
                $0.commit.records = 1_000_000
            }
        }
        var machine = limited()
        Self.consume(&machine, 3_000, bad: 3_000, replayed: 3_000, from: 0, now: 1)
        #expect(machine.exit == nil)
        // The replays are not among the last 1,000 records, which are all dead letters.
        machine = limited()
        Self.consume(&machine, 999, bad: 999, from: 0, now: 1)
        Self.consume(&machine, 3_000, bad: 0, replayed: 3_000, from: 999, now: 1)
        #expect(machine.exit == nil)
        Self.consume(&machine, 10, bad: 10, replayed: 9, from: 3_999, now: 1)
        let exit = try #require(machine.exit)
        #expect(exit.reason.contains("1000 of the last 1000 records are dead letters"))
        #expect(exit.reason.hasSuffix("(bad_json 667, null_value 333), for example in-0-4008"))
    }

    @Test("Without a limit any number of dead letters is allowed")
    func off() {
        var machine = MachineTests.ready { $0.commit.records = 1_000_000 }
        Self.consume(&machine, 3_000, bad: 3_000, from: 0, now: 1)
        #expect(machine.exit == nil)
        machine.polled(PollOutcome(records: 5_000, events: 0, rebalanced: false), isKeepAlive: false, now: 1)
        guard case .process(let records, _) = machine.next(now: 1) else {
            Issue.record("the batch is not processed")
            return
        }
        #expect(records > 1_000)
    }

    @Test("With a share as the limit, at most 1,000 records are processed at a time")
    func window() {
        var machine = MachineTests.ready { $0.deadLetterMaxRatio = 0.95 }
        machine.polled(PollOutcome(records: 5_000, events: 0, rebalanced: false), isKeepAlive: false, now: 1)
        guard case .process(let records, _) = machine.next(now: 1) else {
            Issue.record("the batch is not processed")
            return
        }
        #expect(records == 1_000)
    }

    @Test("Dead letters that are consumed again after an abort count once")
    func rewind() {
        var machine = MachineTests.ready {
            $0.deadLetterMaxRatio = 0.95
            $0.deadLetterExcess = .stop
        }
        var now: UInt64 = 1
        for _ in 0..<4 {
            Self.consume(&machine, 600, bad: 600, from: 0, now: now)
            #expect(machine.exit == nil)
            now += 10_000 * Self.ms
            Self.abort(&machine, to: 0, now: now)
            now += 10_000 * Self.ms
        }
        Self.consume(&machine, 600, bad: 600, from: 0, now: now)
        now += 10_000 * Self.ms
        Self.commit(&machine, now: now)
        #expect(machine.exit == nil)
        // Records of a transaction that was committed still count after the abort of the next one.
        Self.consume(&machine, 300, bad: 300, from: 600, now: now)
        now += 10_000 * Self.ms
        Self.abort(&machine, to: 600, now: now)
        now += 10_000 * Self.ms
        Self.consume(&machine, 399, bad: 399, from: 600, now: now)
        #expect(machine.exit == nil)
        Self.consume(&machine, 1, bad: 1, from: 999, now: now)
        #expect(machine.exit?.code == .deadLetterLimit)
    }

    @Test("Dead letters in a row are counted to the limit, and an abort undoes their count")
    func consecutive() {
        var machine = MachineTests.ready { $0.deadLetterMaxConsecutive = 100 }
        var now: UInt64 = 1
        Self.consume(&machine, 60, bad: 60, from: 0, now: now)
        for _ in 0..<3 {
            now += 10_000 * Self.ms
            Self.abort(&machine, to: 0, now: now)
            now += 10_000 * Self.ms
            Self.consume(&machine, 60, bad: 60, from: 0, now: now)
            #expect(machine.exit == nil)
        }
        now += 10_000 * Self.ms
        Self.commit(&machine, now: now)
        // The count continues in the next transaction, also after an abort.
        Self.consume(&machine, 30, bad: 30, from: 60, now: now)
        now += 10_000 * Self.ms
        Self.abort(&machine, to: 60, now: now)
        now += 10_000 * Self.ms
        Self.consume(&machine, 40, bad: 40, from: 60, now: now)
        #expect(machine.exit == nil)
        Self.consume(&machine, 1, bad: 1, from: 100, now: now)
        #expect(machine.exit?.code == .deadLetterLimit)
    }

    @Test("An exceeded limit names the reasons with their counts and an example, and aborts the transaction")
    func exit() throws {
        var machine = MachineTests.ready {
            $0.deadLetterMaxRatio = 0.95
            $0.deadLetterExcess = .stop
            $0.commit.records = 1_000_000
        }
        Self.consume(&machine, 500, bad: 470, from: 0, now: 1)
        _ = machine.takeNotes()
        Self.consume(&machine, 500, bad: 500, from: 500, now: 1)
        let exit = try #require(machine.exit)
        #expect(exit.code == .deadLetterLimit)
        #expect(
            exit.reason == "the share of dead letters in one partition exceeds dlq.max.ratio, which is 0.95: 970 of "
                + "the last 1000 records are dead letters (bad_json 648, null_value 322), for example in-0-999")
        guard case .deadLetterLimit(let excess)? = machine.takeNotes().first else {
            Issue.record("the limit is not logged")
            return
        }
        #expect(excess.counts.records == 1_000 && excess.counts.deadLetters == 970)
        #expect(excess.counts.reasonList == ["bad_json 648", "null_value 322"])
        #expect(excess.counts.exampleText == "in-0-999")
        #expect(machine.next(now: 1) == .announce(exit))
        machine.announced()
        #expect(machine.next(now: 1) == .abort)
    }
}
