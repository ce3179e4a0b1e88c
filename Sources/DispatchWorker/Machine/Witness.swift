package import ByteStorage
internal import KafkaClient

/// The last decided record of a partition, by which a topic that was deleted and created again is recognized.
///
/// Two topics of the same name look alike to a client: the offsets of the old one are valid in the new one. Each commit
/// therefore stores a witness as the metadata of its offset. A partition continues only after the record at the
/// witness's offset was read again and is the same.
package struct Witness: Sendable, Equatable {
    /// The record's offset.
    package let offset: Int64
    /// The record's timestamp in milliseconds since 1970, or -1 if it has none.
    package let timestamp: Int64
    /// A hash of the record's key and value.
    package let hash: UInt64
    /// The id of the record's topic, or nil if it is unknown.
    ///
    /// It decides only if the record no longer exists.
    package var topicID: String?

    /// The first word of the text without an id, with the version of its form.
    private static let form = "linkd1"
    /// The first word of the text with an id.
    private static let identifiedForm = "linkd2"
    /// The first word of a text that repeats the committed offset before one of the other forms.
    ///
    /// Control records or gaps are between the record and the offset.
    private static let distantForm = "linkd3"
    /// The maximum size of a text in bytes.
    private static let maxBytes = 128

    /// Creates the witness of a record.
    package init(_ record: ConsumedRecord, topicID: String? = nil) {
        offset = record.offset
        timestamp = record.timestamp
        hash = Self.hash(record.key, record.value)
        self.topicID = topicID
    }

    /// Parses the metadata of a committed offset.
    ///
    /// Returns nil for the metadata of an older version or of another program. This includes a witness that belongs to
    /// another offset, because programs that copy or move offsets may keep the metadata.
    package init?(_ text: String, before committed: NextOffset) {
        guard text.utf8.count <= Self.maxBytes else { return nil }
        var words = text.split(separator: " ", omittingEmptySubsequences: false)
        let isDistant = words.count > 2 && words[0] == Self.distantForm && Int64(words[1]) == committed.value
        if isDistant { words.removeFirst(2) }
        let isIdentified = words.first.map { $0 == Self.identifiedForm } ?? false
        guard words.count == (isIdentified ? 5 : 4), isIdentified || words[0] == Self.form,
            let offset = Int64(words[1]), offset >= 0, offset < committed.value,
            isDistant || offset == committed.value - 1, let timestamp = Int64(words[2]), words[3].utf8.count == 16,
            let hash = UInt64(words[3], radix: 16), words.last != ""
        else { return nil }
        self.offset = offset
        self.timestamp = timestamp
        self.hash = hash
        if isIdentified { topicID = String(words[4]) }
    }

    /// Returns the metadata of a committed offset after the record.
    package func text(before committed: NextOffset) -> String {
        committed.value == offset + 1 ? text : "\(Self.distantForm) \(committed.value) \(text)"
    }

    /// The metadata of the offset directly after the record.
    package var text: String {
        let record = "\(offset) \(timestamp) \(hash.hexadecimal(digits: 16))"
        return topicID.map { "\(Self.identifiedForm) \(record) \($0)" } ?? "\(Self.form) \(record)"
    }

    /// Returns a Boolean value that indicates whether both are witnesses of one record, even if the ids of their topics
    /// differ.
    package func isOfSameRecord(as other: Witness) -> Bool {
        offset == other.offset && timestamp == other.timestamp && hash == other.hash
    }

    /// Returns a hash that every version of this program computes in the same way.
    private static func hash(_ key: ByteView?, _ value: ByteView?) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for bytes in [key, value] {
            // A missing value differs from an empty one.
            mix(bytes.map { UInt64($0.count) } ?? .max, into: &hash)
            guard let bytes, !bytes.isEmpty else { continue }
            let raw = UnsafeRawBufferPointer(start: bytes.start, count: bytes.count)
            var index = 0
            while index &+ 8 <= raw.count {
                mix(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)), into: &hash)
                index &+= 8
            }
            var rest: UInt64 = 0
            while index < raw.count {
                rest = rest << 8 | UInt64(raw[index])
                index &+= 1
            }
            mix(rest, into: &hash)
        }
        return hash
    }

    /// One step of FNV-1a with words instead of bytes.
    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0x0000_0100_0000_01b3
        hash ^= hash >> 32
    }
}

/// The check whether a witness is still in its partition.
package struct WitnessCheck: Sendable, Equatable {
    /// The record that must be read again.
    package var witness: Witness
    /// The offset up to which records are known to come from the topic of the witness, so that they can be committed.
    package var proven = NextOffset.zero
    /// A Boolean value that indicates whether the topic may have been created again after the consumer was moved to the
    /// witness.
    package var isDoubtedAgain = false
    /// The finding instead of the witness, or nil.
    ///
    /// Only a finding after another seek counts.
    package var finding: WitnessFinding?
    /// A Boolean value that indicates whether the topic still has the id of the witness, although the record of the
    /// witness no longer exists.
    package var isIdentified = false
    /// The id that the topic had before the consumer was moved to the witness, or nil if it was not fetched.
    package var topicID: String?

    /// Creates a check that has not begun.
    package init(_ witness: Witness) { self.witness = witness }
}

/// A finding instead of a witness.
package enum WitnessFinding: Sendable, Equatable {
    /// Another record at the offset, with this timestamp.
    case different(timestamp: Int64)
    /// No record at the offset, but later ones or control records.
    case missing
    /// The partition ends before the offset or at it.
    case end(Int64)
    /// No record at the offset, and a topic with this id.
    case otherTopic(id: String)
}

/// A witness, and what was found instead.
package struct WitnessContradiction: Sendable, Equatable, CustomStringConvertible {
    /// The last decided record.
    package var witness: Witness
    package var finding: WitnessFinding

    /// The expected record, and what was found.
    package var description: String {
        let found =
            switch finding {
            case .different(witness.timestamp): "found another key or value"
            case .different(let timestamp): "found a record with timestamp \(timestamp)"
            case .missing: "found no record there"
            case .end(let end): "the partition ends at \(end)"
            case .otherTopic(let id): "found the topic id \(id) in place of \(witness.topicID ?? "another")"
            }
        return "expected the last decided record at offset \(witness.offset), with timestamp \(witness.timestamp); "
            + found
    }
}

// The witnesses of the partitions, and their checks.
extension OwnedPartitions {
    /// A Boolean value that indicates whether pending offsets must wait until it is known that their records come from
    /// the topic of the witness.
    package var isUnproven: Bool {
        slots.contains { slot in
            guard let check = slot.check, let pending = slot.pending else { return false }
            return pending > check.proven
        }
    }

    /// Takes the witnesses of the newest accepted records of a batch.
    package mutating func takeWitnesses(from records: UnsafeBufferPointer<ConsumedRecord>) {
        for index in slots.indices where slots[index].newest >= 0 {
            let newest = Int(slots[index].newest)
            slots[index].newest = -1
            guard newest < records.count else { continue }
            slots[index].witness = Witness(records[newest], topicID: slots[index].witness?.topicID)
        }
    }

    /// Requires the witnesses of these partitions, or of all, to be read again.
    ///
    /// A partition without a witness has nothing to compare. Its consumer returns to the next offset, because only then
    /// it reports the end of the partition again.
    mutating func doubt(_ isAffected: (TopicPartition) -> Bool) {
        for index in slots.indices where isAffected(slots[index].partition) {
            let wasDrained = slots[index].drained != nil
            // It may be the end of another topic.
            slots[index].drained = nil
            switch slots[index].positionState {
            case .current:
                guard let witness = slots[index].witness else {
                    if wasDrained { slots[index].positionState = .needsReturn }
                    continue
                }
                // An earlier check that is not finished has the older witness.
                if slots[index].check == nil { slots[index].check = WitnessCheck(witness) }
                slots[index].positionState = .needsReturn
            case .verifying:
                slots[index].check?.isDoubtedAgain = true
                slots[index].forgetIDs()
            case .needsReturn, .outOfRange:
                // Without a check, retention has removed the witness, and the topic's id was the same.
                if slots[index].positionState == .needsReturn, slots[index].check == nil {
                    slots[index].check = slots[index].witness.map { WitnessCheck($0) }
                }
                slots[index].forgetIDs()
            case .needsReassign(let start, _, _):
                slots[index].forgetIDs()
                if start.witness == nil, start.next == slots[index].next, let witness = slots[index].witness {
                    slots[index].check = WitnessCheck(witness)
                    slots[index].positionState = .needsReturn
                }
            default: continue
            }
        }
    }

    /// Compares the first records of partitions with their witnesses.
    ///
    /// Returns the partitions whose witness is unknown.
    mutating func verify(
        _ records: UnsafeBufferPointer<ConsumedRecord>, isCompacted: (TopicPartition) -> Bool
    ) -> [PartitionOffset] {
        var unknown: [PartitionOffset] = []
        guard slots.contains(where: { $0.positionState == .verifying }) else { return unknown }
        for record in records {
            guard let index = slot(topic: record.topic, partition: record.partition),
                slots[index].positionState == .verifying, let check = slots[index].check,
                record.offset >= check.witness.offset
            else { continue }
            if record.offset > check.witness.offset {
                if let missing = found(.missing, index, isCompacted: isCompacted) { unknown.append(missing) }
            } else if Witness(record).isOfSameRecord(as: check.witness) {
                verified(index, check)
            } else {
                _ = found(.different(timestamp: record.timestamp), index, isCompacted: isCompacted)
            }
        }
        return unknown
    }

    /// Handles the end of a partition that comes before its witness.
    ///
    /// Returns the partition if its witness is unknown.
    mutating func verifyEnd(_ event: ConsumerEvent, isCompacted: (TopicPartition) -> Bool) -> PartitionOffset? {
        guard let index = slot(topic: event.topic, partition: event.partition),
            slots[index].positionState == .verifying, let check = slots[index].check
        else { return nil }
        let finding: WitnessFinding = event.offset > check.witness.offset ? .missing : .end(event.offset)
        return found(finding, index, isCompacted: isCompacted)
    }

    private mutating func verified(_ index: Int, _ check: WitnessCheck) {
        let next = slots[index].next
        slots[index].positionState = .current
        slots[index].rereadBelow = next.value
        slots[index].check = nil
        // A topic that was restored has the same records and another id. The id counts when the topic still has it.
        slots[index].earlierTopicID = check.topicID ?? check.witness.topicID ?? slots[index].earlierTopicID
        slots[index].witness?.topicID = nil
        guard check.isDoubtedAgain else { return }
        // Everything before this check is proven. What this poll returned after the witness is not.
        var again = WitnessCheck(slots[index].witness ?? check.witness)
        again.proven = next
        slots[index].check = again
    }

    private mutating func found(
        _ finding: WitnessFinding, _ index: Int, isCompacted: (TopicPartition) -> Bool
    ) -> PartitionOffset? {
        guard let check = slots[index].check else { return nil }
        if finding == .missing && isCompacted(slots[index].partition) { return missing(index, check) }
        contradict(index, finding)
        return nil
    }

    /// Handles a witness that compaction has removed.
    ///
    /// Returns the partition if its witness is unknown and must be reported.
    private mutating func missing(_ index: Int, _ check: WitnessCheck) -> PartitionOffset? {
        if asksForID(index, check) { return nil }
        slots[index].positionState = .current
        slots[index].rereadBelow = slots[index].next.value
        return endUnread(index, check)
    }

    /// Returns a Boolean value that indicates whether the topic's id must be fetched because the witness no longer
    /// exists.
    mutating func asksForID(_ index: Int, _ check: WitnessCheck) -> Bool {
        guard hasTopicIDs, check.witness.topicID != nil, !check.isIdentified else { return false }
        slots[index].positionState = .unidentified
        return true
    }

    /// Ends a check whose witness no longer exists.
    ///
    /// Returns the partition if it is not known whether its topic is the same, and if this must be reported.
    mutating func endUnread(_ index: Int, _ check: WitnessCheck) -> PartitionOffset? {
        slots[index].check = nil
        if check.isIdentified { return nil }
        slots[index].earlierTopicID = nil
        slots[index].witness?.topicID = nil
        // A check that was only for the id has no reason to doubt the topic.
        return check.topicID == nil ? PartitionOffset(slots[index].partition, offset: check.witness.offset) : nil
    }

    /// Records a finding instead of the witness, which counts if it is not the first one.
    private mutating func contradict(_ index: Int, _ finding: WitnessFinding) {
        let isFirst = slots[index].check?.finding == nil
        slots[index].positionState = isFirst ? .needsReturn : .contradicted(retryAt: 0)
        slots[index].check?.finding = finding
    }

    /// Handles the id of a partition's topic, or nil if it is unknown.
    ///
    /// Either the witness no longer exists, and the id says whether the topic is still the same. Or the id of the
    /// witness's topic is unknown: it is the one that the topic has before and after the witness was read.
    mutating func identified(_ index: Int, _ id: String?) {
        switch slots[index].positionState {
        case .unidentified:
            guard let id, let expected = slots[index].check?.witness.topicID else {
                slots[index].check?.witness.topicID = nil
                slots[index].positionState = .needsReturn
                return
            }
            if id != expected {
                contradict(index, .otherTopic(id: id))
                return
            }
            // The consumer returns to the witness, because the id is older than what it has fetched since.
            slots[index].check?.isIdentified = true
            slots[index].positionState = .needsReturn
        case .current:
            guard slots[index].needsTopicID, let id, let witness = slots[index].witness else { return }
            if slots[index].earlierTopicID == id {
                slots[index].witness?.topicID = id
            } else {
                slots[index].check = WitnessCheck(witness)
                slots[index].check?.topicID = id
                slots[index].positionState = .needsReturn
            }
            slots[index].earlierTopicID = nil
        default: return
        }
    }
}

extension OwnedPartition {
    /// A Boolean value that indicates whether the id of the witness's topic is unknown.
    var needsTopicID: Bool {
        guard positionState == .current, check == nil, let witness else { return false }
        return witness.topicID == nil
    }

    /// Forgets what the check knows by ids, because the topic may have been created again.
    fileprivate mutating func forgetIDs() {
        check?.isIdentified = false
        check?.topicID = nil
    }
}
