internal import CRdKafka

/// An error of librdkafka or of a broker, with everything that its C object contains.
///
/// The three flags decide what to do next, in this order: retriable (repeat the call), abortable (abort the
/// transaction), neither (fatal for the producer). This follows librdkafka's manual.
package struct KafkaError: Error, Sendable, Equatable, CustomStringConvertible {
    package let code: KafkaErrorCode
    /// The code's symbolic name, such as `_FENCED`.
    package let name: String
    /// The message of librdkafka or the broker, which never contains a payload.
    package let text: String
    /// A Boolean value that indicates whether the client instance is unusable.
    package let isFatal: Bool
    /// A Boolean value that indicates whether the same call can be repeated with the same arguments.
    package let isRetriable: Bool
    /// A Boolean value that indicates whether the open transaction must be aborted (`txn_requires_abort`).
    package let isAbortable: Bool

    /// Creates an error.
    ///
    /// Without a text, the code's own message is used.
    package init(
        code: KafkaErrorCode, text: String? = nil, isFatal: Bool = false, isRetriable: Bool = false,
        isAbortable: Bool = false
    ) {
        self.code = code
        name = code.name
        self.text = (text ?? code.text).withoutSecret
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.isAbortable = isAbortable
    }

    /// The name, the flags, and the text, for a log line.
    package var description: String {
        var flags: [String] = []
        if isFatal { flags.append("fatal") }
        if isRetriable { flags.append("retriable") }
        if isAbortable { flags.append("abortable") }
        return flags.isEmpty ? "\(name): \(text)" : "\(name) (\(flags.joined(separator: ", "))): \(text)"
    }
}

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

    /// A Boolean value that indicates whether a topic does not exist, or cannot exist because of its name.
    package var isOfMissingTopic: Bool {
        self == .unknownTopic || self == .unknownTopicOrPartition || self == .invalidTopic
    }

    /// A Boolean value that indicates whether the message was purged, by `purge` or by an abort.
    ///
    /// This is not a failed delivery.
    package var isPurge: Bool { self == .purgedFromQueue || self == .purgedInFlight }
}

/// The code of a Kafka error: a broker's code from Kafka's protocol (0 and above) or librdkafka's own (below 0).
package struct KafkaErrorCode: RawRepresentable, Hashable, Sendable {
    /// The number, as in `rd_kafka_resp_err_t`.
    package let rawValue: Int32

    /// Creates a code from any number.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Creates a code from any number.
    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// The symbolic name, such as `REQUEST_TIMED_OUT` or `_FENCED`.
    ///
    /// An unknown number has the name `ERR_n?`.
    package var name: String { String(cString: rd_kafka_err2name(.init(rawValue))) }

    /// librdkafka's message for this code.
    package var text: String { String(cString: rd_kafka_err2str(.init(rawValue))) }
}

// The codes that this package uses by name. The codes of librdkafka itself are negative.
extension KafkaErrorCode {
    /// No error.
    package static let none = KafkaErrorCode(0)
    /// The client is being destroyed.
    package static let destroy = KafkaErrorCode(-197)
    /// A connection failed.
    package static let transport = KafkaErrorCode(-195)
    /// A host name could not be resolved.
    package static let resolve = KafkaErrorCode(-193)
    /// A message was not delivered in time.
    package static let messageTimedOut = KafkaErrorCode(-192)
    /// The end of a partition was reached, which is not a failure.
    package static let partitionEOF = KafkaErrorCode(-191)
    /// The partition does not exist according to the client's metadata.
    package static let unknownPartition = KafkaErrorCode(-190)
    /// The topic does not exist according to the client's metadata.
    package static let unknownTopic = KafkaErrorCode(-188)
    /// None of the brokers can be reached.
    package static let allBrokersDown = KafkaErrorCode(-187)
    /// An argument is invalid.
    package static let invalidArgument = KafkaErrorCode(-186)
    /// A call exceeded its time limit.
    package static let timedOut = KafkaErrorCode(-185)
    /// The producer's queue is full.
    ///
    /// Poll and produce the record again.
    package static let queueFull = KafkaErrorCode(-184)
    /// TLS failed.
    package static let ssl = KafkaErrorCode(-181)
    /// The call is not allowed in the client's current state.
    package static let state = KafkaErrorCode(-172)
    /// Authentication failed.
    package static let authentication = KafkaErrorCode(-169)
    /// The library or the broker does not support the feature.
    package static let unsupportedFeature = KafkaErrorCode(-165)
    /// A message was purged from the queue by an abort or by `purge`.
    package static let purgedFromQueue = KafkaErrorCode(-152)
    /// A message was purged in flight by an abort or by `purge`.
    package static let purgedInFlight = KafkaErrorCode(-151)
    /// The client has a fatal error, which `fatalError` returns.
    package static let fatal = KafkaErrorCode(-150)
    /// The application did not poll for `max.poll.interval.ms`.
    package static let maxPollExceeded = KafkaErrorCode(-147)
    /// The producer's epoch is outdated, because of a newer producer or because the transaction timed out.
    package static let fenced = KafkaErrorCode(-144)
    /// The partition assignment was lost.
    package static let assignmentLost = KafkaErrorCode(-142)
    /// The requested offset does not exist and `auto.offset.reset` is `error`.
    package static let autoOffsetReset = KafkaErrorCode(-140)
    /// An error of a broker without a specific code.
    package static let unknown = KafkaErrorCode(-1)
    /// OFFSET_OUT_OF_RANGE.
    package static let offsetOutOfRange = KafkaErrorCode(1)
    /// UNKNOWN_TOPIC_OR_PARTITION.
    package static let unknownTopicOrPartition = KafkaErrorCode(3)
    /// LEADER_NOT_AVAILABLE.
    package static let leaderNotAvailable = KafkaErrorCode(5)
    /// NOT_LEADER_OR_FOLLOWER.
    package static let notLeader = KafkaErrorCode(6)
    /// REQUEST_TIMED_OUT.
    package static let requestTimedOut = KafkaErrorCode(7)
    /// MESSAGE_TOO_LARGE.
    package static let messageTooLarge = KafkaErrorCode(10)
    /// COORDINATOR_LOAD_IN_PROGRESS.
    package static let coordinatorLoadInProgress = KafkaErrorCode(14)
    /// COORDINATOR_NOT_AVAILABLE.
    package static let coordinatorNotAvailable = KafkaErrorCode(15)
    /// NOT_COORDINATOR.
    package static let notCoordinator = KafkaErrorCode(16)
    /// INVALID_TOPIC_EXCEPTION: no topic can have this name.
    package static let invalidTopic = KafkaErrorCode(17)
    /// ILLEGAL_GENERATION: the group has continued without this member.
    package static let illegalGeneration = KafkaErrorCode(22)
    /// UNKNOWN_MEMBER_ID.
    package static let unknownMember = KafkaErrorCode(25)
    /// REBALANCE_IN_PROGRESS.
    package static let rebalanceInProgress = KafkaErrorCode(27)
    /// TOPIC_AUTHORIZATION_FAILED.
    package static let topicAuthorizationFailed = KafkaErrorCode(29)
    /// GROUP_AUTHORIZATION_FAILED.
    package static let groupAuthorizationFailed = KafkaErrorCode(30)
    /// CLUSTER_AUTHORIZATION_FAILED.
    package static let clusterAuthorizationFailed = KafkaErrorCode(31)
    /// INVALID_TIMESTAMP.
    package static let invalidTimestamp = KafkaErrorCode(32)
    /// UNSUPPORTED_SASL_MECHANISM.
    package static let unsupportedSASLMechanism = KafkaErrorCode(33)
    /// ILLEGAL_SASL_STATE.
    package static let illegalSASLState = KafkaErrorCode(34)
    /// TOPIC_ALREADY_EXISTS.
    package static let topicAlreadyExists = KafkaErrorCode(36)
    /// OUT_OF_ORDER_SEQUENCE_NUMBER.
    package static let outOfOrderSequence = KafkaErrorCode(45)
    /// INVALID_PRODUCER_EPOCH.
    package static let invalidProducerEpoch = KafkaErrorCode(47)
    /// INVALID_TXN_STATE.
    package static let invalidTransactionState = KafkaErrorCode(48)
    /// INVALID_PRODUCER_ID_MAPPING.
    package static let invalidProducerIDMapping = KafkaErrorCode(49)
    /// INVALID_TRANSACTION_TIMEOUT: longer than the broker's `transaction.max.timeout.ms`.
    package static let invalidTransactionTimeout = KafkaErrorCode(50)
    /// CONCURRENT_TRANSACTIONS: the predecessor's transaction is still ending.
    package static let concurrentTransactions = KafkaErrorCode(51)
    /// TRANSACTIONAL_ID_AUTHORIZATION_FAILED.
    package static let transactionalIDAuthorizationFailed = KafkaErrorCode(53)
    /// SASL_AUTHENTICATION_FAILED.
    package static let saslAuthenticationFailed = KafkaErrorCode(58)
    /// UNKNOWN_PRODUCER_ID.
    package static let unknownProducerID = KafkaErrorCode(59)
    /// FENCED_INSTANCE_ID: another member has this `group.instance.id`.
    package static let fencedInstanceID = KafkaErrorCode(82)
    /// INVALID_RECORD.
    package static let invalidRecord = KafkaErrorCode(87)
    /// UNSTABLE_OFFSET_COMMIT: the offsets belong to a transaction that has not ended.
    package static let unstableOffsetCommit = KafkaErrorCode(88)
    /// PRODUCER_FENCED.
    package static let producerFenced = KafkaErrorCode(90)
}

extension String {
    /// The text of librdkafka, or another one if it can quote `sasl.oauthbearer.config` or an extension, whose values
    /// are secrets.
    var withoutSecret: String {
        let failed = "Failed to acquire SASL OAUTHBEARER token: "
        if contains("SASL/OAUTHBEARER extension") { return failed + "an extension is not valid" }
        guard contains("sasl.oauthbearer.config"), !contains(": empty '"), !contains(": multiple '") else {
            return withoutUserOfURL
        }
        return failed + "sasl.oauthbearer.config is not valid"
    }

    /// The text with asterisks for the user and password of a URL.
    package var withoutUserOfURL: String { contains("@") ? replacing(#/://[^/?#\s]*@/#, with: "://****@") : self }
}
