internal import KafkaClient

// The life cycle of the producer: creation, initialization, opening of topics, and replacement after an unknown outcome
// or a fatal error.
extension LaneMachine {
    /// Records that a producer was created.
    package mutating func producerMade() {
        producer = isExactlyOnce ? .initializing(retryAt: 0) : .ready(.none, .unopened(retryAt: 0))
    }

    /// Records that `init_transactions` succeeded and the predecessor's transaction has ended.
    package mutating func transactionsInitialized() {
        guard case .initializing = producer else { return }
        credentials = .accepted
        producer = .ready(.none, .unopened(retryAt: 0))
    }

    /// Records that all topics are open.
    package mutating func topicsOpened(now: UInt64) {
        guard case .ready(let transaction, _) = producer else { return }
        credentials = .accepted
        producer = .ready(transaction, .open(since: now))
    }

    /// Requests that topics be opened, because an assigned input has a dead-letter topic that is not open.
    package mutating func topicsNeeded() {
        guard case .ready(let transaction, let topics) = producer else { return }
        if case .unopened = topics { return }
        producer = .ready(transaction, .unopened(retryAt: 0))
    }

    /// Records that the consumer has subscribed.
    package mutating func subscribed(now: UInt64) { group = .member(lastPoll: now) }

    /// Records that the producer is destroyed.
    package mutating func producerDropped(now: UInt64) {
        guard case .retiring(let wait) = producer else { return }
        producer = .absent(notBefore: now + nanoseconds(wait))
    }

    /// Records that the consumer is closed.
    ///
    /// No partitions are owned, and the last batch is gone.
    package mutating func closed() {
        if transaction.content != nil { transactionFailed(.lost) }
        partitions.disown(partitions.names)
        batch = .none
        callback = .none
        group = .left
    }

    /// Retires the producer and drops its transaction.
    ///
    /// The next producer is created after `wait` milliseconds.
    mutating func retireProducer(wait: Int) {
        if transaction != .none { dropTransaction() }
        if case .absent = producer { return }
        producer = .retiring(wait: wait)
    }

    /// Replaces the producer because the outcome of one of its requests is unknown.
    ///
    /// This does not count as a recreation.
    mutating func rotate(_ cause: RotationCause) {
        counters.rotations += 1
        notes.append(.rotated(cause))
        retireProducer(wait: rotationBackoff.next())
    }

    /// Replaces a producer that has failed.
    ///
    /// Rewinding to the committed offsets makes every outcome correct.
    mutating func recreate(_ cause: String, _ error: KafkaError, isCounted: Bool, now: UInt64) {
        counters.recreations += 1
        notes.append(.recreated(cause, error.code))
        if isCounted && recreations.count(now: now) {
            end(
                WorkerExit(
                    .tryAgain, "the producer failed more than 3 times in 5 minutes, most recently with \(error.name)",
                    advice: "check the brokers; a supervisor should restart the worker"))
        }
        retireProducer(wait: isCounted ? recreations.wait() : rotationBackoff.next())
    }

    /// Handles the loss of the producer's epoch, either by the transaction's timeout or by another process with the
    /// same name.
    mutating func handleFencing(_ error: KafkaError, now: UInt64) {
        notes.append(.fenced)
        let isYoung =
            transaction.content.map {
                now.saturatingSubtract($0.content.beganAt) < nanoseconds(policy.transactionTimeoutMilliseconds)
            } ?? true
        if isYoung && policy.isStable && recreations.countYoungFencing(now: now) {
            end(
                WorkerExit(
                    .fenced, "another process uses this instance name: its producer fenced this one twice in a minute",
                    advice: "give each running worker its own --instance"))
            retireProducer(wait: 0)
            return
        }
        recreate("fenced", error, isCounted: true, now: now)
    }
}
