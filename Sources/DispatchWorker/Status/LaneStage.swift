internal import KafkaClient

/// The stage of a lane, for people who operate the worker.
package enum LaneStage: String, Sendable, CaseIterable {
    /// The lane has no producer.
    case starting
    /// The producer is being initialized, which ends the open transaction of a predecessor.
    case initializing
    /// The output and dead-letter topics are being opened.
    case opening
    /// The lane waits for an assignment of the group.
    case joining
    /// At least one partition is being moved to its committed offset.
    case positioning
    /// No records wait.
    case idle
    /// Records are being processed.
    case working
    /// The transaction is being committed.
    case committing
    /// The transaction is being aborted.
    case aborting
    /// Consumption is paused.
    case paused
    /// The lane finishes its work and leaves.
    case draining
    /// The lane has ended.
    case ended
}

extension LaneMachine {
    /// The stage of the lane.
    package var stage: LaneStage {
        let isLeaving = isDraining || exit != nil || group == .left
        switch producer {
        case .absent where isLeaving && !isMember: return .ended
        case .ready(.sendingOffsets, _), .ready(.committing, _), .ready(.flushing, _), .ready(.committingOffsets, _):
            return .committing
        case .ready(.aborting, _): return .aborting
        case _ where isLeaving: return .draining
        case .absent, .retiring: return .starting
        case .initializing: return .initializing
        case .ready(_, .unopened): return .opening
        case .ready(let transaction, _): return stage(in: transaction)
        }
    }

    private func stage(in transaction: Transaction) -> LaneStage {
        guard isMember, !partitions.isEmpty || isReady, !unanswered.contains(.membership) else { return .joining }
        if isPaused { return .paused }
        if partitions.slots.contains(where: { $0.positionState != .current }) { return .positioning }
        return transaction == .none && batch == .none ? .idle : .working
    }

    /// The call that the lane makes or repeats next, or nil while it polls and processes.
    package var waitsFor: LaneCall? {
        switch producer {
        case .absent, .retiring: return exit == nil ? .makeProducer : nil
        case .initializing: return .initTransactions
        case .ready(.sendingOffsets, _): return .sendOffsets
        case .ready(.committing, _): return .commit
        case .ready(.flushing, _): return .flush
        case .ready(.committingOffsets, _): return .commitOffsets
        case .ready(.aborting, _): return .abort
        case .ready(.beginning, _): return .begin
        case .ready(_, .unopened): return .openTopics
        case .ready: break
        }
        if case .outside = group { return .subscribe }
        for slot in partitions.slots {
            switch slot.positionState {
            case .current: continue
            case .stale: return .fetchCommitted
            case .needsEnd, .outOfRange: return .findEnds
            case .needsSeek: return .seek
            case .needsReassign: return .reassign
            }
        }
        return nil
    }
}
