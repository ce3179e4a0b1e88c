@testable import DispatchWorker
@testable import KafkaClient
import LinkIngest
import LinkCoordinator
import TestSupport
import TableSupport
import Testing
import ByteStorage
import LinkDecider

/// The headers of records on their way from a lane's consumer to its decisions and dead letters.
@Suite struct LaneHeaderTests {
    /// A record with headers, and its decision or the reason of its dead letter.
    struct Case {
        var key: String?
        var value: String
        var headers: [(String, String?)] = []
        /// The beginning of the decision, after the key and a space, or the reason.
        var expected: String
    }

    private static let attributes: [(String, String?)] = [
        ("ce_id", "ce-1"), ("ce_source", "/s"), ("ce_type", "t"), ("ce_specversion", "1.0"),
    ]

    static let cases = [
        Case(
            value: #"{"link":"one:/"}"#, headers: attributes + [("ce_partitionkey", "d-9"), ("other", nil)],
            expected: #"d-9 {"decision":"in-0-0-0","event":"ce-1","device":"d-9","table":"one@1+"#),
        // The headers of the record before are not those of the next one.
        Case(
            key: "k", value: "one:/",
            expected: #"k {"decision":"in-0-1-0","event":"in-0-1","device":"k","table":"one@1+"#),
        Case(
            key: "k", value: "one:/", headers: attributes + [("content-type", "text/plain")],
            expected: #"k {"decision":"in-0-2-0","event":"ce-1","device":"k","table":"one@1+"#),
        Case(
            value: #"{"specversion":"1.0","id":"ce-2","source":"/s","type":"t","partitionkey":"d-8","#
                + #""data":{"link":"one:/"}}"#,
            headers: [
                ("Content-Type", "application/cloudevents+json; charset=utf-8"), ("traceparent", "00-1"),
                ("tracestate", "a=1"), ("baggage", nil),
            ],
            expected: #"d-8 {"decision":"in-0-3-0","event":"ce-2","device":"d-8","table":"one@1+"#),
        Case(
            key: "k", value: "[]",
            headers: [
                ("content-type", "application/cloudevents-batch+json"), ("traceparent", "00-2"), ("tracestate", "b=2"),
                ("baggage", "c=3"),
            ],
            expected: "batch_unsupported"),
        Case(
            key: "k", value: "one:/", headers: attributes.dropLast() + [("ce_specversion", "0.3")],
            expected: "schema_unsupported"),
        Case(
            key: "k", value: "one:/", headers: attributes + [("content-encoding", "gzip")],
            expected: "encoding_unsupported"),
        Case(key: nil, value: #"{"link":"one:/"}"#, headers: attributes, expected: "missing_device"),
        Case(
            key: "large", value: "one:/",
            headers: [
                ("traceparent", "00-3"), ("baggage", String(repeating: "b", count: 800_000)), ("tracestate", "d=4"),
            ],
            expected: #"large {"decision":"in-0-8-0","event":"in-0-8","device":"large","table":"one@1+"#),
    ]

    /// The headers of a case as a client returns them.
    static func headers(of test: Case) -> [RecordHeader] {
        test.headers.map { RecordHeader(name: Array($0.0.utf8), value: $0.1.map { Array($0.utf8) }) }
    }

    static func configuration() throws -> DeciderConfiguration {
        let table = try SampleTables.home("one", scheme: "one", hosts: #""one.example""#, application: "one")
        return DeciderConfiguration(tables: TableSet([table]))
    }

    /// Compares decisions and dead letters with the cases, in the order of their offsets.
    static func check(decisions: [ReadRecord], deadLetters: [ReadRecord], topic: String) {
        var found: [Int: String] = [:]
        for decision in decisions {
            let text = (decision.keyText ?? "") + " " + (decision.valueText ?? "")
            let offset = text.split(separator: "\"")[3].split(separator: "-").dropLast().last.flatMap { Int($0) }
            found[offset ?? -1] = text.replacing(topic + "-", with: "in-")
        }
        for letter in deadLetters {
            found[letter.header("dlq.source.offset").flatMap { Int($0) } ?? -1] = letter.header("dlq.reason")
        }
        for (offset, test) in cases.enumerated() {
            #expect(found[offset]?.hasPrefix(test.expected) == true, "\(offset): \(found[offset] ?? "nothing")")
        }
        #expect(found.count == cases.count)
        #expect(decisions.filter { $0.header("traceparent") == "00-1" }.map(\.keyText) == ["d-8"])
        let names = { (record: ReadRecord) in record.headers.map { String(decoding: $0.name, as: UTF8.self) } }
        let copies = decisions.filter { !$0.headers.isEmpty }.sorted { ($0.keyText ?? "") < ($1.keyText ?? "") }
        #expect(copies.map(names) == [["traceparent", "tracestate", "baggage"], ["traceparent", "tracestate"]])
        let letter = deadLetters.first { $0.header("dlq.reason") == "batch_unsupported" }
        #expect(letter.map { Array(names($0).prefix(4)) } == ["content-type", "traceparent", "tracestate", "baggage"])
    }

    @Test("A lane reads each record with its own headers of CloudEvents")
    func simulated() throws {
        let world = SimulatedWorld(seed: 1, callsPerFault: 0, lanes: 0, partitions: 1, isStable: true)
        for test in Self.cases {
            world.broker.logs[TopicPartition(topic: world.input, partition: 0)]?.append(
                SimulatedEntry(
                    state: .committed, key: test.key.map { Array($0.utf8) }, value: Array(test.value.utf8),
                    headers: Self.headers(of: test), timestamp: 1_000, writtenAt: world.broker.now))
        }
        var configuration = WorkerConfiguration(bootstrap: [])
        configuration.input = .topics([world.input])
        configuration.outputs = OutputTopics("out")
        let identity = LaneIdentity(group: "g", instance: "i", isStable: true, lane: 0)
        let lane = Lane(
            number: 0, policy: world.policy, topics: LaneTopics(configuration), commitBytes: configuration.commit.bytes,
            worker: WorkerIdentity(group: "g", instance: "i", version: "1"),
            environment: SimulatedEnvironment(world, SimulatedLife(), identity),
            processing: RecordProcessor(try Self.configuration()),
            shared: WorkerShared(stopAfter: 0, log: Log(level: .error, format: .text) { _ in }))
        for _ in 0..<10_000 where !world.isSettled { #expect(lane.step()) }
        Self.check(decisions: world.visible("out"), deadLetters: world.visible("in.dlq"), topic: world.input)
    }

    /// Records with the same value, which a replay has written or not, with or without headers.
    struct Run {
        var count: Int
        var value: String?
        /// The name of the only header, or nil for none.
        var header: String?
    }

    private static let replay = "dlq.replay.count"

    private static func repeated(_ runs: [Run]) -> [Run] { (0..<600).flatMap { _ in runs } }

    /// Runs of records, and a Boolean value that indicates whether they exceed 20 dead letters in a row or a share of
    /// 0.5.
    static let limits: [(runs: [Run], isExceeded: Bool)] = [
        ([Run(count: 21, value: "bad", header: replay)], false),
        ([Run(count: 21, value: "bad", header: "x")], true), ([Run(count: 21, value: "bad")], true),
        // Records without a value fail before their headers are read.
        ([Run(count: 30, value: nil, header: replay), Run(count: 30, value: "", header: replay)], false),
        (repeated([Run(count: 1, value: "good"), Run(count: 4, value: "bad", header: replay)]), false),
        (repeated([Run(count: 1, value: "good"), Run(count: 4, value: "bad", header: "x")]), true),
        // A replay without a failure does not end a row, and another record after a replay does.
        (
            [
                Run(count: 20, value: "bad", header: "x"), Run(count: 1, value: "good", header: replay),
                Run(count: 1, value: "bad", header: "x"),
            ], true
        ),
        (
            [
                Run(count: 20, value: "bad"), Run(count: 1, value: "bad", header: replay),
                Run(count: 1, value: "good", header: "x"), Run(count: 20, value: "bad"),
            ], false
        ),
    ]

    @Test("A replay does not end a lane by its dead letters, which are counted", arguments: limits.indices)
    func replays(row: Int) {
        let (runs, isExceeded) = Self.limits[row]
        let world = SimulatedWorld(seed: 1, callsPerFault: 0, lanes: 1, partitions: 1, isStable: true)
        world.policy.deadLetterMaxConsecutive = 20
        world.policy.deadLetterMaxRatio = 0.5
        world.policy.deadLetterExcess = .stop
        world.expectedExits = isExceeded ? [.deadLetterLimit] : []
        for run in runs {
            let headers = run.header.map { [RecordHeader(name: Array($0.utf8), value: Array("1".utf8))] } ?? []
            for _ in 0..<run.count {
                world.broker.logs[TopicPartition(topic: world.input, partition: 0)]?.append(
                    SimulatedEntry(
                        state: .committed, key: Array("k".utf8), value: run.value.map { Array($0.utf8) },
                        headers: headers, timestamp: 1_000, writtenAt: world.broker.now))
            }
        }
        var counters = LaneCounters()
        var steps = 0
        while !world.isSettled, world.exits.isEmpty, steps < 100_000 {
            world.act(0)
            counters = world.processes[0].lane?.machine.counters ?? counters
            steps += 1
        }
        #expect(world.broken == nil)
        #expect(world.exits.map(\.code) == (isExceeded ? [.deadLetterLimit] : []))
        guard !isExceeded else { return }
        let good = runs.reduce(0) { $0 + ($1.value == "good" ? $1.count : 0) }
        #expect(world.isSettled)
        #expect(counters.records == runs.reduce(0) { $0 + $1.count })
        #expect(counters.decisions == good && counters.deadLetters == counters.records - good)
    }
}

extension BrokerTests {
    @Test("A worker reads the headers of CloudEvents that a broker returns")
    func cloudEvents() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("ce", bootstrap: bootstrap, partitions: 1)
            let cases = LaneHeaderTests.cases
            try run.produce(count: cases.count, partitions: 1) { index in
                (cases[index].key, Array(cases[index].value.utf8), LaneHeaderTests.headers(of: cases[index]))
            }
            var configuration = run.configuration()
            configuration.stopAfter = Int64(cases.count)
            let log = Log(level: .warning, format: .text)
            defer { log.close() }
            let outcome = Worker(configuration, log: log).run(
                try LaneHeaderTests.configuration())
            #expect(outcome.exit == nil)
            #expect(outcome.report.decisions == 5 && outcome.report.deadLetters == 4)
            // The broker answers a commit before its end is written to every partition.
            _ = try becomesTrue(withinSeconds: 20) {
                try run.read(run.output).count >= 5 && run.read(run.deadLetters).count >= 4
            }
            LaneHeaderTests.check(
                decisions: try run.read(run.output), deadLetters: try run.read(run.deadLetters), topic: run.input)
        }
    }
}
