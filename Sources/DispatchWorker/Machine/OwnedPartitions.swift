package import LinkIngest
package import KafkaClient

/// The offset of the next record of a partition, for commits and seeks: one past the last processed record.
///
/// It is created only from a record's offset or from a broker's answer, so the last offset is never committed by
/// mistake.
package struct NextOffset: Sendable, Equatable, Comparable {
    /// The offset as a number.
    package let value: Int64

    /// Creates the offset after a record's offset.
    @inlinable
    package init(after record: Int64) { value = record &+ 1 }

    /// Creates an offset that a broker reported as committed or as the end of a partition.
    @inlinable
    package init(reported value: Int64) { self.value = value }

    /// The offset before every record.
    @inlinable
    package static var zero: NextOffset { NextOffset(reported: 0) }

    /// Returns a Boolean value that indicates whether `a` is before `b`.
    @inlinable
    package static func < (a: NextOffset, b: NextOffset) -> Bool { a.value < b.value }
}

/// The position at which consumption of a partition starts or restarts.
package struct StartPosition: Sendable, Equatable {
    /// The offset for the client: a number or one of `LogicalOffset`.
    package var seek: Int64
    /// The smallest offset that is accepted.
    ///
    /// Smaller ones are duplicates of processed records.
    package var next: NextOffset
    /// A Boolean value that indicates whether this position must be committed before a record is.
    ///
    /// This is the case for the end of a partition, because a restart would find a later end.
    package var needsCommit = false

    /// The record before `next`, which must be read again first, or nil if it is unknown.
    package var witness: Witness?

    /// Creates a start at a known offset.
    ///
    /// With a witness, the client starts at the witness.
    package init(at offset: NextOffset, needsCommit: Bool = false, witness: Witness? = nil) {
        seek = witness?.offset ?? offset.value
        next = offset
        self.needsCommit = needsCommit
        self.witness = witness
    }

    /// The start at the first record that exists.
    package static var beginning: StartPosition {
        var position = StartPosition(at: .zero)
        position.seek = LogicalOffset.beginning
        return position
    }

    /// The start at the committed offset that the client finds.
    ///
    /// No record is processed before the lane has fetched the offset.
    package static var unknown: StartPosition {
        var position = StartPosition(at: .zero)
        position.seek = LogicalOffset.invalid
        return position
    }
}

/// A partition that the group assigns to this member.
package struct AssignedPartition: Sendable, Equatable {
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
    /// The partition is slowed, and its allowance of dead letters is used up. It continues in its next period.
    case held
    /// The partition waits for its dead-letter topic, and yields no records. Once the topic exists, it is `stale`.
    case waiting
    /// The witness must be read again (`OwnedPartition.check`): the consumer must seek to it. Without a check, it must
    /// seek to the next record. Pending offsets are kept.
    case needsReturn
    /// The consumer is at the witness. No record is accepted before the witness was read again.
    case verifying
    /// The witness does not exist anymore, or another record has its offset. The watermarks must be fetched.
    case contradicted(retryAt: UInt64)
    /// The witness no longer exists, because retention or compaction has removed it. The topic's id must be fetched.
    case unidentified
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
}

/// The state of one owned partition.
package struct OwnedPartition: Sendable, Equatable {
    /// The consumer's index of the topic.
    package let topic: Int32
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
    /// The offset of the first record that was admitted after the last commit, or nil before the first one.
    ///
    /// Only control records and gaps are between the committed offset and this one.
    package var floor: Int64?
    /// The end of the partition at its last fetch, or nil before the first one.
    package var end: Int64?
    /// The group's committed offset as the lane has last seen it, or nil if there is none.
    package var committed: Int64?
    /// The newest record whose outputs are decided, directly before `next`, or nil if there is none.
    package var witness: Witness?
    /// The check of an earlier witness that is not finished, or nil.
    package var check: WitnessCheck?
    /// The id that the topic had at a time before the witness was last read, or nil.
    ///
    /// If the topic still has this id, the witness was read from this topic.
    var earlierTopicID: String?
    /// The index in the batch of the newest accepted record whose witness is not taken yet, or -1.
    var newest: Int32 = -1
    /// The offset below which records that are read again do not count as duplicates.
    var rereadBelow: Int64 = 0
    /// A Boolean value that indicates whether the consumer does not fetch the partition.
    package var isPaused = false
    /// The number of consecutive dead letters.
    package var consecutiveDeadLetters = 0
    /// `consecutiveDeadLetters` at the last commit, which a rewind restores.
    var committedDeadLetters = 0
    /// The longest run of consecutive dead letters since the records were last counted.
    private var longestDeadLetterRun = 0
    /// The outcomes of records, without replays, since the records were last counted.
    package private(set) var uncounted = DeadLetterCounts()
    /// The share of dead letters among the last records.
    private(set) var watch = DeadLetterWatch()
    /// `watch` at the last commit, which a rewind restores.
    private var committedWatch = DeadLetterWatch()
    /// The state of a partition whose dead letters are slowed, or nil.
    package internal(set) var slowed: SlowedPartition?
    /// A Boolean value that indicates whether the input has no dead-letter topic.
    ///
    /// Once the partition has its position, and an origin is committed, its state is `waiting`.
    var isWaiting = false

    /// Creates the state of a newly assigned partition.
    package init(topic: Int32, partition: TopicPartition, start: StartPosition, committed: Int64?) {
        self.topic = topic
        self.partition = partition
        self.start = start
        self.committed = committed
        next = start.next
        if start.needsCommit { pending = start.next }
        if let witness = start.witness {
            self.witness = witness
            check = WitnessCheck(witness)
            positionState = .verifying
        }
    }

    /// The offset at which the consumer continues without skipping a record.
    ///
    /// A logical offset is kept until a record was consumed.
    package var resume: Int64 {
        if let check { return check.witness.offset }
        return isStarted || start.witness != nil ? next.value : start.seek
    }

    /// The offset up to which every record has its outcome.
    ///
    /// Until a commit returns, or while the consumer must be moved, it is the committed offset, or the offset after the
    /// control records that follow.
    package var settled: Int64 {
        let isSettled = pending == nil && !isStaged && !needsPosition && positionState != .waiting
        return max(isSettled ? max(next.value, drained ?? 0) : committed ?? start.next.value, floor ?? 0)
    }

    /// A Boolean value that indicates whether the partition is slowed and yields no records in this period.
    package var isHeld: Bool { positionState == .held }

    /// A Boolean value that indicates whether the partition yields no records for a time, and need not be fetched.
    var isSilent: Bool { isHeld || positionState == .waiting }

    /// A Boolean value that indicates whether the consumer must be moved.
    package var needsPosition: Bool {
        switch positionState {
        case .current: check != nil
        case .held, .waiting, .verifying: false
        default: true
        }
    }

    /// A Boolean value that indicates whether all records were consumed.
    package var isAtEnd: Bool {
        guard positionState == .current else { return false }
        return drained.map { $0 >= next.value } ?? false || end.map { next.value >= $0 } ?? false
    }

    /// A Boolean value that indicates whether the position depends on the watermarks.
    var needsEnds: Bool {
        switch positionState {
        case .needsEnd, .outOfRange, .contradicted: true
        case .current, .held, .waiting, .needsReturn, .verifying, .unidentified, .stale, .needsSeek, .needsReassign:
            false
        }
    }

    /// A Boolean value that indicates whether the start position is pending and no record was consumed yet.
    package var isOriginPending: Bool { pending != nil && pending == start.next && !isStarted && start.needsCommit }

    /// A Boolean value that indicates whether the consumer has returned everything up to the end of the partition, and
    /// only control records and gaps are between the next offset and the end.
    ///
    /// It has no meaning while the batch has records that are not processed.
    var isBeforeEnd: Bool {
        guard positionState == .current, check == nil, !isStaged, pending != nil || committed != nil else {
            return false
        }
        return drained.map { $0 > next.value } ?? false
    }

    /// Counts a record's outcome for the limits on dead letters.
    @inline(__always)
    fileprivate mutating func countDecision() {
        uncounted.records &+= 1
        consecutiveDeadLetters = 0
    }

    fileprivate mutating func countDeadLetter(_ reason: DeadLetterReason, offset: Int64) {
        uncounted.records += 1
        uncounted.deadLetters += 1
        uncounted.reasons[reason, default: 0] += 1
        uncounted.example = PartitionOffset(partition, offset: offset)
        consecutiveDeadLetters += 1
        longestDeadLetterRun = max(longestDeadLetterRun, consecutiveDeadLetters)
    }

    fileprivate mutating func countRecords(window: Int, now: UInt64) -> (deadLetters: Int, longestRun: Int) {
        defer {
            uncounted = DeadLetterCounts()
            longestDeadLetterRun = 0
        }
        watch.count(uncounted, window: window, isAging: slowed == nil, now: now)
        return (uncounted.deadLetters, longestDeadLetterRun)
    }

    fileprivate mutating func keepCounts() {
        committedDeadLetters = consecutiveDeadLetters
        committedWatch = watch
    }

    fileprivate mutating func restoreCounts() {
        consecutiveDeadLetters = committedDeadLetters
        watch = committedWatch
    }

    /// Returns the state of the same partition at another position, with its counts.
    fileprivate func restarted(at start: StartPosition) -> OwnedPartition {
        var result = OwnedPartition(topic: topic, partition: partition, start: start, committed: committed)
        if start.next.value == committed { result.floor = floor }
        result.isPaused = isPaused
        result.consecutiveDeadLetters = consecutiveDeadLetters
        result.committedDeadLetters = committedDeadLetters
        result.watch = watch
        result.committedWatch = committedWatch
        result.slowed = slowed
        result.isWaiting = isWaiting
        if slowed?.allowance == 0 { result.positionState = .held }
        return result
    }
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
    /// A Boolean value that indicates whether the client knows the ids of topics.
    let hasTopicIDs: Bool

    /// Creates an empty list.
    package init(hasTopicIDs: Bool = false) { self.hasTopicIDs = hasTopicIDs }

    /// A Boolean value that indicates whether no partition is owned.
    package var isEmpty: Bool { slots.isEmpty }

    /// The names of the partitions.
    package var names: [TopicPartition] { slots.map(\.partition) }

    /// A Boolean value that indicates whether at least one partition has an offset to commit.
    package var hasPending: Bool { slots.contains { $0.pending != nil } }

    /// A Boolean value that indicates whether all records of all partitions were consumed.
    ///
    /// The others do not wait for a partition that yields no records in this period.
    package var isAtEnd: Bool { slots.allSatisfy { $0.isAtEnd || $0.isSilent } }

    /// The offsets that the open transaction commits.
    package var pendingOffsets: [PartitionOffset] {
        slots.compactMap { slot in
            slot.pending.map { pending in
                // A witness at the offset or after it says nothing about the offset.
                let witness = slot.witness.flatMap { $0.offset < pending.value ? $0.text(before: pending) : nil }
                return PartitionOffset(slot.partition, offset: pending.value, metadata: witness ?? "")
            }
        }
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
    ///
    /// `record` is the record's index in the batch, for its witness.
    @inline(__always)
    package mutating func admit(topic: Int32, partition: Int32, offset: Int64, record: Int32 = -1) -> Int? {
        guard let index = slot(topic: topic, partition: partition) else { return nil }
        let next = slots[index].next.value
        guard offset >= next, case .current = slots[index].positionState else {
            let isKnown = slots[index].isSilent || slots[index].check != nil || offset < slots[index].rereadBelow
            if !isKnown { duplicates &+= 1 }
            return nil
        }
        slots[index].newest = record
        if offset > next && slots[index].isStarted { gaps &+= 1 }
        if slots[index].pending == nil, !slots[index].isStaged { slots[index].floor = offset }
        slots[index].isStarted = true
        slots[index].isStaged = true
        slots[index].next = NextOffset(after: offset)
        return index
    }

    /// Counts a record for the limits on dead letters that did not become one.
    @inline(__always)
    package mutating func countDecision(at index: Int) { slots[index].countDecision() }

    /// Counts a dead letter for the limits.
    ///
    /// It uses up a part of a slowed partition's allowance. Without one, the following records are not admitted.
    @inline(never)
    package mutating func countDeadLetter(_ reason: DeadLetterReason, offset: Int64, at index: Int) {
        slots[index].countDeadLetter(reason, offset: offset)
        guard let allowance = slots[index].slowed?.allowance else { return }
        slots[index].slowed?.allowance = max(0, allowance - 1)
        if allowance <= 1 { hold(index) }
    }

    /// Adds the outcomes since the last call to the counts of a partition.
    ///
    /// Returns the number of new dead letters and the longest run of consecutive ones.
    mutating func countRecords(at index: Int, window: Int, now: UInt64) -> (deadLetters: Int, longestRun: Int) {
        slots[index].countRecords(window: window, now: now)
    }

    /// Admits no further records of a partition until its next period.
    ///
    /// A partition whose witness is being checked goes on until the check has ended.
    mutating func hold(_ index: Int) {
        if slots[index].positionState == .current && slots[index].check == nil { slots[index].positionState = .held }
    }

    /// Suspends partitions that wait for their dead-letter topics.
    ///
    /// They continue at the group's committed offsets. A position that is determined by `from` is committed before, as
    /// a later end would skip records.
    mutating func suspendWaitingPartitions() {
        for index in slots.indices where slots[index].isWaiting && slots[index].pending == nil && !slots[index].isStaged
        {
            switch slots[index].positionState {
            case .current, .held, .verifying, .needsReturn:
                slots[index].positionState = .waiting
                slots[index].check = nil
            default: continue
            }
        }
    }

    /// Adds the offsets of all admitted records to the transaction, after the producer has accepted their outputs.
    package mutating func promote() {
        for index in slots.indices where slots[index].isStaged {
            slots[index].pending = slots[index].next
            slots[index].isStaged = false
        }
    }

    /// Adds the ends of partitions to the transaction where nothing but control records and gaps is before them.
    ///
    /// Retention removes control records like other records. An offset before them would then look like one whose
    /// records were lost.
    mutating func moveToEnds() {
        for index in slots.indices where slots[index].isBeforeEnd {
            guard let end = slots[index].drained else { continue }
            if slots[index].isStarted { gaps &+= 1 }
            if slots[index].pending == nil { slots[index].floor = end }
            slots[index].next = NextOffset(reported: end)
            slots[index].pending = slots[index].next
        }
    }

    /// Records that the pending offsets are committed.
    package mutating func commit() {
        for index in slots.indices {
            if let pending = slots[index].pending { slots[index].committed = pending.value }
            slots[index].pending = nil
            slots[index].keepCounts()
        }
    }

    /// Drops the pending offsets.
    ///
    /// The affected partitions continue at the group's committed offsets.
    package mutating func rollBack() {
        for index in slots.indices where slots[index].pending != nil || slots[index].isStaged {
            slots[index].pending = nil
            slots[index].isStaged = false
            if case .contradicted = slots[index].positionState {} else { setStale(index) }
            slots[index].restoreCounts()
        }
    }

    /// Marks all current positions as stale, because records of unknown partitions were dropped.
    ///
    /// The consumer returns to a witness that is being checked.
    package mutating func markStale() {
        for index in slots.indices {
            switch slots[index].positionState {
            case .current where slots[index].check == nil: setStale(index)
            case .current, .verifying: slots[index].positionState = .needsReturn
            default: continue
            }
        }
    }

    /// Marks a position as stale.
    ///
    /// The group's committed offset has its own witness.
    mutating func setStale(_ index: Int) {
        slots[index].positionState = .stale
        slots[index].check = nil
    }

    /// Adds a partition.
    ///
    /// A partition that is already owned starts again.
    package mutating func own(_ start: PartitionStart) {
        var fresh = OwnedPartition(
            topic: start.assigned.topic, partition: start.assigned.partition, start: start.position,
            committed: start.committed)
        if start.positionState != .current { fresh.positionState = start.positionState }
        if let index = index(of: fresh.partition) { slots[index] = fresh } else { slots.append(fresh) }
    }

    /// Restarts a partition at the position to which the consumer was moved.
    mutating func restart(_ index: Int, at start: StartPosition) {
        slots[index] = slots[index].restarted(at: start)
    }

    /// Restarts a partition at a position that a seek did not reach, and goes on with the check of its witness.
    ///
    /// librdkafka 2.16 refuses every seek after an offset that is out of range. A check that began again would never
    /// end, because it would forget that the topic has the id of a witness that retention has removed.
    mutating func restartCheck(_ index: Int, at start: StartPosition) {
        let before = slots[index]
        restart(index, at: start)
        if let check = before.check, let witness = start.witness, witness.isOfSameRecord(as: check.witness) {
            slots[index].check = check
        } else if start.witness == nil && start.next == before.next {
            slots[index].witness = before.witness
            slots[index].earlierTopicID = before.earlierTopicID
        }
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
    ///
    /// A partition that ends before its witness is not the same anymore.
    package mutating func setEnd(at index: Int, _ end: Int64) {
        slots[index].end = end
        guard slots[index].positionState == .verifying, let check = slots[index].check, end <= check.witness.offset,
            end >= 0
        else { return }
        slots[index].check?.finding = .end(end)
        slots[index].positionState = .contradicted(retryAt: 0)
    }
}
