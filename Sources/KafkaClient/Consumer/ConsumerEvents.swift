/// An event of a poll other than a record.
package struct ConsumerEvent: Sendable, Equatable {
    /// The kind of an event.
    package enum Kind: Sendable, Equatable {
        /// All records of the partition were consumed. `offset` is that of its next record.
        case endOfPartition
        /// The requested offset does not exist. Data was lost, or the topic was created again.
        case offsetOutOfRange
        /// An ACL for the topic or the group is missing.
        case authorization
        /// The topic or the partition does not exist.
        case unknownTopic
        /// There was no poll for `max.poll.interval.ms`. The group continues without this member.
        case maxPollExceeded
        /// The consumer has a fatal error.
        case fatal
        /// Any other event. librdkafka recovers from it.
        case other
    }

    /// The kind of the event.
    package var kind: Kind
    /// The index of the topic (`KafkaConsumer.topicName(at:)`), or -1.
    package var topic: Int32
    /// The partition, or -1.
    package var partition: Int32
    /// The offset of the event, or a negative number.
    package var offset: Int64
    /// The error, or nil at the end of a partition.
    package var error: KafkaError?

    /// Creates an event.
    package init(kind: Kind, topic: Int32 = -1, partition: Int32 = -1, offset: Int64 = -1, error: KafkaError? = nil) {
        self.kind = kind
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.error = error
    }
}

/// The result of one poll.
package struct PollOutcome: Sendable, Equatable {
    /// The number of records in the batch.
    package var records: Int
    /// The number of events in the batch.
    package var events: Int
    /// A Boolean value that indicates whether a rebalance callback ran inside the call.
    ///
    /// A message does not identify its assignment. The caller must drop everything that this call returned and rewind
    /// the owned partitions.
    package var rebalanced: Bool

    /// Creates an outcome.
    package init(records: Int, events: Int, rebalanced: Bool) {
        self.records = records
        self.events = events
        self.rebalanced = rebalanced
    }
}

/// A rebalance of the group.
package enum RebalanceEvent: Sendable, Equatable {
    /// These partitions are assigned to this member: all of them with the eager protocol, the new ones with the
    /// cooperative one.
    case assign([TopicPartition])
    /// These partitions are revoked, and pending offsets can still be committed.
    case revoke([TopicPartition])
    /// These partitions are already lost, so no offset can be committed for them.
    case lost([TopicPartition])
    /// The rebalance failed.
    case failed(KafkaError)
}

/// The protocol by which a group assigns partitions.
package enum RebalanceProtocol: String, Sendable, Equatable {
    /// The consumer is in no group yet.
    case none
    /// All partitions are revoked, then all are assigned.
    case eager
    /// Only partitions that move are revoked and assigned.
    case cooperative
}
