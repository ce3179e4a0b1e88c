internal import KafkaClient

// The producer's life: made, initialised, its topics opened; dropped when an outcome is not known for sure or when it
// can do no more.
extension LaneMachine {
    /// A producer was made.
    package mutating func producerMade(now: UInt64) {
        hasProducer = true
        isOpened = false
        suspect = nil
        stage = isExactlyOnce ? .initializing : .opening
    }

    /// `init_transactions` succeeded: the predecessor's transaction is over.
    package mutating func transactionsInitialized(now: UInt64) { stage = .opening }

    /// All topics are open.
    package mutating func topicsOpened(now: UInt64) {
        isOpened = true
        needsTopics = false
        settle(now: now)
    }

    /// Topics were met whose dead-letter topic is not open yet.
    package mutating func topicsNeeded() { needsTopics = true }

    /// The consumer has subscribed.
    package mutating func subscribed(now: UInt64) {
        isSubscribed = true
        lastPoll = now
        settle(now: now)
    }

    /// The producer is destroyed.
    package mutating func producerDropped(now: UInt64) {
        hasProducer = false
        isOpened = false
        needsDrop = false
        if transaction != .none { isExactlyOnce ? loseTransaction() : deliveryFailed(now: now) }
        if recreateWait > 0 { wait(recreateWait, now: now) }
        recreateWait = 0
        if isClosed || (fate != nil && !isSubscribed) || (isDraining && !isSubscribed) {
            stage = .ended
        } else if needsRewind {
            stage = .discarding
        } else {
            settle(now: now)
        }
    }

    /// Batch and outputs are forgotten.
    package mutating func discarded(now: UInt64) {
        batchLeft = 0
        settle(now: now)
    }

    /// The consumer is closed.
    package mutating func closed(now: UInt64) {
        isClosed = true
        isSubscribed = false
        settle(now: now)
    }

    /// A wait or anything else without a result is over.
    package mutating func waited(now: UInt64) {
        if stage == .findingEnds && outOfRange.isEmpty { settle(now: now) }
    }

    /// A new producer because nobody knows what became of a request of the old one; not counted as a recreation.
    mutating func rotate(_ cause: RotationCause) {
        counters.rotations += 1
        notes.append(.rotated(cause))
        suspect = nil
        needsDrop = true
    }

    /// A new producer because the old one can do no more: rewinding to committed offsets makes every outcome right.
    mutating func recreate(_ cause: String, _ error: KafkaError, isCounted: Bool, now: UInt64) {
        counters.recreations += 1
        notes.append(.recreated(cause, error.code))
        loseTransaction()
        needsDrop = true
        let isTooMany = isCounted && recreations.count(now: now)
        if isTooMany {
            end(
                WorkerExit(
                    .tryAgain, "the producer failed more than 3 times in 5 minutes, last: \(error.name)",
                    advice: "look at the brokers' health; a supervisor should start the worker again"), now: now)
        }
        if revocation == nil { settle(now: now) }
        if isCounted && fate == nil { recreateWait = recreations.wait() }
    }

    /// What was produced since the last commit is worth nothing.
    mutating func loseTransaction() {
        transaction = .none
        partitions.clearPending()
        counters.aborted += content.records > 0 ? 1 : 0
        lostRecords += content.records + staged.records
        content = TransactionContent()
        staged = BatchResult()
        needsRewind = true
        suspect = nil
    }

    /// Somebody took the producer's epoch: the transaction's timeout, or a twin with the same name.
    mutating func fenced(_ error: KafkaError, now: UInt64) {
        notes.append(.fenced)
        let timeout = UInt64(policy.transactionTimeoutMilliseconds) * 1_000_000
        let isYoung = transaction == .none || now &- content.beganAt < timeout
        if isYoung && policy.isStable && recreations.fencedYoung(now: now) {
            loseTransaction()
            needsDrop = true
            end(
                WorkerExit(
                    .fenced, "another process has this instance name: its producer took over twice within a minute",
                    advice: "give each running worker an --instance of its own"), now: now)
            return
        }
        recreate("fenced", error, isCounted: true, now: now)
    }
}
