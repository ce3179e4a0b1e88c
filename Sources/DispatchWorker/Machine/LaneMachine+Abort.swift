package import KafkaClient

// Aborts of transactions. Afterward, the partitions return to their committed offsets.
extension LaneMachine {
    /// Aborts the open transaction.
    ///
    /// With at-least-once, the producer is replaced instead. The records are consumed again in both cases.
    mutating func transactionFailed(_ cause: AbortCause) {
        guard let open = transaction.content else { return }
        if case .aborting = transaction { return }
        if isExactlyOnce {
            lostRecords += transaction.staged?.records ?? 0
            transaction = .aborting(open, cause, retryAt: 0)
            return
        }
        isolateRefusedRecord(open.error, records: open.content.records, staged: transaction.staged)
        notes.append(.aborted(cause, open.error))
        let isDeliberate = isDeliberate(cause)
        retireProducer(wait: isDeliberate ? 0 : abortBackoff.next())
    }

    /// Returns a Boolean value that indicates whether the abort is intended instead of a failure.
    private func isDeliberate(_ cause: AbortCause) -> Bool { cause == .revoked || cause == .lost || exit != nil }

    /// Records that the transaction was aborted.
    ///
    /// `refusal` is the error of a record that caused the abort, or nil.
    package mutating func aborted(refusal: KafkaErrorCode?, coordinatorDrops: Int, now: UInt64) {
        guard case .aborting(let open, let cause, _) = transaction else { return }
        let code = refusal ?? open.error
        isolateRefusedRecord(code, records: open.content.records, staged: nil)
        notes.append(.aborted(cause, code))
        let isDeliberate = isDeliberate(cause)
        let suspect = open.suspect ?? (coordinatorDrops != open.coordinatorDrops ? .coordinator : nil)
        dropTransaction()
        if !isDeliberate { pausedUntil = now + nanoseconds(abortBackoff.next()) }
        if let suspect { rotate(suspect) }
    }

    /// Makes transactions smaller if one of their records is the cause of the abort, and logs the record once it is
    /// found.
    private mutating func isolateRefusedRecord(_ code: KafkaErrorCode?, records: Int, staged: BatchResult?) {
        guard let code, code.isRecordLevel else { return }
        var pending = partitions
        pending.promote()
        let total = records + (staged?.records ?? 0)
        switch isolation.recordRefused(records: total, pending: pending.pendingOffsets) {
        case .none: break
        case .record(let found):
            notes.append(.refused(found.partition, offset: found.offset, isDeadLetter: false, code))
        case .deadLetter(let found):
            notes.append(.refused(found.partition, offset: found.offset, isDeadLetter: true, code))
            if found.deadLetterRefusals >= Isolation.tries { end(Self.refusedExit(found, code)) }
        }
    }

    private static func refusedExit(_ found: Isolation.Refused, _ code: KafkaErrorCode) -> WorkerExit {
        WorkerExit(
            .configuration,
            "a broker refuses the dead letter of \(found.partition) offset \(found.offset): \(code.name)",
            advice: "check cleanup.policy and max.message.bytes of the dead-letter topic; the record is still in the "
                + "input")
    }

    /// Drops everything that was produced since the last commit and the rest of the batch.
    ///
    /// The records are consumed again.
    mutating func dropTransaction() {
        let content = transaction.content?.content ?? TransactionContent()
        if content.records > 0 { counters.aborted += 1 }
        lostRecords += content.records + (transaction.staged?.records ?? 0)
        partitions.rollBack()
        deadLetters = committedDeadLetters
        dropBatch()
        transaction = .none
    }

    /// Replaces the producer because the deadline of a revocation has passed and the commit's outcome is unknown.
    mutating func abandonCommit() {
        if isExactlyOnce {
            rotate(.revoked)
        } else {
            retireProducer(wait: 0)
        }
    }
}
