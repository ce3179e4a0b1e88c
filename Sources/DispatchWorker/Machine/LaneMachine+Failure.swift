package import KafkaClient

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
        producerCredentials = .accepted
        producer = .ready(.none, .unopened(retryAt: 0))
    }

    /// Records that all topics are open, except the dead-letter topics of the inputs in `waiting`.
    ///
    /// Partitions of these inputs yield no records.
    package mutating func topicsOpened(except waiting: Set<String> = [], now: UInt64) {
        guard case .ready(let transaction, _) = producer else { return }
        credentials = .accepted
        for index in partitions.slots.indices {
            let isWaiting = waiting.contains(partitions.slots[index].partition.topic)
            partitions.slots[index].isWaiting = isWaiting
            if !isWaiting, partitions.slots[index].positionState == .waiting { partitions.setStale(index) }
        }
        producer = .ready(transaction, .open(refreshAt: topicsRefresh(now)))
    }

    /// Returns the time at which the topics are opened again.
    ///
    /// The topics may have more partitions after 5 minutes. Topics that do not exist are looked for after 10 s.
    private func topicsRefresh(_ now: UInt64) -> UInt64 {
        now + (partitions.slots.contains(where: \.isWaiting) ? 10_000_000_000 : 300_000_000_000)
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
        transactionFailed(.lost)
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
    mutating func rotate(_ cause: RotationCause, wait: Int? = nil) {
        counters.rotations += 1
        notes.append(.rotated(cause))
        retireProducer(wait: wait ?? rotationBackoff.next())
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
        let isYoung =
            transaction.open.map {
                now.saturatingSubtract($0.content.beganAt) < nanoseconds(policy.transactionTimeoutMilliseconds)
            } ?? true
        let isContested = isYoung && policy.isStable
        if isContested && recreations.countYoungFencing(now: now) {
            contest(.producer)
        } else {
            notes.append(.fenced(.producer))
            recreate("fenced", error, isCounted: !isContested, now: now)
        }
    }
}

// Reactions to failed calls.
extension LaneMachine {
    /// Reacts to a failed call.
    package mutating func failed(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        recordNeed(call, error)
        if case .fetchingCommitted(let assignments) = callback, call == .fetchCommitted {
            assignWithoutPositions(assignments)
        }
        if isProducerCall(call) { transaction.update { $0.error = $0.error ?? error.code } }
        switch KafkaErrorClass(error) {
        case .authorization(let resource): handleDenial(call, error, resource)
        case .authentication: handleAuthenticationFailure(call, error, now: now)
        case .configuration: end(Self.configurationExit(call, error))
        case .fencedInstance: contest(.consumer)
        case .fenced where isProducerCall(call): handleFencing(error, now: now)
        case .retriable: retry(call, error, now: now)
        case .abortable where transaction.open != nil && isProducerCall(call) && call != .abort:
            abort(call, error)
        case .abortable, .fenced, .fatal: handleFatal(call, error, now: now)
        }
    }

    private func isProducerCall(_ call: LaneCall) -> Bool {
        switch call {
        case .initTransactions, .begin, .produce, .sendOffsets, .commit, .flush, .abort: true
        default: false
        }
    }

    /// Assigns the partitions without known positions.
    ///
    /// Their committed offsets are fetched after the callback.
    private mutating func assignWithoutPositions(_ assignments: [AssignedPartition]) {
        callback = .assigning(
            assignments.map { PartitionStart(assigned: $0, position: .unknown, positionState: .stale) })
    }

    /// Schedules the same call again, with the same arguments.
    private mutating func retry(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        let soon = now + nanoseconds(20)
        let later = now + nanoseconds(100)
        switch (call, transaction) {
        case (.begin, .beginning(let staged, _)): transaction = .beginning(staged, retryAt: soon)
        case (.produce, _): queueFull(true)
        case (.sendOffsets, .running(var open, .sendingOffsets(let offsets, _, _))):
            open.suspect = open.suspect ?? .retried
            transaction = .running(open, .sendingOffsets(offsets, isRepeat: true, retryAt: soon))
            if now.saturatingSubtract(open.content.beganAt) >= nanoseconds(policy.transactionTimeoutMilliseconds) {
                // Committing anyway would publish outputs without their offsets (librdkafka issue 3221).
                abort(call, error)
            }
        case (.commit, .running(var open, .committing(let offsets, let began, _))):
            open.suspect = open.suspect ?? .retried
            transaction = .running(open, .committing(offsets, began: began, retryAt: soon))
        case (.abort, .running(var open, .aborting(let cause, _))):
            open.suspect = open.suspect ?? .retried
            transaction = .running(open, .aborting(cause, retryAt: later))
        case (.flush, .running(let open, .flushing)): transaction = .running(open, .flushing(retryAt: soon))
        case (.commitOffsets, .running(let open, .committingOffsets(let offsets, let began, _))):
            transaction = .running(open, .committingOffsets(offsets, began: began, retryAt: later))
        case (.seek, _), (.reassign, _): reassignFailed(error, now: now)
        case (.findEnds, _): endsFailed(error, now: now)
        case (.findHolders, _): holdersUnknown(error, now: now)
        case (.assign, _), (.unassign, _): handleFatal(call, error, now: now)
        default: waitForBrokers(call, error, now: now)
        }
        // A lane that ends does not wait for a retry. The next producer to start ends the open transaction.
        if exit != nil, call == .abort || call == .commit { retireProducer(wait: 0) }
    }

    /// Schedules another try because brokers do not answer.
    ///
    /// Ends the lane if the start takes longer than `start.timeout`.
    private mutating func waitForBrokers(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        notes.append(.failed(call, error))
        let retryAt = now + nanoseconds(100)
        switch (call, producer) {
        case (.makeProducer, .absent): producer = .absent(notBefore: retryAt)
        case (.initTransactions, .initializing): producer = .initializing(retryAt: retryAt)
        case (.openTopics, .ready(let transaction, .refreshing)):
            // The topics are open. Their partition counts are fetched at the next refresh.
            producer = .ready(transaction, .open(refreshAt: topicsRefresh(now)))
        case (.openTopics, .ready(let transaction, .unopened)):
            producer = .ready(transaction, .unopened(retryAt: retryAt))
        case (.fetchCommitted, _): committedRetryAt = retryAt
        case (.subscribe, _): group = .outside(retryAt: retryAt)
        default: break
        }
        let limit = nanoseconds(policy.startTimeoutMilliseconds)
        if !isReady && !isMember && now.saturatingSubtract(startedAt ?? now) >= limit {
            end(
                error.code.rawValue > 0
                    ? .unready(error, call)
                    : WorkerExit(
                        .unavailable, "no broker answered within start.timeout (\(call.rawValue): \(error.name))",
                        advice: "check --bootstrap and whether the brokers are running"))
        }
    }

    private mutating func abort(_ call: LaneCall, _ error: KafkaError) {
        notes.append(.failed(call, error))
        let isUnknown: [KafkaErrorCode] = [.unknownPartition, .unknownTopic, .unknownTopicOrPartition]
        if isUnknown.contains(error.code), case .ready(let transaction, .open) = producer {
            // The topic may have been deleted, or created again with fewer partitions.
            producer = .ready(transaction, .refreshing)
        }
        transactionFailed(error.code == .timedOut ? .timeout : error.code.isRecordLevel ? .refused : .error)
    }

    private mutating func handleFatal(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        switch call {
        case .consume, .assign, .unassign:
            end(
                WorkerExit(
                    .tryAgain, "the consumer failed (\(call.rawValue): \(error.name))",
                    advice: "a supervisor should restart the worker"))
        case .fetchCommitted, .subscribe, .openTopics: waitForBrokers(call, error, now: now)
        case .findEnds, .seek, .reassign, .pause, .resume, .findHolders: retry(call, error, now: now)
        case .makeProducer: end(Self.configurationExit(call, error))
        case .commitOffsets:
            if Self.isMembershipLost(error.code) {
                notes.append(.failed(call, error))
                transactionFailed(.lost)
            } else {
                // A transient error: the outputs are delivered, and their offsets are committed again.
                retry(call, error, now: now)
            }
        case .initTransactions, .begin, .produce, .sendOffsets, .commit, .flush, .abort:
            // An abort soon after the first produce can fail with this error although nothing is wrong (seen with Kafka
            // 4.3.1).
            let isHarmless = call == .abort && error.code == .invalidTransactionState
            // A call that exceeded its time limit means that brokers are unreachable. An outage never ends a worker.
            let isOutage = error.code == .timedOut
            recreate(call.rawValue, error, isCounted: !isHarmless && !isOutage, now: now)
        }
    }

    /// Returns a Boolean value that indicates whether an error of a commit means that this member has lost its
    /// partitions.
    ///
    /// All other codes are about the connection, a moving coordinator, or a rebalance in progress.
    private static func isMembershipLost(_ code: KafkaErrorCode) -> Bool {
        code == .illegalGeneration || code == .unknownMember || code == .fencedInstanceID || code == .assignmentLost
    }

    private mutating func handleDenial(_ call: LaneCall, _ error: KafkaError, _ resource: KafkaResource) {
        if transaction.open != nil, isProducerCall(call), error.isFatal || call == .abort {
            // No abort would succeed. The next producer to start, or the time limit, ends the transaction.
            retireProducer(wait: 0)
        } else {
            transactionFailed(.refused)
        }
        end(policy.rights.exit(call, error, resource))
    }

    /// Handles refused credentials.
    ///
    /// They end the lane if they are refused for `start.timeout` without any success in between, also during its start.
    /// `WorkerStart` has used the same credentials before the lanes, so a final refusal ends the worker there.
    private mutating func handleAuthenticationFailure(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        let since = isProducerCall(call) ? producerCredentials.refuse(now: now) : credentials.refuse(now: now)
        guard now.saturatingSubtract(since) < nanoseconds(policy.startTimeoutMilliseconds) else {
            return end(Self.authenticationExit(error))
        }
        // A transaction that has failed goes on failing with good credentials. Only an abort or a new producer helps.
        let isFailed = isProducerCall(call) && !error.isRetriable
        if isFailed && error.isAbortable && call != .abort && transaction.open != nil {
            abort(call, error)
        } else if isFailed && (error.isFatal || call == .abort) {
            recreate(call.rawValue, error, isCounted: false, now: now)
        } else {
            notes.append(.failed(call, error))
            if call != .consume { retry(call, error, now: now) }
        }
    }

    /// Returns the exit for refused credentials.
    package static func authenticationExit(_ error: KafkaError) -> WorkerExit {
        let cause = ConnectionCause(error)
        return WorkerExit(
            .denied, "authentication failed: \(cause?.summary ?? error.text)",
            advice: cause?.advice
                ?? "check security.protocol, the SASL mechanism, user name and password, or the certificates")
    }

    private static func configurationExit(_ call: LaneCall, _ error: KafkaError) -> WorkerExit {
        WorkerExit(
            .configuration, "\(call.rawValue): \(error.text)",
            advice: error.code == .invalidTransactionTimeout
                ? "lower transaction.timeout.ms to at most the broker's transaction.max.timeout.ms"
                : "correct the setting that the message names")
    }
}
