package import KafkaClient

// The positions at which partitions continue.
extension LaneMachine {
    /// Handles the group's committed offsets of the partitions that were requested.
    package mutating func committedOffsetsFetched(_ results: [PartitionResult], now: UInt64) {
        if let error = results.compactMap(\.error).first {
            failed(.fetchCommitted, error, now: now)
            return
        }
        credentials = .accepted
        recordRequest(.committedOffsets, isAnswered: true)
        if case .fetchingCommitted(let assignments) = callback {
            callback = .assigning(assignments.compactMap { assigned in start(of: assigned, results) })
            return
        }
        for result in results {
            guard let index = partitions.index(of: result.partition), partitions.slots[index].positionState == .stale
            else {
                continue
            }
            setPosition(index, result.offset)
        }
        counters.rewinds += 1
    }

    /// Returns the start of an assigned partition.
    private mutating func start(of assigned: AssignedPartition, _ results: [PartitionResult]) -> PartitionStart? {
        guard let result = results.first(where: { $0.partition == assigned.partition }) else { return nil }
        if let offset = result.offset {
            return PartitionStart(
                assigned: assigned, position: StartPosition(at: NextOffset(reported: offset)), committed: offset)
        }
        switch policy.from {
        case .earliest: return PartitionStart(assigned: assigned, position: .beginning)
        case .latest:
            return PartitionStart(assigned: assigned, position: .unknown, positionState: .needsEnd(retryAt: 0))
        case .fail:
            end(Self.nothingCommitted(assigned.partition))
            return nil
        }
    }

    /// Sets the position of an owned partition after its committed offset was fetched.
    private mutating func setPosition(_ index: Int, _ offset: Int64?) {
        let slot = partitions.slots[index]
        if let offset {
            partitions.slots[index].committed = offset
            partitions.slots[index].positionState = .needsSeek(StartPosition(at: NextOffset(reported: offset)))
            return
        }
        if let had = slot.committed { notes.append(.commitVanished(slot.partition, had: had)) }
        partitions.slots[index].committed = nil
        if slot.start.needsCommit && slot.committed == nil {
            // `from` determined this position, and nothing has been committed since. A later end would skip records.
            partitions.slots[index].positionState = .needsSeek(slot.start)
            return
        }
        switch policy.from {
        case .earliest: partitions.slots[index].positionState = .needsSeek(.beginning)
        case .latest: partitions.slots[index].positionState = .needsEnd(retryAt: 0)
        case .fail: end(Self.nothingCommitted(slot.partition))
        }
    }

    private static func nothingCommitted(_ partition: TopicPartition) -> WorkerExit {
        WorkerExit(
            .configuration, "no offset is committed for \(partition), and `from` is `fail`",
            advice: "start once with --from earliest or --from latest")
    }

    /// Handles the result of a seek.
    ///
    /// The partitions in `failed` are assigned again.
    package mutating func seekFinished(_ offsets: [PartitionOffset], failed: [PartitionResult]) {
        var count = 0
        // A partition that was just assigned refuses a seek until librdkafka fetches it, which is no failure. If it
        // cannot be assigned again either, that is a note.
        let errors = failed.compactMap(\.error).filter { $0.code != .state }
        if let error = errors.first { notes.append(.failed(.seek, error)) }
        for offset in offsets {
            guard let index = partitions.index(of: offset.partition),
                case .needsSeek(let start) = partitions.slots[index].positionState, start.seek == offset.offset
            else { continue }
            if failed.contains(where: { $0.partition == offset.partition }) {
                partitions.slots[index].positionState = .needsReassign(start, tries: 0, retryAt: 0)
            } else {
                partitions.restart(index, at: start)
                count += 1
            }
        }
        if count > 0 { notes.append(.rewound(partitions: count)) }
    }

    /// Records that partitions were assigned again because seeking them failed.
    package mutating func reassigned(_ offsets: [PartitionOffset]) {
        for offset in offsets {
            guard let index = partitions.index(of: offset.partition),
                case .needsReassign(let start, _, _) = partitions.slots[index].positionState
            else { continue }
            partitions.restart(index, at: start)
        }
        // An assignment may end the pause of a partition.
        for index in partitions.slots.indices { partitions.slots[index].isPaused = false }
        notes.append(.rewound(partitions: offsets.count))
    }

    /// Handles a failure to assign partitions again.
    mutating func reassignFailed(_ error: KafkaError, now: UInt64) {
        notes.append(.failed(.reassign, error))
        for index in partitions.slots.indices {
            guard case .needsReassign(let start, let tries, _) = partitions.slots[index].positionState else { continue }
            partitions.slots[index].positionState = .needsReassign(
                start, tries: tries + 1, retryAt: now + nanoseconds(100))
            if tries >= 10 {
                end(
                    WorkerExit(
                        .tryAgain, "\(partitions.slots[index].partition) cannot be assigned again: \(error.name)",
                        advice: "a supervisor should restart the worker"))
            }
        }
    }

    /// Handles the watermarks of a partition.
    package mutating func endsFound(_ partition: TopicPartition, _ ends: Watermarks) {
        credentials = .accepted
        endsBackoff.reset()
        guard let index = partitions.index(of: partition) else { return }
        switch partitions.slots[index].positionState {
        case .needsEnd:
            let start = StartPosition(at: NextOffset(reported: ends.high), needsCommit: true)
            partitions.slots[index].positionState = .needsSeek(start)
        case .outOfRange: outOfRange(index, ends)
        default: if partitions.slots[index].isPaused { partitions.setEnd(at: index, ends.high) }
        }
    }

    private mutating func outOfRange(_ index: Int, _ ends: Watermarks) {
        let slot = partitions.slots[index]
        if slot.resume == LogicalOffset.beginning {
            // Until a record is consumed, the first record of the partition may change. No record is lost for this
            // worker.
            partitions.slots[index].positionState = .needsSeek(.beginning)
            return
        }
        let next = slot.next.value
        if next >= ends.low && next <= ends.high {
            partitions.slots[index].positionState = .needsSeek(StartPosition(at: slot.next))
            return
        }
        let actual = policy.dataLoss == .latest ? ends.high : ends.low
        notes.append(.dataLost(slot.partition, expected: next, actual: actual))
        if policy.dataLoss == .stop {
            end(
                WorkerExit(
                    .badData,
                    "records of \(slot.partition) no longer exist: the next offset is \(next), but the topic has "
                        + "\(ends.low) to \(ends.high)",
                    advice: "start again with --data-loss earliest or latest if the loss is accepted"))
            return
        }
        partitions.slots[index].committed = nil
        // A position at the end is committed, because a restart would find a later end.
        partitions.slots[index].positionState = .needsSeek(
            StartPosition(at: NextOffset(reported: actual), needsCommit: policy.dataLoss == .latest))
    }

    /// Handles a failure to fetch watermarks.
    ///
    /// Those of a paused partition are only for its lag.
    ///
    /// They are fetched again later, and the other partitions continue.
    mutating func endsFailed(_ error: KafkaError, now: UInt64) {
        guard partitions.slots.contains(where: \.needsEnds) else { return }
        notes.append(.failed(.findEnds, error))
        let retryAt = now + nanoseconds(endsBackoff.next())
        for index in partitions.slots.indices {
            switch partitions.slots[index].positionState {
            case .needsEnd: partitions.slots[index].positionState = .needsEnd(retryAt: retryAt)
            case .outOfRange: partitions.slots[index].positionState = .outOfRange(retryAt: retryAt)
            default: continue
            }
        }
    }
}
