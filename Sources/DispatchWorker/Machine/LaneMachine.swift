internal import KafkaClient

/// The state machine of one lane, as a value.
///
/// It receives events and returns the next action.
///
/// It performs no I/O and has no clock. Its owner passes times in nanoseconds of a monotonic clock. One step is a call
/// of `next(now:)`, then of the event that reports the action's result. Inside a rebalance callback,
/// `nextInCallback(now:)` replaces `next(now:)`. All reactions to crashes, rebalances, and errors are decided only
/// here.
///
/// The next action follows from four values: the producer with its transaction, the group membership, an unanswered
/// rebalance, and the position of each partition. Data that belongs to one case of these values exists only in that
/// case.
package struct LaneMachine: Sendable {
    /// The settings that concern the lane.
    package let policy: LanePolicy
    /// The owned partitions.
    ///
    /// The batch loop modifies them directly.
    package var partitions = OwnedPartitions()
    /// The producer, with the open transaction.
    package var producer = ProducerState.absent(notBefore: 0)
    /// The group membership.
    package var group = GroupState.outside(retryAt: 0)
    /// The rebalance that is being answered.
    package var callback = Callback.none
    /// The rest of the last poll.
    package var batch = BatchState.none
    /// The state of the credentials at the brokers.
    package var credentials = Credentials.accepted
    /// The search for a record whose outputs are refused.
    package var isolation = Isolation()
    /// The delay between producers that are replaced after an unknown outcome.
    package var rotationBackoff = Backoff(first: 0)
    /// The lane's counters.
    package internal(set) var counters = LaneCounters()
    /// The reason why the lane ends, or nil.
    package internal(set) var exit: WorkerExit?
    /// A Boolean value that indicates whether `exit` was announced to the process.
    package var isExitAnnounced = false
    /// A Boolean value that indicates whether a stop was requested.
    package internal(set) var isDraining = false
    /// A Boolean value that indicates whether a pause was requested.
    package internal(set) var isPauseRequested = false
    /// A Boolean value that indicates whether the pause was logged.
    var isPauseReported = false
    /// The time before which a failed call to pause or resume is not repeated.
    var pauseRetryAt: UInt64 = 0
    /// The time before which the end of a paused partition is not fetched.
    var endRequestAt: UInt64 = 0
    /// The number of requests for the end of a paused partition.
    var endRequests = 0
    /// A Boolean value that indicates whether the lane has joined its group at least once with all topics open.
    package internal(set) var isReady = false
    /// The events to log, which the lane removes.
    package internal(set) var notes: [LaneNote] = []

    var startedAt: UInt64?
    /// The time until which no record is consumed after an abort.
    var pausedUntil: UInt64 = 0
    /// The time before which committed offsets are not fetched again.
    var committedRetryAt: UInt64 = 0
    var lastRecordAt: UInt64 = 0
    var commitMilliseconds = 5.0
    /// The maximum number of messages of a poll.
    ///
    /// Smaller than `batch.records` after a batch that took too long.
    package internal(set) var batchLimit: Int
    /// A Boolean value that indicates whether `stop.after` allows no more records.
    var isExhausted = false
    /// The number of records that were processed without a commit and are consumed again.
    ///
    /// `stop.after` counts them once.
    var lostRecords = 0
    /// The number and the times of producers that replaced failed ones.
    var recreations = Recreations()
    var abortBackoff = Backoff()
    var endsBackoff = Backoff()
    /// The dead letters of the last records.
    var deadLetters: DeadLetterWatch
    /// `deadLetters` at the last commit, which a rewind restores.
    var committedDeadLetters: DeadLetterWatch
    /// The needs whose last request was not answered in time.
    ///
    /// `needs` is the subset that still exists.
    var unanswered: Set<ClientNeed> = []
    /// The first violation of an invariant that the machine detected itself.
    var detectedViolation: String?

    /// Creates the machine of a lane before its first step.
    package init(policy: LanePolicy) {
        self.policy = policy
        batchLimit = max(1, policy.batchRecords)
        deadLetters = DeadLetterWatch(policy)
        committedDeadLetters = deadLetters
    }

    var isExactlyOnce: Bool { policy.guarantee == .exactlyOnce }

    /// The transaction, or `none` if the producer is not ready for one.
    ///
    /// Setting it has no effect unless the producer is ready.
    package var transaction: Transaction {
        get { if case .ready(let transaction, _) = producer { transaction } else { .none } }
        set {
            guard case .ready(_, let topics) = producer else { return }
            producer = .ready(newValue, topics)
        }
    }

    var isMember: Bool { if case .member = group { true } else { false } }

    /// Converts milliseconds to nanoseconds.
    func nanoseconds(_ milliseconds: Int) -> UInt64 { UInt64(max(0, milliseconds)) * 1_000_000 }

    /// Converts nanoseconds to milliseconds, rounded up so that a wait does not end too early.
    func milliseconds(_ span: UInt64) -> Int { Int(min((span + 999_999) / 1_000_000, 1_000_000_000)) }

    /// Requests a stop: pending records are committed, then the lane leaves.
    package mutating func drain() { isDraining = true }

    /// Ends the lane for a reason.
    ///
    /// Only the first reason counts.
    package mutating func end(_ exit: WorkerExit) { if self.exit == nil { self.exit = exit } }

    /// Records that the exit was announced to the process.
    package mutating func announced() { isExitAnnounced = true }

    /// Returns and removes the notes.
    package mutating func takeNotes() -> [LaneNote] {
        defer { notes.removeAll(keepingCapacity: true) }
        return notes
    }

    /// Returns the number of records since the last call that were processed without a commit, and resets it.
    package mutating func takeLostRecords() -> Int {
        defer { lostRecords = 0 }
        return lostRecords
    }

    /// Records that `stop.after` allows no more records, or that it allows more.
    package mutating func allowance(isExhausted: Bool) { self.isExhausted = isExhausted }
}
