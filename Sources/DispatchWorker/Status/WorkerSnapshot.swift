package import KafkaClient

/// The state of a worker at one time.
///
/// The pages of the HTTP server, the lines of the log, and the messages to systemd are functions of it.
package struct WorkerSnapshot: Sendable {
    /// The time, in nanoseconds of the monotonic clock.
    package var now: UInt64
    /// The time, in milliseconds since 1970.
    package var wallMilliseconds: Int64 = 0
    /// The program's version.
    package var version = ""
    /// The version of librdkafka.
    package var library = ""
    /// The name of the process in dead letters, the group, and transactions.
    package var instance = ""
    /// The consumer group.
    package var group = ""
    /// The output topics, in the order of `OutputTopics.names`.
    package var outputs: [String] = []
    /// The records that were committed per second during the last 10 s.
    package var recordsPerSecond = 0.0
    /// A Boolean value that indicates whether every lane has joined the group.
    package var isReady = false
    /// A Boolean value that indicates whether a stop was requested.
    package var isDraining = false
    /// A Boolean value that indicates whether consumption is paused.
    package var isPaused = false
    /// The reason why the worker ends, or nil.
    package var exit: WorkerExit?
    /// The lanes that have published a snapshot, by number.
    package var lanes: [LaneView] = []
    /// The owned partitions.
    package var partitions: [PartitionLag] = []
    /// The state of the brokers.
    package var brokers = BrokerState()
    /// The lag of the group, or nil while the brokers do not report it.
    package var groupLag: GroupLag?
    /// The registry of devices, or nil without one or before its start.
    package var devices: RegistryView?
    /// The tables that the worker serves.
    package var tables: [ServedTable] = []
    /// The counters of the tables.
    package var tableCounters = TableCounters()
    /// The comparison of the canary, or nil without one.
    package var canary: CanaryTotals?
    /// The number of log lines that were dropped because the output is too slow.
    package var logDropped: Int64 = 0
    /// The number of statistics documents that were refused.
    package var statisticsRefused: UInt64 = 0
    /// The figures of the process.
    package var process = ProcessFigures()
    /// Returns the free bytes of the directory of the worker's state, or nil without one.
    ///
    /// It is a function, because a file system may not answer, and only the page that needs it may wait.
    package var stateFreeBytes: @Sendable () -> Int64? = { nil }

    /// Creates the snapshot of a worker without lanes.
    package init(now: UInt64) { self.now = now }
}

/// A lane in a worker's snapshot.
package struct LaneView: Sendable {
    /// The lane's newest snapshot.
    package var snapshot: LaneSnapshot
    /// The calls of the lane that have not returned, outermost first.
    package var calls: [CallWatch.Entry]
    /// The newest statistics of the consumer, or nil before the first ones.
    package var consumer: LibraryStatistics?
    /// The newest statistics of the producer, or nil before the first ones.
    package var producer: LibraryStatistics?
    /// The time at which the consumer's statistics arrived, in nanoseconds of the monotonic clock, or nil.
    package var statisticsAt: UInt64?
    /// The time since which the consumer waits for an assignment, in nanoseconds of the monotonic clock, or nil.
    package var rebalancingSince: UInt64?
    /// The seconds since a commit began, if none has succeeded since, or nil.
    package var unfinishedCommit: Double?

    /// A Boolean value that indicates whether a commit that began is unfinished for too long.
    package var isCommitOverdue: Bool { unfinishedCommit.map { $0 > UnfinishedCommits.limit } ?? false }

    /// Creates a view.
    package init(snapshot: LaneSnapshot, calls: [CallWatch.Entry] = []) {
        self.snapshot = snapshot
        self.calls = calls
    }
}

/// The state of the brokers as the worker sees it.
package struct BrokerState: Sendable, Equatable {
    /// A Boolean value that indicates whether a broker answers.
    package var isReachable = true
    /// The time of the last answer, in nanoseconds of the monotonic clock, or nil before the first one.
    package var answeredAt: UInt64?
    /// The time since which no broker answers, in nanoseconds of the monotonic clock, or nil.
    package var since: UInt64?
    /// The time of the first answer after the last outage, in nanoseconds of the monotonic clock, or nil.
    package var returnedAt: UInt64?
    /// The reason of the last failure since the last answer, or nil.
    package var cause: ConnectionCause?
    /// The address of the broker that the last failure concerns, or nil.
    package var address: String?
    /// The topics of the worker that do not exist.
    package var missingTopics: [String] = []
}

/// The lag and the progress of an owned partition.
package struct PartitionLag: Sendable, Equatable {
    /// The lane that owns the partition.
    package var lane: Int
    package var partition: TopicPartition
    /// The records up to the last stable offset without an outcome, or nil if unknown.
    package var lag: Int64?
    /// The records between the last stable offset and the high watermark, or nil if unknown.
    package var unstable: Int64?
    /// The seconds since the partition last had progress or no lag.
    package var secondsSinceProgress = 0.0
    /// A Boolean value that indicates whether the partition has lag and no progress.
    package var isStalled = false
    /// A Boolean value that indicates whether the dead letters of the partition are slowed.
    package var isSlowed = false
    /// A Boolean value that indicates whether the partition waits for its dead-letter topic.
    package var isWaiting = false

    /// Creates the lag of a partition.
    package init(lane: Int, partition: TopicPartition, lag: Int64? = nil, unstable: Int64? = nil) {
        self.lane = lane
        self.partition = partition
        self.lag = lag
        self.unstable = unstable
    }

    /// Creates the lag from a lane's state of a partition and the statistics of its consumer.
    ///
    /// The lag counts to the last stable offset, because records of open transactions cannot be consumed yet. It is 0
    /// after the control record of a transaction. It is unknown before the first fetch, and while only the broker knows
    /// where the partition starts.
    package init(lane: Int, _ view: PartitionView, _ statistics: LibraryStatistics.Partition?) {
        self.init(lane: lane, partition: view.partition)
        isSlowed = view.slowed != nil
        isWaiting = view.isWaiting
        // The offsets of a paused partition are not fetched, so the lane asks for its end.
        let asked = view.isPaused ? view.end : nil
        // While a commit blocks the lane, there are no new statistics, but the records that it has read are stable.
        let read = view.next > view.settled ? view.next : nil
        guard view.isCurrent || view.committed != nil,
            let stable = [statistics?.stable, asked, read].compactMap({ $0 }).max()
        else { return }
        lag = max(0, stable - max(view.settled, statistics?.low ?? 0))
        if let high = statistics?.high { unstable = max(0, high - stable) }
    }
}

/// The lag of the whole group, as the brokers have reported it.
package struct GroupLag: Sendable, Equatable {
    /// The lag of a partition.
    package struct Partition: Sendable, Equatable {
        package var partition: TopicPartition
        /// The records from the group's committed offset to the last stable offset, or nil if unknown.
        package var lag: Int64?
        /// The time since which the partition has lag and no owner, in nanoseconds of the monotonic clock, or nil.
        package var unownedSince: UInt64?
    }

    /// The time without an owner after which a partition with lag is reported, in nanoseconds.
    package static let patience: UInt64 = 30_000_000_000
    /// The age after which an answer no longer counts, in nanoseconds.
    package static let freshness: UInt64 = 180_000_000_000

    /// The largest number of partitions in a list for people.
    package static let listLimit = 20

    /// The time of the answer, in nanoseconds of the monotonic clock.
    package var answeredAt: UInt64
    /// The state of the group as in Kafka's protocol, or nil if the brokers do not report it.
    package var state: String?
    /// A Boolean value that indicates whether members join or leave.
    package var isRebalancing = false
    /// The number of members of the group.
    package var members = 0
    /// The partitions of the inputs, ordered.
    package var partitions: [Partition] = []

    /// The partitions that have had lag and no owner for 30 s.
    package var unowned: [Partition] {
        partitions.filter { partition in
            partition.unownedSince.map { answeredAt.saturatingSubtract($0) >= Self.patience } ?? false
        }
    }

    /// A Boolean value that indicates whether the next answer is needed soon.
    package var isUneasy: Bool {
        isRebalancing || partitions.contains { $0.unownedSince != nil }
    }
}

/// The history of a group's answers.
///
/// A partition has an owner if a described member has it, or if its committed offset has changed since the answer
/// before. During a rebalance, brokers return no partitions of members, or the partitions before the rebalance, even of
/// dead members. Members of the cooperative protocol continue during a rebalance.
package struct GroupLagHistory: Sendable {
    /// The answer of the brokers about a partition.
    package struct Offsets: Sendable, Equatable {
        package var partition: TopicPartition
        /// The group's committed offset, or nil if there is none.
        package var committed: Int64?
        /// The offset of the first record.
        package var low: Int64
        /// The last stable offset.
        package var stable: Int64
    }

    private let from: StartPolicy
    private var committed: [TopicPartition: Int64] = [:]
    private var unownedSince: [TopicPartition: UInt64] = [:]

    /// Creates a history without answers.
    ///
    /// - Parameter from: The start of partitions without a committed offset.
    package init(from: StartPolicy) { self.from = from }

    /// Adds an answer, and returns the group's lag.
    ///
    /// Without a description, no partition counts as one without an owner.
    package mutating func add(_ offsets: [Offsets], _ group: GroupDescription?, now: UInt64) -> GroupLag {
        let isRebalancing = group?.isRebalancing ?? false
        let owned = Set((isRebalancing ? [] : group?.members ?? []).flatMap(\.partitions))
        var since: [TopicPartition: UInt64] = [:]
        var result = GroupLag(answeredAt: now)
        result.state = group?.state
        result.isRebalancing = isRebalancing
        result.members = group?.members.count ?? 0
        for one in offsets.sorted(by: { $0.partition < $1.partition }) {
            let lag = lag(one)
            let isMoving = committed[one.partition] != one.committed
            if group != nil, lag ?? 0 > 0, !owned.contains(one.partition) {
                since[one.partition] = isMoving ? now : unownedSince[one.partition] ?? now
            }
            result.partitions.append(
                GroupLag.Partition(partition: one.partition, lag: lag, unownedSince: since[one.partition]))
        }
        unownedSince = since
        committed = [:]
        for one in offsets { committed[one.partition] = one.committed }
        return result
    }

    /// Returns the lag of a partition, which is unknown without a committed offset unless the group starts at the first
    /// record.
    private func lag(_ offsets: Offsets) -> Int64? {
        if let committed = offsets.committed { return max(0, offsets.stable - max(committed, offsets.low)) }
        return from == .earliest ? max(0, offsets.stable - offsets.low) : nil
    }
}
