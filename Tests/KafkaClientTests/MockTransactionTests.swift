@testable import KafkaClient
import Testing
import TestSupport

/// The flags of transaction errors, tested with errors that are injected into the mock cluster.
///
/// The mock cluster cannot show the effect on records.
struct MockTransactionTests {
    private static func producer(_ cluster: MockCluster) throws -> KafkaProducer {
        try KafkaProducer([
            "bootstrap.servers": cluster.bootstrapServers, "transactional.id": "t", "debug": "eos,feature",
            "transaction.timeout.ms": "10000", "retry.backoff.ms": "20",
        ])
    }

    /// Returns a producer whose transactions are initialized, and a topic.
    private static func begun(
        on cluster: MockCluster, partitions: Int32 = 1
    ) throws -> (producer: KafkaProducer, topic: ProducerTopic) {
        try cluster.createTopic("out", partitions: partitions)
        let producer = try producer(cluster)
        try producer.initTransactions(timeoutMilliseconds: 10_000)
        return (producer, try producer.topic("out"))
    }

    @Test("A transaction commits, counts its deliveries, and reads the brokers' versions")
    func commits() async throws {
        try await onThread {
            let cluster = try MockCluster()
            let (producer, topic) = try Self.begun(on: cluster, partitions: 3)
            #expect(try producer.topic("out") == topic)
            #expect(try producer.partitionCount(of: topic, timeoutMilliseconds: 5000) == 3)
            // The first connection may be reported twice. Only the difference since the begin of the transaction
            // counts.
            let dropsBefore = producer.debugLog.coordinatorDrops
            try producer.beginTransaction()
            try producer.send(topic, texts: ["a", "b"])
            try producer.commitTransaction(timeoutMilliseconds: 10_000)
            #expect(producer.deliveries == DeliveryCounts(delivered: 2))
            // Version 2 in the mock cluster of 2.0, version 3 in later ones.
            #expect((producer.debugLog.requestVersions[28]?.max ?? 0) >= 2)
            #expect(producer.debugLog.requestVersions[9] != nil)
            #expect(producer.debugLog.coordinatorDrops == dropsBefore)
            let debugLines = producer.takeEvents().filter { event in
                guard case .log(let line) = event else { return false }
                return line.level == 7
            }
            #expect(debugLines == [])

            try producer.beginTransaction()
            try producer.send(topic, texts: ["c"])
            try producer.abortTransaction(timeoutMilliseconds: 10_000)
            #expect(producer.deliveries.failed == 0)
            #expect(producer.deliveries.reported == 3)
        }
    }

    @Test("Calls in the wrong state fail with an error")
    func wrongState() async throws {
        try await onThread {
            let cluster = try MockCluster()
            let producer = try Self.producer(cluster)
            let error1 = failure { try producer.beginTransaction() }
            #expect(error1?.code == .state)
            try producer.initTransactions(timeoutMilliseconds: 10_000)
            let error2 = failure { try producer.abortTransaction(timeoutMilliseconds: 100) }
            #expect(error2?.code == .state)
            let plain = try KafkaProducer(["bootstrap.servers": cluster.bootstrapServers])
            let error3 = failure { try plain.initTransactions(timeoutMilliseconds: 100) }
            #expect(error3?.code.name == "_NOT_CONFIGURED")
        }
    }

    /// The effect of an injected error on a call: request key (24 AddPartitions, 26 EndTxn, 0 Produce), error, and
    /// flags.
    struct Injection: Sendable, CustomTestStringConvertible {
        var request: Int16
        var error: KafkaErrorCode
        var expected: KafkaErrorClass
        var testDescription: String { "\(request) \(error.name)" }
    }

    static let injections: [Injection] = [
        Injection(request: 26, error: .invalidProducerEpoch, expected: .fenced),
        Injection(request: 26, error: .producerFenced, expected: .fenced),
        Injection(request: 26, error: .invalidTransactionState, expected: .fatal),
        Injection(request: 26, error: .invalidProducerIDMapping, expected: .abortable),
        Injection(request: 26, error: .transactionalIDAuthorizationFailed, expected: .authorization(.transactionalID)),
        Injection(request: 24, error: .invalidProducerEpoch, expected: .fenced),
        Injection(request: 24, error: .invalidTransactionState, expected: .fatal),
        Injection(request: 24, error: .topicAuthorizationFailed, expected: .authorization(.topic)),
        Injection(request: 24, error: .unknownProducerID, expected: .abortable),
        Injection(request: 0, error: .messageTooLarge, expected: .abortable),
        Injection(request: 0, error: .invalidProducerEpoch, expected: .fenced),
    ]

    @Test("An injected error of a commit has the expected class", arguments: injections)
    func classes(injection: Injection) async throws {
        try await onThread {
            let cluster = try MockCluster()
            let (producer, topic) = try Self.begun(on: cluster)
            _ = try producer.partitionCount(of: topic, timeoutMilliseconds: 5000)
            try producer.beginTransaction()
            cluster.push(errors: [injection.error], forRequest: injection.request)
            try producer.send(topic, texts: ["a"])
            let refusal = failure { try producer.commitTransaction(timeoutMilliseconds: 15_000) }
            let error = try #require(refusal)
            #expect(KafkaErrorClass(error) == injection.expected, "\(error)")
            if error.isFatal { #expect(producer.fatalError != nil) }
            if KafkaErrorClass(error) == .abortable {
                try producer.abortTransaction(timeoutMilliseconds: 10_000)
                #expect(producer.fatalError == nil)
            }
        }
    }

    @Test(
        "Errors that librdkafka retries on its own are not reported",
        arguments: [
            (Int16(26), KafkaErrorCode.coordinatorNotAvailable), (26, .notCoordinator), (24, .concurrentTransactions),
            (24, .coordinatorLoadInProgress), (0, .notLeader),
        ])
    func repeatedInside(request: Int16, error: KafkaErrorCode) async throws {
        try await onThread {
            let cluster = try MockCluster()
            let (producer, topic) = try Self.begun(on: cluster)
            try producer.beginTransaction()
            cluster.push(errors: [error], forRequest: request)
            try producer.send(topic, texts: ["a"])
            try producer.commitTransaction(timeoutMilliseconds: 15_000)
            #expect(producer.deliveries == DeliveryCounts(delivered: 1))
        }
    }

    @Test("A lost coordinator connection is detected even if the commit succeeds")
    func coordinatorDrop() async throws {
        try await onThread {
            let cluster = try MockCluster()
            let (producer, topic) = try Self.begun(on: cluster)
            try producer.beginTransaction()
            try producer.send(topic, texts: ["a"])
            try producer.flush(timeoutMilliseconds: 10_000)
            let before = producer.debugLog.coordinatorDrops
            cluster.push(errors: [.transport], forRequest: 26)
            try producer.commitTransaction(timeoutMilliseconds: 15_000)
            #expect(producer.debugLog.coordinatorDrops > before)
        }
    }
}
