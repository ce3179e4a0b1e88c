internal import ByteStorage
internal import KafkaClient
internal import LinkDecider

/// A check of a decision by itself: its text, its key, and its topic.
///
/// The topic of a decision depends on its members `application` and `table` alone (`OutputTopics`). The applications
/// that a table lists are not known here, so the topic of the first decision of each table counts.
final class OutputCheck {
    /// The limit of tables that are compared.
    private static let tableLimit = 10_000

    private let outputs: OutputTopics
    private var tape = DecisionTape()
    /// The topics of the tables' decisions about events without an application.
    private var tables: [[UInt8]: Int] = [:]

    init(_ outputs: OutputTopics) { self.outputs = outputs }

    /// Adds what is wrong with a decision.
    ///
    /// - Parameters:
    ///   - value: The decision.
    ///   - key: The key of its record.
    ///   - topic: The index of the topic in which it is.
    ///   - place: The place of its record.
    ///   - findings: The result.
    func check(_ value: ByteView, key: ByteView?, in topic: Int, _ place: TopicPlace, _ findings: inout Findings) {
        tape.begin(value)
        guard tape.read() else {
            return findings.add(.notADecision, place, "\(place) begins with the id of a decision and is not JSON")
        }
        // The key of a user without devices is the user.
        if let owner = tape.string("device") ?? tape.string("user"), owner != key ?? .empty {
            findings.add(.wrongKey, place, "\(place) has a key that is not the device of its decision")
        }
        if outputs.names.count > 1, let text = fault(in: topic, place) { findings.add(.wrongTopic, place, text) }
    }

    /// Returns what is wrong with the topic of the decision, or nil.
    private func fault(in topic: Int, _ place: TopicPlace) -> String? {
        if let application = tape.string("application") {
            let expected = Int(outputs.index(of: application))
            return expected == topic ? nil : "\(place) is a decision for the topic \(outputs.names[expected])"
        }
        // Without a table, a decision is about a request that opens nothing, or a user without devices.
        guard let table = tape.string("table")?.array else {
            return topic == 0 ? nil : "\(place) is a decision for the topic \(outputs.names[0])"
        }
        if let known = tables[table] {
            if known == topic { return nil }
            return
                "decisions of one table are in \(outputs.names[known]) and in \(outputs.names[topic]), such as \(place)"
        }
        if tables.count < Self.tableLimit { tables[table] = topic }
        return nil
    }
}

/// A check that each decision is in the partition of its key.
///
/// A decision outside of it is right if the topic had fewer partitions when it was written. Then no partition that was
/// added later has a decision about an earlier record of the same partition of the input.
struct PartitionCheck {
    /// A partition of an input, a topic of decisions, and a number of partitions that this topic can have had.
    private struct Case: Hashable {
        let source: Int
        let topic: Int
        let partitions: Int32
    }

    /// The decisions of a case, and the last record that they are about.
    private struct Moved {
        var count: Int64 = 0
        var offset = Int64.min
        var place: TopicPlace
    }

    private var moved: [Case: Moved] = [:]

    /// Takes a decision about a record with an offset.
    ///
    /// Of the numbers of partitions with which it would be right, the greatest contradicts the fewest decisions.
    mutating func check(
        _ key: ByteView, among count: Int32, _ topic: Int, _ place: TopicPlace, source: Int, _ offset: Int64,
        _ findings: inout Findings
    ) {
        guard place.partition < count, Murmur2.partition(of: key, among: count) != place.partition else { return }
        var partitions = count - 1
        while partitions > place.partition, Murmur2.partition(of: key, among: partitions) != place.partition {
            partitions -= 1
        }
        guard partitions > place.partition else { return findings.add(.wrongPartition, place, Self.text(place)) }
        let own = Case(source: source, topic: topic, partitions: partitions)
        var last = moved[own] ?? Moved(place: place)
        last.count += 1
        if offset > last.offset { (last.offset, last.place) = (offset, place) }
        moved[own] = last
    }

    /// Adds the decisions that no earlier number of partitions explains, and those that one can explain.
    ///
    /// - Parameters:
    ///   - findings: The result.
    ///   - canRepeat: A Boolean value that indicates whether a record can be decided again after partitions were added.
    ///   - first: Returns the first record of a source with a decision in a partition of the topic from a number on.
    func finish(
        _ findings: inout Findings, canRepeat: Bool,
        first: (_ source: Int, _ topic: Int, _ partitions: Int32) -> Int64
    ) {
        for (own, moved) in moved.sorted(by: { $0.value.offset < $1.value.offset }) {
            let isWrong = !canRepeat && first(own.source, own.topic, own.partitions) <= moved.offset
            if isWrong { findings.add(.wrongPartition, moved.place, Self.text(moved.place)) }
            let count = moved.count - (isWrong ? 1 : 0)
            if count > 0 { findings.add(.fewerPartitions, moved.place, count: count) }
        }
    }

    private static func text(_ place: TopicPlace) -> String { "\(place) is not in the partition of its key" }
}
