@testable import KafkaClient
import ByteStorage
import TestSupport
import Testing

@testable import DispatchWorker

/// The settings of a lane's librdkafka clients, and the time limits of their calls.
@Suite struct LaneClientTests {
    private static let identity = LaneIdentity(group: "g", instance: "i", isStable: true, lane: 0)

    private static func value(
        _ key: String, of client: ClientKind, _ overrides: [ClientProperty] = []
    ) -> String? {
        var configuration = WorkerConfiguration(bootstrap: ["127.0.0.1:9"])
        configuration.clientProperties = overrides
        return ClientSettings.clientConfiguration(
            of: client, configuration: configuration, identity: identity, messageLimit: nil)[key]
    }

    @Test(
        "Libraries keep the known brokers in an outage unless the user overrides the setting",
        arguments: ClientKind.allCases)
    func metadataRecovery(client: ClientKind) {
        let key = "metadata.recovery.strategy"
        #expect(Self.value(key, of: client) == (LibraryInfo.hasProperty(key) ? "none" : nil))
        #expect(Self.value(key, of: client, [ClientProperty(key, "rebootstrap")]) == "rebootstrap")
        let own = ClientProperty("\(client.rawValue).\(key)", "rebootstrap")
        #expect(Self.value(key, of: client, [own]) == "rebootstrap")
    }

    @Test(
        "The reader of the registry, which has a queue for each partition, has the limit of one queue in all of them",
        arguments: [
            (1, nil, "65536"), (6, nil, "10922"), (1_000, nil, "1024"), (6, "60000", "10000"), (6, "100", "100"),
        ])
    func registryQueue(partitions: Int, given: String?, expected: String) {
        let key = "queued.max.messages.kbytes"
        var configuration = WorkerConfiguration(bootstrap: ["127.0.0.1:9"])
        configuration.clientProperties = given.map { [ClientProperty(key, $0)] } ?? []
        let client = ClientSettings.registryConfiguration(configuration, Self.identity, partitions: partitions)
        #expect(client[key] == expected)
    }

    @Test("The reader of the registry reads its topic, which a regular expression as input never matches")
    func registryBesidePattern() {
        var configuration = WorkerConfiguration(bootstrap: ["127.0.0.1:9"])
        configuration.input = .pattern("^l.*")
        configuration.devicesTopic = "link-devices"
        let lane = ClientSettings.clientConfiguration(
            of: .consumer, configuration: configuration, identity: Self.identity, messageLimit: nil)
        #expect(lane["topic.blacklist"]?.contains("^link-devices$") == true)
        let client = ClientSettings.registryConfiguration(configuration, Self.identity, partitions: 1)
        #expect(client["topic.blacklist"] == nil)
    }

    /// Returns a producer with an open transaction, whose brokers then delay their answers by an hour.
    private static func stalled(_ cluster: MockCluster) throws -> KafkaLaneProducer {
        try cluster.createTopic("out", partitions: 1)
        let producer = try KafkaLaneProducer(
            [
                "bootstrap.servers": cluster.bootstrapServers, "transactional.id": "t",
                "transaction.timeout.ms": "3000", "socket.timeout.ms": "3000",
            ], watch: CallWatch())
        try producer.initTransactions(timeoutMilliseconds: 20_000)
        let topic = try producer.open("out", timeoutMilliseconds: 10_000)
        try producer.begin()
        try producer.produce(
            topic: topic.handle, partition: 0, key: nil, value: ByteView("value"), headers: [], timestamp: nil)
        for _ in 0..<20 { producer.poll(timeoutMilliseconds: 10) }
        try cluster.setRoundTripTime(milliseconds: 3_600_000)
        return producer
    }

    @Test(
        "An unanswered commit or abort times out with an error that requires a new producer",
        .timeLimit(.minutes(10)))
    func boundedCalls() async throws {
        try await onThread {
            for isCommit in [true, false] {
                let cluster = try MockCluster()
                let producer = try Self.stalled(cluster)
                do throws(KafkaError) {
                    if isCommit { try producer.commit(timeoutMilliseconds: nil) } else { try producer.abort() }
                    Issue.record("an unanswered call succeeded")
                } catch {
                    #expect(!error.isRetriable && !error.isAbortable)
                    #expect([.fatal, .fenced].contains(KafkaErrorClass(error)))
                }
                producer.close()
            }
        }
    }

    @Test(
        "Calls that time out in an outage do not end a worker, but failures of the producer do",
        arguments: [(KafkaErrorCode.timedOut, nil), (.outOfOrderSequence, WorkerExitCode.tryAgain)])
    func outages(code: KafkaErrorCode, exit: WorkerExitCode?) {
        var machine = MachineTests.ready()
        for outage in UInt64(1)...8 {
            machine.failed(.commit, KafkaError(code: code), now: outage * 35_000 * MachineTests.ms)
        }
        #expect(machine.exit?.code == exit)
    }
}
