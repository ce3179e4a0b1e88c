/// The kind of resource in an authorization error.
package enum KafkaResource: String, Sendable, Equatable, CaseIterable {
    case topic
    case group
    case cluster
    case transactionalID = "transactional id"
}

/// The reaction of an exactly-once worker to an error, which depends only on the code and the flags.
///
/// It follows librdkafka's three flags, and an error without a flag is fatal. There are exceptions: `_FENCED` always
/// means fencing, even if only its abortable flag is set. Authorization errors are never retried, regardless of their
/// flags, because the worker would repeat the call forever.
package enum KafkaErrorClass: Sendable, Equatable {
    /// Repeat the call with the same arguments.
    case retriable
    /// Abort the transaction, rewind to the committed offsets, and continue.
    case abortable
    /// The producer's epoch is outdated, because the transaction timed out or because another producer has the same
    /// transactional id. A new producer is needed.
    case fenced
    /// Another member now has the consumer's `group.instance.id`. This process must end.
    case fencedInstance
    /// An ACL is missing. An operator must add it.
    case authorization(KafkaResource)
    /// The credentials were refused.
    ///
    /// A failed TLS handshake is retriable, because a certificate can be renewed. `ConnectionCause` names its reason.
    case authentication
    /// The broker rejects a setting of the worker. An operator must correct it.
    case configuration
    /// The instance is unusable. A new producer and a rewind to the committed offsets are needed.
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

    /// Returns the class for codes whose class does not depend on the flags, or nil.
    private static func byCode(_ error: KafkaError) -> KafkaErrorClass? {
        switch error.code {
        case .queueFull: .retriable
        case .fenced, .producerFenced, .invalidProducerEpoch: .fenced
        // From the producer (abortable), the error means that the group has continued without this member. From the
        // consumer, it ends this member.
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
    /// A Boolean value that indicates whether the code is about one record.
    ///
    /// Sending the record again would fail again.
    package var isRecordLevel: Bool {
        self == .messageTooLarge || self == .invalidRecord || self == .invalidTimestamp
    }

    /// A Boolean value that indicates whether the message was purged, by `purge` or by an abort.
    ///
    /// This is not a failed delivery.
    package var isPurge: Bool { self == .purgedFromQueue || self == .purgedInFlight }
}
