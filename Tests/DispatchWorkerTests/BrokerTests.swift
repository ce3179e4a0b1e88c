@testable import DispatchWorker
@testable import KafkaClient
import StrictJSON
import SystemThreads
import TestSupport
import Testing
import ByteStorage

/// The worker on a real broker, whose behavior a mock or simulated broker reproduces only in part.
@Suite(.enabled(if: BrokerEnvironment.hasBroker), .serialized)
struct BrokerTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    /// Runs a worker on this thread until it ends.
    static func work(_ configuration: WorkerConfiguration) -> WorkerOutcome {
        let log = Log(level: .warning, format: .text)
        defer { log.close() }
        return Worker(configuration, log: log).run { _ in EchoProcessing() }
    }

    /// Compares the worker's output with its input.
    static func check(_ run: BrokerRun, count: Int) throws {
        let sources = try run.read(run.input).map { "\(run.input)-\($0.partition)-\($0.offset)" }
        #expect(sources.count == count)
        let check = OutcomeCheck(
            sources: sources, decisions: try run.read(run.output), deadLetters: try run.read(run.deadLetters))
        #expect(check == OutcomeCheck.good, "\(check.summary)")
        #expect(try run.unsettled() == [])
    }

    static func event(_ index: Int) -> (key: String?, value: [UInt8]?, headers: [RecordHeader]) {
        ("d-\(index % 500)", Array((index % 100 == 7 ? "bad" : "value \(index)").utf8), [])
    }

    @Test(
        "An exactly-once run has one outcome per record, in order, and does not hang", arguments: Assignor.allCases
    )
    func exactlyOnce(assignor: Assignor) async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("eos", bootstrap: bootstrap)
            try run.produce(count: 20_000, Self.event)
            var configuration = run.configuration(lanes: 3)
            configuration.assignor = assignor
            configuration.stopAfter = 20_000
            let outcome = Self.work(configuration)
            #expect(outcome.exit == nil)
            #expect(outcome.report.records == 20_000)
            #expect(outcome.report.deadLetters == 200)
            #expect(outcome.report.decisions == 19_800)
            try Self.check(run, count: 20_000)
        }
    }

    @Test("A stop after N records processes exactly N, and the next run continues after them")
    func stopAfter() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("stop", bootstrap: bootstrap)
            try run.produce(count: 5_000, Self.event)
            var configuration = run.configuration(lanes: 2)
            configuration.stopAfter = 1_234
            let first = Self.work(configuration)
            #expect(first.report.records == 1_234)
            func count() throws -> Int { try run.read(run.output).count + run.read(run.deadLetters).count }
            // The broker answers a commit before its end is written to every partition.
            _ = try becomesTrue(withinSeconds: 20) { try count() >= 1_234 }
            #expect(try count() == 1_234)
            configuration.stopAfter = 5_000 - 1_234
            #expect(Self.work(configuration).report.records == 5_000 - 1_234)
            try Self.check(run, count: 5_000)
        }
    }

    @Test("A regular expression as input matches neither the dead letters nor the topics of a replay")
    func ownTopics() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("own", bootstrap: bootstrap, partitions: 1)
            let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
            defer { admin.close() }
            let others = [".dlq.replayed", ".dlq.parked"].map { run.input + $0 }
            let results = try admin.create(
                topics: others.map { TopicSpecification(name: $0, partitions: 1, settings: [:]) },
                timeoutMilliseconds: 20_000)
            #expect(results.allSatisfy { $0.error == nil })
            for topic in others + [run.deadLetters] {
                try run.produce(count: 5, partitions: 1, to: topic) { Self.event($0) }
            }
            try run.produce(count: 10, partitions: 1) { Self.event($0) }
            var configuration = run.configuration()
            configuration.input = .pattern("^" + run.input)
            configuration.stopAfter = 10
            let outcome = Self.work(configuration)
            #expect(outcome.exit == nil)
            #expect(outcome.report.decisions == 9 && outcome.report.deadLetters == 1)
            // The broker answers a commit before its end is written to every partition.
            _ = try becomesTrue(withinSeconds: 20) { try run.read(run.output).count >= 9 }
            let decisions = try run.read(run.output).map { $0.valueText ?? "" }
            #expect(decisions.count == 9)
            #expect(decisions.allSatisfy { $0.hasPrefix("\(run.input)-0-") }, "\(decisions)")
        }
    }

    @Test("An input of a regular expression without a dead-letter topic waits for it, and the other inputs do not")
    func lateDeadLetterTopic() async throws {
        let run = try await onThread { [bootstrap] in try BrokerRun("late", bootstrap: bootstrap, partitions: 1) }
        let second = run.input + ".second"
        var configuration = run.configuration()
        configuration.input = .pattern("^" + run.input)
        configuration.clientProperties.append(ClientProperty("topic.metadata.refresh.interval.ms", "1000"))
        let lines = Monitor([String]())
        let log = Log(level: .error, format: .json) { line in lines.signal { $0.append(line) } }
        defer { log.close() }
        let worker = Worker(configuration, log: log)
        async let outcome = onThread { worker.run { _ in EchoProcessing() } }
        try await onThread {
            defer { worker.stop() }
            let admin = try KafkaAdmin(["bootstrap.servers": run.bootstrap])
            defer { admin.close() }
            func create(_ topic: String) throws {
                let made = try admin.create(
                    topics: [TopicSpecification(name: topic, partitions: 1, settings: [:])],
                    timeoutMilliseconds: 20_000)
                #expect(made.allSatisfy { $0.error == nil })
            }
            func write(_ text: String, to topic: String) throws {
                try run.produce(count: 10, partitions: 1, to: topic) {
                    (text, Array(($0 == 3 && topic == second ? "bad" : "value").utf8), [])
                }
            }
            func hasDecisions(_ count: Int, of input: String) throws -> Bool {
                try becomesTrue(withinSeconds: 60) {
                    try run.read(run.output).count { $0.valueText?.hasPrefix(input + "-0-") == true } == count
                }
            }
            try write("first", to: run.input)
            #expect(try hasDecisions(10, of: run.input))
            try create(second)
            try write("second", to: second)
            #expect(
                becomesTrue(withinSeconds: 60) {
                    lines.withLock { $0 }.contains { $0.contains("topic.missing") && $0.contains(second + ".dlq") }
                })
            try write("first", to: run.input)
            #expect(try hasDecisions(20, of: run.input))
            #expect(try run.read(run.output).count == 20)
            try create(second + ".dlq")
            #expect(try hasDecisions(9, of: second))
            // The broker answers a commit before its end is written to every partition.
            #expect(try becomesTrue(withinSeconds: 20) { try run.read(second + ".dlq").count == 1 })
            try write("first", to: run.input)
            try write("second", to: second)
            #expect(try hasDecisions(30, of: run.input))
            #expect(try hasDecisions(18, of: second))
            // The topic is deleted while the input has records for it.
            let deleted = try admin.delete(topics: [second + ".dlq"], timeoutMilliseconds: 20_000)
            #expect(deleted.allSatisfy { $0.error == nil })
            try write("second", to: second)
            #expect(
                becomesTrue(withinSeconds: 60) { lines.withLock { $0 }.count { $0.contains("topic.missing") } >= 2 })
            try write("first", to: run.input)
            #expect(try hasDecisions(40, of: run.input))
            try create(second + ".dlq")
            #expect(try hasDecisions(27, of: second))
            #expect(try becomesTrue(withinSeconds: 60) { try run.read(second + ".dlq").count == 1 })
        }
        let report = try await outcome.report
        #expect(report.decisions == 67 && report.deadLetters == 3)
    }

    @Test("A limit of the client on messages cuts dead letters and refuses decisions", arguments: Guarantee.allCases)
    func clientLimit(guarantee: Guarantee) async throws {
        try await onThread { [bootstrap] in
            let limits = [("message.max.bytes", "20000"), ("producer.queue.buffering.max.kbytes", "20")]
            for (name, limit) in limits {
                let run = try BrokerRun("client", bootstrap: bootstrap, partitions: 1)
                let values = ["good", String(repeating: "a", count: 50_000), "huge 30000", "good"]
                try run.produce(count: values.count, partitions: 1) { ("d", Array(values[$0].utf8), []) }
                var configuration = run.configuration()
                configuration.guarantee = guarantee
                configuration.clientProperties.append(ClientProperty(name, limit))
                configuration.stopAfter = Int64(values.count)
                let outcome = Self.work(configuration)
                #expect(outcome.exit == nil && outcome.report.aborted == 0, "\(name)")
                #expect(outcome.report.decisions == 2 && outcome.report.deadLetters == 2, "\(name)")
                // The broker answers a commit before its end is written to every partition.
                _ = try becomesTrue(withinSeconds: 20) { try run.read(run.deadLetters).count >= 2 }
                let letters = try run.read(run.deadLetters)
                #expect(letters.map { $0.header("dlq.truncated") } == ["50000", nil], "\(name)")
            }
        }
    }

    @Test("At-least-once decides every record and commits all offsets")
    func atLeastOnce() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("alo", bootstrap: bootstrap)
            try run.produce(count: 10_000, Self.event)
            var configuration = run.configuration(lanes: 2)
            configuration.guarantee = .atLeastOnce
            configuration.stopAfter = 10_000
            let outcome = Self.work(configuration)
            #expect(outcome.exit == nil)
            #expect(outcome.report.records == 10_000)
            let sources = try run.read(run.input).map { "\(run.input)-\($0.partition)-\($0.offset)" }
            let check = OutcomeCheck(
                sources: sources, decisions: try run.read(run.output), deadLetters: try run.read(run.deadLetters))
            #expect(check.lost == [])
            #expect(try run.unsettled() == [])
        }
    }

    @Test("Dead letters keep key, value, headers, and time, and decisions keep the trace headers")
    func deadLetters() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun(
                "dlq", bootstrap: bootstrap,
                settings: ["out": ["max.message.bytes": "20000"], "in": ["max.message.bytes": "4000000"]])
            let trace = RecordHeader(name: Array("traceparent".utf8), value: Array("00-ab-cd-01".utf8))
            let other = RecordHeader(name: Array("x".utf8), value: nil)
            let inputs: [(String?, [UInt8]?)] = [
                ("d1", Array("good".utf8)), ("d2", nil), ("d3", []), ("d4", [UInt8](repeating: 0x61, count: 2_000_000)),
                ("d5", Array("bad".utf8)), ("d6", Array("huge 30000".utf8)), (nil, Array("x".utf8)),
            ]
            try run.produce(count: inputs.count) { (inputs[$0].0, inputs[$0].1, [trace, other]) }
            var configuration = run.configuration(instance: "one")
            configuration.version = "9.9"
            configuration.stopAfter = Int64(inputs.count)
            let outcome = Self.work(configuration)
            #expect(outcome.exit == nil)
            #expect(outcome.report.deadLetters == 6)
            let decisions = try run.read(run.output)
            #expect(decisions.map(\.keyText) == ["d1"])
            #expect(decisions.first?.headers == [trace])
            let sources = try run.read(run.input)
            let letters = try run.read(run.deadLetters)
            var reasons: [String: String] = [:]
            for letter in letters {
                let source = sources.first {
                    letter.header("dlq.source.partition") == "\($0.partition)"
                        && letter.header("dlq.source.offset") == "\($0.offset)"
                }
                reasons[letter.keyText ?? "none"] = letter.header("dlq.reason")
                #expect(letter.key == source?.key)
                #expect(letter.partition == source?.partition)
                #expect(letter.timestamp == source?.timestamp)
                #expect(Array(letter.headers.prefix(2)) == [trace, other])
                #expect(letter.header("dlq.instance") == "one.0")
                #expect(letter.header("dlq.app.version") == "9.9")
                if letter.header("dlq.truncated") == nil { #expect(letter.value == source?.value) }
            }
            #expect(
                reasons == [
                    "d2": "null_value", "d3": "empty_value", "d4": "oversize_input", "d5": "bad_json",
                    "d6": "oversize_output", "none": "missing_device",
                ])
            let cut = letters.first { $0.keyText == "d4" }
            #expect(cut?.header("dlq.truncated") == "2000000")
            #expect((cut?.value?.count ?? 0) > 1_000_000 && (cut?.value?.count ?? 0) < 1_048_588)
        }
    }

    @Test("No outcome is lost or duplicated when a lane joins and is assigned partitions", arguments: Assignor.allCases)
    func joinAndLeave(assignor: Assignor) async throws {
        let run = try await onThread { [bootstrap] in
            let run = try BrokerRun("join", bootstrap: bootstrap)
            try run.produce(count: 30_000, Self.event)
            return run
        }
        // Two of the workers leave while the others continue. The remaining one is stopped when all records are
        // processed.
        let log = Log(level: .warning, format: .text)
        defer { log.close() }
        let workers = [3_000, 8_000, 0].enumerated().map { number, limit in
            var configuration = run.configuration(instance: number == 0 ? nil : "w\(number)")
            configuration.assignor = assignor
            configuration.commit.intervalMilliseconds = 20
            configuration.batchRecords = 50
            configuration.stopAfter = Int64(limit)
            return Worker(configuration, log: log)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers {
                group.addTask { try await onThread { #expect(worker.run { _ in EchoProcessing() }.exit == nil) } }
            }
            group.addTask {
                try await onThread {
                    let isDone = try becomesTrue(withinSeconds: 60) {
                        SystemClock.sleep(milliseconds: 200)
                        return try run.unsettled() == []
                    }
                    #expect(isDone)
                    for worker in workers { worker.stop() }
                }
            }
            try await group.waitForAll()
        }
        try await onThread { try Self.check(run, count: 30_000) }
    }
}
