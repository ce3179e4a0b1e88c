internal import ByteStorage
internal import KafkaClient
package import LinkDecider

/// A check of a decision by itself: its text, its key, and its topic.
///
/// The topic of a decision depends on its members `application` and `table` alone (`OutputTopics`). The applications
/// that a table lists are not known here, so the topic with the most decisions of a table counts.
final class OutputCheck {
    /// The limit of tables that are compared.
    private static let tableLimit = 10_000

    private let outputs: OutputTopics
    private var tape = DecisionTape()
    /// The topics of the tables' decisions about events without an application.
    private var tables: [[UInt8]: [TableTopic]] = [:]

    /// The decisions of a table in a topic.
    private struct TableTopic {
        let topic: Int
        let first: TopicPlace
        var count: Int64 = 0
    }

    init(_ outputs: OutputTopics) { self.outputs = outputs }

    /// Adds what is wrong with a decision.
    ///
    /// - Parameters:
    ///   - value: The decision.
    ///   - key: The key of its record.
    ///   - topic: The index of the topic in which it is.
    ///   - partitions: The number of the topic's partitions.
    ///   - place: The place of its record.
    ///   - findings: The result.
    func check(
        _ value: ByteView, key: ByteView?, in topic: Int, of partitions: Int32, _ place: TopicPlace,
        _ findings: inout Findings
    ) {
        tape.begin(value)
        guard tape.read() else {
            return findings.add(.notADecision, place, "\(place) begins with the id of a decision and is not JSON")
        }
        // The key of a user without devices is the user.
        if (tape.string("device") ?? tape.string("user")).map({ $0 == key ?? .empty }) != true {
            findings.add(.wrongKey, place, "\(place) has a key that is not the device of its decision")
        }
        if let key { Self.checkPartition(key, of: partitions, place, &findings) }
        if outputs.names.count > 1, let text = fault(in: topic, place) { findings.add(.wrongTopic, place, text) }
    }

    /// Adds a decision that is not in the partition of its key.
    ///
    /// It is right if the topic had fewer partitions when its worker asked for their number. Workers with an old and
    /// with a new number can take turns, so the order of decisions does not tell.
    private static func checkPartition(
        _ key: ByteView, of partitions: Int32, _ place: TopicPlace, _ findings: inout Findings
    ) {
        func isHome(among count: Int32) -> Bool { Murmur2.partition(of: key, among: count) == place.partition }
        guard place.partition < partitions, !isHome(among: partitions) else { return }
        if (place.partition + 1..<partitions).contains(where: isHome) {
            findings.add(.fewerPartitions, place)
        } else {
            findings.add(.wrongPartition, place, "\(place) is not in the partition of its key")
        }
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
        if tables[table] == nil, tables.count == Self.tableLimit { return nil }
        var topics = tables.removeValue(forKey: table) ?? []
        let index = topics.firstIndex { $0.topic == topic } ?? topics.count
        if index == topics.count { topics.append(TableTopic(topic: topic, first: place)) }
        topics[index].count += 1
        tables[table] = topics
        return nil
    }

    /// Adds the decisions that are in another topic than most decisions of their table.
    func finish(_ findings: inout Findings) {
        for topics in tables.values.sorted(by: { "\($0[0].first)" < "\($1[0].first)" }) {
            guard let most = topics.max(by: { ($0.count, $1.topic) < ($1.count, $0.topic) }) else { continue }
            for other in topics where other.topic != most.topic {
                findings.add(
                    .wrongTopic, other.first, count: other.count,
                    "decisions of one table are in \(outputs.names[most.topic]) (\(most.count)) and in "
                        + "\(outputs.names[other.topic]) (\(other.count)), such as \(other.first)")
            }
        }
        tables = [:]
    }
}

/// The topics of the outcomes.
package struct OutcomeTopics: Sendable {
    /// The topics of the decisions.
    package let outputs: OutputTopics
    /// The index of each topic's first partition in `isWhole`.
    private let firsts: [Int]
    /// A Boolean value for each partition of the topics that indicates whether all its records are passed.
    package let isWhole: [Bool]
    /// A Boolean value that indicates whether all dead letters are passed.
    package var hasAllDeadLetters: Bool
    /// A Boolean value that indicates whether one of the topics is compacted, so that any record can be removed.
    package var isCompacted: Bool
    /// A Boolean value that indicates whether outcomes can be repeated (`guarantee` is `at-least-once`).
    package var canRepeat: Bool

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - outputs: The topics of the decisions.
    ///   - isWhole: For each topic of `outputs`, and in it for each partition.
    ///   - hasAllDeadLetters: A Boolean value that indicates whether all dead letters are passed.
    ///   - isCompacted: A Boolean value that indicates whether one of the topics is compacted.
    ///   - canRepeat: A Boolean value that indicates whether outcomes can be repeated.
    package init(
        _ outputs: OutputTopics, isWhole: [[Bool]], hasAllDeadLetters: Bool, isCompacted: Bool = false,
        canRepeat: Bool = false
    ) {
        var firsts = [0]
        for topic in isWhole { firsts.append(firsts[firsts.count - 1] + topic.count) }
        (self.outputs, self.firsts, self.isWhole) = (outputs, firsts, Array(isWhole.joined()))
        (self.hasAllDeadLetters, self.isCompacted, self.canRepeat) = (hasAllDeadLetters, isCompacted, canRepeat)
    }

    /// Returns the number of a topic's partition among the partitions of all topics, or nil if the topic does not have
    /// it.
    func number(of topic: Int, _ partition: Int32) -> Int? {
        guard topic + 1 < firsts.count else { return nil }
        let number = firsts[topic] + Int(partition)
        return partition >= 0 && number < firsts[topic + 1] ? number : nil
    }

    /// Returns the number of partitions of a topic.
    func partitionCount(of topic: Int) -> Int32 { Int32(clamping: firsts[topic + 1] - firsts[topic]) }
}
