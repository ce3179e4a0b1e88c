package import KafkaClient

/// What a lane knows of one partition that it owns.
package struct OwnedPartition: Sendable, Equatable {
    /// Index of the topic at the consumer.
    package let topic: Int32
    /// The partition.
    package let partition: TopicPartition
    /// The least offset that is taken next.
    package var next: NextOffset
    /// What the open transaction commits, or nil when it holds nothing of this partition.
    package var pending: NextOffset?
    /// Whether records were handled whose outputs the producer has not taken yet.
    package var isStaged = false
    /// Whether a record was seen since the last start; before it a gap means nothing.
    package var isStarted = false
    /// Whether everything there is was consumed.
    package var isAtEnd = false
    /// Where `from` put it when nothing was committed: an abort goes back to here, not to a later end.
    package var origin: StartPosition?
    /// Dead letters in a row.
    package var consecutiveDeadLetters = 0

    /// Takes over a partition at a place.
    package init(topic: Int32, partition: TopicPartition, start: StartPosition) {
        self.topic = topic
        self.partition = partition
        next = start.next
    }
}

/// The partitions that a lane owns.
///
/// Asked once per record, so it is an array and remembers where it looked last.
package struct OwnedPartitions: Sendable, Equatable {
    /// The partitions, in no order that means anything.
    package private(set) var slots: [OwnedPartition] = []
    /// Records that had been handled before and came again.
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

    /// Whether the transaction holds something of at least one partition.
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

    /// Whether a record is to be handled: its partition's index in `slots`, or nil for what is not owned any more or
    /// was handled before (2.0.2 may deliver again, librdkafka issue 4636).
    @inline(__always)
    package mutating func admit(topic: Int32, partition: Int32, offset: Int64) -> Int? {
        guard let index = slot(topic: topic, partition: partition) else { return nil }
        let next = slots[index].next.value
        if offset < next {
            duplicates &+= 1
            return nil
        }
        if offset > next && slots[index].isStarted { gaps &+= 1 }
        slots[index].isStarted = true
        slots[index].isAtEnd = false
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

    /// The transaction is over, one way or the other.
    package mutating func clearPending() {
        for index in slots.indices {
            slots[index].pending = nil
            slots[index].isStaged = false
        }
    }

    /// Takes over a partition, or moves one that is owned.
    package mutating func own(
        _ partition: TopicPartition, topic: Int32, start: StartPosition, origin: StartPosition?
    ) {
        var fresh = OwnedPartition(topic: topic, partition: partition, start: start)
        fresh.origin = origin
        if let index = slots.firstIndex(where: { $0.partition == partition }) {
            fresh.consecutiveDeadLetters = slots[index].consecutiveDeadLetters
            slots[index] = fresh
        } else {
            slots.append(fresh)
        }
    }

    /// Puts back what the open transaction commits of a partition, after it was moved.
    package mutating func keepPending(_ pending: NextOffset?, of partition: TopicPartition) {
        if let index = slots.firstIndex(where: { $0.partition == partition }) { slots[index].pending = pending }
    }

    /// Gives partitions up; those that are not owned do not matter.
    package mutating func disown(_ partitions: [TopicPartition]) {
        slots.removeAll { partitions.contains($0.partition) }
        last = 0
    }

    /// Marks the end of a partition.
    package mutating func reachedEnd(topic: Int32, partition: Int32) {
        if let index = slot(topic: topic, partition: partition) { slots[index].isAtEnd = true }
    }
}
