package import KafkaClient

// The group's side: assignments, revocations, and what a poll brings beside records.
extension LaneMachine {
    /// Partitions were assigned and start here; `topic` is their topic's index at the consumer.
    package mutating func assigned(
        _ starts: [(partition: TopicPartition, topic: Int32, start: StartPosition, origin: StartPosition?)],
        now: UInt64
    ) {
        for start in starts {
            partitions.own(start.partition, topic: start.topic, start: start.start, origin: start.origin)
        }
        notes.append(.assigned(starts.map(\.partition)))
        if !isReady {
            isReady = true
            notes.append(.ready(milliseconds: milliseconds(now &- (startedAt ?? now))))
        }
    }

    /// Where a partition begins for which nothing is committed; nil when its end must be asked for first.
    package func origin(_ ends: Watermarks?) -> StartPosition? {
        switch policy.from {
        case .earliest: .beginning
        case .latest: ends.map { StartPosition(at: NextOffset(told: $0.high)) }
        case .fail: nil
        }
    }

    /// A revoke callback began: what is pending may still be committed, within its budget.
    package mutating func revoking(now: UInt64) {
        guard transaction == .open, partitions.hasPending else { return }
        let budget = min(10_000, policy.sessionTimeoutMilliseconds / 3)
        revocation = Revocation(deadline: now + UInt64(budget) * 1_000_000)
        switch stage {
        case .sendingOffsets, .committing, .flushing, .storingOffsets: break
        default: startCommit()
        }
    }

    /// What to do next inside the revoke callback, or nil when partitions may be given up.
    package mutating func nextInRevocation(now: UInt64) -> LaneAction? {
        guard let revocation, fate == nil, transaction == .open else { return nil }
        switch stage {
        case .sendingOffsets, .committing, .flushing, .storingOffsets:
            if revocation.isOver(now) {
                indefinite(now: now)
                return nil
            }
            return next(now: now)
        default: return nil
        }
    }

    /// The callback gives partitions up.
    package mutating func revoked(_ given: [TopicPartition], isLost: Bool, now: UInt64) {
        if transaction == .open { transactionFailed(isLost ? .lost : .revoked) }
        revocation = nil
        partitions.disown(given)
        outOfRange.removeAll { given.contains($0) }
        notes.append(isLost ? .lost(given) : .revoked(given))
        // Whatever was under way is decided anew when the poll has returned.
        stage = .polling
        batchLeft = 0
    }

    /// An event of a poll.
    package mutating func heard(_ event: ConsumerEvent, now: UInt64) {
        switch event.kind {
        case .endOfPartition: partitions.reachedEnd(topic: event.topic, partition: event.partition)
        case .offsetOutOfRange:
            if let index = partitions.slot(topic: event.topic, partition: event.partition) {
                let partition = partitions.slots[index].partition
                if !outOfRange.contains(partition) { outOfRange.append(partition) }
            }
        case .authorization, .fatal:
            if let error = event.error { failed(.consume, error, now: now) }
        case .unknownTopic, .maxPollExceeded, .other:
            if let error = event.error { notes.append(.failed(.consume, error)) }
        }
    }

    /// The notes since the last call.
    package mutating func takeNotes() -> [LaneNote] {
        defer { notes.removeAll(keepingCapacity: true) }
        return notes
    }
}
