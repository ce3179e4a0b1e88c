package import KafkaClient
package import ByteStorage

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
            setPosition(index, result)
        }
        counters.rewinds += 1
    }

    /// Returns the start of an assigned partition.
    private mutating func start(of assigned: AssignedPartition, _ results: [PartitionResult]) -> PartitionStart? {
        guard let result = results.first(where: { $0.partition == assigned.partition }) else { return nil }
        if let offset = result.offset {
            return PartitionStart(assigned: assigned, position: Self.position(at: offset, result), committed: offset)
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
    private mutating func setPosition(_ index: Int, _ result: PartitionResult) {
        let slot = partitions.slots[index]
        if let offset = result.offset {
            partitions.slots[index].committed = offset
            partitions.slots[index].positionState = .needsSeek(Self.position(at: offset, result))
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

    /// Returns the start at a committed offset, with the witness that was committed with it.
    private static func position(at offset: Int64, _ result: PartitionResult) -> StartPosition {
        let next = NextOffset(reported: offset)
        return StartPosition(at: next, witness: Witness(result.metadata, before: next))
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
        returned(offsets, failed: failed)
        for offset in offsets {
            guard let index = partitions.index(of: offset.partition),
                case .needsSeek(let start) = partitions.slots[index].positionState, start.seek == offset.offset
            else { continue }
            if failed.contains(where: { $0.partition == offset.partition }) {
                partitions.slots[index].positionState = .needsReassign(start, tries: 0, retryAt: 0)
            } else {
                // A slowed partition that continues after its last record does not return to an earlier one.
                let slot = partitions.slots[index]
                if slot.slowed == nil || slot.next != start.next { count += 1 }
                partitions.restart(index, at: start)
            }
        }
        if count > 0 { notes.append(.rewound(partitions: count)) }
    }

    /// Records that partitions were assigned again because seeking them failed.
    package mutating func reassigned(_ offsets: [PartitionOffset]) {
        // The call ends the pauses of all partitions.
        for index in partitions.slots.indices where partitions.slots[index].isPaused {
            partitions.slots[index].resumed()
        }
        for offset in offsets {
            guard let index = partitions.index(of: offset.partition),
                case .needsReassign(let start, _, _) = partitions.slots[index].positionState
            else { continue }
            partitions.restartCheck(index, at: start)
        }
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
        case .outOfRange:
            if let check = partitions.slots[index].check {
                witnessOutOfRange(index, check, ends)
            } else {
                outOfRange(index, ends)
            }
        case .contradicted: contradicted(index, ends)
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
    /// They are fetched again later, and the other partitions continue. A paused partition needs them only for its lag.
    mutating func endsFailed(_ error: KafkaError, now: UInt64) {
        // A request without an answer takes a second, in which the lane does nothing else.
        endRequestAt = now + nanoseconds(10_000)
        guard partitions.slots.contains(where: \.needsEnds) else { return }
        notes.append(.failed(.findEnds, error))
        let retryAt = now + nanoseconds(endsBackoff.next())
        for index in partitions.slots.indices {
            switch partitions.slots[index].positionState {
            case .needsEnd: partitions.slots[index].positionState = .needsEnd(retryAt: retryAt)
            case .outOfRange: partitions.slots[index].positionState = .outOfRange(retryAt: retryAt)
            case .contradicted: partitions.slots[index].positionState = .contradicted(retryAt: retryAt)
            default: continue
            }
        }
    }
}

// The check that a topic was not deleted and created again. After an assignment, an interruption of the fetches, or a
// step that took too long, the witness of a partition is read again before anything is committed.
extension LaneMachine {
    /// The time of a step after which witnesses are read again.
    ///
    /// A process that is stopped loses no connection, so nothing else shows that a topic was created again meanwhile.
    private static var longStepNanoseconds: UInt64 { 1_000_000_000 }

    /// A Boolean value that indicates whether pending offsets wait for the check of a witness.
    var isCommitBlocked: Bool { partitions.isUnproven }

    /// Records the time of a step.
    mutating func noticeStep(_ now: UInt64) {
        if let lastStepAt, now.saturatingSubtract(lastStepAt) > Self.longStepNanoseconds { doubt() }
        lastStepAt = now
    }

    /// Records what interrupted the fetches before the records of a poll were fetched.
    package mutating func interrupted(_ interruptions: FetchInterruptions) {
        if interruptions.isConnectionLost {
            doubt()
        } else if !interruptions.refused.isEmpty {
            partitions.doubt { interruptions.refused.contains($0) }
        }
    }

    /// Requires all witnesses to be read again.
    mutating func doubt() { partitions.doubt { _ in true } }

    /// Compares the records of a poll with the witnesses that are being checked.
    package mutating func verify(_ records: UnsafeBufferPointer<ConsumedRecord>) {
        for unknown in partitions.verify(records, isCompacted: isCompacted) { noteUnknown(unknown) }
    }

    func isCompacted(_ partition: TopicPartition) -> Bool { policy.compactedInputs.contains(partition.topic) }

    /// Logs once that a witness cannot be checked.
    mutating func noteUnknown(_ witness: PartitionOffset) {
        guard unknownWitnesses.insert(witness.partition).inserted else { return }
        notes.append(.witnessUnknown(witness.partition, offset: witness.offset))
    }

    /// Returns the step of a lane whose commit is due and waits for the check of a witness.
    ///
    /// A check needs a poll, which releases the rest of the batch. A check that takes too long, because the leader of
    /// one partition is away, must not hold back the others.
    mutating func blockedStep(_ open: OpenTransaction, _ now: UInt64) -> Step? {
        let limit = nanoseconds(policy.transactionTimeoutMilliseconds / 2)
        if isDraining || now.saturatingSubtract(open.content.beganAt) >= limit {
            transactionFailed(isDraining ? .shutdown : .timeout)
            return .again
        }
        if case .remaining = batch {
            dropBatch()
            return .again
        }
        return nil
    }

    /// Moves the consumer to the witnesses that must be read again, or finds out why one was not found.
    mutating func witnessStep(_ now: UInt64) -> Step? {
        var returns: [PartitionOffset] = []
        for index in partitions.slots.indices {
            let slot = partitions.slots[index]
            switch slot.positionState {
            case .current where slot.check != nil: partitions.slots[index].positionState = .needsReturn
            case .needsReturn: break
            case .contradicted where slot.pending != nil:
                // Nothing that was read after the witness may be committed.
                transactionFailed(.lost)
                return .again
            case .outOfRange(let retryAt) where slot.check != nil && retryAt <= now:
                return .act(.findEnds(slot.partition))
            case .unidentified: return .act(.identify([slot.partition.topic]))
            default: continue
            }
            returns.append(PartitionOffset(slot.partition, offset: slot.returnOffset))
        }
        return returns.isEmpty ? nil : .act(.seek(returns))
    }

    /// Records that the consumer was moved to witnesses, except for the partitions in `failed`.
    mutating func returned(_ offsets: [PartitionOffset], failed: [PartitionResult]) {
        for offset in offsets {
            guard let index = partitions.index(of: offset.partition),
                partitions.slots[index].positionState == .needsReturn,
                partitions.slots[index].returnOffset == offset.offset
            else { continue }
            let slot = partitions.slots[index]
            if !failed.contains(where: { $0.partition == offset.partition }) {
                partitions.slots[index].positionState = slot.check == nil ? .current : .verifying
                partitions.slots[index].drained = nil
            } else if slot.pending == nil && !slot.isStaged {
                partitions.slots[index].positionState = .needsReassign(slot.returnStart, tries: 0, retryAt: 0)
            } else {
                transactionFailed(.error)
                return
            }
        }
    }

    /// Handles the watermarks of a partition that does not have the offset of its witness.
    mutating func witnessOutOfRange(_ index: Int, _ check: WitnessCheck, _ ends: Watermarks) {
        if ends.high <= check.witness.offset {
            partitions.slots[index].check?.finding = .end(ends.high)
            partitions.slots[index].positionState = .contradicted(retryAt: 0)
        } else if ends.low <= check.witness.offset {
            partitions.slots[index].positionState = .needsReturn
        } else {
            // Retention has removed the witness, and possibly more.
            if partitions.asksForID(index, check) { return }
            if let unknown = partitions.endUnread(index, check) { noteUnknown(unknown) }
            partitions.slots[index].positionState =
                partitions.slots[index].next.value < ends.low ? .outOfRange(retryAt: 0) : .needsReturn
        }
    }

    /// Handles the watermarks of a partition whose witness was not found.
    mutating func contradicted(_ index: Int, _ ends: Watermarks) {
        let slot = partitions.slots[index]
        guard slot.pending == nil, let check = slot.check, let finding = check.finding else { return }
        let isOtherTopic = if case .otherTopic = finding { true } else { false }
        if ends.low > check.witness.offset && !isOtherTopic {
            // Retention has removed the witness in the meantime.
            partitions.setStale(index)
            return
        }
        if case .end = finding, ends.high > check.witness.offset {
            // A new leader did not know the end yet.
            partitions.slots[index].check = WitnessCheck(check.witness)
            partitions.slots[index].positionState = .needsReturn
            return
        }
        let contradiction = WitnessContradiction(witness: check.witness, finding: finding)
        let actual = policy.dataLoss == .latest ? ends.high : ends.low
        notes.append(
            .dataLost(slot.partition, expected: slot.next.value, actual: actual, contradiction: contradiction))
        identifyAt = (lastStepAt ?? 0) + Self.identifyNanoseconds
        if policy.dataLoss == .stop {
            end(Self.recreatedExit(slot.partition, contradiction))
            return
        }
        partitions.slots[index].committed = nil
        partitions.slots[index].check = nil
        // The position is committed, because a restart must not depend on `from`.
        partitions.slots[index].positionState = .needsSeek(
            StartPosition(at: NextOffset(reported: actual), needsCommit: true))
    }

    /// The time between two requests for the ids of topics.
    ///
    /// It is also the time for which a topic must have the same id, because a broker may know a new topic late.
    private static var identifyNanoseconds: UInt64 { 5_000_000_000 }
    /// The time until the next request after one without an answer.
    private static var identifyRetryNanoseconds: UInt64 { 60_000_000_000 }

    /// Fetches the ids of topics whose witnesses have none.
    mutating func identifyStep(_ now: UInt64) -> Step? {
        guard policy.hasTopicIDs, isMember, !isDraining, !isCommitBlocked else { return nil }
        let topics = Set(partitions.slots.filter(\.needsTopicID).map(\.partition.topic))
        guard !topics.isEmpty else { return nil }
        let due = identifyAt ?? now + Self.identifyNanoseconds
        identifyAt = due
        return due <= now ? .act(.identify(topics.sorted())) : nil
    }

    /// Handles the ids of these topics.
    ///
    /// A topic whose id is unknown is absent.
    package mutating func identified(_ topics: [String], _ ids: [String: String], now: UInt64) {
        identifyAt = now + (ids.isEmpty ? Self.identifyRetryNanoseconds : Self.identifyNanoseconds)
        for index in partitions.slots.indices {
            let topic = partitions.slots[index].partition.topic
            if topics.contains(topic) { partitions.identified(index, ids[topic]) }
        }
    }

    private static func recreatedExit(
        _ partition: TopicPartition, _ contradiction: WitnessContradiction
    ) -> WorkerExit {
        WorkerExit(
            .badData, "the topic of \(partition) was deleted and created again: \(contradiction.description)",
            advice: "start again with --data-loss earliest to decide all records of the new topic, or with latest to "
                + "skip those that it already has")
    }
}

extension OwnedPartition {
    /// The position to which the consumer returns: the witness during a check, or the next offset without it.
    ///
    /// A logical offset is kept until a record was consumed.
    var returnStart: StartPosition {
        guard check == nil, !isStarted, start.seek < 0 else {
            return StartPosition(at: next, witness: check?.witness)
        }
        return start
    }

    /// The offset to which the consumer returns.
    var returnOffset: Int64 { returnStart.seek }
}
