package import KafkaClient

// What an error of a call leads to (`kafka-worker`, 2.7).
extension LaneMachine {
    /// A call failed.
    package mutating func failed(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        if content.error == nil && transaction == .open { content.error = error.code }
        switch KafkaErrorClass(error) {
        case .authorization(let resource): denied(call, error, resource, now: now)
        case .authentication: unauthenticated(call, error, now: now)
        case .configuration: end(Self.configurationExit(call, error), now: now)
        case .fencedInstance: end(Self.fencedInstanceExit, now: now)
        case .fenced where isProducerCall(call): fenced(error, now: now)
        case .retriable: retry(call, error, now: now)
        case .abortable where transaction != .none && call != .abort: abort(call, error, now: now)
        case .abortable, .fenced, .fatal: fatal(call, error, now: now)
        }
    }

    private func isProducerCall(_ call: LaneCall) -> Bool {
        switch call {
        case .initTransactions, .begin, .produce, .sendOffsets, .commit, .flush, .abort: true
        default: false
        }
    }

    /// The same call again, with the same arguments.
    private mutating func retry(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        switch call {
        case .sendOffsets:
            suspect = suspect ?? .retried
            stage = .sendingOffsets(isRepeat: true)
            let limit = UInt64(policy.transactionTimeoutMilliseconds) * 1_000_000
            if now &- content.beganAt >= limit {
                // Committing anyway would publish outputs without their offsets (librdkafka issue 3221).
                abort(call, error, now: now)
            } else {
                wait(20, now: now)
            }
        case .commit, .abort:
            suspect = suspect ?? .retried
            wait(20, now: now)
        case .produce: stage = .producing(isQueueFull: true)
        case .storeOffsets: storeAgain(now: now)
        case .begin, .flush: wait(20, now: now)
        case .makeProducer, .initTransactions, .openTopics, .subscribe, .fetchCommitted, .consume:
            waitForBrokers(call, error, now: now)
        }
    }

    /// At least once: the outputs are delivered, their offsets are not committed yet.
    private mutating func storeAgain(now: UInt64) {
        let limit = UInt64(policy.sessionTimeoutMilliseconds) * 1_000_000
        if now &- commitDeadline >= limit && now > commitDeadline {
            transactionFailed(.timeout)
            if revocation == nil { settle(now: now) }
        } else {
            wait(100, now: now)
        }
    }

    /// Brokers are away: at the start for `start.timeout`, later for ever.
    private mutating func waitForBrokers(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        notes.append(.failed(call, error))
        let limit = UInt64(policy.startTimeoutMilliseconds) * 1_000_000
        if !isReady && !isSubscribed && now &- (startedAt ?? now) >= limit {
            end(
                WorkerExit(
                    .unavailable, "no broker answered within start.timeout (\(call.rawValue): \(error.name))",
                    advice: "check --bootstrap and that the brokers run"), now: now)
        } else {
            wait(100, now: now)
        }
    }

    private mutating func abort(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        notes.append(.failed(call, error))
        transactionFailed(error.code == .timedOut ? .timeout : error.code.isRecordLevel ? .refused : .error)
        if revocation == nil { settle(now: now) } else { stage = .polling }
    }

    private mutating func fatal(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        switch call {
        case .consume:
            end(
                WorkerExit(
                    .tryAgain, "the consumer can do no more: \(error.name)",
                    advice: "a supervisor should start the worker again"), now: now)
        case .fetchCommitted, .subscribe, .openTopics: waitForBrokers(call, error, now: now)
        case .makeProducer: end(Self.configurationExit(call, error), now: now)
        case .storeOffsets:
            // The group went on without us: others have these records already.
            transactionFailed(.lost)
            if revocation == nil { settle(now: now) } else { stage = .polling }
        case .initTransactions, .begin, .produce, .sendOffsets, .commit, .flush, .abort:
            // An abort soon after the first produce can end so without any fault (seen on Kafka 4.3.1).
            let isEveryday = call == .abort && error.code == .invalidTransactionState
            recreate(call.rawValue, error, isCounted: !isEveryday, now: now)
        }
    }

    private mutating func denied(_ call: LaneCall, _ error: KafkaError, _ resource: KafkaResource, now: UInt64) {
        if transaction == .open { transactionFailed(.refused) }
        end(
            WorkerExit(
                .denied, "not authorized for this \(resource.rawValue) (\(call.rawValue): \(error.text))",
                advice: "grant the worker's principal the missing right; the README lists what it needs"), now: now)
    }

    private mutating func unauthenticated(_ call: LaneCall, _ error: KafkaError, now: UInt64) {
        let since = refusedSince ?? now
        refusedSince = since
        let limit = UInt64(policy.startTimeoutMilliseconds) * 1_000_000
        if isReady && now &- since < limit {
            notes.append(.failed(call, error))
        } else {
            end(Self.authenticationExit(error), now: now)
        }
    }

    /// What an operator is told when the credentials are refused.
    package static func authenticationExit(_ error: KafkaError) -> WorkerExit {
        WorkerExit(
            .denied, "authentication failed: \(error.text)",
            advice: "check security.protocol, the SASL mechanism, user name and password, or the certificates")
    }

    private static func configurationExit(_ call: LaneCall, _ error: KafkaError) -> WorkerExit {
        WorkerExit(
            .configuration, "\(call.rawValue): \(error.text)",
            advice: error.code == .invalidTransactionTimeout
                ? "lower transaction.timeout.ms to at most the broker's transaction.max.timeout.ms"
                : "correct the setting that the message names")
    }

    private static let fencedInstanceExit = WorkerExit(
        .fenced, "another process has this instance name: its group member took this one's place",
        advice: "give each running worker an --instance of its own")
}
