internal import KafkaClient

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

    /// Creates texts without names.
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
            "\(configuration.output) or "
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

    /// Returns the exit for topics that cannot be described, which names the rights that are missing with that.
    func exit(deniedInputs: [String], deniedOutputs: [String]) -> WorkerExit {
        let rights = [("Read", deniedInputs), ("Write", deniedOutputs)].filter { !$0.1.isEmpty }
        let texts = rights.map { "\($0.0) on Topic \($0.1.joined(separator: ", "))" }
        return WorkerExit(.denied, "\(principal) lacks \(texts.joined(separator: "; "))", advice: Self.advice)
    }
}

extension LaneCall {
    /// A Boolean value that indicates whether a refused topic of this call is one that the worker writes.
    ///
    /// Sending offsets also returns the error of a refused write of the same transaction. Only the text tells it from
    /// refused offsets, in librdkafka 2.0.2 and 2.16.
    fileprivate func writes(_ error: KafkaError) -> Bool {
        switch self {
        case .openTopics, .begin, .produce, .commit, .flush, .abort: true
        case .sendOffsets: !error.text.contains("Failed to commit offsets to transaction")
        default: false
        }
    }
}
