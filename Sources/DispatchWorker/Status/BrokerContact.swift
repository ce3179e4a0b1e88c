package import KafkaClient

/// The contact of a process with its brokers, as a value.
///
/// Brokers count as unreachable if the last answer is older than 5 s and two requests in a row have failed. A single
/// failed request proves nothing, because the process may have been suspended during it.
package struct BrokerContact: Sendable {
    /// The time without an answer after which brokers count as unreachable, in nanoseconds.
    package static let patience: UInt64 = 5_000_000_000
    /// The maximum age of an answer while brokers answer, in nanoseconds: the pause between two requests and the time
    /// limit of one.
    package static let freshness: UInt64 = 4_000_000_000
    /// The time in nanoseconds after the first failed connection in which it is not known whether all brokers are
    /// concerned.
    package static let uncertainty: UInt64 = 8_000_000_000
    /// The time without a failed connection after which the next one is a new problem, in nanoseconds.
    private static let quiet: UInt64 = 60_000_000_000

    private var startedAt: UInt64?
    private var answeredAt: UInt64?
    private var returnedAt: UInt64?
    private var failures = 0
    private var cause: ConnectionCause?
    private var certificate: CertificateProblem?
    /// The times of the first and the last failed connection of the current problem.
    private var trouble: (first: UInt64, last: UInt64)?

    private var missingTopics: Set<String> = []

    /// A Boolean value that indicates whether a broker has ever answered.
    package var hasAnswered: Bool { answeredAt != nil }

    /// Records that requests are sent from now on.
    package mutating func started(now: UInt64) { startedAt = startedAt ?? now }

    /// Records an answer.
    package mutating func answered(now: UInt64) {
        if !state(now: now).isReachable {
            returnedAt = now
            // After an outage, clients need some time to connect again.
            trouble = (now, now)
        }
        answeredAt = now
        failures = 0
        cause = nil
        certificate = nil
    }

    /// Records whether a topic exists, as a broker has answered.
    package mutating func found(_ topic: String, exists: Bool) {
        if exists { missingTopics.remove(topic) } else { missingTopics.insert(topic) }
    }

    /// Records a request without an answer.
    ///
    /// - Parameters:
    ///   - error: The error of the request.
    ///   - certificate: The reason why a certificate was refused, which the events of other clients do not have.
    package mutating func failed(_ error: KafkaError, certificate: CertificateProblem? = nil) {
        failures += 1
        self.certificate = certificate ?? self.certificate
        if cause == nil { cause = ConnectionCause(error) }
    }

    /// Records an event of any client, which may name the cause of an outage.
    package mutating func report(_ event: ClientEvent, now: UInt64) {
        switch event {
        case .error(let error):
            if error.code.isConnectionFailure { noteTrouble(now: now) }
            note(ConnectionCause(error))
        case .log(let line): note(ConnectionCause(logLine: line))
        case .statistics: break
        }
    }

    /// Keeps the cause of an event, unless it names only the role of a broker and the known cause has an address.
    private mutating func note(_ found: ConnectionCause?) {
        guard let found, cause?.address == nil || !found.lacksAddress else { return }
        cause = found
    }

    private mutating func noteTrouble(now: UInt64) {
        if let known = trouble, now.saturatingSubtract(known.last) < Self.quiet {
            trouble = (known.first, now)
        } else {
            trouble = (now, now)
        }
    }

    /// Returns the state of the brokers.
    package func state(now: UInt64) -> BrokerState {
        var result = BrokerState()
        result.answeredAt = answeredAt
        result.returnedAt = returnedAt
        result.cause = hasAnswered ? cause?.ofKnownBroker.with(certificate) : cause?.with(certificate)
        result.address = cause?.address
        result.missingTopics = missingTopics.sorted()
        if failures >= 2, let last = answeredAt ?? startedAt, now.saturatingSubtract(last) >= Self.patience {
            result.isReachable = false
            result.since = last
        }
        return result
    }

    /// Returns a Boolean value that indicates whether an error follows from an outage that the log names once.
    ///
    /// A failed connection is also explained while it is not known whether all brokers are concerned. If only some are,
    /// further failures are not explained.
    package mutating func explains(_ code: KafkaErrorCode, now: UInt64) -> Bool {
        guard code.isConnectionFailure || code.isTimeout, startedAt != nil else { return false }
        guard state(now: now).isAnswering(now: now) else { return true }
        guard code.isConnectionFailure else { return false }
        noteTrouble(now: now)
        return trouble.map { now.saturatingSubtract($0.first) < Self.uncertainty } ?? false
    }
}

extension BrokerState {
    /// Returns a Boolean value that indicates whether brokers have answered in the last seconds, or are not asked.
    package func isAnswering(now: UInt64) -> Bool {
        guard isReachable else { return false }
        return answeredAt.map { now.saturatingSubtract($0) <= BrokerContact.freshness } ?? true
    }
}

extension KafkaErrorCode {
    /// A Boolean value that indicates whether a connection failed.
    var isConnectionFailure: Bool {
        switch self {
        case .transport, .resolve, .allBrokersDown, .ssl: true
        default: false
        }
    }

    /// A Boolean value that indicates whether an answer did not arrive in time, or a coordinator is missing.
    var isTimeout: Bool {
        switch self {
        case .timedOut, .messageTimedOut, .requestTimedOut, .coordinatorNotAvailable, .notCoordinator: true
        default: false
        }
    }
}

extension LogLine {
    /// A Boolean value that indicates whether the line is about a connection.
    ///
    /// It is closed or cannot be opened, all are closed, or a request on it has timed out.
    var isAboutConnection: Bool { ["FAIL", "ERROR", "REQTMOUT"].contains(facility) }
}
