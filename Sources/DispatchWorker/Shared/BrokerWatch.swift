package import KafkaClient
internal import SystemThreads

/// A watch that asks the brokers for an answer every 2 s, from before the lanes start until the worker ends.
///
/// It has its own client and thread, because a lane in a call does not see the events of its clients. The lanes report
/// those events, so that the state also names the cause that only they have seen. It says whether any broker answers.
/// `Reachability` says whether all of them do, which is needed only to recognize a call that hangs.
package final class BrokerWatch: Sendable {
    /// The time limit of a request, in milliseconds.
    private static let requestTimeout: Int32 = 2_000
    /// The pause after an answer, in milliseconds.
    private static let pause = 2_000
    /// The pause after a request without an answer, in milliseconds.
    private static let retryPause = 250
    /// The number of failed requests after which a new client is created, which knows only the bootstrap brokers.
    private static let attempts = 3

    private let contact = Monitor(BrokerContact())
    private let thread = StoppableThread(name: "brokers")
    private let configuration: ClientConfiguration
    private let topics: [String]

    /// Creates a watch that has not started.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the connection.
    ///   - topics: The topics of the worker, at least one. Each request asks for the next one. A request without a
    ///     topic would be answered with all topics of the cluster.
    package init(_ configuration: ClientConfiguration, topics: [String]) {
        self.configuration = configuration
        self.topics = topics
    }

    /// Starts the watch.
    ///
    /// A second call has no effect. Without a thread, the brokers count as reachable.
    package func start() { thread.start { [self] in run() } }

    /// Stops the watch.
    ///
    /// Its thread ends when its request returns.
    package func stop() { thread.stop() }

    /// Records an event of a client of the worker.
    package func report(_ event: ClientEvent) {
        let now = SystemClock.monotonicNanoseconds()
        contact.withLock { $0.report(event, now: now) }
    }

    /// Returns the state of the brokers.
    ///
    /// `now` is in nanoseconds of the monotonic clock.
    package func state(now: UInt64) -> BrokerState { contact.withLock { $0.state(now: now) } }

    /// A Boolean value that indicates whether a broker has ever answered.
    package var hasAnswered: Bool { contact.withLock { $0.hasAnswered } }

    /// Returns a Boolean value that indicates whether an error follows from an outage that the log names once.
    func explains(_ code: KafkaErrorCode, now: UInt64) -> Bool {
        contact.withLock { $0.explains(code, now: now) }
    }

    private func run() {
        contact.withLock { $0.started(now: SystemClock.monotonicNanoseconds()) }
        while !thread.isStopped {
            do {
                let admin = try KafkaAdmin(configuration)
                defer { admin.close() }
                ask(admin)
            } catch {
                // The worker has validated the same settings. Without a client, the brokers would count as unreachable
                // for a reason of this process.
                return
            }
        }
    }

    /// Sends requests until some in a row have failed, or until the watch is stopped.
    private func ask(_ admin: KafkaAdmin) {
        var failures = 0
        var turn = 0
        while failures < Self.attempts, !thread.isStopped {
            let topic = topics[turn % topics.count]
            turn += 1
            let error = failure(of: admin, topic)
            for event in admin.takeEvents() { report(event) }
            let now = SystemClock.monotonicNanoseconds()
            if let error {
                failures += 1
                contact.withLock { $0.failed(error, certificate: admin.certificateProblem) }
            } else {
                failures = 0
                contact.withLock { $0.answered(now: now) }
            }
            _ = thread.sleep(milliseconds: error == nil ? Self.pause : Self.retryPause)
        }
    }

    /// Returns the error of a request that no broker answered, or nil after an answer.
    ///
    /// A refusal of a broker is an answer.
    private func failure(of admin: KafkaAdmin, _ topic: String) -> KafkaError? {
        do {
            let answer = try admin.metadata(ofTopic: topic, timeoutMilliseconds: Self.requestTimeout)
            let exists = answer.topics.first?.exists ?? false
            contact.withLock { $0.found(topic, exists: exists) }
            return nil
        } catch {
            return error.code.rawValue > 0 ? nil : error
        }
    }
}

/// A monitor that checks whether the whole cluster is reachable, while monitoring is on.
///
/// It has its own clients and thread. The lanes' clients cannot be used while one of their calls waits, and an open
/// port does not prove that a broker is running.
package final class Reachability: Sendable {
    /// The maximum age of a valid answer, in nanoseconds.
    private static let freshness: UInt64 = 4_000_000_000
    /// The interval between two probes, in milliseconds.
    private static let pause = 500

    private struct State {
        var isMonitoring = false
        var isRunning = false
        var answeredAt: UInt64?
    }

    private let state = Monitor(State())
    private let connection: ClientConfiguration
    private let member: ClientConfiguration
    private let topic: String

    /// Creates a monitor that is off.
    ///
    /// - Parameters:
    ///   - connection: The settings of the connection.
    ///   - member: The settings of a consumer with the group's name, which never joins the group.
    ///   - topic: Any topic that the worker may describe.
    package init(_ connection: ClientConfiguration, member: ClientConfiguration, topic: String) {
        self.connection = connection
        self.member = member
        self.topic = topic
    }

    /// Returns a Boolean value that indicates whether everything answered in the last seconds.
    ///
    /// The value is false until a probe has succeeded.
    package func isReachable(now: UInt64) -> Bool {
        state.withLock { $0.answeredAt.map { now.saturatingSubtract($0) <= Self.freshness } ?? false }
    }

    /// Turns monitoring on or off.
    package func setMonitoring(_ isMonitoring: Bool) {
        let starts = state.signal { state in
            let starts = isMonitoring && !state.isRunning
            state.isMonitoring = isMonitoring
            if starts { state.isRunning = true }
            if !isMonitoring { state.answeredAt = nil }
            return starts
        }
        guard starts else { return }
        if !SystemThread.start("reachability", { [self] in run() }) { state.withLock { $0.isRunning = false } }
    }

    /// Probes the cluster while monitoring is on.
    ///
    /// Creates new clients after each failed probe, because the old ones may have lost the brokers.
    private func run() {
        while state.withLock({ $0.isMonitoring }) {
            do {
                let probe = try ClusterProbe(connection, member: member, topic: topic)
                while state.withLock({ $0.isMonitoring }) && runProbe(probe) {}
            } catch {
                // The lanes' clients have the same settings and could be created. Without an answer, no call counts as
                // a hang.
                _ = state.wait(milliseconds: Self.pause) { $0.isMonitoring ? nil : true }
            }
        }
        let isRestarting = state.signal { state in
            state.isRunning = state.isMonitoring
            return state.isMonitoring
        }
        if isRestarting { run() }
    }

    /// Probes once and waits for the interval.
    ///
    /// Returns a Boolean value that indicates whether everything answered.
    private func runProbe(_ probe: ClusterProbe) -> Bool {
        let isReachable = probe.isFullyReachable()
        if isReachable {
            let now = SystemClock.monotonicNanoseconds()
            state.withLock { if $0.isMonitoring { $0.answeredAt = now } }
        }
        _ = state.wait(milliseconds: Self.pause) { $0.isMonitoring ? nil : true }
        return isReachable
    }
}

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
            if !topic.partitions.allSatisfy(Self.isWritable) { return false }
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

    /// Returns a Boolean value that indicates whether a partition has a leader and a majority of its replicas.
    ///
    /// With fewer replicas, a broker may answer although it accepts no record, and a coordinator although it can finish
    /// no rebalance.
    static func isWritable(_ partition: PartitionDescription) -> Bool {
        partition.leader >= 0 && partition.inSyncReplicas.count * 2 > partition.replicas.count
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
