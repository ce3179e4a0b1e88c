package import KafkaClient

/// Where the consumer stands in a partition, as far as the lane can trust it.
///
/// Only a partition that is `current` gives records: one whose records were thrown away cannot give later ones before
/// the consumer was moved back, whatever else happens meanwhile.
package enum PartitionPlace: Sendable, Equatable {
    /// The next record is the one that the consumer hands out next.
    case current
    /// Records were thrown away, or handled in vain: the group's committed offset says where to go on.
    case stale
    /// Nothing is committed and `from` is `latest`: the end must be asked for.
    case endless(retryAt: UInt64)
    /// The consumer cannot find the next offset: the ends must be asked for.
    case outOfRange(retryAt: UInt64)
    /// The consumer is to be moved here.
    case located(StartPosition)
    /// Moving the consumer here failed: the partition is to be assigned anew.
    case unmoved(StartPosition, tries: Int, retryAt: UInt64)
}

/// What a lane knows of one partition that it owns.
package struct OwnedPartition: Sendable, Equatable {
    /// Index of the topic at the consumer.
    package let topic: Int32
    /// The partition.
    package let partition: TopicPartition
    /// The least offset that is taken next.
    package var next: NextOffset
    /// Where the consumer stands.
    package var place = PartitionPlace.current
    /// Where consumption began, or began again.
    package var start: StartPosition
    /// What the open transaction commits, or nil when it holds nothing of this partition.
    package var pending: NextOffset?
    /// Whether records were handled whose outputs the producer has not taken yet.
    package var isStaged = false
    /// Whether a record was seen since the last start; before it a gap means nothing.
    package var isStarted = false
    /// Up to where everything was consumed, control records included; nil before the consumer has said so.
    package var drained: Int64?
    /// Where the partition ended when a fetch told it last; nil before.
    package var end: Int64?
    /// What the group holds as committed, as far as this lane knows; nil when nothing is.
    package var committed: Int64?
    /// Dead letters in a row.
    package var consecutiveDeadLetters = 0

    /// Takes over a partition at a place.
    package init(topic: Int32, partition: TopicPartition, start: StartPosition, committed: Int64?) {
        self.topic = topic
        self.partition = partition
        self.start = start
        self.committed = committed
        next = start.next
        if start.isToCommit { pending = start.next }
    }

    /// Where the consumer must go on so that nothing is left out: a place that stands for an offset stays one until a
    /// record was seen.
    package var resume: Int64 { isStarted ? next.value : start.seek }

    /// Whether everything there is was consumed.
    package var isAtEnd: Bool {
        guard place == .current else { return false }
        return drained.map { $0 >= next.value } ?? false || end.map { next.value >= $0 } ?? false
    }

    /// Whether all that is pending is the place where consumption began.
    package var isOriginPending: Bool { pending != nil && pending == start.next && !isStarted && start.isToCommit }
}

/// The partitions that a lane owns.
///
/// Asked once per record, so it is an array and remembers where it looked last.
package struct OwnedPartitions: Sendable, Equatable {
    /// The partitions, in no order that means anything.
    package var slots: [OwnedPartition] = []
    /// Records that had been handled before and came again, or came from a place that is not current.
    package private(set) var duplicates = 0
    /// Offsets that were skipped: control records, aborted records, compaction.
    package private(set) var gaps = 0
    private var last = 0

    /// Owns nothing.
    package init() {}

    /// Whether nothing is owned.
    package var isEmpty: Bool { slots.isEmpty }

    /// The partitions by name.
    package var names: [TopicPartition] { slots.map(\.partition) }

    /// Whether at least one partition has something to commit.
    package var hasPending: Bool { slots.contains { $0.pending != nil } }

    /// Whether everything of every partition was consumed.
    package var isAtEnd: Bool { slots.allSatisfy(\.isAtEnd) }

    /// The offsets that the open transaction commits.
    package var pendingOffsets: [PartitionOffset] {
        slots.compactMap { slot in slot.pending.map { PartitionOffset(slot.partition, offset: $0.value) } }
    }

    /// Where a record's partition stands in `slots`, or nil when it is not owned.
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

    /// Where a partition stands in `slots`, or nil when it is not owned.
    func index(of partition: TopicPartition) -> Int? { slots.firstIndex { $0.partition == partition } }

    /// Whether a record is to be handled: its partition's index in `slots`, or nil for what is not owned any more, was
    /// handled before (2.0.2 may deliver again, librdkafka issue 4636), or stands behind records that were thrown away.
    @inline(__always)
    package mutating func admit(topic: Int32, partition: Int32, offset: Int64) -> Int? {
        guard let index = slot(topic: topic, partition: partition) else { return nil }
        let next = slots[index].next.value
        guard offset >= next, case .current = slots[index].place else {
            duplicates &+= 1
            return nil
        }
        if offset > next && slots[index].isStarted { gaps &+= 1 }
        slots[index].isStarted = true
        slots[index].isStaged = true
        slots[index].next = NextOffset(after: offset)
        return index
    }

    /// Counts a record's outcome towards `dlq.max.consecutive`; returns the dead letters in a row.
    @inline(__always)
    package mutating func countOutcome(at index: Int, isDeadLetter: Bool) -> Int {
        let count = isDeadLetter ? slots[index].consecutiveDeadLetters &+ 1 : 0
        slots[index].consecutiveDeadLetters = count
        return count
    }

    /// The producer has taken the outputs of all that was admitted: their offsets belong to the transaction.
    package mutating func promote() {
        for index in slots.indices where slots[index].isStaged {
            slots[index].pending = slots[index].next
            slots[index].isStaged = false
        }
    }

    /// The transaction is committed: what was pending is what the group holds.
    package mutating func commit() {
        for index in slots.indices {
            if let pending = slots[index].pending { slots[index].committed = pending.value }
            slots[index].pending = nil
        }
    }

    /// The transaction came to nothing: where it took records, the group's committed offset says where to go on.
    package mutating func rollBack() {
        for index in slots.indices where slots[index].pending != nil || slots[index].isStaged {
            slots[index].pending = nil
            slots[index].isStaged = false
            slots[index].place = .stale
        }
    }

    /// Records were thrown away, and nobody can tell of which partitions.
    package mutating func recordsDropped() {
        for index in slots.indices where slots[index].place == .current { slots[index].place = .stale }
    }

    /// Takes over a partition; one that is owned already begins anew.
    package mutating func own(_ start: PartitionStart) {
        var fresh = OwnedPartition(
            topic: start.assigned.topic, partition: start.assigned.partition, start: start.position,
            committed: start.committed)
        fresh.place = start.place
        if let index = index(of: fresh.partition) { slots[index] = fresh } else { slots.append(fresh) }
    }

    /// The consumer was moved to where a partition goes on.
    mutating func moved(_ index: Int, to start: StartPosition) {
        var fresh = OwnedPartition(
            topic: slots[index].topic, partition: slots[index].partition, start: start,
            committed: slots[index].committed)
        fresh.consecutiveDeadLetters = slots[index].consecutiveDeadLetters
        slots[index] = fresh
    }

    /// Gives partitions up; those that are not owned do not matter.
    package mutating func disown(_ partitions: [TopicPartition]) {
        slots.removeAll { partitions.contains($0.partition) }
        last = 0
    }

    /// The consumer has handed out everything before `offset`, control records included.
    package mutating func reachedEnd(topic: Int32, partition: Int32, offset: Int64) {
        guard let index = slot(topic: topic, partition: partition), slots[index].place == .current else { return }
        slots[index].drained = offset >= 0 ? offset : slots[index].next.value
    }

    /// A fetch told where a partition ends now.
    package mutating func sawEnd(at index: Int, _ end: Int64) { slots[index].end = end }
}
