internal import KafkaClient

// The producer's life: made, initialised, its topics opened; dropped when an outcome is not known for sure or when it
// can do no more.
extension LaneMachine {
    /// A producer was made.
    package mutating func producerMade() {
        producer = isExactlyOnce ? .initializing(retryAt: 0) : .ready(.none, .wanted(retryAt: 0))
    }

    /// `init_transactions` succeeded: the predecessor's transaction is over.
    package mutating func transactionsInitialized() {
        guard case .initializing = producer else { return }
        credentials = .accepted
        producer = .ready(.none, .wanted(retryAt: 0))
    }

    /// All topics are open.
    package mutating func topicsOpened(now: UInt64) {
        guard case .ready(let transaction, _) = producer else { return }
        credentials = .accepted
        producer = .ready(transaction, .open(since: now))
    }

    /// Topics were met whose dead-letter topic is not open yet.
    package mutating func topicsNeeded() {
        guard case .ready(let transaction, let topics) = producer else { return }
        if case .wanted = topics { return }
        producer = .ready(transaction, .wanted(retryAt: 0))
    }

    /// The consumer has subscribed.
    package mutating func subscribed(now: UInt64) { group = .member(lastPoll: now) }

    /// The producer is destroyed.
    package mutating func producerDropped(now: UInt64) {
        guard case .condemned(let wait) = producer else { return }
        producer = .absent(notBefore: now + nanoseconds(wait))
    }

    /// The consumer is closed: nothing is owned, and nothing of the last batch is left.
    package mutating func closed() {
        if transaction.content != nil { transactionFailed(.lost) }
        partitions.disown(partitions.names)
        batch = .none
        callback = .none
        group = .left
    }

    /// The producer can do no more, or must not: an open transaction comes to nothing with it.
    mutating func condemn(wait: Int) {
        if transaction != .none { loseTransaction() }
        if case .absent = producer { return }
        producer = .condemned(wait: wait)
    }

    /// A new producer because nobody knows what became of a request of the old one; not counted as a recreation.
    ///
    /// The first one is made at once; as long as every transaction ends so, each waits longer than the one before.
    mutating func rotate(_ cause: RotationCause) {
        counters.rotations += 1
        notes.append(.rotated(cause))
        condemn(wait: rotationBackoff.next())
    }

    /// A new producer because the old one can do no more: rewinding to committed offsets makes every outcome right.
    mutating func recreate(_ cause: String, _ error: KafkaError, isCounted: Bool, now: UInt64) {
        counters.recreations += 1
        notes.append(.recreated(cause, error.code))
        if isCounted && recreations.count(now: now) {
            end(
                WorkerExit(
                    .tryAgain, "the producer failed more than 3 times in 5 minutes, last: \(error.name)",
                    advice: "look at the brokers' health; a supervisor should start the worker again"))
        }
        condemn(wait: isCounted ? recreations.wait() : rotationBackoff.next())
    }

    /// Somebody took the producer's epoch: the transaction's timeout, or a twin with the same name.
    mutating func fenced(_ error: KafkaError, now: UInt64) {
        notes.append(.fenced)
        let isYoung =
            transaction.content.map {
                now.saturatingSubtract($0.content.beganAt) < nanoseconds(policy.transactionTimeoutMilliseconds)
            } ?? true
        if isYoung && policy.isStable && recreations.fencedYoung(now: now) {
            end(
                WorkerExit(
                    .fenced, "another process has this instance name: its producer took over twice within a minute",
                    advice: "give each running worker an --instance of its own"))
            condemn(wait: 0)
            return
        }
        recreate("fenced", error, isCounted: true, now: now)
    }
}
