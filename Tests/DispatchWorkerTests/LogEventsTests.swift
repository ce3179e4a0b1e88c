import LinkCoordinator
import ByteStorage
@testable import KafkaClient
import LinkIngest
import Testing

@testable import DispatchWorker
@testable import LinkDecider

/// The log entries that follow from the state of a worker, from given snapshots.
@Suite struct LogEventsTests {
    private static let second: UInt64 = 1_000_000_000
    private static let partition = MachineTests.partition

    /// Returns a snapshot of a worker with one lane, whose brokers answer.
    private static func snapshot(
        _ seconds: UInt64, _ machine: LaneMachine = MachineTests.ready(), metrics: LaneMetrics = LaneMetrics(),
        isAnswering: Bool = true
    ) -> WorkerSnapshot {
        let now = seconds * second
        var result = WorkerSnapshot(now: now)
        result.lanes = [LaneView(snapshot: LaneSnapshot(lane: 0, machine: machine, at: now, metrics: metrics))]
        result.brokers.answeredAt = now
        result.brokers.isReachable = isAnswering
        return result
    }

    private static func events() -> LogEvents { LogEvents(maxStallMilliseconds: 120_000) }

    private static func text(_ entry: LogEntry) -> String {
        LogFormatter.text(of: entry, milliseconds: 0, format: .text).split(separator: "  ").dropFirst().joined(
            separator: "  ")
    }

    @Test("An outage has one line when it begins, one every 5 minutes, and one when it ends")
    func outage() {
        var events = Self.events()
        var lines: [String] = []
        for time in UInt64(1)...700 {
            var snapshot = Self.snapshot(time, isAnswering: time < 10 || time > 650)
            if (15...650).contains(time) {
                snapshot.brokers.isReachable = false
                snapshot.brokers.since = 10 * Self.second
                snapshot.brokers.answeredAt = 10 * Self.second
                snapshot.brokers.cause = .refused("127.0.0.1:9")
                snapshot.brokers.address = "127.0.0.1:9"
            }
            lines += events.entries(for: snapshot).map { "\(time) \($0.event) \(Self.text($0))" }
        }
        let line = "no broker answers  cause=\"127.0.0.1:9 refused the connection\" address=127.0.0.1:9"
        let advice = "advice=\"check that the broker runs, and the port in --bootstrap\""
        #expect(
            lines == [
                "15 brokers.unreachable \(line) ms=5000 \(advice)",
                "315 brokers.unreachable \(line) ms=305000 \(advice)",
                "615 brokers.unreachable \(line) ms=605000 \(advice)",
                "651 brokers.reachable a broker answers again  ms=641000",
            ])
    }

    @Test("An outage has a line for each cause with other advice, at most 4")
    func causes() {
        var events = Self.events()
        var lines: [String] = []
        for time in UInt64(15)...60 {
            var snapshot = Self.snapshot(time, isAnswering: false)
            snapshot.brokers.isReachable = false
            snapshot.brokers.since = 10 * Self.second
            // Brokers fail in turn, then for other reasons.
            let refused = ConnectionCause.refused("a:\(time)")
            if time >= 17 { snapshot.brokers.cause = time % 2 == 0 ? refused : .expiredCertificate("b:1") }
            if time >= 40 { snapshot.brokers.cause = .noAnswer("c:\(time)") }
            if time >= 45 { snapshot.brokers.cause = .wrongPassword("d:1") }
            if time >= 50 { snapshot.brokers.cause = .tlsOnPlain("e:1") }
            for case .text(let cause) in events.entries(for: snapshot).compactMap({ $0.fields.first?.value }) {
                lines.append("\(time) \(cause)")
            }
        }
        #expect(
            lines == [
                "15 no answer",
                "17 certificate verify failed: the certificate of b:1 is expired or not valid yet",
                "18 a:18 refused the connection", "40 c:40 does not answer",
                "45 d:1 refused the user name or the password",
            ])
    }

    @Test("A commit that begins, is aborted, and begins again is unfinished until one succeeds")
    func unfinishedCommit() {
        var machine = MachineTests.ready { $0.commit.records = 3 }
        var events = Self.events()
        _ = events.entries(for: Self.snapshot(1, machine))
        #expect(events.unfinished == [:])
        MachineTests.consume(&machine, 3, now: 1)
        _ = machine.next(now: 1)
        #expect(machine.stage == .committing)
        for time in UInt64(2)...20 { _ = events.entries(for: Self.snapshot(time, machine)) }
        #expect(events.unfinished == [0: 18])
        machine.failed(.sendOffsets, KafkaError(code: .timedOut, isAbortable: true), now: 1)
        machine.aborted(refusal: nil, coordinatorDrops: 0, now: 1)
        #expect(machine.transaction == .none)
        // The lag of the partition is not known, so that its records may wait.
        for time in UInt64(21)...35 {
            var snapshot = Self.snapshot(time, machine)
            snapshot.partitions = [PartitionLag(lane: 0, partition: Self.partition, lag: 3)]
            _ = events.entries(for: snapshot)
        }
        #expect(events.unfinished == [0: 33])
        // A partition that another worker took over, or that has no records or no dead-letter topic, commits nothing.
        var waiting = PartitionLag(lane: 0, partition: Self.partition, lag: 3)
        waiting.isWaiting = true
        for partition in [PartitionLag(lane: 0, partition: Self.partition, lag: 0), waiting] {
            var later = events
            var snapshot = Self.snapshot(36, machine)
            snapshot.partitions = [partition]
            _ = later.entries(for: snapshot)
            #expect(later.unfinished == [:])
        }
    }

    @Test("A lane that has joined the group and cannot get a producer for 30 s has an unfinished commit")
    func noProducer() {
        var machine = MachineTests.ready { $0.commit.records = 3 }
        var events = Self.events()
        _ = events.entries(for: Self.snapshot(1, machine))
        MachineTests.consume(&machine, 3, now: 1)
        _ = machine.next(now: 1)
        machine.failed(.sendOffsets, KafkaError(code: .fenced, isFatal: true), now: 1)
        #expect(machine.isReady && [.starting, .initializing].contains(machine.stage), "\(machine.stage)")
        for time in UInt64(2)...40 {
            var snapshot = Self.snapshot(time, machine)
            // Meanwhile another member may have the partitions for a moment.
            snapshot.partitions = []
            _ = events.entries(for: snapshot)
        }
        #expect(events.unfinished[0] ?? 0 > UnfinishedCommits.limit, "\(events.unfinished)")
    }

    @Test("A missing topic has a line at once, and one every 5 minutes")
    func missingTopic() {
        var events = Self.events()
        var lines: [String] = []
        for time in UInt64(1)...700 {
            var snapshot = Self.snapshot(time)
            if (10...650).contains(time) { snapshot.brokers.missingTopics = ["out"] }
            lines += events.entries(for: snapshot).map { "\(time) \($0.event) \(Self.text($0))" }
        }
        let line = "topic.missing a topic of the worker does not exist  topic=out"
        #expect(lines.count == 3)
        for (time, found) in zip([10, 310, 610], lines) { #expect(found.hasPrefix("\(time) \(line) advice=")) }
    }

    @Test("Partitions with lag and without an owner have a line after 30 s, and one when they have owners again")
    func unowned() {
        var events = Self.events()
        var lines: [String] = []
        for time in stride(from: UInt64(10), through: 120, by: 10) {
            var snapshot = Self.snapshot(time)
            var group = GroupLag(answeredAt: snapshot.now)
            (group.state, group.isRebalancing, group.members) = ("PreparingRebalance", true, 22)
            let since = (20..<90).contains(time) ? 20 * Self.second : nil
            group.partitions = [GroupLag.Partition(partition: Self.partition, lag: 9, unownedSince: since)]
            snapshot.groupLag = group
            lines += events.entries(for: snapshot).map { "\(time) \($0.event) \(Self.text($0))" }
        }
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix(
                "50 unowned no member of the group owns partitions with lag  partitions=in-0 count=1 lag=9 "
                    + "state=PreparingRebalance members=22 ms=30000 advice=") == true, "\(lines)")
        #expect(lines.last == "90 owned every partition with lag has an owner again  ms=70000")
    }

    @Test("A commit is slow after 5 s, once, and not while no broker answers")
    func slowCommit() {
        var machine = MachineTests.ready { $0.commit.records = 3 }
        MachineTests.consume(&machine, 3, now: 1)
        _ = machine.next(now: 1)
        #expect(machine.stage == .committing)
        var events = Self.events()
        var times: [UInt64] = []
        for time in UInt64(1)...40 {
            var snapshot = Self.snapshot(time, machine, isAnswering: time > 20)
            snapshot.lanes[0].calls = [CallWatch.Entry(call: .sendOffsets, number: 1, began: 1)]
            for entry in events.entries(for: snapshot) {
                times.append(time)
                #expect(
                    Self.text(entry)
                        == "lane 0  a commit takes long although brokers answer  "
                        + "call=send_offsets_to_transaction ms=6000")
            }
        }
        #expect(times == [27])
        // Short commits, one after the other.
        var others = Self.events()
        for time in UInt64(1)...40 {
            let isCommitting = time % 5 != 0
            #expect(others.entries(for: Self.snapshot(time, isCommitting ? machine : MachineTests.ready())) == [])
        }
    }

    @Test("A lane without an assignment says what it waits for after 5 s, then every 30 s")
    func joining() {
        var machine = LaneMachine(policy: LanePolicy())
        machine.producerMade()
        var events = Self.events()
        var times: [UInt64] = []
        for time in UInt64(1)...70 {
            var snapshot = Self.snapshot(time, machine)
            snapshot.lanes[0].consumer = LibraryStatistics()
            snapshot.lanes[0].consumer?.joinState = "wait-join"
            for entry in events.entries(for: snapshot) {
                times.append(time)
                #expect(entry.event == "joining")
                #expect(
                    Self.text(entry).hasPrefix(
                        "lane 0  waiting for an assignment  stage=initializing call=init_transactions "
                            + "join_state=wait-join ms="))
            }
        }
        #expect(times == [6, 36, 66])
        #expect(events.entries(for: Self.snapshot(71)) == [])
        #expect(events.entries(for: Self.snapshot(72, machine)) == [])
    }

    /// The lag, what brokers and lane do, and the times of the expected lines.
    struct Stall: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var lag: Int64? = 5
        var isCurrent = true
        var isPaused = false
        var isSlowed = false
        var waitsUntil: UInt64 = 0
        var answersFrom: UInt64 = 0
        var movesAt: UInt64 = 1_000
        var lines: [String]
    }

    static let stalls: [Stall] = [
        Stall(testDescription: "lag without progress", lines: ["122 stalled"]),
        Stall(testDescription: "progress after a stall", movesAt: 150, lines: ["122 stalled", "150 progressing"]),
        Stall(testDescription: "progress in time", movesAt: 100, lines: ["221 stalled"]),
        Stall(testDescription: "no lag", lag: 0, lines: []),
        Stall(testDescription: "an unknown lag", lag: nil, lines: []),
        Stall(testDescription: "an unknown position", lag: nil, isCurrent: false, lines: ["122 stalled"]),
        Stall(testDescription: "a pause without a position", lag: nil, isCurrent: false, isPaused: true, lines: []),
        Stall(
            testDescription: "a position that becomes known", lag: nil, isCurrent: false, movesAt: 150,
            lines: ["122 stalled", "150 progressing"]),
        Stall(testDescription: "a pause", isPaused: true, lines: []),
        Stall(testDescription: "no dead-letter topic", waitsUntil: 1_000, lines: ["122 stalled"]),
        Stall(
            testDescription: "a dead-letter topic that is created", waitsUntil: 200,
            lines: ["122 stalled", "200 progressing"]),
        Stall(testDescription: "a slowed partition", isSlowed: true, lines: []),
        Stall(testDescription: "an outage", answersFrom: 101, lines: ["221 stalled"]),
    ]

    @Test("A partition stalls if it has lag and no progress for http.max.stall while brokers answer", arguments: stalls)
    func stall(stall: Stall) {
        var detector = StallDetector(limitMilliseconds: 120_000)
        var lines: [String] = []
        for time in UInt64(1)...240 {
            var snapshot = Self.snapshot(time, isAnswering: time >= stall.answersFrom)
            let isWaiting = time < stall.waitsUntil
            let view = PartitionView(
                partition: Self.partition, next: 8, settled: time >= stall.movesAt ? 3 : 0, committed: nil, end: nil,
                isCurrent: stall.isCurrent, isPaused: isWaiting, isWaiting: isWaiting,
                slowed: stall.isSlowed ? SlowedPartition(since: 1, counts: DeadLetterCounts()) : nil)
            snapshot.isPaused = stall.isPaused
            snapshot.partitions = [PartitionLag(lane: 0, partition: Self.partition, lag: stall.lag)]
            lines += detector.check(snapshot, [(0, [view])]).map { "\(time) \($0.event)" }
        }
        #expect(lines == stall.lines)
        #expect(detector.progress[Self.partition]?.isStalled == (stall.lines.last?.hasSuffix("stalled") ?? false))
    }

    @Test("Committed offsets that do not arrive have the advice to look for a transaction that does not end")
    func openTransaction() {
        let advice = LaneNote.failed(.fetchCommitted, KafkaError(code: .timedOut)).advice
        #expect(advice?.contains("find-hanging") == true)
        #expect(LaneNote.failed(.fetchCommitted, KafkaError(code: .notCoordinator)).advice == nil)
        #expect(LaneNote.failed(.commit, KafkaError(code: .timedOut)).advice == nil)
    }

    @Test("Progress has the work of 30 s, and a worker without work and lag writes none")
    func progress() {
        var tally = BatchTally()
        tally.use(topic: 0, name: ByteView("in"))
        Array("value".utf8).withUnsafeBufferPointer { value in
            for offset in 0..<300 {
                tally.count(
                    ConsumedRecord(
                        topic: 0, partition: 0, offset: Int64(offset), timestamp: 0, key: nil, value: ByteView(value),
                        index: 0, hasHeaders: false))
                if offset < 290 {
                    tally.count(
                        ProducedDecision(
                            key: .empty, value: ByteView(value), outcome: offset < 200 ? .navigate : .reject))
                } else {
                    tally.countDeadLetter(.badJSON)
                }
            }
        }
        var metrics = LaneMetrics()
        metrics.add(&tally, wallMilliseconds: 0)
        for _ in 0..<98 { metrics.observe(.commitSeconds, 3_000_000) }
        for _ in 0..<2 { metrics.observe(.commitSeconds, 40_000_000) }
        var meter = ProgressMeter()
        var lines: [String] = []
        for time in UInt64(1)...130 {
            var snapshot = Self.snapshot(time, metrics: time < 20 ? LaneMetrics() : metrics)
            snapshot.partitions = [PartitionLag(lane: 0, partition: Self.partition, lag: time > 100 ? 7 : 0)]
            snapshot.tables = [
                ServedTable(id: "shop", version: "1", hash: "abcd", path: "shop.json", loadedAtMilliseconds: 0)
            ]
            if let line = meter.line(snapshot) { lines.append("\(time) \(Self.text(line))") }
        }
        #expect(
            lines == [
                "31 records processed  records_per_s=10 lag=0 navigate=200 external=0 deferred=0 none=0 reject=90 "
                    + "dead_letters=10 reasons=\"bad_json=10\" commit_p50_ms=5 commit_p99_ms=50 tables=shop@1+abcd",
                "121 records processed  records_per_s=0 lag=7 navigate=0 external=0 deferred=0 none=0 reject=0 "
                    + "dead_letters=0 tables=shop@1+abcd",
            ])
    }
}
