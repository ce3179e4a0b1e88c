@testable import DispatchWorker
@testable import KafkaClient
import TestSupport

// The input is deleted and created again.
extension SimulatedWorld {
    /// Runs until every partition's committed witness has the topic's id.
    func learnIDs() {
        for _ in 0..<4_000 where broken == nil && !knowsIDs {
            if generator.next() % 8 == 0 { produce(1) { "i\($0)" } }
            runSteps(1)
        }
    }

    /// A Boolean value that indicates whether every partition's committed witness has the topic's id, and whether every
    /// owner knows it.
    private var knowsIDs: Bool {
        let isKnown = processes.allSatisfy { process in
            process.lane?.machine.partitions.slots.allSatisfy { slot in
                slot.witness?.topicID == broker.inputID && slot.check == nil && slot.positionState == .current
            } ?? true
        }
        // The committed texts are read last, because this is asked after each step.
        return isKnown
            && broker.group.partitions.allSatisfy { partition in
                guard let offset = broker.committed[partition], let text = broker.metadata[partition] else {
                    return false
                }
                return Witness(text, before: NextOffset(reported: offset))?.topicID == broker.inputID
            }
    }

    /// Deletes the input and creates it again with fewer records, as many, or more, while each lane is stopped for
    /// longer than a second, loses its connections, or is refused by the partitions' leaders.
    func recreate(_ round: Int, _ random: inout SeededGenerator) {
        let keepsOffset = Bool.random(using: &random)
        // Only the id tells of a new, compacted topic that has no record at the offset of the witness.
        let isCompacted = knowsIDs && Bool.random(using: &random)
        broker.renewInputID()
        for partition in broker.group.partitions {
            let committed = broker.committed[partition]
            let before = Int(broker.logs[partition]?.end ?? 0)
            let count = max(0, before + [-before, -5, -1, 0, 1, 20].randomElement(using: &random)!)
            broker.recreate(partition, keepsOffset: keepsOffset)
            for index in 0..<count {
                broker.logs[partition]?.append(
                    SimulatedEntry(
                        state: .committed, key: Array("d-\(index % 7)".utf8), value: Array("g\(round)-\(index)".utf8),
                        timestamp: 1_000, writtenAt: broker.now))
            }
            guard isCompacted else { continue }
            if let committed { broker.logs[partition]?.compact(at: committed - 1) }
            for slot in processes.flatMap({ $0.lane?.machine.partitions.slots ?? [] }) where slot.partition == partition
            {
                if let witness = slot.witness { broker.logs[partition]?.compact(at: witness.offset) }
            }
        }
        for index in processes.indices {
            let consumer = processes[index].environment?.consumer
            switch Int.random(in: 0..<3, using: &random) {
            case 0: processes[index].pausedUntil = broker.now + 2_000_000_000
            case 1: consumer?.interruptions.isConnectionLost = true
            default: consumer?.interruptions.refused.formUnion(broker.group.partitions)
            }
        }
    }
}
