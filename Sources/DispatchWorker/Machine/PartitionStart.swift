package import KafkaClient

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

/// The state of the consumer's position in a partition.
///
/// Only a partition in the state `current` yields records. After its records were dropped, later ones are not accepted
/// before the consumer was moved back.
package enum PositionState: Sendable, Equatable {
    /// The consumer returns the next record of the lane.
    case current
    /// Records were dropped or rolled back. The group's committed offset determines where to continue.
    case stale
    /// Nothing is committed, and `from` is `latest`. The end must be fetched.
    case needsEnd(retryAt: UInt64)
    /// The next offset is out of range. The watermarks must be fetched.
    case outOfRange(retryAt: UInt64)
    /// The consumer must seek to this position.
    case needsSeek(StartPosition)
    /// Seeking to this position failed. The partition must be assigned again.
    case needsReassign(StartPosition, tries: Int, retryAt: UInt64)
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
