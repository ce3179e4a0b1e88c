internal import CRdKafka

/// The code of a Kafka error: a broker's (0 and above, Kafka's protocol) or librdkafka's own (below 0).
package struct KafkaErrorCode: RawRepresentable, Hashable, Sendable {
    /// The number, as in `rd_kafka_resp_err_t`.
    package let rawValue: Int32

    /// Takes a number, known or not.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Takes a number, known or not.
    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// The symbolic name, such as `REQUEST_TIMED_OUT` or `_FENCED`; an unknown number gives `ERR_n?`.
    package var name: String { String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: rawValue))) }

    /// The sentence that librdkafka has for this code.
    package var text: String { String(cString: rd_kafka_err2str(rd_kafka_resp_err_t(rawValue: rawValue))) }
}

// The codes that this project asks for by name. Librdkafka's own have negative numbers.
extension KafkaErrorCode {
    /// No error.
    package static let none = KafkaErrorCode(0)
    /// The client is going away.
    package static let destroy = KafkaErrorCode(-197)
    /// A connection broke.
    package static let transport = KafkaErrorCode(-195)
    /// A host name could not be resolved.
    package static let resolve = KafkaErrorCode(-193)
    /// A message was not delivered in time.
    package static let messageTimedOut = KafkaErrorCode(-192)
    /// The end of a partition was reached; not a fault.
    package static let partitionEOF = KafkaErrorCode(-191)
    /// The partition does not exist, as far as the client knows.
    package static let unknownPartition = KafkaErrorCode(-190)
    /// The topic does not exist, as far as the client knows.
    package static let unknownTopic = KafkaErrorCode(-188)
    /// No broker of the list can be reached.
    package static let allBrokersDown = KafkaErrorCode(-187)
    /// An argument is wrong.
    package static let invalidArgument = KafkaErrorCode(-186)
    /// A call did not end in its time.
    package static let timedOut = KafkaErrorCode(-185)
    /// The producer's queue is full: poll and offer the record again.
    package static let queueFull = KafkaErrorCode(-184)
    /// TLS failed.
    package static let ssl = KafkaErrorCode(-181)
    /// The call does not fit the state that the client is in.
    package static let state = KafkaErrorCode(-172)
    /// Authentication failed.
    package static let authentication = KafkaErrorCode(-169)
    /// No committed offset.
    package static let noOffset = KafkaErrorCode(-168)
    /// The feature is not there in this library or broker.
    package static let unsupportedFeature = KafkaErrorCode(-165)
    /// A message was purged from the queue by an abort or by `purge`.
    package static let purgedFromQueue = KafkaErrorCode(-152)
    /// A message was purged while on its way by an abort or by `purge`.
    package static let purgedInFlight = KafkaErrorCode(-151)
    /// The client met a fatal error; `fatalError` tells which.
    package static let fatal = KafkaErrorCode(-150)
    /// The application did not poll for `max.poll.interval.ms`.
    package static let maxPollExceeded = KafkaErrorCode(-147)
    /// A newer producer, or the transaction's timeout, took the producer's epoch.
    package static let fenced = KafkaErrorCode(-144)
    /// The partition assignment was lost.
    package static let assignmentLost = KafkaErrorCode(-142)
    /// Nothing to do.
    package static let noop = KafkaErrorCode(-141)
    /// The wanted offset does not exist and `auto.offset.reset` is `error`.
    package static let autoOffsetReset = KafkaErrorCode(-140)
    /// A broker's error without a better name.
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
    /// INVALID_TOPIC_EXCEPTION.
    package static let invalidTopic = KafkaErrorCode(17)
    /// NOT_ENOUGH_REPLICAS.
    package static let notEnoughReplicas = KafkaErrorCode(19)
    /// ILLEGAL_GENERATION: the group has gone on without this member.
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
    /// UNSUPPORTED_VERSION.
    package static let unsupportedVersion = KafkaErrorCode(35)
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
    /// INVALID_TRANSACTION_TIMEOUT: above the broker's `transaction.max.timeout.ms`.
    package static let invalidTransactionTimeout = KafkaErrorCode(50)
    /// CONCURRENT_TRANSACTIONS: the predecessor's transaction is still being ended.
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
    /// UNSTABLE_OFFSET_COMMIT: offsets of a transaction that is not ended yet.
    package static let unstableOffsetCommit = KafkaErrorCode(88)
    /// PRODUCER_FENCED.
    package static let producerFenced = KafkaErrorCode(90)
}
