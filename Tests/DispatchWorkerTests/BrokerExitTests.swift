internal import SystemThreads
@testable import DispatchWorker
import LinkDecider
@testable import KafkaClient
import TestSupport
import Testing

/// Exits of a worker on errors, with or without a real broker.
@Suite(.serialized) struct BrokerExitTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    @Test("Without a broker the start exits with 69 and names the addresses")
    func noBroker() async throws {
        try await onThread {
            var configuration = WorkerConfiguration(bootstrap: ["127.0.0.1:9"])
            configuration.startTimeoutMilliseconds = 1_000
            let outcome = BrokerTests.work(configuration)
            #expect(outcome.code == 69)
            #expect(outcome.exit?.reason.contains("127.0.0.1:9") == true)
        }
    }

    @Test("A setting that librdkafka rejects exits with 78 before anything connects")
    func badSetting() async throws {
        try await onThread {
            var configuration = WorkerConfiguration(bootstrap: ["127.0.0.1:9"])
            configuration.clientProperties = [ClientProperty("compression.codec", "paper")]
            let outcome = BrokerTests.work(configuration)
            #expect(outcome.code == 78)
            #expect(outcome.exit?.reason.contains("paper") == true)
        }
    }

    @Test("A missing topic exits with 78 and advises how to create it", .enabled(if: BrokerEnvironment.hasBroker))
    func missingTopic() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("missing", bootstrap: bootstrap)
            for role in 0..<3 {
                var configuration = run.configuration()
                if role == 0 { configuration.input = .topics(["nowhere"]) }
                if role == 1 { configuration.outputs = OutputTopics("nowhere") }
                if role == 2 { configuration.deadLetterTemplate = "nowhere-{input}" }
                let outcome = BrokerTests.work(configuration)
                #expect(outcome.code == 78)
                #expect(outcome.exit?.reason.contains("nowhere") == true)
                #expect(outcome.exit?.advice.contains("linkd topics create") == true)
            }
        }
    }

    @Test(
        "A topic without a dead-letter topic that can be used stops no worker whose regular expression matches it",
        .enabled(if: BrokerEnvironment.hasBroker))
    func unusableDeadLetterTopics() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("unusable", bootstrap: bootstrap, partitions: 1)
            let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
            defer { admin.close() }
            let long = run.input + "." + String(repeating: "x", count: 248 - run.input.utf8.count)
            let made = try admin.create(
                topics: [run.input + ".second", long].map { TopicSpecification(name: $0, partitions: 1) },
                timeoutMilliseconds: 20_000)
            #expect(made.allSatisfy { $0.error == nil })
            try run.produce(count: 10, partitions: 1) { BrokerTests.event($0) }
            var configuration = run.configuration()
            configuration.input = .pattern("^" + run.input)
            configuration.stopAfter = 10
            let outcome = BrokerTests.work(configuration)
            #expect(outcome.exit == nil && outcome.report.records == 10, "\(outcome)")
            for stem in ["nowhere-", String(repeating: "x", count: 240)] {
                configuration.deadLetterTemplate = stem + "{input}"
                let outcome = BrokerTests.work(configuration)
                #expect(outcome.code == 78 && outcome.exit?.reason.contains(stem) == true, "\(outcome)")
            }
        }
    }

    @Test("A partition without an offset exits with 78 if from is fail", .enabled(if: BrokerEnvironment.hasBroker))
    func fromFail() async throws {
        try await onThread { [bootstrap] in
            var configuration = try BrokerRun("fail", bootstrap: bootstrap).configuration()
            configuration.from = .fail
            let outcome = BrokerTests.work(configuration)
            #expect(outcome.code == 78)
            #expect(outcome.exit?.reason.contains("`from` is `fail`") == true)
        }
    }

    @Test(
        "A dead-letter limit exits with 81 and commits nothing of that batch", .enabled(if: BrokerEnvironment.hasBroker)
    )
    func deadLetterLimit() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("limit", bootstrap: bootstrap)
            try run.produce(count: 500) { _ in ("d", Array("bad".utf8), []) }
            var configuration = run.configuration()
            configuration.deadLetterMaxConsecutive = 100
            let outcome = BrokerTests.work(configuration)
            #expect(outcome.code == 81)
            #expect(try run.read(run.deadLetters).count == 0)
        }
    }

    @Test(
        "Input of which every record is bad ends a worker with dlq.excess stop",
        .enabled(if: BrokerEnvironment.hasBroker))
    func badInput() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("bad", bootstrap: bootstrap)
            try run.produce(count: 3_000) { _ in ("d", Array("bad".utf8), []) }
            let lines = Monitor([String]())
            let log = Log(level: .error, format: .json) { line in lines.signal { $0.append(line) } }
            var configuration = run.configuration()
            configuration.deadLetterExcess = .stop
            let outcome = Worker(configuration, log: log).run { _ in EchoProcessing() }
            log.close()
            #expect(outcome.code == 81)
            let reason = try #require(outcome.exit?.reason)
            #expect(reason.contains("dlq.max.ratio, which is 0.95"))
            #expect(reason.contains("(bad_json ") && reason.contains("for example \(run.input)-"))
            #expect(lines.withLock { $0 }.contains { $0.contains(#""event":"dlq.limit""#) })
            // Transactions before the window was full may be committed.
            #expect(try run.read(run.deadLetters).count < 1_000)
        }
    }

    /// An object of a lane that does not end before the gate opens, as a client that does not close.
    private final class Stuck: Sendable {
        let gate: Monitor<Bool>

        init(_ gate: Monitor<Bool>) { self.gate = gate }

        deinit { _ = gate.wait(milliseconds: 120_000) { $0 ? true : nil } }
    }

    @Test(
        "A worker that has committed its last record ends with 0 and the whole report, even if its lane never ends",
        .enabled(if: BrokerEnvironment.hasBroker))
    func stuckLane() async throws {
        try await onThread { [bootstrap] in
            let run = try BrokerRun("stuck", bootstrap: bootstrap)
            try run.produce(count: 300) { ("d-\($0)", Array("value \($0)".utf8), []) }
            let lines = Monitor([String]())
            let log = Log(level: .warning, format: .json) { line in lines.signal { $0.append(line) } }
            var configuration = run.configuration()
            configuration.stopAfter = 300
            configuration.shutdownGraceMilliseconds = 3_000
            let gate = Monitor(false)
            defer { gate.signal { $0 = true } }
            let outcome = Worker(configuration, log: log).run { _ in
                let stuck = Stuck(gate)
                return EchoProcessing(outputs: 1) { _ in _ = stuck }
            }
            log.close()
            #expect(outcome.code == 0 && outcome.report.records == 300, "\(outcome)")
            #expect(lines.withLock { $0 }.contains { $0.contains("left behind") })
            #expect(try run.read(run.output).count == 300)
        }
    }

    @Test("A transaction timeout above the broker's exits with 78", .enabled(if: BrokerEnvironment.hasBroker))
    func longTransaction() async throws {
        try await onThread { [bootstrap] in
            var configuration = try BrokerRun("timeout", bootstrap: bootstrap).configuration()
            configuration.clientProperties.append(ClientProperty("transaction.timeout.ms", "1000000"))
            let outcome = BrokerTests.work(configuration)
            #expect(outcome.code == 78)
            #expect(outcome.exit?.advice.contains("transaction.max.timeout.ms") == true)
        }
    }

    @Test(
        "Of two workers with the same instance name, one exits with 79",
        .enabled(if: BrokerEnvironment.hasBroker))
    func twin() async throws {
        let run = try await onThread { [bootstrap] in
            let run = try BrokerRun("twin", bootstrap: bootstrap)
            try run.produce(count: 2_000, BrokerTests.event)
            return run
        }
        let logs = (0..<2).map { _ in Log(level: .warning, format: .text) }
        let workers = logs.map { Worker(run.configuration(instance: "same"), log: $0) }
        let codes = try await withThrowingTaskGroup(of: Int32.self) { group in
            for worker in workers { group.addTask { try await onThread { worker.run { _ in EchoProcessing() }.code } } }
            var codes: [Int32] = []
            for try await code in group {
                codes.append(code)
                // The remaining worker has no reason to end on its own.
                for worker in workers { worker.stop() }
            }
            return codes
        }
        #expect(codes.sorted() == [0, 79])
        for log in logs { log.close() }
    }
}
