import DispatchWorker
import KafkaClient

/// A decision that was wrong once: put back into a lane from outside, it must be found by the simulation.
///
/// Most act on the machine's state between two steps, as if the machine had decided so; those about a call's arguments
/// or answers act in the simulated client.
enum WrongDecision: String, CaseIterable {
    /// One partition was put back to its place, so all are thought to be.
    case rewoundClearsAll
    /// Records are thrown away, and their partitions are thought to be in place.
    case droppedRecordsForgotten
    /// A lane that must end tells so when it has ended.
    case doomToldLate
    /// Credentials count as refused until the next commit.
    case refusedUntilCommit
    /// Where partitions end is not looked up: the lane waits to be told.
    case endsNotLookedUp
    /// An end that comes with records is heard before them.
    case endHeardFirst
    /// The place that `from: latest` has chosen is not committed.
    case originNotCommitted
    /// "The beginning" becomes offset 0 when a partition is assigned anew.
    case beginningIsZero
    /// A committed offset that is gone means the beginning, whatever `from` says.
    case vanishedMeansBeginning
    /// A stop skips `init_transactions` of a producer that waits for it.
    case drainSkipsInitialisation
    /// At least once, every failed commit counts as a lost membership.
    case everyCommitErrorIsLoss
    /// Producers are replaced without a pause between them.
    case rotationWithoutPause
    /// A dead letter that is refused is tried again for ever.
    case refusedDeadLetterForever
    /// A batch goes on however long it takes.
    case batchWithoutTime

    /// Committed offsets that were asked for in vain count as lacking until they are told, whoever still asks.
    case needOutlivesItsOwner

    /// Puts the decision back before a step; `isStopping` tells that a stop is asked for.
    func prepare(_ machine: inout LaneMachine, isStopping: Bool, now: UInt64) {
        switch (self, machine.producer, machine.batch) {
        case (.drainSkipsInitialisation, .initializing, _) where isStopping:
            machine.producer = .ready(.none, .open(since: 0))
        case (.batchWithoutTime, _, .left):
            // As if the group had been served just now, whatever the time.
            machine.group = .member(lastPoll: now + 3_600_000_000_000)
        default: break
        }
    }

    /// Puts the decision back after a step.
    func apply(to machine: inout LaneMachine, before: LaneMachine, now: UInt64) {
        switch self {
        case .rewoundClearsAll: clearAllWhenOneMoved(&machine, before)
        case .droppedRecordsForgotten: keepPlaces(&machine, before)
        case .doomToldLate: if machine.fate != nil { machine.isFateTold = true }
        case .refusedUntilCommit: rememberRefusals(&machine, before)
        case .endHeardFirst:
            guard case .left = machine.batch, before.batch == .none else { return }
            for index in machine.partitions.slots.indices { machine.partitions.slots[index].drained = nil }
        case .originNotCommitted:
            for index in machine.partitions.slots.indices where machine.partitions.slots[index].isOriginPending {
                machine.partitions.slots[index].pending = nil
            }
        case .vanishedMeansBeginning:
            for index in machine.partitions.slots.indices {
                guard case .endless = machine.partitions.slots[index].place,
                    before.partitions.slots.indices.contains(index), before.partitions.slots[index].place == .stale
                else { continue }
                machine.partitions.slots[index].place = .located(.beginning)
            }
        case .rotationWithoutPause:
            if case .absent = machine.producer { machine.producer = .absent(notBefore: 0) }
            machine.rotationBackoff.reset()
        case .refusedDeadLetterForever:
            for index in machine.isolation.refused.indices { machine.isolation.refused[index].deadLetterRefusals = 0 }
        case .batchWithoutTime:
            if case .member(let lastPoll) = machine.group, lastPoll > now { machine.group = .member(lastPoll: now) }
        case .endsNotLookedUp, .beginningIsZero, .everyCommitErrorIsLoss, .drainSkipsInitialisation,
            .needOutlivesItsOwner:
            break
        }
    }

    private func clearAllWhenOneMoved(_ machine: inout LaneMachine, _ before: LaneMachine) {
        guard machine.partitions.slots.count == before.partitions.slots.count else { return }
        let hasMoved = machine.partitions.slots.indices.contains { index in
            switch before.partitions.slots[index].place {
            case .located, .unmoved: machine.partitions.slots[index].place == .current
            default: false
            }
        }
        guard hasMoved else { return }
        for index in machine.partitions.slots.indices { machine.partitions.slots[index].place = .current }
    }

    private func keepPlaces(_ machine: inout LaneMachine, _ before: LaneMachine) {
        guard machine.counters.aborted == before.counters.aborted, machine.producer == before.producer else { return }
        for slot in before.partitions.slots where slot.place == .current {
            guard let index = machine.partitions.slots.firstIndex(where: { $0.partition == slot.partition }),
                machine.partitions.slots[index].place == .stale
            else { continue }
            machine.partitions.slots[index].place = .current
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
