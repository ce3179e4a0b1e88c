package import KafkaClient

// When a transaction fails: abort it, go back to what the brokers hold as committed, try again.
extension LaneMachine {
    /// The open transaction must be aborted.
    mutating func transactionFailed(_ cause: AbortCause) {
        if transaction == .open {
            transaction = .failed
            abortCause = cause
        }
        needsRewind = true
    }

    /// The transaction is aborted; `refusal` is the error of a record that spoiled it, had there been one.
    package mutating func aborted(refusal: KafkaErrorCode?, coordinatorDrops: Int, now: UInt64) {
        let code = refusal ?? content.error
        if coordinatorDrops != content.coordinatorDrops { suspect = suspect ?? .coordinator }
        let cause = suspect
        let isDeliberate = abortCause == .revoked || abortCause == .lost || fate != nil
        spoiled(code, isRefused: refusal != nil || (content.error?.isRecordLevel ?? false))
        notes.append(.aborted(abortCause, code))
        abortCause = .error
        loseTransaction()
        if let cause { rotate(cause) }
        stage = .discarding
        if !isDeliberate { wait(abortBackoff.next(), now: now) }
    }

    /// Makes transactions smaller when one of their records is to blame.
    private mutating func spoiled(_ code: KafkaErrorCode?, isRefused: Bool) {
        guard isRefused else { return }
        var pending = partitions
        pending.promote()
        isolation.recordRefused(records: content.records + staged.records, pending: pending.pendingOffsets)
    }

    /// At least once: a delivery failed, so the producer was dropped and its records are taken again.
    mutating func deliveryFailed(now: UInt64) {
        spoiled(content.error, isRefused: content.error?.isRecordLevel ?? false)
        notes.append(.aborted(abortCause, content.error))
        abortCause = .error
        loseTransaction()
        recreateWait = abortBackoff.next()
    }

    /// A revocation's budget is over and the commit's outcome unknown: nothing may be called on that producer again.
    mutating func indefinite(now: UInt64) {
        loseTransaction()
        if isExactlyOnce {
            rotate(.revoked)
        } else {
            needsDrop = true
        }
        stage = .polling
    }

    /// The group's committed offsets of what is owned.
    package mutating func located(_ results: [PartitionResult], now: UInt64) {
        guard !results.contains(where: { $0.error != nil }) else {
            wait(100, now: now)
            return
        }
        var offsets: [PartitionOffset] = []
        for result in results {
            guard let slot = partitions.slots.first(where: { $0.partition == result.partition }) else { continue }
            let origin = slot.origin ?? .beginning
            let start = result.offset.map { StartPosition(at: NextOffset(told: $0)) } ?? origin
            partitions.own(slot.partition, topic: slot.topic, start: start, origin: slot.origin)
            offsets.append(PartitionOffset(slot.partition, offset: start.seek))
        }
        counters.rewinds += 1
        stage = .seeking(offsets)
    }

    /// Seeking is over; partitions that could not be moved are assigned anew.
    package mutating func sought(failed: [TopicPartition], now: UInt64) {
        guard case .seeking(let offsets) = stage else { return }
        let again = offsets.filter { failed.contains($0.partition) }
        if again.isEmpty {
            rewound(offsets.count, now: now)
        } else {
            stage = .reassigning(again)
        }
    }

    /// The partitions that could not be sought are assigned anew.
    package mutating func reassigned(now: UInt64) { rewound(partitions.slots.count, now: now) }

    private mutating func rewound(_ count: Int, now: UInt64) {
        needsRewind = false
        notes.append(.rewound(partitions: count))
        settle(now: now)
    }

    /// The ends of a partition whose next records are gone; where consumption goes on, or nil when the worker ends.
    package mutating func endsFound(_ partition: TopicPartition, _ ends: Watermarks, now: UInt64) {
        outOfRange.removeAll { $0 == partition }
        guard let slot = partitions.slots.first(where: { $0.partition == partition }) else {
            settle(now: now)
            return
        }
        let got = policy.dataLoss == .latest ? ends.high : ends.low
        notes.append(.dataLost(partition, wanted: slot.next.value, got: got))
        if policy.dataLoss == .stop {
            end(
                WorkerExit(
                    .badData,
                    "records of \(partition) are gone: wanted offset \(slot.next.value), the topic has "
                        + "\(ends.low) to \(ends.high)",
                    advice: "start again with --data-loss earliest or latest if the loss is accepted"), now: now)
            return
        }
        let pending = slot.pending
        partitions.own(
            partition, topic: slot.topic, start: StartPosition(at: NextOffset(told: got)), origin: slot.origin)
        partitions.keepPending(pending, of: partition)
        stage = .seeking([PartitionOffset(partition, offset: got)])
    }
}
