import ByteStorage
import Foundation
@testable import KafkaClient
import StrictJSON
import Testing
import TestSupport

/// Topics, settings, and times on a real broker.
///
/// Each of these tests needs a broker (`KAFKA_BOOTSTRAP_SERVERS`), because the mock cluster has no admin requests.
@Suite(.enabled(if: BrokerEnvironment.hasBroker, "needs a broker: set KAFKA_BOOTSTRAP_SERVERS"))
struct BrokerAdminTests {
    private static let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    @Test("Topics are created, described, rejected if they exist, and deleted")
    func topics() async throws {
        try await onThread {
            let admin = try KafkaAdmin(["bootstrap.servers": Self.bootstrap])
            let name = BrokerEnvironment.uniqueName("admin")
            let specification = TopicSpecification(
                name: name, partitions: 3, settings: ["retention.ms": "3600000", "max.message.bytes": "70000"])
            let trial = try admin.create(topics: [specification], validateOnly: true, timeoutMilliseconds: 20_000)
            #expect(trial == [TopicResult(name: name, error: nil)])
            #expect(try admin.describe(topics: [name], timeoutMilliseconds: 10_000).map(\.exists) == [false])

            #expect(
                try admin.create(topics: [specification], timeoutMilliseconds: 20_000)
                    == [TopicResult(name: name, error: nil)])
            let again = try admin.create(topics: [specification], timeoutMilliseconds: 20_000)
            #expect(again.map(\.error?.code) == [.topicAlreadyExists])
            let wrong = try admin.create(
                topics: [TopicSpecification(name: name + "-x", partitions: 1, settings: ["retention.mss": "1"])],
                timeoutMilliseconds: 20_000)
            #expect(wrong.map(\.error?.code.name) == ["INVALID_CONFIG"])

            // The controller has answered. The metadata of the brokers is updated a moment later.
            let isKnown = try becomesTrue(withinSeconds: 10) {
                try admin.describe(topics: [name], timeoutMilliseconds: 10_000).first?.exists == true
            }
            #expect(isKnown)
            let described = try #require(
                try admin.describe(topics: [name], timeoutMilliseconds: 10_000).first)
            #expect(described.exists && described.error == nil && described.name == name)
            #expect(described.partitions.map(\.id) == [0, 1, 2])
            let inSync = described.partitions.allSatisfy { !$0.replicas.isEmpty && $0.inSyncReplicas == $0.replicas }
            #expect(inSync)

            let missing = BrokerEnvironment.uniqueName("missing")
            let settings = try admin.settings(ofTopics: [name, missing, name], timeoutMilliseconds: 10_000)
            #expect(settings.map(\.name) == [name, missing])
            #expect(settings.first?.values["max.message.bytes"] == "70000")
            #expect(settings.first?.values["cleanup.policy"] == "delete")
            #expect(settings.last?.error?.code == .unknownTopicOrPartition)

            let all = try admin.metadata(timeoutMilliseconds: 10_000)
            let names = Set(all.topics.map(\.name))
            #expect(names.contains(name) && !names.contains(missing))
            let broker = try #require(all.brokers.first)
            let brokerSettings = try admin.settings(ofBroker: broker.id, timeoutMilliseconds: 10_000)
            #expect(Int(brokerSettings.values["transaction.max.timeout.ms"] ?? "") != nil)

            #expect(
                try admin.delete(topics: [name], timeoutMilliseconds: 20_000) == [TopicResult(name: name, error: nil)])
        }
    }

    @Test("An unreachable broker is an error after the timeout, not a hang", .timeLimit(.minutes(5)))
    func noBroker() async throws {
        try await onThread {
            let admin = try KafkaAdmin(["bootstrap.servers": "127.0.0.1:1"])
            let error1 = failure { _ = try admin.metadata(timeoutMilliseconds: 300) }
            #expect(error1 != nil)
            let topic = TopicSpecification(name: "t", partitions: 1)
            let error2 = failure { _ = try admin.create(topics: [topic], timeoutMilliseconds: 300) }
            #expect(error2 != nil)
        }
    }

    @Test("Offsets for times, watermarks, and reading from an offset work without a group")
    func reader() async throws {
        try await onThread {
            let admin = try KafkaAdmin(["bootstrap.servers": Self.bootstrap])
            let name = BrokerEnvironment.uniqueName("times")
            _ = try admin.create(topics: [TopicSpecification(name: name, partitions: 2)], timeoutMilliseconds: 20_000)
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let producer = try KafkaProducer(["bootstrap.servers": Self.bootstrap])
            let topic = try producer.topic(name)
            for index in 0..<10 {
                try producer.send(topic, value: [UInt8(index)], timestamp: now - 100_000 + Int64(index) * 1000)
            }
            try producer.flush(timeoutMilliseconds: 10_000)
            try #require(producer.deliveries.delivered == 10)

            let reader = try KafkaReader(["bootstrap.servers": Self.bootstrap, "enable.partition.eof": "true"])
            let first = TopicPartition(topic: name, partition: 0)
            let second = TopicPartition(topic: name, partition: 1)
            #expect(try reader.describe(topic: name, timeoutMilliseconds: 10_000).partitions.count == 2)
            #expect(try !reader.describe(topic: name + "-x", timeoutMilliseconds: 10_000).exists)
            let found = try reader.offsets(
                of: [first, second], atOrAfter: now - 97_000, timeoutMilliseconds: 10_000)
            #expect(found == [first: 3])
            #expect(try reader.watermarks(of: first, timeoutMilliseconds: 10_000) == Watermarks(low: 0, high: 10))

            try reader.start([PartitionOffset(first, offset: 7)])
            var values: [UInt8] = []
            let ended = becomesTrue(withinSeconds: 15) {
                _ = reader.poll(max: 2, timeoutMilliseconds: 50)
                values += reader.records.compactMap { $0.value?[0] }
                return reader.events.contains { $0.kind == .endOfPartition && $0.offset == 10 }
            }
            #expect(ended)
            #expect(values == [7, 8, 9])
            try reader.stop([first])
            try reader.start([PartitionOffset(first, offset: 0)])
            let restarted = becomesTrue(withinSeconds: 15) {
                reader.poll(max: 100, timeoutMilliseconds: 50).records > 0
            }
            #expect(restarted)
            #expect(reader.records.first?.offset == 0)
        }
    }
}
