@testable import DispatchWorker
@testable import KafkaClient
import StrictJSON
import TestSupport
import Testing

/// The worker on a real broker with a proxy that drops requests.
@Suite(
    .enabled(if: BrokerEnvironment.hasBroker && BrokerEnvironment.proxied != nil, "no listener for a proxy"),
    .serialized)
struct ProxyTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    private func proxy() throws -> KafkaProxy {
        let ports = try #require(BrokerEnvironment.proxied)
        return try KafkaProxy(port: ports.proxy, target: ports.listener)
    }

    /// Commits an offset that no record has for one partition, and the beginning for the others, so that only one start
    /// must be fetched.
    private static func commitOutOfRange(_ run: BrokerRun) throws {
        let consumer = try KafkaConsumer(["bootstrap.servers": run.bootstrap, "group.id": run.group]) { _, _ in }
        defer { consumer.abandon() }
        try consumer.commit(
            (0..<6).map { PartitionOffset(topic: run.input, partition: $0, offset: $0 == 0 ? 1_000_000 : 0) },
            timeoutMilliseconds: 20_000)
    }

    @Test(
        "A partition out of range without an answer about its start loses no record of other partitions",
        arguments: Assignor.allCases)
    func lostListOffsets(assignor: Assignor) async throws {
        let proxy = try proxy()
        defer { proxy.close() }
        let run = try await onThread { [bootstrap] in
            let run = try BrokerRun("proxy", bootstrap: bootstrap)
            try run.produce(count: 20_000, BrokerTests.event)
            try Self.commitOutOfRange(run)
            return run
        }
        proxy.discard(.listOffsets)
        var configuration = run.configuration()
        configuration.bootstrap = [proxy.bootstrapServers]
        configuration.assignor = assignor
        configuration.dataLoss = .earliest
        // Batches of one record: events arrive without records, and the lane keeps polling while it waits.
        configuration.batchRecords = 1
        configuration.commit.intervalMilliseconds = 20
        let log = Log(level: .warning, format: .text)
        defer { log.close() }
        let worker = Worker(configuration, log: log)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await onThread { #expect(worker.run { _ in EchoProcessing() }.exit == nil) } }
            group.addTask {
                try await onThread {
                    // From the first request on, the lane waits for the answer while records of other partitions are
                    // fetched.
                    let isAsked = becomesTrue(withinSeconds: 60) {
                        proxy.count(of: .listOffsets) > 0
                    }
                    #expect(isAsked)
                    SystemClock.sleep(milliseconds: 4_000)
                    proxy.forward(.listOffsets)
                    let isDone = try becomesTrue(withinSeconds: 240) {
                        SystemClock.sleep(milliseconds: 200)
                        return try run.unsettled() == []
                    }
                    #expect(isDone)
                    worker.stop()
                }
            }
            try await group.waitForAll()
        }
        try await onThread { try BrokerTests.check(run, count: 20_000) }
    }

    @Test("With at-least-once, an unanswered commit of offsets is repeated and does not end the worker")
    func lostCommits() async throws {
        let proxy = try proxy()
        defer { proxy.close() }
        let run = try await onThread { [bootstrap] in
            let run = try BrokerRun("commits", bootstrap: bootstrap)
            try run.produce(count: 2_000, BrokerTests.event)
            return run
        }
        proxy.discard(.offsetCommit)
        var configuration = run.configuration()
        configuration.bootstrap = [proxy.bootstrapServers]
        configuration.guarantee = .atLeastOnce
        let log = Log(level: .warning, format: .text)
        defer { log.close() }
        let worker = Worker(configuration, log: log)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await onThread { #expect(worker.run { _ in EchoProcessing() }.exit == nil) } }
            group.addTask {
                try await onThread {
                    let isAsked = becomesTrue(withinSeconds: 60) {
                        proxy.count(of: .offsetCommit) > 0
                    }
                    proxy.forward(.offsetCommit)
                    let began = ContinuousClock.now
                    let isDone = try becomesTrue(withinSeconds: 240) {
                        SystemClock.sleep(milliseconds: 200)
                        return try run.unsettled() == []
                    }
                    #expect(isAsked && isDone)
                    // The library alone would wait until the lost request times out, which takes 10 s.
                    #expect(ContinuousClock.now - began < .seconds(9))
                    worker.stop()
                }
            }
            try await group.waitForAll()
        }
    }
}
