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
    package internal(set) var partitions: OwnedPartitions
    /// The producer, with the open transaction.
    package internal(set) var producer = ProducerState.absent(notBefore: 0)
    /// The group membership.
    package internal(set) var group = GroupState.outside(retryAt: 0)
    /// The rebalance that is being answered.
    package internal(set) var callback = Callback.none
    /// The rest of the last poll.
    package internal(set) var batch = BatchState.none
    /// The state of the credentials at the brokers.
    package internal(set) var credentials = Credentials.accepted
    /// The state of the credentials in the producer's calls.
    ///
    /// The consumer's answers do not count for it, because its connections may be older than the refused credentials.
    var producerCredentials = Credentials.accepted
    /// The search for a record whose outputs are refused.
    package internal(set) var isolation = Isolation()
    /// The delay between producers that are replaced after an unknown outcome.
    package internal(set) var rotationBackoff = Backoff(first: 0)
    /// The lane's counters.
    package internal(set) var counters = LaneCounters()
    /// The reason why the lane ends, or nil.
    package internal(set) var exit: WorkerExit?
    /// A Boolean value that indicates whether `exit` was announced to the process.
    package internal(set) var isExitAnnounced = false
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
    /// The time of the last step, or nil before the first one.
    var lastStepAt: UInt64?
    /// The partitions whose witness could not be checked, to log each of them only once.
    var unknownWitnesses: Set<TopicPartition> = []
    /// The time before which the ids of topics are not fetched, unless a witness depends on them.
    var identifyAt: UInt64?
    /// The time until which no record is consumed after an abort.
    var pausedUntil: UInt64 = 0
    /// The time before which committed offsets are not fetched again.
    var committedRetryAt: UInt64 = 0
    var lastRecordAt: UInt64 = 0
    /// The time at which the last commit began.
    var lastCommitAt: UInt64 = 0
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
    /// The member ids of this lane.
    var ownMembers = OwnMembers()
    /// The delay before a fenced lane asks the group, until a commit succeeds.
    var contestBackoff = Backoff()
    var abortBackoff = Backoff()
    var endsBackoff = Backoff()
    /// The needs whose last request was not answered in time.
    ///
    /// `needs` is the subset that still exists.
    var unanswered: Set<ClientNeed> = []
    /// The first violation of an invariant that the machine detected itself.
    var detectedViolation: String?

    /// Creates the machine of a lane before its first step.
    package init(policy: LanePolicy) {
        self.policy = policy
        partitions = OwnedPartitions(hasTopicIDs: policy.hasTopicIDs)
        batchLimit = max(1, policy.batchRecords)
    }

    var isExactlyOnce: Bool { policy.guarantee == .exactlyOnce }

    /// The transaction, or `none` if the producer is not ready for one.
    ///
    /// Setting it has no effect unless the producer is ready.
    package internal(set) var transaction: Transaction {
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

// The selection of the next action: a list of checks in order of priority.
extension LaneMachine {
    /// The result of a check that applies.
    ///
    /// A check that does not apply returns nil.
    enum Step {
        /// Perform this action.
        case act(LaneAction)
        /// The state has changed: start again with the first check.
        case again
    }

    /// The maximum time between two polls while records wait to be processed.
    ///
    /// A member that does not poll delays the rebalances of its group, and a cooperative one may lose its partitions
    /// (librdkafka issue 3450).
    package static var pollNanoseconds: UInt64 { 1_000_000_000 }

    /// The time limit of a commit of offsets before it is repeated.
    private static var offsetCommitMilliseconds: Int { 5_000 }

    /// Returns the next action.
    package mutating func next(now: UInt64) -> LaneAction {
        if startedAt == nil { startedAt = now }
        noticeStep(now)
        partitions.suspendWaitingPartitions()
        removeObsoleteNeeds()
        if let announcement { return announcement }
        for _ in 0..<32 {
            if case .act(let action) = nextStep(now) { return action }
        }
        detectedViolation = detectedViolation ?? "no action found for \(producer) \(group) \(batch)"
        end(WorkerExit(.internal, "the lane has no next action", advice: "report this bug with the log"))
        return .end
    }

    /// The action that announces the lane's exit, or nil.
    ///
    /// It precedes all other actions.
    var announcement: LaneAction? { isExitAnnounced ? nil : exit.map { .announce($0) } }

    /// Returns the first step that applies, in the order of their priority.
    private mutating func nextStep(_ now: UInt64) -> Step {
        transactionStep(now)
            ?? exitStep()
            ?? (batch == .dropped ? .act(.discard) : nil)
            ?? commitStep(now)
            ?? drainStep(now)
            ?? contestStep(now)
            ?? pauseStep(now)
            ?? producerStep(now)
            ?? groupStep(now)
            ?? workStep(now)
            ?? positionStep(now)
            ?? identifyStep(now)
            ?? .act(poll(now))
    }

    /// Continues a transaction that does not depend on anything else, or replaces the producer.
    private mutating func transactionStep(_ now: UInt64) -> Step? {
        if case .retiring = producer { return .act(.dropProducer) }
        switch transaction {
        case .none, .running(_, .idle): return nil
        case .beginning(_, let retryAt):
            if exit != nil {
                dropTransaction()
                return .again
            }
            return retryAt > now ? .act(wait(until: retryAt, now)) : .act(.begin)
        case .running(_, let phase):
            if exit != nil && !phase.outlastsExit {
                transactionFailed(.shutdown)
                return .again
            }
            return .act(action(for: phase, milliseconds: nil, now))
        }
    }

    /// Returns the next call of a running transaction.
    ///
    /// `milliseconds` is the time left in a revocation, or nil for no limit.
    mutating func action(for phase: Transaction.Phase, milliseconds: Int?, _ now: UInt64) -> LaneAction {
        switch phase {
        case .idle: return .wait(milliseconds: 0)
        case .offering: return .produce
        case .blocked: return .drainQueue(milliseconds: 50)
        case .sendingOffsets(let offsets, let isRepeat, let retryAt):
            if retryAt > now { return wait(until: retryAt, now) }
            return .sendOffsets(offsets, isRepeat: isRepeat, milliseconds: milliseconds)
        case .committing(_, _, let retryAt):
            return retryAt > now ? wait(until: retryAt, now) : .commit(milliseconds: milliseconds)
        case .flushing(let retryAt):
            if retryAt > now { return wait(until: retryAt, now) }
            return .flush(milliseconds: min(1_000, milliseconds ?? 1_000))
        case .committingOffsets(let offsets, _, let retryAt):
            if retryAt > now { return waitOrKeepAlive(until: retryAt, now) }
            return .commitOffsets(offsets, milliseconds: min(Self.offsetCommitMilliseconds, milliseconds ?? .max))
        case .aborting(_, let retryAt): return retryAt > now ? waitOrKeepAlive(until: retryAt, now) : .abort
        }
    }

    /// Ends the lane at once and aborts the open transaction.
    private mutating func exitStep() -> Step? {
        guard exit != nil || group == .left else { return nil }
        if transaction.open != nil {
            transactionFailed(.shutdown)
            return .again
        }
        return leave()
    }

    /// Performs one step of leaving: the group first, then the producer.
    private mutating func leave() -> Step {
        if isMember { return .act(.close) }
        if group == .fenced { return .act(.abandon) }
        switch producer {
        case .absent: return .act(.end)
        case .initializing, .ready, .retiring:
            retireProducer(wait: 0)
            return .again
        }
    }

    private mutating func commitStep(_ now: UInt64) -> Step? {
        guard case .running(let open, .idle) = transaction, isCommitDue(open, now) else { return nil }
        return isCommitBlocked ? blockedStep(open, now) : startedCommit(now)
    }

    /// Begins to commit, and returns the step after that.
    mutating func startedCommit(_ now: UInt64) -> Step {
        startCommit(now)
        return .again
    }

    /// Drains: processes the rest of the batch and commits.
    private mutating func drainStep(_ now: UInt64) -> Step? {
        guard isDraining else { return nil }
        if case .ready(_, .open) = producer, isMember, batch != .none || partitions.hasPending || areEndsDue(now) {
            return nil
        }
        return transaction.open == nil ? leave() : startedCommit(now)
    }

    private mutating func producerStep(_ now: UInt64) -> Step? {
        switch producer {
        case .absent(let notBefore):
            return .act(notBefore > now ? waitOrKeepAlive(until: notBefore, now) : .makeProducer)
        case .initializing(let retryAt):
            return .act(
                retryAt > now ? waitOrKeepAlive(until: retryAt, now) : .initTransactions(milliseconds: 1_000))
        case .ready(_, .unopened(let retryAt)):
            return .act(retryAt > now ? waitOrKeepAlive(until: retryAt, now) : .openTopics)
        case .ready(.none, .open(let refreshAt)) where now > refreshAt:
            // The output topic may have more partitions by now.
            producer = .ready(.none, .refreshing)
            return .again
        case .ready(_, .refreshing): return .act(.openTopics)
        case .ready, .retiring: return nil
        }
    }

    private mutating func groupStep(_ now: UInt64) -> Step? {
        guard case .outside(let retryAt) = group else { return nil }
        return .act(retryAt > now ? wait(until: retryAt, now) : .subscribe)
    }

    /// Processes consumed records, and commits offsets that are not stored at the brokers.
    private mutating func workStep(_ now: UInt64) -> Step? {
        if case .remaining = batch {
            // A long batch must not delay the polls that keep the membership alive. The rest of it is consumed again.
            let lastPoll = if case .member(let lastPoll) = group { lastPoll } else { now }
            let until = min(processUntil(now), lastPoll + Self.pollNanoseconds)
            return .act(.process(records: min(roomForRecords, recordLimit), until: until))
        }
        if transaction == .none && (partitions.hasPending || areEndsDue(now)) {
            if isPollDue(now) { return .act(.keepAlive) }
            if !partitions.hasPending { partitions.moveToEnds() }
            begin(nil, now)
            return .again
        }
        return nil
    }

    /// Positions the partitions whose position is not current, with one call for all that need the same.
    private mutating func positionStep(_ now: UInt64) -> Step? {
        guard !isDraining, partitions.slots.contains(where: \.needsPosition) else { return nil }
        if let step = witnessStep(now) { return step }
        if isCommitBlocked { return nil }
        // Seeking to committed offsets with pending records would process them twice in one transaction.
        if transaction.open != nil { return startedCommit(now) }
        if pausedUntil > now { return .act(waitOrKeepAlive(until: pausedUntil, now)) }
        if isPollDue(now) { return .act(.keepAlive) }
        if let action = positionAction(now) { return .act(action) }
        if !partitions.slots.allSatisfy(\.needsPosition) { return nil }
        return .act(waitOrKeepAlive(until: now + 20_000_000, now))
    }

    /// Returns the next action that positions partitions, or nil if all of them wait for a retry.
    private mutating func positionAction(_ now: UInt64) -> LaneAction? {
        let slots = partitions.slots
        let stale = slots.filter { $0.positionState == .stale }.map(\.partition)
        if !stale.isEmpty && committedRetryAt <= now { return .fetchCommitted(stale) }
        for slot in slots {
            switch slot.positionState {
            case .needsEnd(let retryAt) where retryAt <= now, .outOfRange(let retryAt) where retryAt <= now,
                .contradicted(let retryAt) where retryAt <= now:
                return .findEnds(slot.partition)
            default: continue
            }
        }
        let seeks = slots.compactMap { slot in
            if case .needsSeek(let start) = slot.positionState {
                PartitionOffset(slot.partition, offset: start.seek)
            } else {
                nil
            }
        }
        if !seeks.isEmpty { return .seek(seeks) }
        let reassigned = slots.compactMap { slot in
            if case .needsReassign(let start, _, let retryAt) = slot.positionState, retryAt <= now {
                PartitionOffset(slot.partition, offset: start.seek)
            } else {
                nil
            }
        }
        return reassigned.isEmpty ? nil : .reassign(reassigned, all: slots.map(reassignOffset))
    }

    /// Returns the offset of a partition when all partitions are assigned again.
    private func reassignOffset(_ slot: OwnedPartition) -> PartitionOffset {
        if case .needsReassign(let start, _, _) = slot.positionState {
            return PartitionOffset(slot.partition, offset: start.seek)
        }
        return PartitionOffset(slot.partition, offset: slot.resume)
    }

    private mutating func poll(_ now: UInt64) -> LaneAction {
        if pausedUntil > now { return waitOrKeepAlive(until: pausedUntil, now) }
        var timeout = 50
        if let open = transaction.open {
            timeout = min(timeout, milliseconds(commitDeadline(open).saturatingSubtract(now)))
            if partitions.isAtEnd {
                let idle = lastRecordAt + nanoseconds(policy.commit.idleMilliseconds)
                timeout = min(timeout, milliseconds(idle.saturatingSubtract(now)))
            }
        }
        if let nextPeriod { timeout = min(timeout, milliseconds(nextPeriod.saturatingSubtract(now))) }
        if isCommitBlocked {
            // The records that were read before the limit or the pause need a poll to be committed.
            return .poll(milliseconds: 20, maximum: batchLimit)
        }
        if isExhausted || isPauseRequested {
            return waitOrKeepAlive(until: now + nanoseconds(max(1, min(timeout, 20))), now)
        }
        return .poll(milliseconds: timeout, maximum: min(batchLimit, roomForRecords))
    }

    /// Returns a Boolean value that indicates whether a poll is overdue.
    ///
    /// Only a poll reports a rebalance to the member.
    private func isPollDue(_ now: UInt64) -> Bool {
        guard case .member(let lastPoll) = group else { return false }
        return now.saturatingSubtract(lastPoll) >= Self.pollNanoseconds
    }

    /// Returns a wait until `time`, at most 50 ms.
    func wait(until time: UInt64, _ now: UInt64) -> LaneAction {
        .wait(milliseconds: min(milliseconds(time.saturatingSubtract(now)), 50))
    }

    /// Returns a wait, or once a second a poll that keeps the group membership alive.
    mutating func waitOrKeepAlive(until time: UInt64, _ now: UInt64) -> LaneAction {
        guard callback == .none, case .member(let lastPoll) = group,
            now.saturatingSubtract(lastPoll) >= Self.pollNanoseconds
        else { return wait(until: time, now) }
        if case .remaining = batch {
            dropBatch()
            return .discard
        }
        return .keepAlive
    }
}

// The parts of the invariants in WorkerReference that one lane can check after every step.
//
// - I1: Only records that were processed are committed.
// - I2: Committed records are not consumed again.
// - I2, I4: Only members of the group own partitions. Otherwise, two workers process the same records, and their
//   decisions are in any order.
// - I5: A transaction holds exactly the offsets of its outputs.
extension LaneMachine {
    /// A description of the violated invariant, or nil.
    ///
    /// Debug builds and the simulation check it after every step of a lane.
    package var violation: String? { detectedViolation ?? partitionViolation ?? transactionViolation ?? groupViolation }

    private var partitionViolation: String? {
        for slot in partitions.slots {
            if let pending = slot.pending, pending > slot.next {
                return "I1: \(slot.partition) would commit an offset after its last record"
            }
            if let pending = slot.pending, let committed = slot.committed, pending.value < committed {
                return "I2: \(slot.partition) would commit \(pending.value), before the committed \(committed)"
            }
            if slot.isStaged && slot.isPaused {
                return "I2: \(slot.partition) has records of a pause, which are consumed again"
            }
            if slot.isStaged && !slot.isStarted { return "I1: \(slot.partition) has outputs without a record" }
            if case .needsSeek = slot.positionState, slot.pending != nil {
                return "I2: \(slot.partition) is repositioned with pending records"
            }
            if case .needsReassign = slot.positionState, slot.pending != nil {
                return "I2: \(slot.partition) is repositioned with pending records"
            }
        }
        return nil
    }

    private var transactionViolation: String? {
        let pending = partitions.pendingOffsets
        switch transaction {
        case .none:
            // I5: an offset without its transaction would be committed with the outputs of the next one.
            for slot in partitions.slots where slot.isStaged || (slot.pending != nil && !slot.isOriginPending) {
                return "I5: \(slot.partition) has pending records without a transaction"
            }
        case .beginning(let staged, _):
            if staged == nil && pending.isEmpty { return "I5: a transaction begins without anything to commit" }
        case .running(let open, .idle):
            if partitions.slots.contains(where: \.isStaged) { return "I5: outputs are staged in an idle transaction" }
            if open.content.records > 0 && pending.isEmpty { return "I5: outputs have no offsets" }
        case .running(_, .sendingOffsets(let offsets, _, _)), .running(_, .committing(let offsets, _, _)),
            .running(_, .committingOffsets(let offsets, _, _)):
            if offsets != pending { return "I5: the transaction holds \(offsets), pending is \(pending)" }
        case .running(_, .flushing):
            if pending.isEmpty { return "I5: outputs have no offsets" }
        case .running(_, .offering), .running(_, .blocked), .running(_, .aborting): break
        }
        return nil
    }

    private var groupViolation: String? {
        if !isMember && !partitions.isEmpty && group == .left {
            return "I2, I4: partitions are owned outside of the group"
        }
        if case .remaining(let count) = batch, count <= 0 { return "I1: a batch without messages" }
        if case .outside = group, batch != .none { return "I1: records were received outside of the group" }
        if callback == .none, needs.contains(.membership), !partitions.isEmpty {
            return "I2, I4: lost partitions are still owned"
        }
        return nil
    }
}
