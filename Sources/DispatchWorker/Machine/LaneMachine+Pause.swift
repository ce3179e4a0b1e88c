package import KafkaClient

// Pauses: a paused lane commits its work, keeps its partitions, and reads nothing.
extension LaneMachine {
    /// The time in nanoseconds after which a failed call to pause or resume is repeated, and between two requests for
    /// the end of a paused partition.
    private static var pauseRetryNanoseconds: UInt64 { 1_000_000_000 }

    /// Requests that no records are consumed, or that they are consumed again.
    package mutating func pause(_ isRequested: Bool) { isPauseRequested = isRequested }

    /// A Boolean value that indicates whether a pause was requested and the lane has no work in progress.
    package var isPaused: Bool {
        isPauseRequested && transaction == .none && batch == .none && partitions.slots.allSatisfy(\.isPaused)
    }

    /// Commits the work in progress and pauses all partitions, or resumes them.
    ///
    /// A stop does not wait for either.
    mutating func pauseStep(_ now: UInt64) -> Step {
        if isDraining { return .pass }
        if !isPauseRequested { return resumeStep(now) }
        if case .remaining = batch {
            dropBatch()
            return .again
        }
        if case .open = transaction {
            startCommit(now)
            return .again
        }
        let running = partitions.slots.filter { !$0.isPaused }.map(\.partition)
        if !running.isEmpty { return now >= pauseRetryAt ? .act(.pause(running)) : .pass }
        if isReady && !isPauseReported {
            isPauseReported = true
            notes.append(.paused(partitions: partitions.slots.count))
        }
        return endRequest(now).map { .act(.findEnds($0)) } ?? .pass
    }

    private mutating func resumeStep(_ now: UInt64) -> Step {
        let paused = partitions.slots.filter(\.isPaused).map(\.partition)
        if !paused.isEmpty { return now >= pauseRetryAt ? .act(.resume(paused)) : .pass }
        if isPauseReported {
            isPauseReported = false
            notes.append(.resumed)
        }
        return .pass
    }

    /// Returns the next partition whose end is fetched for the lag, or nil if none is due.
    ///
    /// The statistics of a paused partition do not change.
    private mutating func endRequest(_ now: UInt64) -> TopicPartition? {
        let slots = partitions.slots.filter { $0.positionState == .current }
        guard !slots.isEmpty, now >= endRequestAt else { return nil }
        endRequestAt = now + Self.pauseRetryNanoseconds
        endRequests &+= 1
        return slots[endRequests % slots.count].partition
    }

    /// Records that partitions were paused, except those in `failed`.
    package mutating func pauseFinished(_ paused: [TopicPartition], failed: [PartitionResult], now: UInt64) {
        finish(.pause, paused, failed, now) { slot in slot.isPaused = true }
    }

    /// Records that partitions were resumed, except those in `failed`.
    ///
    /// The position at which the client continues is not used, because a batch that was fetched before the pause may be
    /// lost.
    package mutating func resumeFinished(_ resumed: [TopicPartition], failed: [PartitionResult], now: UInt64) {
        finish(.resume, resumed, failed, now) { slot in
            slot.isPaused = false
            if slot.positionState == .current { slot.positionState = .stale }
        }
    }

    private mutating func finish(
        _ call: LaneCall, _ names: [TopicPartition], _ failed: [PartitionResult], _ now: UInt64,
        _ change: (inout OwnedPartition) -> Void
    ) {
        if let error = failed.compactMap(\.error).first {
            notes.append(.failed(call, error))
            pauseRetryAt = now + Self.pauseRetryNanoseconds
        }
        for index in partitions.slots.indices {
            let name = partitions.slots[index].partition
            guard names.contains(name), !failed.contains(where: { $0.partition == name }) else { continue }
            change(&partitions.slots[index])
        }
    }
}
