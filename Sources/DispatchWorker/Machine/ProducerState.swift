package import KafkaClient

/// A lane's producer, from the wish for one to its end; what belongs to a transaction exists only in `ready`.
///
/// Times are nanoseconds of the monotonic clock.
package enum ProducerState: Sendable, Equatable {
    /// There is none; the next one is made at this time or later.
    case absent(notBefore: UInt64)
    /// It is made, and `init_transactions` has not succeeded yet.
    case initializing(retryAt: UInt64)
    /// It takes transactions.
    case ready(Transaction, TopicsState)
    /// Nothing but its end may be asked of it; the next one is made `wait` milliseconds later.
    case condemned(wait: Int)
}

/// The topics that a producer writes to.
package enum TopicsState: Sendable, Equatable {
    /// At least one is not open: no record is handled before it is.
    case wanted(retryAt: UInt64)
    /// All are open; their partitions were asked for at this time.
    case open(since: UInt64)
    /// All are open, and their partitions are asked for again.
    case refreshing
}

/// A lane's place in its group.
package enum GroupState: Sendable, Equatable {
    /// It has not subscribed; the next try is at this time or later.
    case outside(retryAt: UInt64)
    /// It is a member, or on the way to it; polled last at this time.
    case member(lastPoll: UInt64)
    /// It has left for good.
    case left
}

/// A rebalance that waits for its answer, inside of a poll or of the close.
///
/// Nothing is repeated or waited for here: what cannot be had at once is left to the partition's place.
package enum Callback: Sendable, Equatable {
    /// None.
    case none
    /// Partitions are assigned: their committed offsets are asked for once.
    case locating([AssignedPartition])
    /// Partitions are taken over.
    case taking([PartitionStart])
    /// Partitions go away in order: what is pending is committed until the deadline.
    case revoking([TopicPartition], deadline: UInt64)
    /// Partitions are given up.
    case giving([TopicPartition], isLost: Bool)
}

/// A partition that the group gives to this member.
package struct AssignedPartition: Sendable, Equatable {
    /// The partition.
    package var partition: TopicPartition
    /// Its topic's index at the consumer.
    package var topic: Int32

    /// Names an assigned partition.
    package init(_ partition: TopicPartition, topic: Int32) {
        self.partition = partition
        self.topic = topic
    }
}

/// A partition and where it begins.
package struct PartitionStart: Sendable, Equatable {
    /// The partition, with its topic's index at the consumer.
    package var assigned: AssignedPartition
    /// Its first offset.
    package var position: StartPosition
    /// The committed offset, or nil when there is none or nobody knows.
    package var committed: Int64?
    /// Whether the first offset is known: else its place says what is still to be asked.
    package var place = PartitionPlace.current

    /// Names where a partition begins.
    package init(
        assigned: AssignedPartition, position: StartPosition, committed: Int64? = nil,
        place: PartitionPlace = .current
    ) {
        self.assigned = assigned
        self.position = position
        self.committed = committed
        self.place = place
    }
}
