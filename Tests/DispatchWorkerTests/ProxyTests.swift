import DispatchWorker
import KafkaClient
import StrictJSON
import TestSupport
import Testing

/// The worker on a real broker behind a proxy that loses requests.
@Suite(
    .enabled(if: BrokerEnvironment.hasBroker && BrokerEnvironment.proxied != nil, "no listener for a proxy"),
    .serialized)
struct ProxyTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    private func proxy() throws -> KafkaProxy {
        let ports = try #require(BrokerEnvironment.proxied)
        return try KafkaProxy(port: ports.proxy, target: ports.listener)
    }

    /// Commits an offset that no record has for one partition, and the beginning for the others: nobody needs to be
    /// asked where those begin.
    private static func misplace(_ run: BrokerRun) throws {
        let consumer = try KafkaConsumer(["bootstrap.servers": run.bootstrap, "group.id": run.group]) { _, _ in }
        defer { consumer.abandon() }
        try consumer.commit(
            (0..<6).map { PartitionOffset(topic: run.input, partition: $0, offset: $0 == 0 ? 1_000_000 : 0) },
            timeoutMilliseconds: 20_000)
    }

    @Test(
        "A partition out of range, while nobody answers where it begins, costs no record of the others",
        arguments: Assignor.allCases)
    func lostListOffsets(assignor: Assignor) async throws {
        let proxy = try proxy()
        defer { proxy.close() }
        let run = try await onThread { [bootstrap] in
            let run = try BrokerRun("proxy", bootstrap: bootstrap)
            try run.produce(count: 20_000, BrokerTests.event)
            try Self.misplace(run)
            return run
        }
        proxy.lose(.listOffsets)
        var configuration = run.configuration()
        configuration.bootstrap = [proxy.bootstrapServers]
        configuration.assignor = assignor
        configuration.dataLoss = .earliest
        // One by one: an event comes without records, so that nothing keeps the lane from polling while it waits.
        configuration.batchRecords = 1
        configuration.commit.intervalMilliseconds = 20
        let log = Log(level: .warning, format: .text)
        defer { log.close() }
        let worker = Worker(configuration, log: log)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await onThread { #expect(worker.run { _ in EchoProcessing() }.exit == nil) } }
            group.addTask {
                try await onThread {
                    // From the first question on: the lane waits for its answer with records of others fetched.
                    let isAsked = waits(seconds: 60) {
                        SystemClock.sleep(milliseconds: 20)
                        return proxy.count(of: .listOffsets) > 0
                    }
                    #expect(isAsked)
                    SystemClock.sleep(milliseconds: 4_000)
                    proxy.pass(.listOffsets)
                    let isDone = try waits(seconds: 60) {
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

    @Test("At least once, a commit of offsets that nobody answers is sent again, and ends no worker")
    func lostCommits() async throws {
        let proxy = try proxy()
        defer { proxy.close() }
        let run = try await onThread { [bootstrap] in
            let run = try BrokerRun("commits", bootstrap: bootstrap)
            try run.produce(count: 2_000, BrokerTests.event)
            return run
        }
        proxy.lose(.offsetCommit)
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
                    let isAsked = waits(seconds: 60) {
                        SystemClock.sleep(milliseconds: 20)
                        return proxy.count(of: .offsetCommit) > 0
                    }
                    proxy.pass(.offsetCommit)
                    let began = ContinuousClock.now
                    let isDone = try waits(seconds: 60) {
                        SystemClock.sleep(milliseconds: 200)
                        return try run.unsettled() == []
                    }
                    #expect(isAsked && isDone)
                    // The library alone would wait for the lost one until its request times out, 10 s.
                    #expect(ContinuousClock.now - began < .seconds(9))
                    worker.stop()
                }
            }
            try await group.waitForAll()
        }
    }
}
