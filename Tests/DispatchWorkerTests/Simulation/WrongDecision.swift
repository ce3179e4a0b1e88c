@testable import DispatchWorker
@testable import KafkaClient

/// A wrong decision of an earlier version.
///
/// The simulation applies it to a lane from outside and must detect it.
///
/// Most act on the machine's state between two steps, as if the machine had made the decision. Those about the
/// arguments or results of a call act in the simulated client.
enum WrongDecision: String, CaseIterable {
    /// After one partition was repositioned, all count as current.
    case rewoundClearsAll
    /// After records were dropped, their partitions still count as current.
    case droppedRecordsForgotten
    /// A lane announces its exit only after it has ended.
    case exitAnnouncedLate
    /// Credentials count as refused until the next commit.
    case refusedUntilCommit
    /// The ends of partitions are not read from fetches. The lane waits for end events.
    case endsNotLookedUp
    /// An end that arrives with records is handled before them.
    case endHandledFirst
    /// The position that `from: latest` determines is not committed.
    case originNotCommitted
    /// The logical beginning becomes offset 0 when a partition is assigned again.
    case beginningIsZero
    /// A deleted committed offset means the beginning, regardless of `from`.
    case vanishedMeansBeginning
    /// A stop skips `init_transactions` of a producer that needs it.
    case drainSkipsInitialization
    /// With at-least-once, every failed commit counts as a lost membership.
    case everyCommitErrorIsLoss
    /// Producers are replaced without a delay between them.
    case rotationWithoutPause
    /// A refused dead letter is repeated forever.
    case refusedDeadLetterForever
    /// A batch is processed without a time limit.
    case batchWithoutTime

    /// A partition continues without its witness.
    case witnessNotRead
    /// Records are committed before their partition's witness was read again.
    case committedBeforeWitness
    /// The id of a topic whose witness no longer exists is not fetched.
    case idNotFetched

    /// The control records at the end of a partition are not committed.
    case endNotCommitted
    /// An end that arrives with records is committed before they are processed.
    case endCommittedFirst

    /// After a pause, partitions continue at the position of the client.
    case resumedWithoutRewind
    /// The need for committed offsets remains unmet until they arrive, even if nothing needs them anymore.
    case needOutlivesItsOwner

    /// Applies the decision before a step.
    ///
    /// `isStopping` indicates that a stop was requested.
    func prepare(_ machine: inout LaneMachine, isStopping: Bool, now: UInt64) {
        switch (self, machine.producer, machine.batch) {
        case (.drainSkipsInitialization, .initializing, _) where isStopping:
            machine.producer = .ready(.none, .open(refreshAt: .max))
        case (.batchWithoutTime, _, .remaining):
            // As if the last poll had been just now.
            machine.group = .member(lastPoll: now + 3_600_000_000_000)
        default: break
        }
    }

    /// Applies the decision after a step.
    func apply(to machine: inout LaneMachine, before: LaneMachine, now: UInt64) {
        switch self {
        case .rewoundClearsAll: clearAllWhenOneMoved(&machine, before)
        case .droppedRecordsForgotten: keepPositionStates(&machine, before)
        case .exitAnnouncedLate: if machine.exit != nil { machine.isExitAnnounced = true }
        case .refusedUntilCommit: rememberRefusals(&machine, before)
        case .endHandledFirst:
            guard case .remaining = machine.batch, before.batch == .none else { return }
            for index in machine.partitions.slots.indices { machine.partitions.slots[index].drained = nil }
        case .endNotCommitted:
            for index in machine.partitions.slots.indices { machine.partitions.slots[index].drained = nil }
        case .endCommittedFirst:
            if case .remaining = machine.batch, machine.transaction.open != nil { machine.partitions.moveToEnds() }
        case .originNotCommitted:
            for index in machine.partitions.slots.indices where machine.partitions.slots[index].isOriginPending {
                machine.partitions.slots[index].pending = nil
            }
        case .vanishedMeansBeginning:
            for index in machine.partitions.slots.indices {
                guard case .needsEnd = machine.partitions.slots[index].positionState,
                    before.partitions.slots.indices.contains(index),
                    before.partitions.slots[index].positionState == .stale
                else { continue }
                machine.partitions.slots[index].positionState = .needsSeek(.beginning)
            }
        case .rotationWithoutPause:
            if case .absent = machine.producer { machine.producer = .absent(notBefore: 0) }
            machine.rotationBackoff.reset()
        case .refusedDeadLetterForever:
            for index in machine.isolation.refused.indices { machine.isolation.refused[index].deadLetterRefusals = 0 }
        case .witnessNotRead:
            for index in machine.partitions.slots.indices {
                machine.partitions.slots[index].check = nil
                switch machine.partitions.slots[index].positionState {
                case .verifying, .needsReturn: machine.partitions.slots[index].positionState = .current
                default: break
                }
            }
        case .committedBeforeWitness:
            for index in machine.partitions.slots.indices {
                guard case .needsReturn = machine.partitions.slots[index].positionState else { continue }
                machine.partitions.slots[index].positionState = .current
                machine.partitions.slots[index].check?.proven = NextOffset(reported: .max)
            }
        case .idNotFetched:
            for index in machine.partitions.slots.indices
            where machine.partitions.slots[index].positionState == .unidentified {
                machine.partitions.slots[index].check?.witness.topicID = nil
                machine.partitions.slots[index].positionState = .needsReturn
            }
        case .resumedWithoutRewind: keepPositionsAfterPause(&machine, before)
        case .batchWithoutTime:
            if case .member(let lastPoll) = machine.group, lastPoll > now { machine.group = .member(lastPoll: now) }
        case .endsNotLookedUp, .beginningIsZero, .everyCommitErrorIsLoss, .drainSkipsInitialization,
            .needOutlivesItsOwner:
            break
        }
    }

    private func clearAllWhenOneMoved(_ machine: inout LaneMachine, _ before: LaneMachine) {
        guard machine.partitions.slots.count == before.partitions.slots.count else { return }
        let hasMoved = machine.partitions.slots.indices.contains { index in
            switch before.partitions.slots[index].positionState {
            case .needsSeek, .needsReassign: machine.partitions.slots[index].positionState == .current
            default: false
            }
        }
        guard hasMoved else { return }
        for index in machine.partitions.slots.indices { machine.partitions.slots[index].positionState = .current }
    }

    private func keepPositionStates(_ machine: inout LaneMachine, _ before: LaneMachine) {
        guard machine.counters.aborted == before.counters.aborted, machine.producer == before.producer else { return }
        for slot in before.partitions.slots where slot.positionState == .current {
            guard let index = machine.partitions.slots.firstIndex(where: { $0.partition == slot.partition }),
                machine.partitions.slots[index].positionState == .stale
            else { continue }
            machine.partitions.slots[index].positionState = .current
        }
    }

    private func keepPositionsAfterPause(_ machine: inout LaneMachine, _ before: LaneMachine) {
        for slot in before.partitions.slots where slot.isPaused && slot.positionState == .current {
            guard let index = machine.partitions.slots.firstIndex(where: { $0.partition == slot.partition }),
                !machine.partitions.slots[index].isPaused, machine.partitions.slots[index].positionState == .stale
            else { continue }
            machine.partitions.slots[index].positionState = .current
        }
    }

    private func rememberRefusals(_ machine: inout LaneMachine, _ before: LaneMachine) {
        guard case .refused(let since, _) = before.credentials,
            machine.counters.committed == before.counters.committed
        else { return }
        switch machine.credentials {
        case .accepted: machine.credentials = before.credentials
        case .refused(_, let last):
            machine.credentials = .refused(since: since, last: last)
            if last - since >= 30_000_000_000 {
                machine.end(WorkerExit(.denied, "authentication failed", advice: ""))
            }
        }
    }
}
