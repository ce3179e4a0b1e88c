package import KafkaClient

// The steps of a transaction, from a batch to a commit.
extension LaneMachine {
    /// The number of records that the open transaction can still accept.
    var roomForRecords: Int {
        let limit = min(policy.commit.records, isolation.limit ?? .max)
        return max(1, limit - (transaction.open?.content.records ?? 0))
    }

    /// Returns the time at which the open transaction is due.
    ///
    /// A lane at the end of all partitions commits after a third of `commit.interval`. Its records are too few for a
    /// commit to be a noticeable part of the work, so they need not wait for others.
    func commitDeadline(_ open: OpenTransaction) -> UInt64 {
        let isCaughtUp = batch == .none && partitions.isAtEnd
        return open.content.beganAt + nanoseconds(isCaughtUp ? commitInterval / 3 : commitInterval)
    }

    /// Returns the time until which records can be processed before a commit is due.
    func processUntil(_ now: UInt64) -> UInt64 {
        (transaction.open?.content.beganAt ?? now) + nanoseconds(commitInterval)
    }

    /// `commit.interval` in milliseconds.
    ///
    /// With `auto`, commits take about a tenth of the time.
    private var commitInterval: Int {
        policy.commit.intervalMilliseconds ?? Int(min(500, max(50, 10 * commitMilliseconds)))
    }

    /// Returns a Boolean value that indicates whether the open transaction is due to be committed.
    func isCommitDue(_ open: OpenTransaction, _ now: UInt64) -> Bool {
        let content = open.content
        if batch == .none && (isDraining || content.records == 0) { return true }
        if isExhausted || content.records >= min(policy.commit.records, isolation.limit ?? .max) { return true }
        if content.bytes >= policy.commit.bytes || now >= commitDeadline(open) { return true }
        return batch == .none && partitions.isAtEnd
            && now.saturatingSubtract(lastRecordAt) >= nanoseconds(policy.commit.idleMilliseconds)
    }

    /// Records the result of a poll.
    ///
    /// After a rebalance inside the poll, the assignment of a record is unknown. The lane has dropped all records, as
    /// it does after a poll that only keeps the membership alive (`isKeepAlive`).
    package mutating func polled(_ outcome: PollOutcome, isKeepAlive: Bool, now: UInt64) {
        noticeStep(now)
        if isMember { group = .member(lastPoll: now) }
        if isKeepAlive || outcome.rebalanced {
            if outcome.records > 0 || (outcome.rebalanced && outcome.events > 0) { partitions.markStale() }
        } else if outcome.records > 0 {
            batch = .remaining(outcome.records)
            lastRecordAt = now
            credentials = .accepted
        }
    }

    /// Records that the rest of the batch was released unprocessed.
    package mutating func discarded() { batch = .none }

    /// Drops the rest of the batch.
    ///
    /// Its records are consumed again.
    package mutating func dropBatch() {
        guard case .remaining = batch else { return }
        batch = .dropped
        partitions.markStale()
    }

    /// Passes the partitions and the search for a refused record to a function that admits the records of a batch.
    ///
    /// `processed` takes its result.
    package mutating func admitRecords(
        _ process: (inout OwnedPartitions, Isolation) -> BatchResult
    ) -> BatchResult { process(&partitions, isolation) }

    /// Takes the ends of the partitions as of the last fetches.
    ///
    /// A partition that waits for its dead-letter topic is not fetched, and its end is asked for.
    package mutating func updateEnds(_ end: (TopicPartition) -> Int64?) {
        for index in partitions.slots.indices where partitions.slots[index].positionState != .waiting {
            if let end = end(partitions.slots[index].partition) { partitions.setEnd(at: index, end) }
        }
    }

    /// Records that part of the batch was processed and its outputs wait.
    package mutating func processed(_ result: BatchResult, now: UInt64) {
        if case .remaining(let count) = batch {
            batch = count > result.messages ? .remaining(count - result.messages) : .none
        }
        if result.records > 0 {
            if let open = transaction.open {
                transaction = .running(open, .offering(result))
            } else {
                begin(result, now)
            }
        }
        if result.isBroken {
            end(
                WorkerExit(
                    .internal, "the topic of a dead letter was not open", advice: "report this bug with the log"))
        } else {
            countOutcomes(now)
        }
        adjustBatchLimit(isLate: result.isLate, now: now)
    }

    /// Adjusts the size of the next batches.
    ///
    /// A batch that takes too long is cut short, and the next ones are smaller until they fit.
    private mutating func adjustBatchLimit(isLate: Bool, now: UInt64) {
        if case .remaining = batch {
            guard isLate, case .member(let lastPoll) = group,
                now.saturatingSubtract(lastPoll) >= Self.pollNanoseconds
            else { return }
            dropBatch()
            batchLimit = max(1, batchLimit / 2)
        } else if !isLate {
            batchLimit = min(max(1, policy.batchRecords), batchLimit * 2)
        }
    }

    /// The time after the last commit at which the ends of partitions are committed without records.
    private static var endsNanoseconds: UInt64 { 5_000_000_000 }

    /// Returns a Boolean value that indicates whether the ends of partitions are to be committed without records.
    ///
    /// Every commit includes them. A lane that commits nothing else waits, so that control records that arrive without
    /// records for it cause few transactions.
    func areEndsDue(_ now: UInt64) -> Bool {
        guard transaction == .none, isDraining || now.saturatingSubtract(lastCommitAt) >= Self.endsNanoseconds else {
            return false
        }
        return canMoveToEnds && partitions.slots.contains(where: \.isBeforeEnd)
    }

    /// A Boolean value that indicates whether the ends of partitions count.
    ///
    /// An end may arrive with records that come before it. The search for a refused record finds it by the offset after
    /// it.
    private var canMoveToEnds: Bool { batch == .none && !isolation.isActive }

    /// Begins a transaction for staged outputs, or for offsets alone if `staged` is nil.
    mutating func begin(_ staged: BatchResult?, _ now: UInt64) {
        if isExactlyOnce {
            transaction = .beginning(staged, retryAt: 0)
        } else {
            run(staged, coordinatorDrops: 0, now: now)
        }
    }

    private mutating func run(_ staged: BatchResult?, coordinatorDrops: Int, now: UInt64) {
        let open = OpenTransaction(beganAt: now, coordinatorDrops: coordinatorDrops)
        transaction = .running(open, staged.map { .offering($0) } ?? .idle)
    }

    /// Records that the transaction has begun.
    package mutating func begun(coordinatorDrops: Int, now: UInt64) {
        guard case .beginning(let staged, _) = transaction else { return }
        run(staged, coordinatorDrops: coordinatorDrops, now: now)
    }

    /// Records that the producer's queue is full or has room again.
    package mutating func queueFull(_ isFull: Bool) {
        guard case .running(let open, let phase) = transaction, let staged = phase.staged else { return }
        transaction = .running(open, isFull ? .blocked(staged) : .offering(staged))
    }

    /// Records that the producer has accepted all outputs.
    package mutating func produced() {
        guard case .running(var open, let phase) = transaction, let staged = phase.staged else { return }
        partitions.promote()
        open.content.records += staged.records
        open.content.decisions += staged.decisions
        open.content.deadLetters += staged.deadLetters
        open.content.bytes = staged.bytes
        transaction = .running(open, .idle)
    }

    /// Begins to commit.
    ///
    /// Outputs are never committed without their offsets. An empty list of offsets would succeed without any check.
    mutating func startCommit(_ now: UInt64) {
        guard case .running(let open, .idle) = transaction else { return }
        lastCommitAt = now
        if canMoveToEnds { partitions.moveToEnds() }
        let offsets = partitions.pendingOffsets
        if offsets.isEmpty {
            transactionFailed(.lost)
        } else if isExactlyOnce {
            transaction = .running(open, .sendingOffsets(offsets, isRepeat: false, retryAt: 0))
        } else {
            transaction = .running(open, .flushing(retryAt: 0))
        }
    }

    /// Records that the offsets belong to the transaction.
    package mutating func offsetsSent(milliseconds: Int, now: UInt64) {
        guard case .running(var open, .sendingOffsets(let offsets, _, _)) = transaction else { return }
        // librdkafka repeats TxnOffsetCommit after 500 ms without reporting it. A late repetition would reset the
        // offsets.
        if milliseconds >= 400 { open.suspect = open.suspect ?? .slowOffsets }
        credentials = .accepted
        producerCredentials = .accepted
        transaction = .running(open, .committing(offsets, began: now, retryAt: 0))
    }

    /// With at-least-once, records the result of a flush: the number of undelivered outputs and the first failure.
    package mutating func flushed(undelivered: Int, failure: KafkaError?, now: UInt64) {
        guard case .running(let open, .flushing) = transaction else { return }
        if let failure {
            transaction.update { $0.error = failure.code }
            transactionFailed(.refused)
        } else if undelivered == 0 {
            transaction = .running(open, .committingOffsets(partitions.pendingOffsets, began: now, retryAt: 0))
        }
    }

    /// Records that the transaction, or with at-least-once its offsets, are committed.
    ///
    /// Returns the number of its records.
    ///
    /// The duration counts from the first try, so a repeated commit counts as a slow one.
    @discardableResult
    package mutating func committed(coordinatorDrops: Int, now: UInt64) -> Int {
        let open: OpenTransaction
        let began: UInt64
        switch transaction {
        case .running(let running, .committing(_, let first, _)),
            .running(let running, .committingOffsets(_, let first, _)):
            (open, began) = (running, first)
        default: return 0
        }
        let milliseconds = Int(now.saturatingSubtract(began) / 1_000_000)
        var suspect = open.suspect
        if milliseconds > 2_000 { suspect = suspect ?? .slowCommit }
        if coordinatorDrops != open.coordinatorDrops { suspect = suspect ?? .coordinator }
        commitMilliseconds += (Double(milliseconds) - commitMilliseconds) / 8
        counters.committed += 1
        counters.records += open.content.records
        counters.decisions += open.content.decisions
        counters.deadLetters += open.content.deadLetters
        notes.append(.committed(open.content, milliseconds: milliseconds))
        transaction = .none
        recordRequest(.committing, isAnswered: true)
        partitions.commit()
        recreations.resetBackoff()
        credentials = .accepted
        producerCredentials = .accepted
        abortBackoff.reset()
        contestBackoff.reset()
        let slots = partitions.slots
        isolation.committed { partition in slots.first { $0.partition == partition && !$0.isWaiting }?.next.value }
        if let suspect, isExactlyOnce { rotate(suspect) } else { rotationBackoff.reset() }
        return open.content.records
    }
}

// Aborts of transactions. Afterward, the partitions return to their committed offsets.
extension LaneMachine {
    /// Aborts the open transaction.
    ///
    /// With at-least-once, the producer is replaced instead. The records are consumed again in both cases.
    mutating func transactionFailed(_ cause: AbortCause) {
        guard case .running(var open, let phase) = transaction else { return }
        if case .aborting = phase { return }
        open.unproducedRecords = phase.staged?.records ?? 0
        if isExactlyOnce {
            transaction = .running(open, .aborting(cause, retryAt: 0))
            return
        }
        isolateRefusedRecord(open.error, records: open.records)
        notes.append(.aborted(cause, open.error))
        retireProducer(wait: delay(after: cause, open.error))
    }

    /// Returns the delay after an abort, in milliseconds.
    ///
    /// An abort that is intended has none, and a search for a refused record is not slowed.
    private mutating func delay(after cause: AbortCause, _ code: KafkaErrorCode?) -> Int {
        switch cause {
        case .revoked, .lost, .deadLetters: return 0
        default:
            let isSearch = code?.isRecordLevel == true && isolation.failures <= Isolation.quickFailures
            return exit != nil || isSearch ? 0 : abortBackoff.next()
        }
    }

    /// Records that the transaction was aborted.
    ///
    /// `refusal` is the error of a record that caused the abort, or nil.
    package mutating func aborted(refusal: KafkaErrorCode?, coordinatorDrops: Int, now: UInt64) {
        guard case .running(let open, .aborting(let cause, _)) = transaction else { return }
        let code = refusal ?? open.error
        isolateRefusedRecord(code, records: open.records)
        notes.append(.aborted(cause, code))
        let suspect = open.suspect ?? (coordinatorDrops != open.coordinatorDrops ? .coordinator : nil)
        dropTransaction()
        let delay = delay(after: cause, code)
        if delay > 0 { pausedUntil = now + nanoseconds(delay) }
        if let suspect {
            rotate(suspect)
        } else if refusal?.isRecordLevel == true {
            // librdkafka does not use the sequence numbers of the refused batch again, so brokers could refuse later
            // batches of this producer (seen with 2.0.2 and 2.16.0).
            rotate(.refused, wait: 0)
        }
    }

    /// Makes transactions smaller if one of their records is the cause of the abort, and logs the record once it is
    /// found.
    private mutating func isolateRefusedRecord(_ code: KafkaErrorCode?, records: Int) {
        guard let code, code.isRecordLevel else { return }
        var pending = partitions
        pending.promote()
        switch isolation.recordRefused(records: records, pending: pending.pendingOffsets) {
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
        let records = (transaction.open?.records ?? 0) + (transaction.staged?.records ?? 0)
        if transaction.open != nil, records > 0 { counters.aborted += 1 }
        lostRecords += records
        partitions.rollBack()
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
