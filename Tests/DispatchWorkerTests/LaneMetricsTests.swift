import ByteStorage
@testable import KafkaClient
import LinkIngest
import Testing

@testable import DispatchWorker
@testable import LinkDecider
import LinkCoordinator

/// The counters of a lane, and the tally of a transaction.
@Suite struct LaneMetricsTests {
    private static let value = Array("value".utf8)

    private static func count(_ offset: Int64, in tally: inout BatchTally) {
        value.withUnsafeBufferPointer { value in
            tally.count(
                ConsumedRecord(
                    topic: 0, partition: 0, offset: offset, timestamp: offset * 1_000, key: nil,
                    value: ByteView(value), index: 0, hasHeaders: false))
        }
    }

    private static func decide(_ outcome: DecisionSummary.Outcome, in tally: inout BatchTally) {
        value.withUnsafeBufferPointer { value in
            tally.count(ProducedDecision(key: .empty, value: ByteView(value), outcome: outcome))
        }
    }

    @Test("Decisions are counted by their output topic and outcome")
    func outputs() {
        var tally = BatchTally(outputs: 3)
        var metrics = LaneMetrics(outputs: 3)
        tally.use(topic: 0, name: ByteView("in"))
        Self.value.withUnsafeBufferPointer { value in
            for (output, outcome) in [(2, DecisionSummary.Outcome.navigate), (2, .reject), (0, .none), (2, .reject)] {
                tally.count(
                    ProducedDecision(key: .empty, value: ByteView(value), outcome: outcome, output: UInt8(output)))
            }
        }
        metrics.add(&tally, wallMilliseconds: 0)
        #expect(metrics.outputs.map(\.outcomes) == [[0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 2]])
        #expect(metrics.outputs.map(\.bytes) == [5, 0, 15])
        #expect(metrics.outcomes == [1, 0, 0, 1, 2])
        var snapshot = WorkerSnapshot(now: 0)
        snapshot.outputs = ["all", "empty", "shop"]
        snapshot.lanes = [
            LaneView(
                snapshot: LaneSnapshot(
                    lane: 0, machine: LaneMachine(policy: LanePolicy()), at: 0, metrics: metrics))
        ]
        let text = String(decoding: PrometheusPage.text(snapshot), as: UTF8.self)
        #expect(text.contains(#"linkd_records_out_total{lane="0",topic="shop",outcome="reject"} 2"#), "\(text)")
        #expect(text.contains(#"linkd_bytes_out_total{lane="0",topic="all"} 5"#))
        #expect(text.contains(#"linkd_bytes_out_total{lane="0",topic="empty"} 0"#))
    }

    @Test("Records are counted by topic when they are committed, and not when they are lost")
    func tally() {
        var tally = BatchTally()
        var metrics = LaneMetrics()
        tally.use(topic: 3, name: ByteView("a"))
        for offset in 0..<130 { Self.count(Int64(offset), in: &tally) }
        tally.use(topic: 0, name: ByteView("b"))
        Self.count(1, in: &tally)
        tally.countDeadLetter(.badJSON)
        tally.use(topic: 3, name: ByteView("a"))
        Self.count(130, in: &tally)
        Self.decide(.navigate, in: &tally)
        Self.decide(.reject, in: &tally)
        #expect(tally.sampledTimestamps == [0, 64_000, 128_000])

        metrics.add(&tally, wallMilliseconds: 128_020)
        #expect(metrics.topics.map(\.name) == ["a", "b"])
        #expect(metrics.topics.map(\.records) == [131, 1])
        #expect(metrics.topics.map(\.bytes) == [655, 5])
        let badJSON = DeadLetterReason.allCases.firstIndex(of: .badJSON)
        #expect(badJSON.map { metrics.topics[1].deadLetters[$0] } == 1)
        #expect(metrics.outcomes == [1, 0, 0, 0, 1])
        #expect(metrics.outputs.map(\.bytes) == [10])
        let ages = metrics.values(of: .endToEndSeconds)
        #expect(ages.count == 3)
        #expect(ages.sum == (128_020 + 64_020 + 20) * 1_000_000)

        Self.count(131, in: &tally)
        Self.decide(.none, in: &tally)
        tally.removeAll()
        let before = metrics
        metrics.add(&tally, wallMilliseconds: 0)
        #expect(metrics == before)
    }

    @Test("A timestamp in the future has the age 0, and a missing one has none")
    func oddTimestamps() {
        var tally = BatchTally()
        var metrics = LaneMetrics()
        tally.use(topic: 0, name: ByteView("a"))
        Self.count(64, in: &tally)
        Self.count(-64, in: &tally)
        metrics.add(&tally, wallMilliseconds: 1)
        #expect(metrics.values(of: .endToEndSeconds).count == 1)
        #expect(metrics.values(of: .endToEndSeconds).sum == 0)
    }

    @Test("Samples of a transaction are bounded")
    func sampleLimit() {
        var tally = BatchTally()
        tally.use(topic: 0, name: ByteView("a"))
        for offset in 0...BatchTally.sampleLimit { Self.count(Int64(offset) * 64, in: &tally) }
        #expect(tally.sampledTimestamps.count == BatchTally.sampleLimit)
    }

    @Test("A value is counted in the first bucket whose bound it does not exceed", arguments: LaneHistogram.allCases)
    func buckets(histogram: LaneHistogram) throws {
        var metrics = LaneMetrics()
        let bounds = histogram.bounds
        let last = try #require(bounds.last)
        #expect(bounds == bounds.sorted() && Set(bounds).count == bounds.count)
        for value in bounds + [0, last + 1] { metrics.observe(histogram, value) }
        let values = metrics.values(of: histogram)
        #expect(values.buckets == [2] + Array(repeating: 1, count: bounds.count))
        #expect(values.sum == bounds.reduce(0, +) + last + 1)
        for other in LaneHistogram.allCases where other != histogram {
            #expect(metrics.values(of: other).count == 0)
        }
        for counter in LaneCounter.allCases { #expect(metrics[counter] == 0) }
    }

    @Test("An event of the machine is counted once")
    func notes() {
        let partition = TopicPartition(topic: "in", partition: 2)
        let cases: [(LaneNote, LaneCounter)] = [
            (.committed(TransactionContent(), milliseconds: 1), .transactionsCommitted),
            (.aborted(.revoked, nil), .abortedRevoked), (.aborted(.shutdown, nil), .abortedShutdown),
            (.rotated(.retried), .rotations), (.recreated("fenced", .unknownMember), .recreatedFenced),
            (.recreated("commit", .outOfOrderSequence), .recreatedSequence),
            (.recreated("commit", .invalidTransactionState), .recreatedState),
            (.recreated("commit", .unknownMember), .recreatedFatal), (.fenced(.consumer), .fenced),
            (.rewound(partitions: 3), .rewinds), (.assigned([partition]), .assigned),
            (.revoked([partition]), .revoked), (.lost([partition]), .lost),
        ]
        for (note, counter) in cases {
            var metrics = LaneMetrics()
            metrics.count(note)
            #expect(LaneCounter.allCases.filter { metrics[$0] > 0 } == [counter])
            #expect(metrics[counter] == 1)
        }
        var metrics = LaneMetrics()
        metrics.count(.dataLost(partition, expected: 1, actual: 5))
        metrics.count(.dataLost(partition, expected: 7, actual: 9))
        // The topic was created again.
        metrics.count(.dataLost(partition, expected: 9, actual: 0))
        #expect(metrics.dataLosses == [PartitionCount(partition: partition, count: 4 + 2 + 1)])
    }

    @Test("An error of the log is kept without its fields, and other lines are not kept")
    func errors() {
        let long = String(repeating: "x", count: 1_000)
        let entry = LogEntry(
            .warning, "aborted", lane: 0, long, ["cause": "error", "code": "TIMED_OUT"])
        let error = LaneError(entry, at: 7)
        #expect(error?.event == "aborted" && error?.code == "TIMED_OUT" && error?.at == 7)
        #expect(error?.message.count == LaneError.messageLimit)
        #expect(LaneError(LogEntry(.info, "ready", "ready"), at: 7) == nil)
    }
}
