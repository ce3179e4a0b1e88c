internal import KafkaClient

/// A probe of everything that a lane's call may need: each broker, the partition leaders, and the group's coordinator.
///
/// An answer of one broker is not enough, because a call that waits for another broker or for an unreachable
/// coordinator does not hang. The coordinator of transactions is only checked as one of the brokers, because every
/// request to it that the library offers fences the lane's producer. The probe owns its clients.
struct ClusterProbe {
    /// The time limit of one request, in milliseconds.
    private static let requestTimeout: Int32 = 2_000
    /// The time limit of a request to the group's coordinator, which a new client first has to find.
    private static let coordinatorTimeout: Int32 = 5_000
    /// The topic in which brokers store transactions.
    ///
    /// The coordinator of a transactional id leads one of its partitions.
    private static let transactions = "__transaction_state"

    private let admin: KafkaAdmin
    private let member: KafkaConsumer
    private let topic: String

    /// Creates the clients of a probe.
    ///
    /// They connect in the background.
    ///
    /// - Parameters:
    ///   - connection: The settings of the connection.
    ///   - member: The settings of a consumer with the group's name, which never joins the group.
    ///   - topic: Any topic that the worker may describe.
    init(_ connection: ClientConfiguration, member: ClientConfiguration, topic: String) throws(ConfigurationError) {
        admin = try KafkaAdmin(connection)
        self.member = try KafkaConsumer(member) { _, _ in }
        self.topic = topic
    }

    /// Returns a Boolean value that indicates whether all parts of the cluster are present and answered.
    func isFullyReachable() -> Bool {
        defer { forgetEvents() }
        guard let cluster = metadata(of: topic), let transactions = metadata(of: Self.transactions) else {
            return false
        }
        // If an ACL hides the topic of transactions, it has no partitions here.
        for topic in cluster.topics + transactions.topics {
            if topic.partitions.contains(where: { $0.leader < 0 }) { return false }
        }
        for broker in cluster.brokers {
            let isReachable = isAnswered { () throws(KafkaError) in
                _ = try admin.settings(ofBroker: broker.id, timeoutMilliseconds: Self.requestTimeout)
            }
            if !isReachable { return false }
        }
        return isAnswered { () throws(KafkaError) in
            _ = try member.committed(
                [TopicPartition(topic: topic, partition: 0)], timeoutMilliseconds: Self.coordinatorTimeout)
        }
    }

    private func metadata(of topic: String) -> ClusterMetadata? {
        do {
            return try admin.metadata(ofTopic: topic, timeoutMilliseconds: Self.requestTimeout)
        } catch {
            // No answer.
            return nil
        }
    }

    /// Returns a Boolean value that indicates whether a request was answered.
    ///
    /// A refusal is an answer, unless it reports that another broker is unavailable.
    private func isAnswered(_ question: () throws(KafkaError) -> Void) -> Bool {
        do throws(KafkaError) {
            try question()
            return true
        } catch {
            switch error.code {
            case .requestTimedOut, .coordinatorLoadInProgress, .coordinatorNotAvailable, .notCoordinator: return false
            // The broker has announced at connect time that it does not support the request.
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
