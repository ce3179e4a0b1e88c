package import KafkaClient

// When a transaction fails: abort it, and its partitions go back to what the brokers hold as committed.
extension LaneMachine {
    /// The open transaction must be aborted; at least once its producer is dropped, and the records are taken again.
    mutating func transactionFailed(_ cause: AbortCause) {
        guard let open = transaction.content else { return }
        if case .aborting = transaction { return }
        if isExactlyOnce {
            lostRecords += transaction.staged?.records ?? 0
            transaction = .aborting(open, cause, retryAt: 0)
            return
        }
        spoiled(open.error, records: open.content.records, staged: transaction.staged)
        notes.append(.aborted(cause, open.error))
        let isDeliberate = isDeliberate(cause)
        condemn(wait: isDeliberate ? 0 : abortBackoff.next())
    }

    /// Whether nothing was wrong with the transaction itself.
    private func isDeliberate(_ cause: AbortCause) -> Bool { cause == .revoked || cause == .lost || fate != nil }

    /// The transaction is aborted; `refusal` is the error of a record that spoiled it, had there been one.
    package mutating func aborted(refusal: KafkaErrorCode?, coordinatorDrops: Int, now: UInt64) {
        guard case .aborting(let open, let cause, _) = transaction else { return }
        let code = refusal ?? open.error
        spoiled(code, records: open.content.records, staged: nil)
        notes.append(.aborted(cause, code))
        let isDeliberate = isDeliberate(cause)
        let suspect = open.suspect ?? (coordinatorDrops != open.coordinatorDrops ? .coordinator : nil)
        loseTransaction()
        if !isDeliberate { pausedUntil = now + nanoseconds(abortBackoff.next()) }
        if let suspect { rotate(suspect) }
    }

    /// Makes transactions smaller when one of their records is to blame, and says which one it was.
    private mutating func spoiled(_ code: KafkaErrorCode?, records: Int, staged: BatchResult?) {
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
            "the broker refuses the dead letter of \(found.partition) offset \(found.offset): \(code.name)",
            advice: "check cleanup.policy and max.message.bytes of its dead-letter topic; the record is still there")
    }

    /// What was produced since the last commit is worth nothing; what is left of the batch comes again.
    mutating func loseTransaction() {
        let content = transaction.content?.content ?? TransactionContent()
        if content.records > 0 { counters.aborted += 1 }
        lostRecords += content.records + (transaction.staged?.records ?? 0)
        partitions.rollBack()
        dropBatch()
        transaction = .none
    }

    /// A revocation's budget is over and the commit's outcome unknown: nothing may be called on that producer again.
    mutating func indefinite() {
        if isExactlyOnce {
            rotate(.revoked)
        } else {
            condemn(wait: 0)
        }
    }
}
