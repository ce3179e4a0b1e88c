package import KafkaClient

/// The state of one owned partition.
package struct OwnedPartition: Sendable, Equatable {
    /// The consumer's index of the topic.
    package let topic: Int32
    /// The partition.
    package let partition: TopicPartition
    /// The smallest offset that is accepted next.
    package var next: NextOffset
    /// The state of the consumer's position.
    package var positionState = PositionState.current
    /// The position at which consumption started or restarted.
    package var start: StartPosition
    /// The offset that the open transaction commits, or nil if it has no records of this partition.
    package var pending: NextOffset?
    /// A Boolean value that indicates whether records were processed whose outputs the producer has not accepted yet.
    package var isStaged = false
    /// A Boolean value that indicates whether a record was consumed since the last start.
    ///
    /// A gap before the first record is not counted.
    package var isStarted = false
    /// The offset up to which everything was consumed, including control records, or nil if the consumer has not
    /// reported it.
    package var drained: Int64?
    /// The end of the partition at its last fetch, or nil before the first one.
    package var end: Int64?
    /// The group's committed offset as the lane has last seen it, or nil if there is none.
    package var committed: Int64?
    /// A Boolean value that indicates whether the consumer does not fetch the partition.
    package var isPaused = false
    /// The number of consecutive dead letters.
    package var consecutiveDeadLetters = 0
    /// `consecutiveDeadLetters` at the last commit, which a rewind restores.
    var committedDeadLetters = 0

    /// Creates the state of a newly assigned partition.
    package init(topic: Int32, partition: TopicPartition, start: StartPosition, committed: Int64?) {
        self.topic = topic
        self.partition = partition
        self.start = start
        self.committed = committed
        next = start.next
        if start.needsCommit { pending = start.next }
    }

    /// The offset at which the consumer continues without skipping a record.
    ///
    /// A logical offset is kept until a record was consumed.
    package var resume: Int64 { isStarted ? next.value : start.seek }

    /// A Boolean value that indicates whether all records were consumed.
    package var isAtEnd: Bool {
        guard positionState == .current else { return false }
        return drained.map { $0 >= next.value } ?? false || end.map { next.value >= $0 } ?? false
    }

    /// A Boolean value that indicates whether the position depends on the watermarks.
    var needsEnds: Bool {
        switch positionState {
        case .needsEnd, .outOfRange: true
        case .current, .stale, .needsSeek, .needsReassign: false
        }
    }

    /// A Boolean value that indicates whether the start position is pending and no record was consumed yet.
    package var isOriginPending: Bool { pending != nil && pending == start.next && !isStarted && start.needsCommit }
}

/// The partitions that a lane owns.
///
/// A partition is looked up for every record, so the list stores the index of the last lookup.
package struct OwnedPartitions: Sendable, Equatable {
    /// The partitions, in no particular order.
    package var slots: [OwnedPartition] = []
    /// The number of records that were duplicates or came from a position that is not current.
    package private(set) var duplicates = 0
    /// The number of gaps between offsets: control records, aborted records, or compaction.
    package private(set) var gaps = 0
    private var last = 0

    /// Creates an empty list.
    package init() {}

    /// A Boolean value that indicates whether no partition is owned.
    package var isEmpty: Bool { slots.isEmpty }

    /// The names of the partitions.
    package var names: [TopicPartition] { slots.map(\.partition) }

    /// A Boolean value that indicates whether at least one partition has an offset to commit.
    package var hasPending: Bool { slots.contains { $0.pending != nil } }

    /// A Boolean value that indicates whether all records of all partitions were consumed.
    package var isAtEnd: Bool { slots.allSatisfy(\.isAtEnd) }

    /// The offsets that the open transaction commits.
    package var pendingOffsets: [PartitionOffset] {
        slots.compactMap { slot in slot.pending.map { PartitionOffset(slot.partition, offset: $0.value) } }
    }

    /// Returns the index of a record's partition in `slots`, or nil if it is not owned.
    @inline(__always)
    package mutating func slot(topic: Int32, partition: Int32) -> Int? {
        if last < slots.count && slots[last].topic == topic && slots[last].partition.partition == partition {
            return last
        }
        return search(topic: topic, partition: partition)
    }

    @inline(never)
    private mutating func search(topic: Int32, partition: Int32) -> Int? {
        for index in slots.indices where slots[index].topic == topic && slots[index].partition.partition == partition {
            last = index
            return index
        }
        return nil
    }

    /// Returns the index of a partition in `slots`, or nil if it is not owned.
    func index(of partition: TopicPartition) -> Int? { slots.firstIndex { $0.partition == partition } }

    /// Returns the index of the record's partition in `slots` if the record is to be processed, or nil if it is not.
    ///
    /// It rejects records of partitions that are not owned, duplicates (librdkafka 2.0.2 may return a record again,
    /// issue 4636), and records that follow dropped ones.
    @inline(__always)
    package mutating func admit(topic: Int32, partition: Int32, offset: Int64) -> Int? {
        guard let index = slot(topic: topic, partition: partition) else { return nil }
        let next = slots[index].next.value
        guard offset >= next, case .current = slots[index].positionState else {
            duplicates &+= 1
            return nil
        }
        if offset > next && slots[index].isStarted { gaps &+= 1 }
        slots[index].isStarted = true
        slots[index].isStaged = true
        slots[index].next = NextOffset(after: offset)
        return index
    }

    /// Counts a record's outcome for `dlq.max.consecutive`.
    ///
    /// Returns the number of consecutive dead letters.
    @inline(__always)
    package mutating func countOutcome(at index: Int, isDeadLetter: Bool) -> Int {
        let count = isDeadLetter ? slots[index].consecutiveDeadLetters &+ 1 : 0
        slots[index].consecutiveDeadLetters = count
        return count
    }

    /// Adds the offsets of all admitted records to the transaction, after the producer has accepted their outputs.
    package mutating func promote() {
        for index in slots.indices where slots[index].isStaged {
            slots[index].pending = slots[index].next
            slots[index].isStaged = false
        }
    }

    /// Records that the pending offsets are committed.
    package mutating func commit() {
        for index in slots.indices {
            if let pending = slots[index].pending { slots[index].committed = pending.value }
            slots[index].pending = nil
            slots[index].committedDeadLetters = slots[index].consecutiveDeadLetters
        }
    }

    /// Drops the pending offsets.
    ///
    /// The affected partitions continue at the group's committed offsets.
    package mutating func rollBack() {
        for index in slots.indices where slots[index].pending != nil || slots[index].isStaged {
            slots[index].pending = nil
            slots[index].isStaged = false
            slots[index].positionState = .stale
            slots[index].consecutiveDeadLetters = slots[index].committedDeadLetters
        }
    }

    /// Marks all current positions as stale, because records of unknown partitions were dropped.
    package mutating func markStale() {
        for index in slots.indices where slots[index].positionState == .current { slots[index].positionState = .stale }
    }

    /// Adds a partition.
    ///
    /// A partition that is already owned starts again.
    package mutating func own(_ start: PartitionStart) {
        var fresh = OwnedPartition(
            topic: start.assigned.topic, partition: start.assigned.partition, start: start.position,
            committed: start.committed)
        fresh.positionState = start.positionState
        if let index = index(of: fresh.partition) { slots[index] = fresh } else { slots.append(fresh) }
    }

    /// Restarts a partition at the position to which the consumer was moved.
    mutating func restart(_ index: Int, at start: StartPosition) {
        var fresh = OwnedPartition(
            topic: slots[index].topic, partition: slots[index].partition, start: start,
            committed: slots[index].committed)
        fresh.isPaused = slots[index].isPaused
        fresh.consecutiveDeadLetters = slots[index].consecutiveDeadLetters
        fresh.committedDeadLetters = slots[index].committedDeadLetters
        slots[index] = fresh
    }

    /// Removes partitions.
    ///
    /// Partitions that are not owned are ignored.
    package mutating func disown(_ partitions: [TopicPartition]) {
        slots.removeAll { partitions.contains($0.partition) }
        last = 0
    }

    /// Records that the consumer has returned everything before `offset`, including control records.
    package mutating func reachedEnd(topic: Int32, partition: Int32, offset: Int64) {
        guard let index = slot(topic: topic, partition: partition), slots[index].positionState == .current else {
            return
        }
        slots[index].drained = offset >= 0 ? offset : slots[index].next.value
    }

    /// Records the current end of a partition.
    package mutating func setEnd(at index: Int, _ end: Int64) { slots[index].end = end }
}
