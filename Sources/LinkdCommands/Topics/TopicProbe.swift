internal import RouteTools
internal import KafkaClient
internal import ByteStorage

/// A test of the rights to write and to use a transactional id, with one transaction per topic that publishes nothing.
///
/// librdkafka 2.0.2 has no call that returns the user's own rights.
struct TopicProbe {
    private let connection: Connection
    private let id: String

    /// Creates a probe.
    ///
    /// Its transactional id has the prefix of the workers' ids, so that the same access rule allows it.
    ///
    /// - Parameter user: A name for the id that no worker has.
    init(_ connection: Connection, group: String, user: String) {
        self.connection = connection
        id = "linkd.\(group).\(user).0"
    }

    /// Returns the problems of the topics, which are empty if everything is allowed.
    ///
    /// Without topics, only the right to use the transactional id is tested.
    func findings(_ topics: [String]) throws(CommandFailure) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        if topics.isEmpty {
            let producer = try makeProducer()
            do throws(KafkaError) {
                try start(producer)
            } catch {
                return [finding(error, topic: "the transactional id", "using \(id)")]
            }
        }
        for topic in topics {
            // A producer is unusable after a refused write, so each topic has its own.
            let producer = try makeProducer()
            do throws(KafkaError) {
                try start(producer)
            } catch {
                return findings + [finding(error, topic: topic, "using the transactional id \(id)")]
            }
            do throws(KafkaError) {
                try write(topic, producer)
            } catch {
                findings.append(finding(error, topic: topic, "writing"))
            }
        }
        return findings
    }

    private func makeProducer() throws(CommandFailure) -> KafkaProducer {
        let configuration = connection.configuration(
            .producer,
            [
                "transactional.id": id, "transaction.timeout.ms": "10000", "socket.timeout.ms": "10000",
                "linger.ms": "0",
            ])
        do {
            return try KafkaProducer(configuration)
        } catch {
            throw connection.configurationFailure(error)
        }
    }

    /// Initializes transactions, and retries while a coordinator loads or an earlier transaction ends.
    private func start(_ producer: KafkaProducer) throws(KafkaError) {
        let end = Platform.monotonicSeconds + 30
        while true {
            do throws(KafkaError) {
                return try producer.initTransactions(timeoutMilliseconds: 5000)
            } catch {
                guard error.isRetriable || error.code == .timedOut, Platform.monotonicSeconds < end else { throw error }
            }
        }
    }

    private func write(_ topic: String, _ producer: KafkaProducer) throws(KafkaError) {
        let handle = try producer.topic(topic)
        try producer.beginTransaction()
        try producer.produce(handle, partition: 0, key: nil, value: ByteView("linkd topics check"))
        let end = Platform.monotonicSeconds + 10
        while producer.deliveries.reported == 0, Platform.monotonicSeconds < end {
            producer.poll(timeoutMilliseconds: 100)
        }
        if producer.deliveries.delivered == 1 { return try producer.abortTransaction(timeoutMilliseconds: 10_000) }
        if let error = producer.deliveries.lastError { throw error }
        // Only a commit reports the reason for the refusal. The record is purged first, so that nothing is published.
        try producer.purge()
        try producer.commitTransaction(timeoutMilliseconds: 10_000)
        throw KafkaError(code: .timedOut)
    }

    private func finding(_ error: KafkaError, topic: String, _ operation: String) -> TopicFinding {
        if case .authorization(let resource) = KafkaErrorClass(error) {
            let right: AccessRight =
                switch resource {
                case .transactionalID: AccessRight("Write", on: .transactionalID, id)
                case .cluster: AccessRight("IdempotentWrite", on: .cluster, "kafka-cluster")
                default: AccessRight("Write", on: .topic, topic)
                }
            return TopicFinding(topic: topic, missing: right, connection.principal)
        }
        return TopicFinding(
            topic: topic, code: "probe", text: "\(operation) failed: \(Escaping.visible(error.description))",
            advice: "look the code up in Kafka's protocol guide")
    }
}
