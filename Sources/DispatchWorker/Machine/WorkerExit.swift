internal import KafkaClient
internal import LinkDecider

/// The exit codes of a worker: codes of `sysexits.h`, and codes from 79 that only `linkd` defines.
///
/// `WorkerReference` describes each of them.
package enum WorkerExitCode: Int32, Sendable {
    /// The worker stopped after a signal, or `stop.after` was reached.
    case done = 0
    /// Data was lost with `data.loss: stop`.
    case badData = 65
    /// No broker was reached within `start.timeout`.
    case unavailable = 69
    /// An invariant is violated, which is a bug.
    case `internal` = 70
    /// A failure that a restart by the supervisor may resolve.
    case tryAgain = 75
    /// Authentication failed or an ACL is missing.
    case denied = 77
    /// A setting, a file, or a topic is wrong.
    case configuration = 78
    /// Another process has the same instance name.
    case fenced = 79
    /// Forced by the watchdog or a second signal.
    case forced = 80
    /// A dead-letter limit was exceeded.
    case deadLetterLimit = 81
}

/// The reason why a worker ends with an error.
package struct WorkerExit: Error, Sendable, Equatable {
    /// The process's exit code.
    package var code: WorkerExitCode
    /// A description of what happened.
    package var reason: String
    /// Advice on how to resolve it.
    package var advice: String

    /// Creates an exit.
    package init(_ code: WorkerExitCode, _ reason: String, advice: String) {
        self.code = code
        self.reason = reason
        self.advice = advice
    }

    /// The exit when the system cannot create a thread.
    static let noThread = WorkerExit(
        .tryAgain, "the system cannot create another thread", advice: "raise the limit on processes and threads")

    /// Returns the exit for brokers that answered only with an error until `start.timeout` was over.
    static func unready(_ error: KafkaError, _ call: LaneCall? = nil) -> WorkerExit {
        WorkerExit(
            .unavailable,
            "brokers answered within start.timeout, but only with \(error.name)"
                + (call.map { " (\($0.rawValue))" } ?? ""),
            advice: "wait until the brokers have started and their partitions have leaders, or raise --start-timeout")
    }

    /// Returns the exit for a missing topic.
    ///
    /// `code` is the brokers' error.
    static func missingTopic(_ name: String, _ code: KafkaErrorCode? = nil) -> WorkerExit {
        code == .invalidTopic
            ? WorkerExit(.configuration, "no topic can have the name \(name)", advice: topicNameAdvice)
            : WorkerExit(
                .configuration, "the topic \(name) does not exist", advice: "create it with: linkd topics create")
    }

    /// The next step after a name that no topic can have.
    package static let topicNameAdvice =
        "choose `input` and `dlq.topic` so that the name of each dead-letter topic has at most 249 characters"
}

/// The texts about rights that the worker's principal lacks.
package struct RightsText: Sendable, Equatable {
    /// The presumed principal, which only the brokers know.
    package var principal = RightsText.unknownPrincipal
    /// The inputs in a text.
    package var inputs = "INPUT"
    /// The output and dead-letter topics in a text.
    package var outputs = "OUTPUT or DLQ"
    /// The consumer group.
    package var group = "GROUP"

    /// The principal in messages if the settings do not name it.
    package static let unknownPrincipal = "the client's principal"

    /// The next step for every missing right.
    package static let advice = "run the commands of `linkd doctor --print-acls` as an administrator"

    /// Creates the texts without a configuration.
    package init() {}

    /// Creates the texts of a configuration.
    package init(_ configuration: WorkerConfiguration) {
        principal =
            Self.principal { key in
                configuration.clientProperties.last { ClientSettings.split($0.key).key == key }?.value
            } ?? Self.unknownPrincipal
        switch configuration.input {
        case .topics(let names): inputs = names.joined(separator: ", ")
        case .pattern(let pattern): inputs = pattern
        }
        outputs =
            "\(configuration.outputs.names.joined(separator: ", ")) or "
            + configuration.deadLetterTemplate.replacing("{input}", with: inputs.contains(", ") ? "{input}" : inputs)
        group = configuration.group
    }

    /// Returns the presumed principal: the user of SASL, or nil if the properties do not name it.
    ///
    /// The brokers can map a user to another principal.
    package static func principal(_ property: (String) -> String?) -> String? {
        let used = property("security.protocol")?.lowercased() ?? "plaintext"
        guard used.hasPrefix("sasl") else { return used == "plaintext" ? "User:ANONYMOUS" : nil }
        return property("sasl.username").map { "User:" + $0 }
    }

    /// Returns the right that a refused call needs, such as `Write on Topic link-decisions or link-events.dlq`.
    func right(for call: LaneCall, _ error: KafkaError, _ resource: KafkaResource) -> String {
        switch resource {
        case .group: "Read on Group \(group)"
        case .transactionalID: "Write on TransactionalId linkd.\(group). (prefixed)"
        case .cluster: "IdempotentWrite on Cluster kafka-cluster"
        case .topic: call.writes(error) ? "Write on Topic \(outputs)" : "Read on Topic \(inputs)"
        }
    }

    /// Returns the exit for a refused call.
    func exit(_ call: LaneCall, _ error: KafkaError, _ resource: KafkaResource) -> WorkerExit {
        WorkerExit(
            .denied, "\(principal) lacks \(right(for: call, error, resource)) (\(call.rawValue): \(error.text))",
            advice: Self.advice)
    }

    /// Returns the exit for topics that cannot be described, with the rights that are missing.
    func exit(deniedInputs: [String], deniedOutputs: [String]) -> WorkerExit {
        let rights = [("Read", deniedInputs), ("Write", deniedOutputs)].filter { !$0.1.isEmpty }
        let texts = rights.map { "\($0.0) on Topic \($0.1.joined(separator: ", "))" }
        return WorkerExit(.denied, "\(principal) lacks \(texts.joined(separator: "; "))", advice: Self.advice)
    }
}

extension LaneCall {
    /// A Boolean value that indicates whether a refused topic of this call is one that the worker writes.
    ///
    /// Sending offsets also returns the error of a refused write of the same transaction. In librdkafka 2.0.2 and 2.16,
    /// only the text distinguishes it from refused offsets.
    fileprivate func writes(_ error: KafkaError) -> Bool {
        switch self {
        case .openTopics, .begin, .produce, .commit, .flush, .abort: true
        case .sendOffsets: !error.text.contains("Failed to commit offsets to transaction")
        default: false
        }
    }
}

/// The incompatibility of SCRAM between librdkafka before 2.6.1 and brokers since Kafka 3.7.2.
///
/// The client sends its nonce twice, and the broker rejects correct passwords (librdkafka issue 4895, CVE-2024-56128).
enum Scram {
    /// Returns a Boolean value that indicates whether the configuration selects SCRAM.
    static func isSelected(_ configuration: WorkerConfiguration) -> Bool {
        configuration.clientProperties.contains { property in
            ["sasl.mechanism", "sasl.mechanisms"].contains(ClientSettings.split(property.key).key)
                && property.value.uppercased().hasPrefix("SCRAM-")
        }
    }

    /// Returns the warning that is logged at the start.
    static func warning(_ version: String) -> String {
        "SCRAM with librdkafka \(version) works only with brokers before Kafka 3.7.2: later brokers answer "
            + "\"invalid credentials\" to correct passwords; librdkafka 2.6.1 or later is required"
    }

    /// Returns the exit for an authentication that failed with SCRAM.
    static func exit(_ version: String, _ text: String) -> WorkerExit {
        WorkerExit(
            .configuration, "authentication failed: \(text); \(warning(version))",
            advice: "use librdkafka 2.6.1 or later, or authenticate with PLAIN over TLS or with a certificate")
    }
}
