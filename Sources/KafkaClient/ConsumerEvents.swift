/// Something that a poll brought beside records.
package struct ConsumerEvent: Sendable, Equatable {
    /// What kinds there are.
    package enum Kind: Sendable, Equatable {
        /// Everything of the partition was consumed; `offset` is where its next record will stand.
        case endOfPartition
        /// The wanted offset does not exist there any more (or not yet): data were lost, or the topic is a new one.
        case offsetOutOfRange
        /// An ACL is missing for the topic or the group.
        case authorization
        /// The topic or the partition does not exist now.
        case unknownTopic
        /// `max.poll.interval.ms` passed without a poll: the group goes on without this member.
        case maxPollExceeded
        /// The consumer can do no more.
        case fatal
        /// Anything else: worth a log line, librdkafka goes on by itself.
        case other
    }

    /// What it is.
    package var kind: Kind
    /// Index of the topic (`KafkaConsumer.topicName(at:)`), or -1.
    package var topic: Int32
    /// The partition, or -1.
    package var partition: Int32
    /// The offset that it speaks of, or a negative number.
    package var offset: Int64
    /// The error; nil at the end of a partition.
    package var error: KafkaError?

    /// Makes an event.
    package init(kind: Kind, topic: Int32 = -1, partition: Int32 = -1, offset: Int64 = -1, error: KafkaError? = nil) {
        self.kind = kind
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.error = error
    }
}

/// What one poll did.
package struct PollOutcome: Sendable, Equatable {
    /// Records in the batch.
    package var records: Int
    /// Events in the batch.
    package var events: Int
    /// Whether a rebalance callback ran inside the call.
    ///
    /// A message does not say of which assignment it is, so everything that this call returned is to be thrown away and
    /// what is owned now is to be rewound.
    package var rebalanced: Bool

    /// Makes an outcome.
    package init(records: Int, events: Int, rebalanced: Bool) {
        self.records = records
        self.events = events
        self.rebalanced = rebalanced
    }
}

/// What the group says to a member.
package enum RebalanceEvent: Sendable, Equatable {
    /// These partitions are this member's now (eager: all of them; cooperative: the new ones).
    case assign([TopicPartition])
    /// These partitions go away in order: what is pending may still be committed.
    case revoke([TopicPartition])
    /// These partitions are gone already: commit nothing.
    case lost([TopicPartition])
    /// The group could not be rebalanced.
    case failed(KafkaError)
}

/// How a group hands over partitions.
package enum RebalanceProtocol: String, Sendable, Equatable {
    /// No group yet.
    case none
    /// Everything is revoked, then everything is assigned.
    case eager
    /// Only what moves is revoked and assigned.
    case cooperative
}
