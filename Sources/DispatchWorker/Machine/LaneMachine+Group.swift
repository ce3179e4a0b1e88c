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
            asked(.membership, isAnswered: true)
            callback = isLeaving || partitions.isEmpty ? .taking([]) : .locating(partitions)
        case .revoke(let partitions):
            if fate == nil && transaction.isCommittable && partitions.contains(where: isPending) {
                startCommit(now)
                let budget = min(10_000, policy.sessionTimeoutMilliseconds / 3)
                callback = .revoking(partitions, deadline: now + nanoseconds(budget))
            } else {
                callback = .giving(partitions, isLost: false)
            }
        case .lost(let partitions):
            asked(.membership, isAnswered: false)
            callback = .giving(partitions, isLost: true)
        case .failed(let error):
            // The client revokes the assigned partitions.
            notes.append(.failed(.consume, error))
            callback = .giving(partitions.names, isLost: true)
        }
    }

    private var isLeaving: Bool { isDraining || fate != nil }

    private func isPending(_ partition: TopicPartition) -> Bool {
        partitions.slots.contains { $0.partition == partition && $0.pending != nil }
    }

    /// Returns the next action inside the callback, or nil when the rebalance is answered.
    package mutating func nextInCallback(now: UInt64) -> LaneAction? {
        if callback != .none, let announcement { return announcement }
        switch callback {
        case .none: return nil
        case .locating(let wanted): return .fetchCommitted(wanted.map(\.partition))
        case .taking(let starts):
            let added = starts.map { PartitionOffset($0.assigned.partition, offset: $0.position.seek) }
            let kept = partitions.slots.filter { slot in !added.contains { $0.partition == slot.partition } }
            return .take(added, all: kept.map { PartitionOffset($0.partition, offset: $0.resume) } + added)
        case .revoking(let given, let deadline):
            if fate == nil && transaction.isCommittable && now < deadline {
                // At least 1, because 0 means not to wait.
                let left = max(1, Int(deadline.saturatingSubtract(now) / 1_000_000))
                return step(of: transaction, milliseconds: left, now)
            }
            if transaction.isCommittable { indefinite() }
            callback = .giving(given, isLost: false)
            return .give(given)
        case .giving(let given, _): return .give(given)
        }
    }

    /// Records that the assignment was answered.
    package mutating func taken(now: UInt64) {
        guard case .taking(let starts) = callback else { return }
        callback = .none
        for start in starts { partitions.own(start) }
        notes.append(.assigned(starts.map(\.assigned.partition)))
        if !isReady {
            isReady = true
            notes.append(.ready(milliseconds: milliseconds(now.saturatingSubtract(startedAt ?? now))))
        }
    }

    /// Records that the revocation was answered.
    package mutating func given() {
        guard case .giving(let given, let isLost) = callback else { return }
        callback = .none
        if isAffected(given) {
            if case .beginning = transaction { loseTransaction() } else { transactionFailed(isLost ? .lost : .revoked) }
        }
        partitions.disown(given)
        notes.append(isLost ? .lost(given) : .revoked(given))
    }

    /// Returns a Boolean value that indicates whether the transaction contains records of revoked partitions.
    private func isAffected(_ given: [TopicPartition]) -> Bool {
        transaction != .none
            && partitions.slots.contains { ($0.pending != nil || $0.isStaged) && given.contains($0.partition) }
    }

    /// Handles an event of a poll.
    package mutating func heard(_ event: ConsumerEvent, now: UInt64) {
        switch event.kind {
        case .endOfPartition:
            credentials = .accepted
            partitions.reachedEnd(topic: event.topic, partition: event.partition, offset: event.offset)
        case .offsetOutOfRange:
            if let index = partitions.slot(topic: event.topic, partition: event.partition),
                partitions.slots[index].place == .current
            {
                partitions.slots[index].place = .outOfRange(retryAt: 0)
            }
        case .authorization, .fatal:
            if let error = event.error { failed(.consume, error, now: now) }
        case .unknownTopic, .maxPollExceeded, .other:
            if let error = event.error { notes.append(.failed(.consume, error)) }
        }
    }
}

/// A rebalance of the group, with the consumer's topic indices.
package enum RebalanceRequest: Sendable, Equatable {
    /// These partitions are assigned to this member.
    case assign([AssignedPartition])
    /// These partitions are revoked, and offsets can still be committed.
    case revoke([TopicPartition])
    /// These partitions are already lost.
    case lost([TopicPartition])
    /// The rebalance failed.
    case failed(KafkaError)
}
