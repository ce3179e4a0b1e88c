internal import KafkaClient
internal import StrictJSON

/// Tries the rights to write and to use a transactional id, by one transaction per topic that is aborted.
///
/// No call of librdkafka 2.0.2 tells one's own rights.
struct TopicProbe {
    private let producer: KafkaProducer
    private let id: String

    /// Makes the producer; its transactional id begins as the workers' do, so that the same rule allows it.
    init(_ connection: Connection, group: String) throws(CommandFailure) {
        id = "linkd.\(group).topics-check.0"
        let configuration = connection.configuration(
            .producer,
            ["transactional.id": id, "transaction.timeout.ms": "10000", "socket.timeout.ms": "10000", "linger.ms": "0"])
        do {
            producer = try KafkaProducer(configuration)
        } catch {
            throw connection.refused(error)
        }
    }

    /// What is refused, for these topics; empty when everything is allowed.
    func findings(_ topics: [String]) -> [TopicFinding] {
        do throws(KafkaError) {
            try start()
        } catch {
            return [finding(error, topic: topics.first ?? "", "the transactional id \(id)")]
        }
        return topics.compactMap { topic in
            do throws(KafkaError) {
                try write(topic)
                return nil
            } catch {
                return finding(error, topic: topic, "writing")
            }
        }
    }

    /// A predecessor's transaction, or a coordinator that still loads, may take some tries.
    private func start() throws(KafkaError) {
        let end = Platform.monotonicSeconds + 30
        while true {
            do throws(KafkaError) {
                return try producer.initTransactions(timeoutMilliseconds: 5000)
            } catch {
                guard error.isRetriable || error.code == .timedOut, Platform.monotonicSeconds < end else { throw error }
            }
        }
    }

    private func write(_ topic: String) throws(KafkaError) {
        let handle = try producer.topic(topic)
        try producer.beginTransaction()
        producer.forgetDeliveryErrors()
        var failure: KafkaError?
        do throws(KafkaError) {
            try producer.produce(handle, partition: 0, key: nil, value: ByteView("linkd topics check"))
            try producer.flush(timeoutMilliseconds: 10_000)
        } catch {
            failure = error
        }
        failure = producer.deliveries.lastError ?? failure
        do throws(KafkaError) {
            try producer.abortTransaction(timeoutMilliseconds: 10_000)
        } catch {
            failure = failure ?? error
        }
        if let failure { throw failure }
    }

    private func finding(_ error: KafkaError, topic: String, _ what: String) -> TopicFinding {
        if case .authorization(let resource) = KafkaErrorClass(error) {
            return TopicFinding(
                topic: topic, code: "not_allowed", text: "\(what) is not allowed (\(error.name))",
                advice: "grant this user Write on the \(resource.rawValue)", isRefusal: true)
        }
        return TopicFinding(
            topic: topic, code: "probe", text: "\(what) failed: \(Escaping.visible(error.description))",
            advice: "look the code up in Kafka's protocol guide")
    }
}
