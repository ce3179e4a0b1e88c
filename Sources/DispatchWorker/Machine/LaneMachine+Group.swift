package import KafkaClient

// Group membership: assignments, revocations, and the events of a poll.
extension LaneMachine {
    /// Starts a rebalance.
    ///
    /// `nextInCallback` returns the actions that answer it.
    package mutating func rebalancing(_ event: RebalanceRequest, now: UInt64) {
        switch event {
        case .assign(let partitions):
            credentials = .accepted
            recordRequest(.membership, isAnswered: true)
            callback = isLeaving || partitions.isEmpty ? .assigning([]) : .fetchingCommitted(partitions)
        case .revoke(let partitions):
            if exit == nil, transaction.phase?.isCommittable == true, !isCommitBlocked,
                partitions.contains(where: isPending)
            {
                startCommit(now)
                let budget = min(10_000, policy.sessionTimeoutMilliseconds / 3)
                callback = .revoking(partitions, deadline: now + nanoseconds(budget))
            } else {
                callback = .unassigning(partitions, isLost: false)
            }
        case .lost(let partitions):
            recordRequest(.membership, isAnswered: false)
            callback = .unassigning(partitions, isLost: true)
        case .failed(let error):
            // The client revokes the assigned partitions.
            notes.append(.failed(.consume, error))
            callback = .unassigning(partitions.names, isLost: true)
        }
    }

    private var isLeaving: Bool { isDraining || exit != nil }

    private func isPending(_ partition: TopicPartition) -> Bool {
        partitions.slots.contains { $0.partition == partition && $0.pending != nil }
    }

    /// Returns the next action inside the callback, or nil when the rebalance is answered.
    package mutating func nextInCallback(now: UInt64) -> LaneAction? {
        noticeStep(now)
        if callback != .none, let announcement { return announcement }
        switch callback {
        case .none: return nil
        case .fetchingCommitted(let assignments): return .fetchCommitted(assignments.map(\.partition))
        case .assigning(let starts):
            let added = starts.map { PartitionOffset($0.assigned.partition, offset: $0.position.seek) }
            let kept = partitions.slots.filter { slot in !added.contains { $0.partition == slot.partition } }
            return .assign(added, all: kept.map { PartitionOffset($0.partition, offset: $0.resume) } + added)
        case .revoking(let revoked, let deadline):
            if let phase = transaction.phase, phase.isCommittable {
                if exit == nil && now < deadline {
                    // At least 1, because 0 means not to wait.
                    let left = max(1, Int(deadline.saturatingSubtract(now) / 1_000_000))
                    return action(for: phase, milliseconds: left, now)
                }
                abandonCommit()
            }
            callback = .unassigning(revoked, isLost: false)
            return .unassign(revoked)
        case .unassigning(let revoked, _): return .unassign(revoked)
        }
    }

    /// Records that the assignment was answered.
    package mutating func assigned(now: UInt64) {
        guard case .assigning(let starts) = callback else { return }
        callback = .none
        for start in starts { partitions.own(start) }
        notes.append(.assigned(starts.map(\.assigned.partition)))
        if !isReady {
            isReady = true
            notes.append(.ready(milliseconds: milliseconds(now.saturatingSubtract(startedAt ?? now))))
        }
    }

    /// Records that the revocation was answered.
    package mutating func unassigned() {
        guard case .unassigning(let revoked, let isLost) = callback else { return }
        callback = .none
        if isAffected(revoked) {
            if case .beginning = transaction { dropTransaction() } else { transactionFailed(isLost ? .lost : .revoked) }
        }
        partitions.disown(revoked)
        notes.append(isLost ? .lost(revoked) : .revoked(revoked))
    }

    /// Returns a Boolean value that indicates whether the transaction contains records of revoked partitions.
    private func isAffected(_ revoked: [TopicPartition]) -> Bool {
        transaction != .none
            && partitions.slots.contains { ($0.pending != nil || $0.isStaged) && revoked.contains($0.partition) }
    }

    /// Handles an event of a poll.
    package mutating func handle(_ event: ConsumerEvent, now: UInt64) {
        switch event.kind {
        case .endOfPartition:
            credentials = .accepted
            if let unknown = partitions.verifyEnd(event, isCompacted: isCompacted) { noteUnknown(unknown) }
            partitions.reachedEnd(topic: event.topic, partition: event.partition, offset: event.offset)
        case .offsetOutOfRange:
            if let index = partitions.slot(topic: event.topic, partition: event.partition),
                [.current, .verifying].contains(partitions.slots[index].positionState)
            {
                partitions.slots[index].positionState = .outOfRange(retryAt: 0)
            }
        case .authorization, .fatal:
            if let error = event.error { failed(.consume, error, now: now) }
        case .unknownTopic:
            doubt()
            if let error = event.error { notes.append(.failed(.consume, error)) }
        case .maxPollExceeded, .other:
            if let error = event.error { notes.append(.failed(.consume, error)) }
        }
    }
}

// The unmet needs of a lane, for the watchdog.
extension LaneMachine {
    /// The needs that the library did not meet in time and that still exist.
    ///
    /// They are derived from the lane's next actions. A need ends with its last cause, for example when a partition is
    /// revoked or a member leaves.
    package var needs: [ClientNeed] { unanswered.isEmpty ? [] : ClientNeed.allCases.filter(isUnmet) }

    private func isUnmet(_ need: ClientNeed) -> Bool { unanswered.contains(need) && isNeeded(need) }

    private func isNeeded(_ need: ClientNeed) -> Bool {
        guard isMember, exit == nil else { return false }
        switch need {
        case .committedOffsets:
            if case .fetchingCommitted = callback { return true }
            return !isDraining && partitions.slots.contains { $0.positionState == .stale }
        case .committing: if case .running(_, .committingOffsets) = transaction { return true } else { return false }
        case .membership: return !isDraining
        }
    }

    /// Records that a request of this kind was answered in time, or that it was not.
    mutating func recordRequest(_ need: ClientNeed, isAnswered: Bool) {
        if isAnswered { unanswered.remove(need) } else { unanswered.insert(need) }
    }

    /// Removes needs that no longer exist, so that a later one counts as a new need.
    mutating func removeObsoleteNeeds() {
        if !unanswered.isEmpty { unanswered.formIntersection(needs) }
    }

    /// Updates the needs after a failed call.
    ///
    /// An error that arrives in time is an answer.
    mutating func recordNeed(_ call: LaneCall, _ error: KafkaError) {
        switch call {
        case .fetchCommitted: recordRequest(.committedOffsets, isAnswered: error.code != .timedOut)
        case .commitOffsets: recordRequest(.committing, isAnswered: error.code != .timedOut)
        default: break
        }
    }
}

// Fencing: another client has the lane's instance name, or a broker says so.
//
// The lane gives up both clients, and asks the group. It ends with 79 if a member of another process keeps the name for
// longer than the session of a dead process would last. Otherwise it joins again with new clients. If two processes
// have one name, the last one that joined never ends for this reason.
extension LaneMachine {
    /// The time between two descriptions of a group that contains a rival, and the time that a coordinator has to
    /// remove an expired member, in nanoseconds.
    private static var rivalNanoseconds: UInt64 { 1_000_000_000 }

    /// Gives up both clients, because a broker fenced one of them.
    mutating func contest(_ client: ClientKind) {
        switch group {
        case .outside, .member: break
        case .fenced, .contested, .left: return
        }
        notes.append(.fenced(client))
        dropBatch()
        retireProducer(wait: 0)
        group = .fenced
    }

    /// Records a member id that the coordinator gave to this lane.
    package mutating func joined(as member: String) { ownMembers.insert(member) }

    /// Records that the consumer is destroyed.
    package mutating func abandoned(now: UInt64) {
        guard group == .fenced else { return }
        if !partitions.isEmpty { notes.append(.lost(partitions.names)) }
        partitions.disown(partitions.names)
        batch = .none
        callback = .none
        group = .contested(Contest(retryAt: now + nanoseconds(contestBackoff.next())))
    }

    /// Destroys the consumer of a fenced lane, then describes the group until the name is free or lost.
    mutating func contestStep(_ now: UInt64) -> Step? {
        switch group {
        case .fenced: .act(.abandon)
        case .contested(let contest):
            .act(contest.retryAt > now ? wait(until: contest.retryAt, now) : .findHolders)
        case .outside, .member, .left: nil
        }
    }

    /// Records who has the lane's instance name.
    package mutating func holdersFound(_ holders: InstanceHolders, now: UInt64) {
        guard case .contested(var contest) = group else { return }
        guard holders.members.contains(where: { !ownMembers.contains($0) }) else {
            group = .outside(retryAt: now)
            return
        }
        let known = contest.rival.flatMap { $0.coordinator == holders.coordinator ? $0 : nil }
        let rival = known ?? Contest.Rival(coordinator: holders.coordinator, since: now)
        let session = nanoseconds(policy.sessionTimeoutMilliseconds)
        if policy.decidesContest && now.saturatingSubtract(rival.since) >= session + Self.rivalNanoseconds {
            end(Self.fencedExit)
        }
        contest.rival = rival
        contest.error = nil
        contest.retryAt = now + Self.rivalNanoseconds
        group = .contested(contest)
    }

    /// Describes the group again later.
    ///
    /// The coordinator that answers next may be another one.
    mutating func holdersUnknown(_ error: KafkaError, now: UInt64) {
        guard case .contested(var contest) = group else { return }
        if contest.error != error.code { notes.append(.failed(.findHolders, error)) }
        contest.error = error.code
        contest.rival = nil
        contest.retryAt = now + nanoseconds(contestBackoff.next())
        group = .contested(contest)
    }

    private static let fencedExit = WorkerExit(
        .fenced, "another process uses this instance name: its group member replaced this one",
        advice: "give each running worker its own --instance")
}

// Pauses: a paused lane commits its work, keeps its partitions, and reads nothing.
extension LaneMachine {
    /// The time in nanoseconds after which a failed call to pause or resume is repeated, and between two requests for
    /// the end of a paused partition.
    private static var pauseRetryNanoseconds: UInt64 { 1_000_000_000 }

    /// Requests that no records are consumed, or that they are consumed again.
    package mutating func pause(_ isRequested: Bool) { isPauseRequested = isRequested }

    /// A Boolean value that indicates whether a pause was requested and the lane has no work in progress.
    package var isPaused: Bool {
        isPauseRequested && transaction == .none && batch == .none && partitions.slots.allSatisfy(\.isPaused)
    }

    /// Commits the work in progress and pauses all partitions, or resumes them.
    ///
    /// A stop does not wait for either.
    mutating func pauseStep(_ now: UInt64) -> Step? {
        if isDraining { return nil }
        if !isPauseRequested { return slowStep(now) ?? resumeStep(now) }
        if case .remaining = batch {
            dropBatch()
            return .again
        }
        if transaction.open != nil { return isCommitBlocked ? nil : startedCommit(now) }
        let running = partitions.slots.filter { !$0.isPaused }.map(\.partition)
        if !running.isEmpty { return now >= pauseRetryAt ? .act(.pause(running)) : nil }
        if isReady && !isPauseReported {
            isPauseReported = true
            notes.append(.paused(partitions: partitions.slots.count))
        }
        return endRequest(of: { !$0.needsEnds }, now).map { .act(.findEnds($0)) }
    }

    private mutating func resumeStep(_ now: UInt64) -> Step? {
        let paused = partitions.slots.filter { $0.isPaused && !$0.isSilent }.map(\.partition)
        if !paused.isEmpty { return now >= pauseRetryAt ? .act(.resume(paused)) : nil }
        if isPauseReported {
            isPauseReported = false
            notes.append(.resumed)
        }
        return nil
    }

    /// Returns the next paused partition whose end is fetched for the lag, or nil if none is due.
    ///
    /// The statistics of a paused partition do not change.
    mutating func endRequest(of isPaused: (OwnedPartition) -> Bool, _ now: UInt64) -> TopicPartition? {
        guard now >= endRequestAt else { return nil }
        let slots = partitions.slots.filter(isPaused)
        guard !slots.isEmpty else { return nil }
        endRequestAt = now + Self.pauseRetryNanoseconds
        endRequests &+= 1
        return slots[endRequests % slots.count].partition
    }

    /// Records that partitions were paused, except those in `failed`.
    package mutating func pauseFinished(_ paused: [TopicPartition], failed: [PartitionResult], now: UInt64) {
        finish(.pause, paused, failed, now) { slot in slot.isPaused = true }
    }

    /// Records that partitions were resumed, except those in `failed`.
    ///
    /// The position at which the client continues is not used, because a batch that was fetched before the pause may be
    /// lost.
    package mutating func resumeFinished(_ resumed: [TopicPartition], failed: [PartitionResult], now: UInt64) {
        finish(.resume, resumed, failed, now) { $0.resumed() }
    }

    private mutating func finish(
        _ call: LaneCall, _ names: [TopicPartition], _ failed: [PartitionResult], _ now: UInt64,
        _ change: (inout OwnedPartition) -> Void
    ) {
        if let error = failed.compactMap(\.error).first {
            notes.append(.failed(call, error))
            pauseRetryAt = now + Self.pauseRetryNanoseconds
        }
        for index in partitions.slots.indices {
            let name = partitions.slots[index].partition
            guard names.contains(name), !failed.contains(where: { $0.partition == name }) else { continue }
            change(&partitions.slots[index])
        }
    }
}

extension OwnedPartition {
    /// Records that the partition is no longer paused.
    mutating func resumed() {
        isPaused = false
        switch positionState {
        case .current: positionState = check == nil ? .stale : .needsReturn
        case .verifying: positionState = .needsReturn
        default: break
        }
    }
}
