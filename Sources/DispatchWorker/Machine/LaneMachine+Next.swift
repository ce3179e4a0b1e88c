internal import KafkaClient

// The selection of the next action: a list of checks in order of priority.
extension LaneMachine {
    /// The result of one check.
    enum Step {
        /// Perform this action.
        case act(LaneAction)
        /// The state has changed: start again with the first check.
        case again
        /// The check does not apply: continue with the next one.
        case pass
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
        removeObsoleteNeeds()
        if let announcement { return announcement }
        for _ in 0..<32 {
            switch nextStep(now) {
            case .act(let action): return action
            case .again, .pass: continue
            }
        }
        detectedViolation = detectedViolation ?? "no action found for \(producer) \(group) \(batch)"
        end(WorkerExit(.internal, "the lane has no next action", advice: "report this bug with the log"))
        return .end
    }

    /// The action that announces the lane's exit, or nil.
    ///
    /// It precedes all other actions.
    var announcement: LaneAction? { isExitAnnounced ? nil : exit.map { .announce($0) } }

    private mutating func nextStep(_ now: UInt64) -> Step {
        var step = transactionStep(now)
        if case .pass = step { step = exitStep() }
        if case .pass = step { step = batch == .dropped ? .act(.discard) : .pass }
        if case .pass = step { step = commitStep(now) }
        if case .pass = step { step = drainStep(now) }
        if case .pass = step { step = pauseStep(now) }
        if case .pass = step { step = producerStep(now) }
        if case .pass = step { step = groupStep(now) }
        if case .pass = step { step = workStep(now) }
        if case .pass = step { step = positionStep(now) }
        if case .pass = step { step = .act(poll(now)) }
        return step
    }

    /// Continues a transaction that does not depend on anything else, or replaces the producer.
    private mutating func transactionStep(_ now: UInt64) -> Step {
        switch producer {
        case .retiring: return .act(.dropProducer)
        case .ready(let transaction, _): return transactionStep(transaction, now)
        case .absent, .initializing: return .pass
        }
    }

    private mutating func transactionStep(_ transaction: Transaction, _ now: UInt64) -> Step {
        let isEnding = exit != nil
        switch transaction {
        case .none, .open(_, .idle): return .pass
        case .beginning(_, let retryAt):
            if isEnding {
                dropTransaction()
                return .again
            }
            return retryAt > now ? .act(wait(until: retryAt, now)) : .act(.begin)
        case .open(_, .offering), .open(_, .blocked), .sendingOffsets, .flushing, .committingOffsets:
            if isEnding {
                transactionFailed(.shutdown)
                return .again
            }
            return .act(action(for: transaction, milliseconds: nil, now))
        case .committing, .aborting: return .act(action(for: transaction, milliseconds: nil, now))
        }
    }

    /// Returns the next call of a transaction.
    ///
    /// `milliseconds` is the time left in a revocation, or nil for no limit.
    mutating func action(for transaction: Transaction, milliseconds: Int?, _ now: UInt64) -> LaneAction {
        switch transaction {
        case .open(_, .offering): return .produce
        case .open(_, .blocked): return .drainQueue(milliseconds: 50)
        case .sendingOffsets(_, let offsets, let isRepeat, let retryAt):
            if retryAt > now { return wait(until: retryAt, now) }
            return .sendOffsets(offsets, isRepeat: isRepeat, milliseconds: milliseconds ?? -1)
        case .committing(_, _, _, let retryAt):
            return retryAt > now ? wait(until: retryAt, now) : .commit(milliseconds: milliseconds ?? -1)
        case .flushing(_, let retryAt):
            if retryAt > now { return wait(until: retryAt, now) }
            return .flush(milliseconds: min(1_000, milliseconds ?? 1_000))
        case .committingOffsets(_, let offsets, _, let retryAt):
            if retryAt > now { return waitOrKeepAlive(until: retryAt, now) }
            return .commitOffsets(offsets, milliseconds: min(Self.offsetCommitMilliseconds, milliseconds ?? .max))
        case .aborting(_, _, let retryAt): return retryAt > now ? waitOrKeepAlive(until: retryAt, now) : .abort
        case .none, .beginning, .open(_, .idle): return .wait(milliseconds: 0)
        }
    }

    /// Ends the lane at once and aborts the open transaction.
    private mutating func exitStep() -> Step {
        guard exit != nil || group == .left else { return .pass }
        if case .open = transaction {
            transactionFailed(.shutdown)
            return .again
        }
        return leave()
    }

    /// Performs one step of leaving: the group first, then the producer.
    private mutating func leave() -> Step {
        if isMember { return .act(.close) }
        switch producer {
        case .absent: return .act(.end)
        case .initializing, .ready, .retiring:
            retireProducer(wait: 0)
            return .again
        }
    }

    private mutating func commitStep(_ now: UInt64) -> Step {
        guard case .open(let open, .idle) = transaction, isCommitDue(open, now) else { return .pass }
        startCommit(now)
        return .again
    }

    /// Drains: processes the rest of the batch and commits.
    private mutating func drainStep(_ now: UInt64) -> Step {
        guard isDraining else { return .pass }
        if case .ready(_, .open) = producer, isMember, batch != .none || partitions.hasPending { return .pass }
        guard case .open = transaction else { return leave() }
        startCommit(now)
        return .again
    }

    private mutating func producerStep(_ now: UInt64) -> Step {
        switch producer {
        case .absent(let notBefore):
            return .act(notBefore > now ? waitOrKeepAlive(until: notBefore, now) : .makeProducer)
        case .initializing(let retryAt):
            return .act(
                retryAt > now ? waitOrKeepAlive(until: retryAt, now) : .initTransactions(milliseconds: 1_000))
        case .ready(_, .unopened(let retryAt)):
            return .act(retryAt > now ? waitOrKeepAlive(until: retryAt, now) : .openTopics)
        case .ready(.none, .open(let since)) where now.saturatingSubtract(since) > 300_000_000_000:
            // The output topic may have more partitions by now.
            producer = .ready(.none, .refreshing)
            return .again
        case .ready(_, .refreshing): return .act(.openTopics)
        case .ready, .retiring: return .pass
        }
    }

    private mutating func groupStep(_ now: UInt64) -> Step {
        guard case .outside(let retryAt) = group else { return .pass }
        return .act(retryAt > now ? wait(until: retryAt, now) : .subscribe)
    }

    /// Processes consumed records, and commits an offset that is not stored at the brokers.
    private mutating func workStep(_ now: UInt64) -> Step {
        if case .remaining = batch {
            // A long batch must not delay the polls that keep the membership alive. The rest of it is consumed again.
            let lastPoll = if case .member(let lastPoll) = group { lastPoll } else { now }
            let until = min(processUntil(now), lastPoll + Self.pollNanoseconds)
            return .act(.process(records: min(roomForRecords, deadLetters.recordLimit), until: until))
        }
        if transaction == .none && partitions.hasPending {
            if isPollDue(now) { return .act(.keepAlive) }
            begin(nil, now)
            return .again
        }
        return .pass
    }

    /// Positions the partitions whose position is not current, with one call for all that need the same.
    private mutating func positionStep(_ now: UInt64) -> Step {
        guard !isDraining, partitions.slots.contains(where: { $0.positionState != .current }) else { return .pass }
        if case .open = transaction {
            // Seeking to committed offsets with pending records would process them twice in one transaction.
            startCommit(now)
            return .again
        }
        if pausedUntil > now { return .act(waitOrKeepAlive(until: pausedUntil, now)) }
        if isPollDue(now) { return .act(.keepAlive) }
        if let action = positionAction(now) { return .act(action) }
        if partitions.slots.contains(where: { $0.positionState == .current }) { return .pass }
        return .act(waitOrKeepAlive(until: now + 20_000_000, now))
    }

    /// Returns the next action that positions partitions, or nil if all of them wait for a retry.
    private mutating func positionAction(_ now: UInt64) -> LaneAction? {
        let slots = partitions.slots
        let stale = slots.filter { $0.positionState == .stale }.map(\.partition)
        if !stale.isEmpty && committedRetryAt <= now { return .fetchCommitted(stale) }
        for slot in slots {
            switch slot.positionState {
            case .needsEnd(let retryAt) where retryAt <= now, .outOfRange(let retryAt) where retryAt <= now:
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
        if case .open(let open, _) = transaction {
            timeout = min(timeout, milliseconds(commitDeadline(open).saturatingSubtract(now)))
            if partitions.isAtEnd {
                let idle = lastRecordAt + nanoseconds(policy.commit.idleMilliseconds)
                timeout = min(timeout, milliseconds(idle.saturatingSubtract(now)))
            }
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
