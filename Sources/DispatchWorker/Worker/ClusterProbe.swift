internal import KafkaClient

/// Asks a cluster for everything that a call of a lane may need: each broker, the partitions' leaders, the group's
/// coordinator.
///
/// One broker that answers is not enough: a call that waits for another one, or for a coordinator that is away, does
/// not hang. Nothing but a question to each broker can show that the transaction's coordinator is there: no call of the
/// library asks for it without fencing the lane's own producer. Its clients end with it.
struct ClusterProbe {
    /// The time that one question may take, in milliseconds.
    private static let patience: Int32 = 2_000
    /// The same for the group's coordinator, which a new client has to find first.
    private static let coordinatorPatience: Int32 = 5_000
    /// Where brokers keep transactions: each transactional id's coordinator leads one of its partitions.
    private static let transactions = "__transaction_state"

    private let admin: KafkaAdmin
    private let member: KafkaConsumer
    private let topic: String

    /// Makes the clients of a probe; they connect on their own.
    ///
    /// - Parameters:
    ///   - connection: Settings to connect with.
    ///   - member: Settings of a consumer with the group's name; it never joins.
    ///   - topic: Any topic that may be asked for.
    init(_ connection: ClientConfiguration, member: ClientConfiguration, topic: String) throws(ConfigurationError) {
        admin = try KafkaAdmin(connection)
        self.member = try KafkaConsumer(member) { _, _ in }
        self.topic = topic
    }

    /// Asks; returns a Boolean value that indicates whether all were there and answered.
    func isAllThere() -> Bool {
        defer { forgetEvents() }
        guard let cluster = metadata(of: topic), let transactions = metadata(of: Self.transactions) else {
            return false
        }
        // An ACL may hide the topic of transactions: then it has no partitions.
        for topic in cluster.topics + transactions.topics {
            if topic.partitions.contains(where: { $0.leader < 0 }) { return false }
        }
        for broker in cluster.brokers {
            let isThere = isAnswered { () throws(KafkaError) in
                _ = try admin.settings(ofBroker: broker.id, timeoutMilliseconds: Self.patience)
            }
            if !isThere { return false }
        }
        return isAnswered { () throws(KafkaError) in
            _ = try member.committed(
                [TopicPartition(topic: topic, partition: 0)], timeoutMilliseconds: Self.coordinatorPatience)
        }
    }

    private func metadata(of topic: String) -> ClusterMetadata? {
        do {
            return try admin.metadata(ofTopic: topic, timeoutMilliseconds: Self.patience)
        } catch {
            // No answer.
            return nil
        }
    }

    /// A refusal is an answer, too, unless it says that somebody else is away.
    private func isAnswered(_ question: () throws(KafkaError) -> Void) -> Bool {
        do throws(KafkaError) {
            try question()
            return true
        } catch {
            switch error.code {
            case .requestTimedOut, .coordinatorLoadInProgress, .coordinatorNotAvailable, .notCoordinator: return false
            // A broker that cannot do what it is asked for has told so when the client connected.
            case .unsupportedFeature: return true
            default: return error.code.rawValue > 0
            }
        }
    }

    private func forgetEvents() {
        _ = admin.takeEvents()
        _ = member.takeEvents()
    }
}
