package import KafkaClient

// From a batch to a commit.
extension LaneMachine {
    /// Records that the open transaction may still take.
    var roomForRecords: Int {
        let limit = min(policy.commit.records, isolation.limit ?? .max)
        return max(1, limit - content.records)
    }

    /// When the open transaction is to be committed for its age.
    var commitDeadline: UInt64 { content.beganAt + UInt64(commitInterval) * 1_000_000 }

    /// `commit.interval`; `auto` keeps the share of time that commits take at about a tenth.
    private var commitInterval: Int {
        policy.commit.intervalMilliseconds ?? Int(min(500, max(50, 10 * commitMilliseconds)))
    }

    /// Whether the open transaction is to be committed now.
    func isCommitDue(_ now: UInt64) -> Bool {
        if isDraining && batchLeft == 0 { return true }
        if isExhausted || content.records >= min(policy.commit.records, isolation.limit ?? .max) { return true }
        if content.bytes >= policy.commit.bytes || now >= commitDeadline { return true }
        let idle = UInt64(policy.commit.idleMilliseconds) * 1_000_000
        return batchLeft == 0 && partitions.isAtEnd && now &- lastRecordAt >= idle
    }

    /// A poll is over.
    ///
    /// After a rebalance inside of it nobody can tell of which assignment a record is: the lane has thrown them away,
    /// and what is owned is rewound.
    package mutating func polled(_ outcome: PollOutcome, isDropped: Bool, now: UInt64) {
        lastPoll = now
        if outcome.rebalanced || isDropped {
            if outcome.records > 0 || (outcome.rebalanced && outcome.events > 0) { needsRewind = true }
        } else {
            batchLeft = outcome.records
            if outcome.records > 0 { lastRecordAt = now }
        }
        if stage == .polling || outcome.rebalanced { settle(now: now) }
    }

    /// `stop.after` allows, or forbids, more records.
    package mutating func allowance(isExhausted: Bool) { self.isExhausted = isExhausted }

    /// The rest of the batch is not handled; it comes again if it is wanted after all.
    package mutating func batchCut(now: UInt64) {
        batchLeft = 0
        needsRewind = true
        settle(now: now)
    }

    /// Records that were taken in vain since the last call: `stop.after` gets them back.
    package mutating func takeLostRecords() -> Int {
        defer { lostRecords = 0 }
        return lostRecords
    }

    /// Part of the batch was resolved; its outputs wait.
    package mutating func processed(_ result: BatchResult, now: UInt64) {
        batchLeft -= result.taken
        if result.isBroken {
            end(
                WorkerExit(.internal, "a dead letter's topic was not open", advice: "report this with the log"),
                now: now)
            return
        }
        if let passed = deadLetters.count(result) {
            lostRecords += result.records
            end(
                WorkerExit(
                    .deadLetterLimit, passed,
                    advice: "look at the reasons of the dead letters; the records are still there, none was committed"),
                now: now)
            return
        }
        staged = result
        if result.records == 0 {
            settle(now: now)
        } else if transaction == .none {
            if isExactlyOnce {
                stage = .beginning
            } else {
                begun(coordinatorDrops: 0, now: now)
            }
        } else {
            stage = .producing(isQueueFull: false)
        }
    }

    /// A transaction is open.
    package mutating func begun(coordinatorDrops: Int, now: UInt64) {
        transaction = .open
        content = TransactionContent()
        content.beganAt = now
        content.coordinatorDrops = coordinatorDrops
        stage = .producing(isQueueFull: false)
    }

    /// The producer's queue is full, or has room again.
    package mutating func queueFull(_ isFull: Bool) { stage = .producing(isQueueFull: isFull) }

    /// The producer has taken all outputs.
    package mutating func produced(now: UInt64) {
        partitions.promote()
        content.records += staged.records
        content.decisions += staged.decisions
        content.deadLetters += staged.deadLetters
        content.bytes = staged.bytes
        staged = BatchResult()
        settle(now: now)
    }

    /// Begins to commit.
    ///
    /// Outputs are never committed without their offsets: an empty list of them would succeed without any check.
    mutating func startCommit() {
        if partitions.hasPending {
            stage = isExactlyOnce ? .sendingOffsets(isRepeat: false) : .flushing
        } else {
            transactionFailed(.lost)
            stage = isExactlyOnce ? .aborting : .dropping
        }
    }

    /// The offsets belong to the transaction.
    package mutating func offsetsSent(milliseconds: Int, now: UInt64) {
        // A silent repeat of TxnOffsetCommit sleeps 500 ms; a late one would set offsets back.
        if milliseconds >= 400 { suspect = suspect ?? .slowOffsets }
        stage = .committing
    }

    /// At least once: whether every output was delivered, some are still on their way, or one failed.
    package mutating func flushed(undelivered: Int, failure: KafkaError?, now: UInt64) {
        if let failure {
            content.error = failure.code
            transactionFailed(.refused)
            if revocation == nil { settle(now: now) }
        } else if undelivered == 0 {
            stage = .storingOffsets
        } else if revocation?.isOver(now) ?? false {
            indefinite(now: now)
        }
    }

    /// The transaction is committed, or at least once its offsets are.
    package mutating func committed(milliseconds: Int, coordinatorDrops: Int, now: UInt64) {
        if milliseconds > 2_000 { suspect = suspect ?? .slowCommit }
        if coordinatorDrops != content.coordinatorDrops { suspect = suspect ?? .coordinator }
        commitMilliseconds += (Double(milliseconds) - commitMilliseconds) / 8
        counters.committed += 1
        counters.records += content.records
        counters.decisions += content.decisions
        counters.deadLetters += content.deadLetters
        notes.append(.committed(content, milliseconds: milliseconds))
        transaction = .none
        content = TransactionContent()
        partitions.clearPending()
        recreations.succeeded()
        refusedSince = nil
        abortBackoff.reset()
        let slots = partitions.slots
        isolation.committed { partition in slots.first { $0.partition == partition }?.next.value }
        if let suspect, isExactlyOnce { rotate(suspect) }
        suspect = nil
        if revocation == nil { settle(now: now) } else { stage = .polling }
    }
}
