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

    /// Returns the index of the topic in which a decision must be.
    ///
    /// - Parameters:
    ///   - value: The decision.
    ///   - topic: The index of the topic in which it is.
    func expected(_ value: ByteView, in topic: Int) -> Int {
        tape.begin(value)
        if let application = tape.string("application") { return Int(outputs.index(of: application)) }
        // Without a table, a decision is about a request that opens nothing, or a user without devices.
        guard let table = tape.string("table")?.array else { return 0 }
        if let known = tables[table] { return known }
        if tables.count < Self.tableLimit { tables[table] = topic }
        return topic
    }
}
