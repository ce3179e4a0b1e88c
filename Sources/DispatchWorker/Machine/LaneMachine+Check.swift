internal import KafkaClient

// The parts of the invariants in WorkerReference that one lane can check after every step.
//
// - I1: Only records that were processed are committed.
// - I2: Committed records are not consumed again.
// - I2, I4: Only members of the group own partitions. Otherwise, two workers process the same records, and their
//   decisions are in any order.
// - I5: A transaction holds exactly the offsets of its outputs.
extension LaneMachine {
    /// A description of the violated invariant, or nil.
    ///
    /// Debug builds and the simulation check it after every step of a lane.
    package var violation: String? { detectedViolation ?? partitionViolation ?? transactionViolation ?? groupViolation }

    private var partitionViolation: String? {
        for slot in partitions.slots {
            if let pending = slot.pending, pending > slot.next {
                return "I1: \(slot.partition) would commit an offset after its last record"
            }
            if let pending = slot.pending, let committed = slot.committed, pending.value < committed {
                return "I2: \(slot.partition) would commit \(pending.value), before the committed \(committed)"
            }
            if slot.isStaged && slot.isPaused {
                return "I2: \(slot.partition) has records of a pause, which are consumed again"
            }
            if slot.isStaged && !slot.isStarted { return "I1: \(slot.partition) has outputs without a record" }
            if case .needsSeek = slot.positionState, slot.pending != nil {
                return "I2: \(slot.partition) is repositioned with pending records"
            }
            if case .needsReassign = slot.positionState, slot.pending != nil {
                return "I2: \(slot.partition) is repositioned with pending records"
            }
        }
        return nil
    }

    private var transactionViolation: String? {
        let pending = partitions.pendingOffsets
        switch transaction {
        case .none:
            // I5: an offset without its transaction would be committed with the outputs of the next one.
            for slot in partitions.slots where slot.isStaged || (slot.pending != nil && !slot.isOriginPending) {
                return "I5: \(slot.partition) has pending records without a transaction"
            }
        case .beginning(let staged, _):
            if staged == nil && pending.isEmpty { return "I5: a transaction begins without anything to commit" }
        case .open(let open, .idle):
            if partitions.slots.contains(where: \.isStaged) { return "I5: outputs are staged in an idle transaction" }
            if open.content.records > 0 && pending.isEmpty { return "I5: outputs have no offsets" }
        case .open, .aborting: break
        case .sendingOffsets(_, let offsets, _, _), .committing(_, let offsets, _, _),
            .committingOffsets(_, let offsets, _, _):
            if offsets != pending { return "I5: the transaction holds \(offsets), pending is \(pending)" }
        case .flushing:
            if pending.isEmpty { return "I5: outputs have no offsets" }
        }
        return nil
    }

    private var groupViolation: String? {
        if !isMember && !partitions.isEmpty && group == .left {
            return "I2, I4: partitions are owned outside of the group"
        }
        if case .remaining(let count) = batch, count <= 0 { return "I1: a batch without messages" }
        if case .outside = group, batch != .none { return "I1: records were received outside of the group" }
        if callback == .none, needs.contains(.membership), !partitions.isEmpty {
            return "I2, I4: lost partitions are still owned"
        }
        return nil
    }
}
