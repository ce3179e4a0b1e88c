@testable import KafkaClient
import Testing
import TestSupport

/// Groups on a real broker.
///
/// Each of these tests needs a broker (`KAFKA_BOOTSTRAP_SERVERS`).
@Suite(.enabled(if: BrokerEnvironment.hasBroker, "needs a broker: set KAFKA_BOOTSTRAP_SERVERS"))
struct BrokerGroupTests {
    private static let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    private static func member(
        _ group: String, _ extra: ClientConfiguration = [:], _ log: RebalanceLog
    ) throws -> KafkaConsumer {
        var configuration: ClientConfiguration = [
            "bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": "false",
            "enable.auto.offset.store": "false", "auto.offset.reset": "error", "enable.partition.eof": "true",
            "session.timeout.ms": "6000", "heartbeat.interval.ms": "500",
        ]
        configuration.merge(extra)
        return try KafkaConsumer(configuration) { consumer, event in
            log.events.append(event)
            consumer.answer(event)
        }
    }

    private static func topic(_ partitions: Int32) throws -> String {
        let name = BrokerEnvironment.uniqueName("group")
        let admin = try KafkaAdmin(["bootstrap.servers": bootstrap])
        let results = try admin.create(
            topics: [TopicSpecification(name: name, partitions: partitions)], timeoutMilliseconds: 20_000)
        try #require(results.map(\.error) == [nil])
        return name
    }

    @Test(
        "A second member is assigned its share until it leaves", arguments: ["range", "cooperative-sticky"])
    func twoMembers(assignor: String) async throws {
        try await onThread {
            let topic = try Self.topic(4)
            let group = BrokerEnvironment.uniqueName("g")
            let strategy: ClientConfiguration = ["partition.assignment.strategy": assignor]
            let firstLog = RebalanceLog()
            let first = try Self.member(group, strategy, firstLog)
            try first.subscribe([topic])
            func shares(_ expected: [Int], _ members: [KafkaConsumer]) throws -> Bool {
                try becomesTrue(withinSeconds: 30) {
                    for member in members { _ = member.poll(max: 100, timeoutMilliseconds: 20) }
                    return try members.map { try $0.assignment().count } == expected
                }
            }
            #expect(try shares([4], [first]))
            let second = try Self.member(group, strategy, RebalanceLog())
            try second.subscribe(["^\(topic)$"])
            #expect(try shares([2, 2], [first, second]))
            let revoked = firstLog.events.compactMap { event -> Int? in
                guard case .revoke(let partitions) = event else { return nil }
                return partitions.count
            }
            #expect(revoked == [assignor == "range" ? 4 : 2])
            try second.close()
            #expect(try shares([4], [first]))
            try first.close()
            let lost = firstLog.events.contains { event in
                guard case .lost = event else { return false }
                return true
            }
            #expect(!lost)
        }
    }

    @Test("A member that does not poll gets an event and loses its partitions")
    func maxPollExceeded() async throws {
        try await onThread {
            let topic = try Self.topic(1)
            let log = RebalanceLog()
            let consumer = try Self.member(
                BrokerEnvironment.uniqueName("g"), ["max.poll.interval.ms": "6000"], log)
            try consumer.subscribe([topic])
            let assigned = becomesTrue(withinSeconds: 30) {
                _ = consumer.poll(max: 10, timeoutMilliseconds: 50)
                return !log.events.isEmpty
            }
            #expect(assigned)
            // The test requires that this consumer does not poll, so the thread waits with another client.
            let other = try KafkaReader(["bootstrap.servers": Self.bootstrap])
            for _ in 0..<15 { _ = other.poll(max: 1, timeoutMilliseconds: 500) }
            #expect(consumer.awaitEvent(.maxPollExceeded) != nil)
            let lost = becomesTrue(withinSeconds: 15) {
                _ = consumer.poll(max: 10, timeoutMilliseconds: 50)
                return log.events.contains(.lost([TopicPartition(topic: topic, partition: 0)]))
            }
            #expect(lost, "\(log.events)")
            consumer.abandon()
        }
    }

    @Test("The older of two members with one instance name gets a fatal error")
    func fencedInstance() async throws {
        try await onThread {
            let topic = try Self.topic(1)
            let group = BrokerEnvironment.uniqueName("g")
            let name: ClientConfiguration = ["group.instance.id": "i.0"]
            let old = try Self.member(group, name, RebalanceLog())
            try old.subscribe([topic])
            let assigned = try becomesTrue(withinSeconds: 30) {
                _ = old.poll(max: 10, timeoutMilliseconds: 50)
                return try !old.assignment().isEmpty
            }
            #expect(assigned)
            let new = try Self.member(group, name, RebalanceLog())
            try new.subscribe([topic])
            var event: ConsumerEvent?
            _ = becomesTrue(withinSeconds: 30) {
                _ = new.poll(max: 10, timeoutMilliseconds: 20)
                _ = old.poll(max: 10, timeoutMilliseconds: 20)
                event = event ?? old.events.first { $0.kind == .fatal }
                return event != nil
            }
            #expect(event?.error?.isFatal == true)
            let fatal = try #require(old.fatalError)
            #expect(KafkaErrorClass(fatal) == .fencedInstance, "\(fatal)")
            old.abandon()
            try new.close()
        }
    }

    @Test("A member of a deleted topic leaves its group in time")
    func deletedTopic() async throws {
        try await onThread {
            let topic = try Self.topic(1)
            let group = BrokerEnvironment.uniqueName("g")
            let member = try Self.member(group, [:], RebalanceLog())
            try member.subscribe([topic])
            let assigned = try becomesTrue(withinSeconds: 30) {
                _ = member.poll(max: 10, timeoutMilliseconds: 50)
                return try !member.assignment().isEmpty
            }
            #expect(assigned)
            let admin = try KafkaAdmin(["bootstrap.servers": Self.bootstrap])
            defer { admin.close() }
            #expect(try admin.delete(topics: [topic], timeoutMilliseconds: 20_000).map(\.error) == [nil])
            for _ in 0..<100 { _ = member.poll(max: 10, timeoutMilliseconds: 50) }
            let began = ContinuousClock.now
            // Version 2.0.2 does not destroy the client.
            do throws(KafkaError) { try member.close() } catch { #expect(error.code == .timedOut) }
            #expect(began.duration(to: .now) < .seconds(10))
            #expect(try admin.describe(group: group, timeoutMilliseconds: 20_000).members.isEmpty)
        }
    }
}
