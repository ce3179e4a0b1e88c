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
            if exit == nil && transaction.isCommittable && partitions.contains(where: isPending) {
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
        if callback != .none, let announcement { return announcement }
        switch callback {
        case .none: return nil
        case .fetchingCommitted(let assignments): return .fetchCommitted(assignments.map(\.partition))
        case .assigning(let starts):
            let added = starts.map { PartitionOffset($0.assigned.partition, offset: $0.position.seek) }
            let kept = partitions.slots.filter { slot in !added.contains { $0.partition == slot.partition } }
            return .assign(added, all: kept.map { PartitionOffset($0.partition, offset: $0.resume) } + added)
        case .revoking(let revoked, let deadline):
            if exit == nil && transaction.isCommittable && now < deadline {
                // At least 1, because 0 means not to wait.
                let left = max(1, Int(deadline.saturatingSubtract(now) / 1_000_000))
                return action(for: transaction, milliseconds: left, now)
            }
            if transaction.isCommittable { abandonCommit() }
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
            partitions.reachedEnd(topic: event.topic, partition: event.partition, offset: event.offset)
        case .offsetOutOfRange:
            if let index = partitions.slot(topic: event.topic, partition: event.partition),
                partitions.slots[index].positionState == .current
            {
                partitions.slots[index].positionState = .outOfRange(retryAt: 0)
            }
        case .authorization, .fatal:
            if let error = event.error { failed(.consume, error, now: now) }
        case .unknownTopic, .maxPollExceeded, .other:
            if let error = event.error { notes.append(.failed(.consume, error)) }
        }
    }
}
