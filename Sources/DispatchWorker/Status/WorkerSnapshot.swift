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
    /// The output topic.
    package var output = ""
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

    /// Creates the state before the first request.
    package init() {}
}

/// The figures of the process.
package struct ProcessFigures: Sendable, Equatable {
    /// The CPU seconds, user and system.
    package var cpuSeconds = 0.0
    /// The resident memory in bytes.
    package var residentBytes: Int64 = 0
    /// The number of open file descriptors.
    package var openFiles = 0
    /// The start of the process, in seconds since 1970.
    package var startSeconds = 0.0

    /// Creates figures that are zero.
    package init() {}
}
