package import KafkaClient

/// The state of a lane at one time, for readers on other threads.
///
/// Times are nanoseconds of the monotonic clock. The snapshot has no ages: readers subtract.
package final class LaneSnapshot: Sendable {
    /// The lane's number.
    package let lane: Int
    /// The time of the snapshot.
    package let publishedAt: UInt64
    /// The stage.
    package let stage: LaneStage
    /// A Boolean value that indicates whether the lane has joined its group at least once with all topics open.
    package let isReady: Bool
    /// A Boolean value that indicates whether consumption is paused.
    package let isPaused: Bool
    /// The call that the lane makes or repeats next, or nil while it polls and processes.
    package let waitsFor: LaneCall?
    /// The content of the open transaction, or nil if none is open.
    package let transaction: TransactionContent?
    /// The time of the last poll, or nil outside of the group.
    package let lastPollAt: UInt64?
    /// The time at which the last commit returned, or nil before the first one.
    package let lastCommitAt: UInt64?
    /// The duration of the last commit call in milliseconds, or nil before the first one.
    package let lastCommitMilliseconds: Int?
    /// The counters of the machine.
    package let counters: LaneCounters
    /// The counters and histograms.
    package let metrics: LaneMetrics
    /// The owned partitions.
    package let partitions: [PartitionView]
    /// The last errors, oldest first, at most `LaneError.limit`.
    package let lastErrors: [LaneError]
    /// The reason why the lane ends, or nil.
    package let exit: WorkerExit?
    /// The number of the tables' version that the lane uses.
    package let tables: Int
    /// The canary's totals at the last commit, or nil without a canary.
    package let canary: CanaryTotals?

    /// Creates a snapshot of a machine.
    package init(
        lane: Int, machine: LaneMachine, at now: UInt64,
        lastCommit: (at: UInt64, milliseconds: Int)? = nil, metrics: LaneMetrics = LaneMetrics(),
        lastErrors: [LaneError] = [], tables: Int = 0, canary: CanaryTotals? = nil
    ) {
        self.lane = lane
        publishedAt = now
        stage = machine.stage
        isReady = machine.isReady
        isPaused = machine.isPaused
        waitsFor = machine.waitsFor
        transaction = machine.transaction.content?.content
        lastPollAt = if case .member(let lastPoll) = machine.group { lastPoll } else { nil }
        lastCommitAt = lastCommit?.at
        lastCommitMilliseconds = lastCommit?.milliseconds
        counters = machine.counters
        self.metrics = metrics
        partitions = machine.partitions.slots.map(PartitionView.init)
        self.lastErrors = lastErrors
        exit = machine.exit
        self.tables = tables
        self.canary = canary
    }
}

/// The state of an owned partition in a snapshot.
package struct PartitionView: Sendable, Equatable {
    /// The partition.
    package var partition: TopicPartition
    /// The smallest offset that is accepted next.
    package var next: Int64
    /// The offset up to which every record has its outcome.
    ///
    /// It is the committed offset while records are processed whose commit has not returned.
    package var settled: Int64
    /// The group's committed offset, or nil if there is none.
    package var committed: Int64?
    /// The offset at which consumption started, or nil if only the broker knows it.
    package var start: Int64?
    /// The end of the partition for the lane at its last fetch, or nil before the first one.
    package var end: Int64?
    /// A Boolean value that indicates whether the consumer returns the next record of the lane.
    package var isCurrent: Bool
    /// A Boolean value that indicates whether consumption is paused.
    package var isPaused: Bool

    /// Creates the state of a partition.
    package init(
        partition: TopicPartition, next: Int64, settled: Int64, committed: Int64?, start: Int64?, end: Int64?,
        isCurrent: Bool, isPaused: Bool
    ) {
        self.partition = partition
        self.next = next
        self.settled = settled
        self.committed = committed
        self.start = start
        self.end = end
        self.isCurrent = isCurrent
        self.isPaused = isPaused
    }

    /// Creates the view of an owned partition.
    package init(_ slot: OwnedPartition) {
        let isSettled = slot.pending == nil && !slot.isStaged
        self.init(
            partition: slot.partition, next: slot.next.value,
            settled: isSettled
                ? max(slot.next.value, slot.drained ?? 0) : slot.committed ?? slot.start.next.value,
            committed: slot.committed, start: slot.start.seek >= 0 ? slot.start.seek : nil, end: slot.end,
            isCurrent: slot.positionState == .current, isPaused: slot.isPaused)
    }
}

/// An error of a lane in a snapshot.
///
/// Its texts are those of the log, so that they contain no payload.
package struct LaneError: Sendable, Equatable {
    /// The maximum number of errors in a snapshot.
    package static let limit = 8
    /// The maximum length of a message in characters.
    package static let messageLimit = 256

    /// The name of the log's event.
    package var event: String
    /// The error's code, or an empty string.
    package var code: String
    /// The message.
    package var message: String
    /// The time, in nanoseconds of the monotonic clock.
    package var at: UInt64

    /// Creates an error.
    package init(event: String, code: String, message: String, at: UInt64) {
        self.event = event
        self.code = code
        self.message = message
        self.at = at
    }

    /// Creates the error of a log entry, or returns nil for an entry that is no warning or error.
    init?(_ entry: LogEntry, at now: UInt64) {
        guard entry.level <= .warning else { return nil }
        var code = ""
        for field in entry.fields where field.name == "code" || field.name == "cause" && code.isEmpty {
            if case .text(let text) = field.value { code = text }
        }
        self.init(event: entry.event, code: code, message: String(entry.message.prefix(Self.messageLimit)), at: now)
    }
}
