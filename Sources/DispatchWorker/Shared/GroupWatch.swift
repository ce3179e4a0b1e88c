internal import KafkaClient
internal import SystemThreads

/// A watch that asks the brokers for the members and the committed offsets of the worker's group.
///
/// It also asks for partitions that no lane of this worker owns, because nobody else reports a partition without an
/// owner. It has its own clients and thread, which wait for the group's coordinator without delaying anything else. The
/// interval is a minute for each process. It is 5 s while the group rebalances or a partition with lag has no owner. A
/// question is one request to each broker for its groups, one each to describe the group, for the committed offsets,
/// and for each input topic, and two to each leader.
package final class GroupWatch: Sendable {
    /// The time limit of a request, in milliseconds.
    private static let requestTimeout: Int32 = 5_000
    /// The interval of questions, in nanoseconds.
    private static let interval: UInt64 = 60_000_000_000
    /// The interval of questions while the group is not settled, in nanoseconds.
    private static let uneasyInterval: UInt64 = 5_000_000_000
    /// The share of an interval by which it varies, so that workers that start together do not ask together.
    private static let jitter = 0.1
    /// The largest number of partitions for which is asked.
    private static let partitionLimit = LibraryStatistics.partitionLimit

    private struct State {
        var lag: GroupLag?
        var isUneasy = false
    }

    private let state = Monitor(State())
    private let thread = StoppableThread(name: "group")
    private let configuration: WorkerConfiguration
    private let identity: LaneIdentity

    /// Creates a watch that has not started.
    package init(_ configuration: WorkerConfiguration, _ identity: LaneIdentity) {
        self.configuration = configuration
        self.identity = identity
    }

    /// Starts the watch.
    ///
    /// A second call has no effect. Without a thread, the group's lag is unknown.
    package func start() { thread.start { [self] in run() } }

    /// Stops the watch.
    ///
    /// It waits up to 2 s for the thread, which ends when its request returns.
    package func stop() {
        thread.stop()
        thread.join(milliseconds: 2_000)
    }

    /// Returns the newest lag of the group, or nil without an answer in the last 3 minutes.
    package func lag(now: UInt64) -> GroupLag? {
        state.withLock { state in
            state.lag.flatMap { now.saturatingSubtract($0.answeredAt) <= GroupLag.freshness ? $0 : nil }
        }
    }

    /// Sets whether a lane of this worker waits for an assignment, so that the brokers are asked more often.
    package func setUneasy(_ isUneasy: Bool) { state.withLock { $0.isUneasy = isUneasy } }

    private func run() {
        var history = GroupLagHistory(from: configuration.from)
        var clients: Clients?
        // A worker that ends soon asks nothing.
        var last = SystemClock.monotonicNanoseconds()
        // The first question comes after 15 s. On librdkafka's mock cluster, one while the lanes join delays them.
        var factor = Double.random(in: 3...4)
        while thread.sleep(milliseconds: 1_000) {
            let isUneasy = state.withLock { $0.isUneasy || $0.lag?.isUneasy ?? false }
            let interval = Double(isUneasy || clients == nil ? Self.uneasyInterval : Self.interval)
            guard Double(SystemClock.monotonicNanoseconds().saturatingSubtract(last)) >= interval * factor else {
                continue
            }
            let answer = ask(&clients, &history)
            last = SystemClock.monotonicNanoseconds()
            factor = .random(in: 1 - Self.jitter...1 + Self.jitter)
            if let answer {
                state.withLock { $0.lag = answer }
            } else {
                // The old clients may have lost the brokers.
                clients = nil
            }
        }
    }

    /// Asks once, and returns nil if the brokers did not answer.
    private func ask(_ clients: inout Clients?, _ history: inout GroupLagHistory) -> GroupLag? {
        do {
            let used = try clients ?? Clients(configuration, identity)
            clients = used
            defer { used.forgetEvents() }
            let offsets = try offsets(used)
            return history.add(offsets, try description(used), now: SystemClock.monotonicNanoseconds())
        } catch {
            return nil
        }
    }

    /// Returns the description of the group, or nil if this user or these brokers do not allow it.
    private func description(_ clients: Clients) throws(KafkaError) -> GroupDescription? {
        do throws(KafkaError) {
            return try clients.admin.describe(
                group: configuration.group, timeoutMilliseconds: Self.requestTimeout)
        } catch {
            switch error.code {
            case .groupAuthorizationFailed, .unsupportedFeature: return nil
            default: throw error
            }
        }
    }

    private func offsets(_ clients: Clients) throws(KafkaError) -> [GroupLagHistory.Offsets] {
        let inputs = try TopicPreflight(configuration: configuration, admin: clients.admin).inputs()
        let partitions = inputs.flatMap { topic in
            topic.partitions.map { TopicPartition(topic: topic.name, partition: $0.id) }
        }.prefix(Self.partitionLimit)
        let all = Array(partitions)
        let stable = try ends(of: all, at: LogicalOffset.end, clients)
        let low = try ends(of: all, at: LogicalOffset.beginning, clients)
        let committed = try clients.member.committed(all, timeoutMilliseconds: Self.requestTimeout)
        return committed.compactMap { result in
            guard result.error == nil, let end = stable[result.partition], let begin = low[result.partition] else {
                return nil
            }
            return GroupLagHistory.Offsets(
                partition: result.partition, committed: result.offset, low: begin, stable: end)
        }
    }

    private func ends(
        of partitions: [TopicPartition], at end: Int64, _ clients: Clients
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        var found: [TopicPartition: Int64] = [:]
        let results = try clients.admin.offsets(of: partitions, at: end, timeoutMilliseconds: Self.requestTimeout)
        for result in results where result.error == nil { found[result.partition] = result.offset }
        return found
    }
}

/// The clients of a watch.
private struct Clients {
    let admin: KafkaAdmin
    /// A consumer with the group's name, which never joins the group.
    let member: KafkaConsumer

    init(_ configuration: WorkerConfiguration, _ identity: LaneIdentity) throws(ConfigurationError) {
        admin = try KafkaAdmin(ClientSettings.adminConfiguration(configuration, identity))
        member = try KafkaConsumer(ClientSettings.memberConfiguration(configuration, identity)) { _, _ in }
    }

    func forgetEvents() {
        _ = admin.takeEvents()
        _ = member.takeEvents()
    }
}
