package import KafkaClient

/// The state of a lane's group membership.
package enum GroupState: Sendable, Equatable {
    /// The lane has not subscribed. The next try is at this time or later.
    case outside(retryAt: UInt64)
    /// The lane is a member or is joining. The last poll was at this time.
    case member(lastPoll: UInt64)
    /// The lane has left the group and does not join it again.
    case left
}

/// A rebalance of the group, with the consumer's topic indices.
package enum RebalanceRequest: Sendable, Equatable {
    /// These partitions are assigned to this member.
    case assign([AssignedPartition])
    /// These partitions are revoked, and offsets can still be committed.
    case revoke([TopicPartition])
    /// These partitions are already lost.
    case lost([TopicPartition])
    /// The rebalance failed.
    case failed(KafkaError)
}

/// A rebalance that is being answered, inside a poll or the close.
///
/// Nothing is repeated or waited for in the callback. Work that cannot be done at once is left to the position state of
/// the partition.
package enum Callback: Sendable, Equatable {
    /// No rebalance.
    case none
    /// Partitions are assigned, and their committed offsets are fetched once.
    case fetchingCommitted([AssignedPartition])
    /// Partitions are assigned, and their starts are known.
    case assigning([PartitionStart])
    /// Partitions are revoked, and pending offsets are committed until the deadline.
    case revoking([TopicPartition], deadline: UInt64)
    /// Partitions are removed.
    case unassigning([TopicPartition], isLost: Bool)
}
