internal import KafkaClient

/// The exactly-once loop of one lane as a value: it is told what happened and says what to do next.
///
/// It does no I/O and has no clock; times are nanoseconds of a monotonic clock that its owner passes in. One step is
/// `next(now:)`, then the event that tells the action's result. Everything that a crash, a rebalance or an error can
/// do to a lane is decided here, and nowhere else.
package struct LaneMachine: Sendable {
    /// What the open transaction is.
    package enum Transaction: Sendable, Equatable {
        /// None is open.
        case none
        /// Open, and everything of it so far went well. At least once: outputs are on their way.
        case open
        /// Open, and it must be aborted.
        case failed
    }

    /// What is being done; one or more actions each.
    enum Stage: Sendable, Equatable {
        case dropping
        case discarding
        case making
        case initializing
        case opening
        case subscribing
        case polling
        case processing
        case beginning
        case producing(isQueueFull: Bool)
        case sendingOffsets(isRepeat: Bool)
        case committing
        case flushing
        case storingOffsets
        case aborting
        case locating
        case seeking([PartitionOffset])
        case reassigning([PartitionOffset])
        case findingEnds
        case closing
        case ended
    }

    /// What the configuration says.
    package let policy: LanePolicy
    /// The partitions; the batch's loop works on them directly.
    package var partitions = OwnedPartitions()
    /// The open transaction.
    package internal(set) var transaction = Transaction.none
    /// What the lane has done.
    package internal(set) var counters = LaneCounters()
    /// Why the lane ends, once it must.
    package internal(set) var fate: WorkerExit?
    /// Whether a stop was asked for.
    package internal(set) var isDraining = false
    /// Whether the lane has joined its group once with everything in place.
    package internal(set) var isReady = false
    /// What happened that an operator may want to know; the lane takes it.
    package internal(set) var notes: [LaneNote] = []

    var stage = Stage.making
    var hasProducer = false
    var isOpened = false
    var isSubscribed = false
    var isClosed = false
    var needsRewind = false
    var needsDrop = false
    var needsTopics = false
    var suspect: RotationCause?
    var outOfRange: [TopicPartition] = []
    var waitUntil: UInt64 = 0
    var lastPoll: UInt64 = 0
    var startedAt: UInt64?
    /// Since when brokers have refused our credentials.
    var refusedSince: UInt64?

    /// Records and bytes of outputs of the open transaction.
    var content = TransactionContent()
    /// What was resolved and the producer has not taken yet.
    var staged = BatchResult()
    /// Messages of the batch that are not processed yet.
    var batchLeft = 0
    /// Records that were handled in vain and will come again; `stop.after` counts them once.
    var lostRecords = 0
    /// Milliseconds to wait after the producer is dropped.
    var recreateWait = 0
    var lastRecordAt: UInt64 = 0
    var commitMilliseconds = 5.0
    /// Whether `stop.after` leaves nothing to take.
    var isExhausted = false

    var revocation: Revocation?
    var recreations = Recreations()
    var isolation = Isolation()
    var abortBackoff = Backoff()
    var abortCause = AbortCause.error
    var deadLetters: DeadLetterWatch

    /// Makes the machine of a lane that has not begun.
    package init(policy: LanePolicy) {
        self.policy = policy
        deadLetters = DeadLetterWatch(policy)
    }

    var isExactlyOnce: Bool { policy.guarantee == .exactlyOnce }

    /// What to do now.
    package mutating func next(now: UInt64) -> LaneAction {
        if startedAt == nil { startedAt = now }
        if waitUntil > now { return waiting(now) }
        if stage == .polling { settle(now: now) }
        switch stage {
        case .dropping: return .dropProducer
        case .discarding: return .discard
        case .making: return .makeProducer
        case .initializing: return .initTransactions(milliseconds: 1_000)
        case .opening: return .openTopics
        case .subscribing: return .subscribe
        case .polling: return poll(now)
        case .processing: return .process(records: roomForRecords)
        case .beginning: return .begin
        case .producing(let isQueueFull): return isQueueFull ? .drainQueue(milliseconds: 50) : .produce
        case .sendingOffsets(let isRepeat):
            return .sendOffsets(partitions.pendingOffsets, isRepeat: isRepeat, milliseconds: budget(now))
        case .committing: return .commit(milliseconds: budget(now))
        case .flushing: return .flush(milliseconds: min(1_000, revocation?.left(now) ?? 1_000))
        case .storingOffsets: return .storeOffsets(partitions.pendingOffsets)
        case .aborting: return .abort
        case .locating: return .fetchCommitted(partitions.names)
        case .seeking(let offsets): return .seek(offsets)
        case .reassigning(let offsets): return .reassign(offsets)
        case .findingEnds: return outOfRange.first.map { .findEnds($0) } ?? .wait(milliseconds: 0)
        case .closing: return .close
        case .ended: return .end
        }
    }

    /// Finds the next stage when one is over: what went wrong first, then commits, then more work.
    mutating func settle(now: UInt64) {
        if needsDrop {
            stage = .dropping
        } else if transaction == .failed || (fate != nil && transaction == .open) {
            stage = isExactlyOnce ? .aborting : .dropping
        } else if isClosed {
            stage = hasProducer ? .dropping : .ended
        } else if fate != nil {
            stage = closingStage
        } else if !hasProducer {
            stage = isDraining ? closingStage : .making
        } else if !isOpened || needsTopics {
            stage = .opening
        } else if !isSubscribed {
            stage = isDraining ? closingStage : .subscribing
        } else if needsRewind && transaction == .open {
            // Going back to committed offsets with records pending would handle them twice in one transaction.
            startCommit()
        } else if needsRewind {
            rewindStage()
        } else if !outOfRange.isEmpty {
            stage = .findingEnds
        } else if transaction == .open && isCommitDue(now) {
            startCommit()
        } else if batchLeft > 0 {
            stage = .processing
        } else {
            stage = isDraining ? closingStage : .polling
        }
    }

    private var closingStage: Stage { isSubscribed && !isClosed ? .closing : (hasProducer ? .dropping : .ended) }

    private mutating func rewindStage() {
        batchLeft = 0
        if isDraining {
            stage = closingStage
        } else if partitions.isEmpty {
            needsRewind = false
            stage = .polling
        } else {
            stage = .locating
        }
    }

    private mutating func waiting(_ now: UInt64) -> LaneAction {
        if isDraining && transaction == .none {
            waitUntil = 0
            settle(now: now)
            return next(now: now)
        }
        if mayServe && now &- lastPoll >= 1_000_000_000 { return .serve }
        return .wait(milliseconds: min(milliseconds(waitUntil - now), 50))
    }

    /// Whether the group may be served meanwhile: not while a call of the producer is under way.
    private var mayServe: Bool {
        guard isSubscribed && !isClosed && batchLeft == 0 else { return false }
        switch stage {
        case .making, .opening, .locating, .findingEnds, .polling: return true
        default: return false
        }
    }

    private mutating func poll(_ now: UInt64) -> LaneAction {
        var timeout = 50
        if transaction == .open {
            timeout = min(timeout, milliseconds(commitDeadline.saturatingSubtract(now)))
            if partitions.isAtEnd {
                let idle = lastRecordAt + UInt64(policy.commit.idleMilliseconds) * 1_000_000
                timeout = min(timeout, milliseconds(idle.saturatingSubtract(now)))
            }
        }
        if isExhausted {
            return now &- lastPoll >= 1_000_000_000 ? .serve : .wait(milliseconds: max(1, min(timeout, 20)))
        }
        return .poll(milliseconds: timeout, maximum: min(policy.batchRecords, roomForRecords))
    }

    /// Waits before the next action.
    mutating func wait(_ milliseconds: Int, now: UInt64) { waitUntil = now + UInt64(max(0, milliseconds)) * 1_000_000 }

    /// How long a transaction call may take: what a revocation leaves, else the library's own bound.
    private func budget(_ now: UInt64) -> Int { revocation.map { $0.left(now) } ?? -1 }

    /// Milliseconds of a span, rounded up, so that a wait does not end just before its time.
    func milliseconds(_ span: UInt64) -> Int { Int(min((span + 999_999) / 1_000_000, 1_000_000_000)) }

    /// Stops taking records: what is pending is committed, then the lane leaves.
    package mutating func drain() { isDraining = true }

    /// Ends the lane for a reason; the first one counts.
    package mutating func end(_ exit: WorkerExit, now: UInt64) {
        if fate == nil { fate = exit }
        batchLeft = 0
        waitUntil = 0
        if revocation == nil { settle(now: now) }
    }
}

extension UInt64 {
    /// The difference, or 0 where it would be negative.
    func saturatingSubtract(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
