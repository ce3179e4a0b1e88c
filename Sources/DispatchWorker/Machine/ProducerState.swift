package import KafkaClient

/// The state of a lane's producer.
///
/// A transaction exists only in `ready`.
///
/// Times are nanoseconds of the monotonic clock.
package enum ProducerState: Sendable, Equatable {
    /// No producer exists. The next one is created at this time or later.
    case absent(notBefore: UInt64)
    /// The producer exists, and `init_transactions` has not succeeded yet.
    case initializing(retryAt: UInt64)
    /// The producer is ready for transactions.
    case ready(Transaction, TopicsState)
    /// The producer must be destroyed. The next one is created `wait` milliseconds later.
    case retiring(wait: Int)
}

/// The state of the topics that a producer writes to.
package enum TopicsState: Sendable, Equatable {
    /// At least one topic is not open. No record is processed until it is.
    case unopened(retryAt: UInt64)
    /// All topics are open. Their partition counts were fetched at this time.
    case open(since: UInt64)
    /// All topics are open, and their partition counts are fetched again.
    case refreshing
}

/// The state of a lane's group membership.
package enum GroupState: Sendable, Equatable {
    /// The lane has not subscribed. The next try is at this time or later.
    case outside(retryAt: UInt64)
    /// The lane is a member or is joining. The last poll was at this time.
    case member(lastPoll: UInt64)
    /// The lane has left for good.
    case left
}

/// A rebalance that is being answered, inside a poll or the close.
///
/// Nothing is repeated or waited for in the callback. Work that cannot be done at once is left to the position state of
/// the partition.
package enum Callback: Sendable, Equatable {
    /// No rebalance.
    case none
    /// Partitions are assigned, and their committed offsets are fetched once.
    case locating([AssignedPartition])
    /// Partitions are assigned, and their starts are known.
    case assigning([PartitionStart])
    /// Partitions are revoked, and pending offsets are committed until the deadline.
    case revoking([TopicPartition], deadline: UInt64)
    /// Partitions are removed.
    case unassigning([TopicPartition], isLost: Bool)
}

/// A partition that the group assigns to this member.
package struct AssignedPartition: Sendable, Equatable {
    /// The partition.
    package var partition: TopicPartition
    /// The consumer's index of its topic.
    package var topic: Int32

    /// Creates an assigned partition.
    package init(_ partition: TopicPartition, topic: Int32) {
        self.partition = partition
        self.topic = topic
    }
}

/// The start of an assigned partition.
package struct PartitionStart: Sendable, Equatable {
    /// The partition, with the consumer's index of its topic.
    package var assigned: AssignedPartition
    /// The first offset.
    package var position: StartPosition
    /// The committed offset, or nil if there is none or it is unknown.
    package var committed: Int64?
    /// The state of the position.
    ///
    /// It is `current` if the first offset is known.
    package var positionState = PositionState.current

    /// Creates the start of a partition.
    package init(
        assigned: AssignedPartition, position: StartPosition, committed: Int64? = nil,
        positionState: PositionState = .current
    ) {
        self.assigned = assigned
        self.position = position
        self.committed = committed
        self.positionState = positionState
    }
}
