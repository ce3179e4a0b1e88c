package import KafkaClient

// Reactions to failed calls.
extension LaneMachine {
    /// Reacts to a failed call.
    package mutating func failed(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        recordNeed(call, error)
        if case .fetchingCommitted(let assignments) = callback, call == .fetchCommitted {
            assignWithoutPositions(assignments, now: now)
        }
        transaction = transaction.with { if $0.error == nil && isProducerCall(call) { $0.error = error.code } }
        switch KafkaErrorClass(error) {
        case .authorization(let resource): handleDenial(call, error, resource)
        case .authentication: handleAuthenticationFailure(call, error, now: now)
        case .configuration: end(Self.configurationExit(call, error))
        case .fencedInstance: end(Self.fencedInstanceExit)
        case .fenced where isProducerCall(call): handleFencing(error, now: now)
        case .retriable: retry(call, error, now: now)
        case .abortable where transaction.content != nil && isProducerCall(call) && call != .abort:
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
    private mutating func assignWithoutPositions(_ assignments: [AssignedPartition], now: UInt64) {
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
        case (.sendOffsets, .sendingOffsets(var open, let offsets, _, _)):
            open.suspect = open.suspect ?? .retried
            transaction = .sendingOffsets(open, offsets, isRepeat: true, retryAt: soon)
            if now.saturatingSubtract(open.content.beganAt) >= nanoseconds(policy.transactionTimeoutMilliseconds) {
                // Committing anyway would publish outputs without their offsets (librdkafka issue 3221).
                abort(call, error)
            }
        case (.commit, .committing(var open, let offsets, let began, _)):
            open.suspect = open.suspect ?? .retried
            transaction = .committing(open, offsets, began: began, retryAt: soon)
        case (.abort, .aborting(var open, let cause, _)):
            open.suspect = open.suspect ?? .retried
            transaction = .aborting(open, cause, retryAt: later)
        case (.flush, .flushing(let open, _)): transaction = .flushing(open, retryAt: soon)
        case (.commitOffsets, .committingOffsets(let open, let offsets, let began, _)):
            transaction = .committingOffsets(open, offsets, began: began, retryAt: later)
        case (.seek, _), (.reassign, _): reassignFailed(error, now: now)
        case (.findEnds, _): endsFailed(error, now: now)
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
            producer = .ready(transaction, .open(since: now))
        case (.openTopics, .ready(let transaction, .unopened)):
            producer = .ready(transaction, .unopened(retryAt: retryAt))
        case (.fetchCommitted, _): committedRetryAt = retryAt
        case (.subscribe, _): group = .outside(retryAt: retryAt)
        default: break
        }
        let limit = nanoseconds(policy.startTimeoutMilliseconds)
        if !isReady && !isMember && now.saturatingSubtract(startedAt ?? now) >= limit {
            end(
                WorkerExit(
                    .unavailable, "no broker answered within start.timeout (\(call.rawValue): \(error.name))",
                    advice: "check --bootstrap and whether the brokers are running"))
        }
    }

    private mutating func abort(_ call: LaneCall, _ error: KafkaError) {
        notes.append(.failed(call, error))
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
        case .findEnds, .seek, .reassign, .pause, .resume: retry(call, error, now: now)
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
        if transaction.content != nil { transactionFailed(.refused) }
        end(policy.rights.exit(call, error, resource))
    }

    /// Handles refused credentials.
    ///
    /// They end the lane during its start, and later if they are refused for `start.timeout` without any success in
    /// between.
    private mutating func handleAuthenticationFailure(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        let since = credentials.refuse(now: now)
        if isReady && now.saturatingSubtract(since) < nanoseconds(policy.startTimeoutMilliseconds) {
            notes.append(.failed(call, error))
            if call != .consume { retry(call, error, now: now) }
        } else {
            end(Self.authenticationExit(error))
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

    private static let fencedInstanceExit = WorkerExit(
        .fenced, "another process uses this instance name: its group member replaced this one",
        advice: "give each running worker its own --instance")
}
