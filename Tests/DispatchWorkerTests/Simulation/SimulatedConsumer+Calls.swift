@testable import DispatchWorker
@testable import KafkaClient

// The consumer's calls to the broker and into the library. Each may fail, hang, or take effect in part.
extension SimulatedConsumer {
    /// The result of a call: success, an effect in spite of an error, a partial effect, or no effect.
    private enum Course { case well, effectThenError(KafkaError), partial(KafkaError), error(KafkaError) }

    private func course(_ faults: [FaultPlan.Fault], timeout: Int, _ error: KafkaError) -> Course {
        if life.isDead { return .error(KafkaError(code: .destroy)) }
        switch world.plan.next(faults) {
        case .crashBefore:
            life.isDead = true
            return .error(KafkaError(code: .destroy))
        case .crashAfter:
            life.isDead = true
            return .effectThenError(KafkaError(code: .destroy))
        case .retryBefore, .failBefore: return .error(error)
        case .failAfter, .retryAfter: return .effectThenError(error)
        case .hang:
            world.broker.advance(milliseconds: timeout)
            return .error(KafkaError(code: .timedOut))
        case .slow:
            world.broker.advance(milliseconds: max(0, timeout - 1))
            return .well
        case .late:
            // The call takes effect, but its answer is late.
            world.broker.advance(milliseconds: timeout)
            return .effectThenError(KafkaError(code: .timedOut))
        case .partial: return .partial(error)
        case .fatalBefore:
            fatalError = KafkaError(code: .fatal, isFatal: true)
            return .error(KafkaError(code: .fatal, isFatal: true))
        default: return .well
        }
    }

    func subscribe() throws(KafkaError) {
        switch course([.crashBefore, .failBefore], timeout: 0, KafkaError(code: .transport)) {
        case .error(let error): throw error
        default: member = world.broker.group.join(instance: instance, now: world.broker.now)
        }
    }

    func committed(
        _ partitions: [TopicPartition], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        world.onCommittedRequest()
        let timeout = Int(timeoutMilliseconds)
        let error = KafkaError(code: [.timedOut, .transport, .notCoordinator][world.plan.number(below: 3)])
        var partialError: KafkaError?
        switch course(
            [.crashBefore, .retryBefore, .failBefore, .hang, .slow, .partial], timeout: timeout, error)
        {
        case .error(let error): throw error
        case .partial(let error): partialError = error
        default: break
        }
        world.broker.advance(milliseconds: 1)
        answers += 1
        return partitions.enumerated().map { index, partition in
            if index == 0, let partialError {
                return PartitionResult(partition: partition, offset: nil, error: partialError)
            }
            guard let stable = world.broker.stableOffset(partition) else {
                return PartitionResult(
                    partition: partition, offset: nil, error: KafkaError(code: .unstableOffsetCommit))
            }
            let metadata = world.broker.metadata[partition] ?? ""
            if let stable {
                let witness = Witness(metadata, before: NextOffset(reported: stable))
                knownOffsets[partition, default: []].formUnion([stable, witness?.offset ?? stable])
            }
            return PartitionResult(partition: partition, offset: stable, metadata: stable == nil ? "" : metadata)
        }
    }

    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks {
        let timeout = Int(timeoutMilliseconds)
        switch course(
            [.crashBefore, .failBefore, .failBefore, .hang, .hang, .slow], timeout: timeout,
            KafkaError(code: .transport))
        {
        case .error(let error): throw error
        default: break
        }
        let log = world.broker.logs[partition] ?? SimulatedLog()
        let ends = Watermarks(low: log.start, high: log.lastStable)
        knownOffsets[partition, default: []].formUnion([ends.low, ends.high])
        world.recordEnds(self, partition, ends)
        return ends
    }

    func topicIDs(of names: [String], timeoutMilliseconds: Int32) throws(KafkaError) -> [String: String] {
        switch course([.crashBefore, .slow], timeout: Int(timeoutMilliseconds), KafkaError(code: .transport)) {
        case .error(let error): throw error
        default: world.broker.advance(milliseconds: 1)
        }
        return names.contains(world.input) ? [world.input: world.broker.inputID] : [:]
    }

    func cachedWatermarks(of partition: TopicPartition) -> Watermarks? {
        guard !world.hidesCachedEnds, world.wrong != .endsNotLookedUp, let end = seenEnd[partition] else { return nil }
        return Watermarks(low: -1, high: end)
    }

    func assign(_ added: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        world.onAssignment()
        let isCooperative = world.broker.group.isCooperative
        if !life.isDead { granted = Set(added.map(\.partition)).union(isCooperative ? granted : []) }
        try assign(isCooperative ? added : all, isWhole: !isCooperative)
    }

    private func assign(_ offsets: [PartitionOffset], isWhole: Bool) throws(KafkaError) {
        switch course([.crashBefore, .crashAfter, .failBefore], timeout: 0, KafkaError(code: .state)) {
        case .error(let error): throw error
        default: break
        }
        if isWhole { for partition in Array(owned.keys) { forget(partition) } }
        for offset in offsets { move(offset) }
    }

    func unassign(_ revoked: [TopicPartition]) throws(KafkaError) {
        if !life.isDead {
            if world.broker.group.isCooperative { granted.subtract(revoked) } else { granted = [] }
        }
        switch course([.crashBefore, .crashAfter, .failBefore], timeout: 0, KafkaError(code: .state)) {
        case .error(let error):
            // The rebalance is answered as the library does without a handler.
            if !life.isDead { for partition in revoked { forget(partition) } }
            throw error
        default: break
        }
        for partition in revoked { forget(partition) }
        if !world.broker.group.isCooperative { for partition in Array(owned.keys) { forget(partition) } }
    }

    func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult] {
        let error = KafkaError(code: .timedOut)
        var partialError: KafkaError?
        switch course([.crashBefore, .failBefore, .partial, .partial, .hang], timeout: 10_000, error) {
        case .error(let error): throw error
        case .partial(let error): partialError = error
        default: break
        }
        return offsets.enumerated().map { index, offset in
            // librdkafka 2.16 refuses to seek in a partition that it has stopped.
            let isRefused = world.policy.hasTopicIDs && halted.contains(offset.partition)
            let failure = isRefused ? KafkaError(code: .state) : index == 0 ? partialError : nil
            if failure == nil { move(offset) }
            return PartitionResult(partition: offset.partition, offset: offset.offset, error: failure)
        }
    }

    func reassign(_ offsets: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError) {
        let offsets = offsets.map(asAsked)
        let all = all.map(asAsked)
        switch course([.crashBefore, .crashAfter, .failBefore, .partial], timeout: 0, KafkaError(code: .state)) {
        case .error(let error): throw error
        case .partial(let error):
            for offset in offsets { forget(offset.partition) }
            throw error
        default: break
        }
        paused = []
        if !world.broker.group.isCooperative {
            for partition in Array(owned.keys) { forget(partition) }
            for offset in all { move(offset) }
        } else {
            for offset in offsets { move(offset) }
        }
    }

    private func asAsked(_ offset: PartitionOffset) -> PartitionOffset {
        guard world.wrong == .beginningIsZero, offset.offset == LogicalOffset.beginning else { return offset }
        return PartitionOffset(offset.partition, offset: 0)
    }

    private func move(_ offset: PartitionOffset) {
        let partition = offset.partition
        guard let log = world.broker.logs[partition] else { return }
        switch offset.offset {
        case LogicalOffset.beginning:
            if world.policy.from != .earliest {
                world.broker.ledger.fail("\(partition) goes to the beginning, from is \(world.policy.from)")
            }
            setPosition(partition, at: log.start)
        case LogicalOffset.end: setPosition(partition, at: log.lastStable)
        case LogicalOffset.invalid:
            // The library fetches the offset on its own and stops if there is none (`auto.offset.reset=error`).
            setPosition(partition, at: world.broker.committed[partition] ?? log.start)
            if world.broker.committed[partition] == nil { halted.insert(partition) }
        case let number:
            if !(knownOffsets[partition]?.contains(number) ?? false) {
                world.broker.ledger.fail("\(partition) goes to \(number), which is not a known offset")
            }
            setPosition(partition, at: number)
        }
    }

    func pause(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        try change(partitions) { paused.insert($0) }
    }

    func resume(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult] {
        try change(partitions) { partition in
            paused.remove(partition)
            // The client continues after records that it has fetched and not returned.
            guard let offset = owned[partition], world.plan.happens(oneIn: 4) else { return }
            let stable = world.broker.logs[partition]?.lastStable ?? offset
            owned[partition] = max(offset, min(stable, offset + Int64(world.plan.number(below: 4))))
        }
    }

    private func change(
        _ partitions: [TopicPartition], _ body: (TopicPartition) -> Void
    ) throws(KafkaError) -> [PartitionResult] {
        var partialError: KafkaError?
        switch course([.crashBefore, .crashAfter, .failBefore, .partial], timeout: 0, KafkaError(code: .state)) {
        case .error(let error): throw error
        case .partial(let error): partialError = error
        default: break
        }
        return partitions.enumerated().map { index, partition in
            let failure = index == 0 ? partialError : nil
            if failure == nil && owned[partition] != nil { body(partition) }
            return PartitionResult(partition: partition, offset: nil, error: failure)
        }
    }

    func commit(_ offsets: [PartitionOffset], timeoutMilliseconds: Int32) throws(KafkaError) {
        do {
            try store(offsets, timeout: Int(timeoutMilliseconds))
        } catch {
            throw world.wrong == .everyCommitErrorIsLoss ? KafkaError(code: .unknownMember) : error
        }
    }

    private func store(_ offsets: [PartitionOffset], timeout: Int) throws(KafkaError) {
        let codes: [KafkaErrorCode] = [.timedOut, .transport, .notCoordinator, .coordinatorLoadInProgress]
        let error = KafkaError(code: codes[world.plan.number(below: codes.count)])
        if world.commitsPerSuccess > 0 && world.plan.number(below: world.commitsPerSuccess) > 0 { throw error }
        var failure: KafkaError?
        switch course(
            [.crashBefore, .crashAfter, .failBefore, .failBefore, .failAfter, .hang, .slow, .late], timeout: timeout,
            error)
        {
        case .error(let error): throw error
        case .effectThenError(let error): failure = error
        default: break
        }
        world.broker.advance(milliseconds: 2)
        guard let member, let state = world.broker.group.members[member] else {
            throw KafkaError(code: .unknownMember)
        }
        if state.knownGeneration != world.broker.group.generation { throw KafkaError(code: .illegalGeneration) }
        world.broker.commit(offsets)
        if let failure { throw failure }
    }

    func close() throws(KafkaError) {
        guard !life.isDead, let id = member else { return }
        world.closing(self)
        isClosing = true
        if !granted.isEmpty { rebalance(.revoke(granted.sorted())) }
        if instance == nil && !life.isDead { world.broker.group.leave(id) }
        member = nil
        switch course([.crashAfter, .failAfter, .hang], timeout: 20_000, KafkaError(code: .timedOut)) {
        case .error(let error), .effectThenError(let error): throw error
        default: break
        }
    }
}
