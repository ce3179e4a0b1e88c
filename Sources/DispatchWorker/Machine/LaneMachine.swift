internal import KafkaClient

/// The exactly-once loop of one lane as a value: it is told what happened and says what to do next.
///
/// It does no I/O and has no clock; times are nanoseconds of a monotonic clock that its owner passes in. One step is
/// `next(now:)`, then the event that tells the action's result; inside a rebalance callback it is
/// `nextInCallback(now:)`. Everything that a crash, a rebalance or an error can do to a lane is decided here, and
/// nowhere else.
///
/// What may be done follows from four values: the producer with its transaction, the group, a callback that waits for
/// its answer, and the place of each partition. What belongs to one of their cases exists only there.
package struct LaneMachine: Sendable {
    /// What the configuration says.
    package let policy: LanePolicy
    /// The partitions; the batch's loop works on them directly.
    package var partitions = OwnedPartitions()
    /// The producer, with the open transaction.
    package var producer = ProducerState.absent(notBefore: 0)
    /// The place in the group.
    package var group = GroupState.outside(retryAt: 0)
    /// The rebalance that waits for an answer.
    package var callback = Callback.none
    /// What is left of the last poll.
    package var batch = BatchState.none
    /// Whether brokers take our credentials.
    package var credentials = Credentials.accepted
    /// The search for a record whose outputs are refused.
    package var isolation = Isolation()
    /// Waits between producers that are replaced for the sake of certainty.
    package var rotationBackoff = Backoff(first: 0)
    /// What the lane has done.
    package internal(set) var counters = LaneCounters()
    /// Why the lane ends, once it must.
    package internal(set) var fate: WorkerExit?
    /// Whether the process knows of `fate`.
    package var isFateTold = false
    /// Whether a stop was asked for.
    package internal(set) var isDraining = false
    /// Whether the lane has joined its group once with everything in place.
    package internal(set) var isReady = false
    /// What happened that an operator may want to know; the lane takes it.
    package internal(set) var notes: [LaneNote] = []

    var startedAt: UInt64?
    /// No record is taken before this time: a transaction was aborted.
    var pausedUntil: UInt64 = 0
    /// Committed offsets are not asked for before this time.
    var locateAt: UInt64 = 0
    var lastRecordAt: UInt64 = 0
    var commitMilliseconds = 5.0
    /// Most messages of a poll: fewer than `batch.records` when a batch took too long.
    package internal(set) var batchLimit: Int
    /// Whether `stop.after` leaves nothing to take.
    var isExhausted = false
    /// Records that were handled in vain and will come again; `stop.after` counts them once.
    var lostRecords = 0
    /// Tries of the call that answers a rebalance, or that assigns partitions anew.
    var recreations = Recreations()
    var abortBackoff = Backoff()
    var endsBackoff = Backoff()
    var deadLetters: DeadLetterWatch
    /// Questions that were not answered in their time when they were asked last; `needs` tells which still matter.
    var unanswered: Set<ClientNeed> = []
    /// The first thing that an invariant did not allow, noticed where it happened.
    var breach: String?

    /// Makes the machine of a lane that has not begun.
    package init(policy: LanePolicy) {
        self.policy = policy
        batchLimit = max(1, policy.batchRecords)
        deadLetters = DeadLetterWatch(policy)
    }

    var isExactlyOnce: Bool { policy.guarantee == .exactlyOnce }

    /// The transaction; none without a producer that is ready for one.
    ///
    /// Setting it needs such a producer.
    package var transaction: Transaction {
        get { if case .ready(let transaction, _) = producer { transaction } else { .none } }
        set {
            guard case .ready(_, let topics) = producer else { return }
            producer = .ready(newValue, topics)
        }
    }

    var isMember: Bool { if case .member = group { true } else { false } }

    /// A span of milliseconds as nanoseconds.
    func nanoseconds(_ milliseconds: Int) -> UInt64 { UInt64(max(0, milliseconds)) * 1_000_000 }

    /// Milliseconds of a span, rounded up, so that a wait does not end just before its time.
    func milliseconds(_ span: UInt64) -> Int { Int(min((span + 999_999) / 1_000_000, 1_000_000_000)) }

    /// Stops taking records: what is pending is committed, then the lane leaves.
    package mutating func drain() { isDraining = true }

    /// Ends the lane for a reason; the first one counts.
    package mutating func end(_ exit: WorkerExit) { if fate == nil { fate = exit } }

    /// The process knows why this lane must end.
    package mutating func announced() { isFateTold = true }

    /// The notes since the last call.
    package mutating func takeNotes() -> [LaneNote] {
        defer { notes.removeAll(keepingCapacity: true) }
        return notes
    }

    /// Records that were taken in vain since the last call: `stop.after` gets them back.
    package mutating func takeLostRecords() -> Int {
        defer { lostRecords = 0 }
        return lostRecords
    }

    /// `stop.after` allows, or forbids, more records.
    package mutating func allowance(isExhausted: Bool) { self.isExhausted = isExhausted }
}

/// What is left of the last poll.
package enum BatchState: Sendable, Equatable {
    /// Nothing.
    case none
    /// Messages that are not looked at yet, at least one.
    case left(Int)
    /// Messages that will not be handled: they are to be released.
    case void
}

extension UInt64 {
    /// The difference, or 0 where it would be negative.
    func saturatingSubtract(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
