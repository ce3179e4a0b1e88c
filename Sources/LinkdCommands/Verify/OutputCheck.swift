internal import ByteStorage
internal import LinkDecider

/// A check that each decision is in the topic of its application.
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

    /// Creates a check, or returns nil if there is only one topic.
    init?(_ outputs: OutputTopics) {
        guard outputs.names.count > 1 else { return nil }
        self.outputs = outputs
    }

    /// Returns what is wrong with the topic of a decision, or nil.
    ///
    /// - Parameters:
    ///   - value: The decision.
    ///   - topic: The index of the topic in which it is.
    ///   - place: The place of its record.
    func fault(of value: ByteView, in topic: Int, _ place: TopicPlace) -> String? {
        tape.begin(value)
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
