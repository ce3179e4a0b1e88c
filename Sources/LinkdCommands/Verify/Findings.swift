/// A position in a topic.
package struct TopicPlace: Sendable, Hashable, CustomStringConvertible {
    /// The topic.
    package var topic: String
    /// The partition.
    package var partition: Int32
    /// The offset.
    package var offset: Int64

    /// Creates a position.
    package init(_ topic: String, _ partition: Int32, _ offset: Int64) {
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
    }

    /// The position as `inspect` prints it.
    package var description: String { "\(topic)-\(partition)-\(offset)" }
}

/// A kind of harm that topics can show, in the order of the report.
package enum Harm: String, Sendable, CaseIterable {
    /// A record below the committed offset, or an item of one, has no decision and no dead letter.
    case lost
    /// Retention has removed records that the group had not read.
    case expired
    /// A decision or a dead letter was published again.
    case doubled
    /// A record has decisions and a dead letter.
    case contradicted
    /// A record has a decision for a device, and none for one before it.
    case missingIndex = "missing_index"
    /// A decision comes after one of a later record of the same partition.
    case disordered
    /// The key of a decision is not its device.
    case wrongKey = "wrong_key"
    /// A decision is not in the partition of its key.
    case wrongPartition = "wrong_partition"
    /// A decision is not in the topic of its application.
    case wrongTopic = "wrong_topic"
    /// The record or the item that a decision or dead letter names does not exist.
    case noRecord = "no_record"
    /// A record of the output is not a decision.
    case notADecision = "not_a_decision"
    /// A record at or beyond the committed offset has a decision or a dead letter.
    case beyondCommit = "beyond_commit"
    /// The committed offset is beyond the end of the input.
    case offsetBeyondEnd = "offset_beyond_end"
    /// A transaction did not end within the time limit of a worker's transactions.
    case openTransaction = "open_transaction"
}

/// A cause why topics do not show whether a record was harmed.
package enum Doubt: String, Sendable, CaseIterable {
    /// The records have no outcome, and the topic that could have had it is not read from its first record on.
    case removed
    /// The records have an outcome, and the input is compacted and has them no more.
    case compacted
    /// A transaction that did not end can hide the outcomes of the records.
    case hidden
    /// Retention has removed one offset that the group had not read, which can be a control record.
    case controlRecord = "control_record"
    /// The group has no committed offset, and the records have an outcome, or no record has an offset.
    case noOffset = "no_offset"
    /// The partitions of the output are so uneven, or the records with several messages so many, that the outcomes of
    /// these records were not kept until the end.
    case uneven
    /// Decisions are not in the partitions of their keys, which is right if the topic had fewer partitions before.
    case fewerPartitions = "fewer_partitions"

    /// The records, as the end of a noun phrase.
    var text: String {
        switch self {
        case .removed:
            "without an outcome, which can have been removed, because the output or the dead letters are compacted or "
                + "have lost their first records to retention"
        case .compacted: "with an outcome, which the compacted input does not have any more"
        case .hidden: "without an outcome, which can be hidden by the transaction that did not end"
        case .controlRecord:
            "at the committed offset and removed by retention, which can be the control record of a transaction"
        case .noOffset: "without a committed offset, which can have expired"
        case .uneven:
            "whose decisions for several devices or messages are too many or too far apart to check that none is "
                + "missing"
        case .fewerPartitions:
            "in a partition to which its key does not belong, which is right if the output had fewer partitions when "
                + "the worker was started"
        }
    }
}

/// The places of one kind of harm or doubt.
package struct Occurrences: Sendable, Equatable {
    /// The number of places.
    package fileprivate(set) var count: Int64 = 0
    /// The place that was found first, or nil.
    package fileprivate(set) var first: Occurrence?
}

/// The first place of one kind of harm or doubt.
package struct Occurrence: Sendable, Equatable {
    /// The position of the record that shows it, or of the record that misses something.
    package var place: TopicPlace
    /// The contradiction, in words that begin with the place.
    package var text: String
}

/// The result of a check of topics.
package struct Findings: Sendable, Equatable {
    /// The number of records of the inputs that were checked.
    package internal(set) var records: Int64 = 0
    /// The number of records of the inputs after those that were checked.
    package internal(set) var waiting: Int64 = 0
    /// The number of decisions of the inputs, without corrections.
    package internal(set) var decisions: Int64 = 0
    /// The number of dead letters of the inputs.
    package internal(set) var deadLetters: Int64 = 0
    /// The number of corrections, which are not checked.
    package internal(set) var corrections: Int64 = 0
    /// The number of null records in the outputs, which erase decisions in a compacted topic.
    package internal(set) var erasures: Int64 = 0
    /// The number of decisions and dead letters of other inputs, and of dead letters of other groups, which are not
    /// checked.
    package internal(set) var others: Int64 = 0
    /// The number of repeated or disordered outcomes that the guarantee `at-least-once` allows.
    package internal(set) var repeats: Int64 = 0
    /// The contradictions.
    package private(set) var harms: [Harm: Occurrences] = [:]
    /// The records about which topics do not show enough.
    package private(set) var doubts: [Doubt: Occurrences] = [:]

    /// The harm to report first, or nil.
    package var firstHarm: (harm: Harm, found: Occurrence)? {
        for harm in Harm.allCases {
            if let found = harms[harm]?.first { return (harm, found) }
        }
        return nil
    }

    mutating func add(_ harm: Harm, _ place: TopicPlace, count: Int64 = 1, _ text: @autoclosure () -> String) {
        Self.add(&harms[harm, default: Occurrences()], place, count, text)
    }

    mutating func add(_ doubt: Doubt, _ place: TopicPlace, count: Int64 = 1) {
        Self.add(&doubts[doubt, default: Occurrences()], place, count) { "\(place)" }
    }

    private static func add(_ list: inout Occurrences, _ place: TopicPlace, _ count: Int64, _ text: () -> String) {
        if list.first == nil { list.first = Occurrence(place: place, text: text()) }
        list.count += count
    }
}
