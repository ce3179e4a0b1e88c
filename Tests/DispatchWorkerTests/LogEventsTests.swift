import ByteStorage
import KafkaClient
import Testing

@testable import DispatchWorker

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
        Stall(testDescription: "an outage", answersFrom: 101, lines: ["221 stalled"]),
    ]

    @Test("A partition stalls if it has lag and no progress for http.max.stall while brokers answer", arguments: stalls)
    func stall(stall: Stall) {
        var detector = StallDetector(limitMilliseconds: 120_000)
        var lines: [String] = []
        for time in UInt64(1)...240 {
            var snapshot = Self.snapshot(time, isAnswering: time >= stall.answersFrom)
            let view = PartitionView(
                partition: Self.partition, next: 8, settled: time >= stall.movesAt ? 3 : 0, committed: nil, start: 0,
                end: nil, isCurrent: stall.isCurrent, isPaused: false)
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
