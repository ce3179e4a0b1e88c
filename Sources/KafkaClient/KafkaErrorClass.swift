/// What kind of thing an authorization error speaks of.
package enum KafkaResource: String, Sendable, Equatable, CaseIterable {
    case topic
    case group
    case cluster
    case transactionalID = "transactional id"
}

/// What an error asks of an exactly-once worker; a pure function of code and flags.
///
/// Follows librdkafka's three dispositions (none of them set means fatal) with the exceptions that were observed:
/// `_FENCED` may come as merely abortable and is fencing all the same; authorization errors come abortable or fatal
/// and would loop for ever.
package enum KafkaErrorClass: Sendable, Equatable {
    /// Make the same call again with the same arguments.
    case retriable
    /// Abort the transaction, rewind to the committed offsets, go on.
    case abortable
    /// The producer's epoch was taken: by the transaction's timeout, or by a twin. Needs a new producer.
    case fenced
    /// The consumer's `group.instance.id` belongs to another member now: this process is the zombie.
    case fencedInstance
    /// An ACL is missing; only an operator can help.
    case authorization(KafkaResource)
    /// The credentials were refused, or the TLS handshake failed.
    case authentication
    /// The broker refuses a setting of ours; only an operator can help.
    case configuration
    /// The instance can do no more: needs a new producer, and a rewind to the committed offsets.
    case fatal

    /// Classifies an error.
    package init(_ error: KafkaError) {
        if let decided = Self.byCode(error) {
            self = decided
        } else if error.isRetriable {
            self = .retriable
        } else if error.isAbortable {
            self = .abortable
        } else {
            self = .fatal
        }
    }

    /// The classes that the code decides whatever the flags say.
    private static func byCode(_ error: KafkaError) -> KafkaErrorClass? {
        switch error.code {
        case .queueFull: .retriable
        case .fenced, .producerFenced, .invalidProducerEpoch: .fenced
        // In a transaction (abortable) it means that the group went on; from the consumer it ends this member.
        case .fencedInstanceID: error.isAbortable ? .abortable : .fencedInstance
        case .topicAuthorizationFailed: .authorization(.topic)
        case .groupAuthorizationFailed: .authorization(.group)
        case .clusterAuthorizationFailed: .authorization(.cluster)
        case .transactionalIDAuthorizationFailed: .authorization(.transactionalID)
        case .authentication, .saslAuthenticationFailed, .unsupportedSASLMechanism, .illegalSASLState:
            .authentication
        case .invalidTransactionTimeout: .configuration
        default: nil
        }
    }
}

extension KafkaErrorCode {
    /// Whether the code speaks of one record, so that sending it again can only fail again.
    package var isRecordLevel: Bool {
        self == .messageTooLarge || self == .invalidRecord || self == .invalidTimestamp
    }

    /// Whether the code says that a purge (an abort's, too) took the message, which is no failed delivery.
    package var isPurge: Bool { self == .purgedFromQueue || self == .purgedInFlight }
}
