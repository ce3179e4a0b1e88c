/// The committed records of an input topic.
package struct TopicTotals: Sendable, Equatable {
    /// The topic's name.
    package var name: String
    /// Input records.
    package var records: UInt64 = 0
    /// The size of the records' values in bytes.
    package var bytes: UInt64 = 0
    /// Dead letters by reason, in the order of `DeadLetterReason.allCases`.
    package var deadLetters = [UInt64](repeating: 0, count: DeadLetterReason.allCases.count)

    /// Creates totals that are zero.
    package init(name: String) { self.name = name }

    /// Adds other totals of the same topic.
    mutating func add(_ other: TopicTotals) {
        records &+= other.records
        bytes &+= other.bytes
        for index in deadLetters.indices { deadLetters[index] &+= other.deadLetters[index] }
    }

    /// Sets all counts to zero.
    mutating func reset() {
        records = 0
        bytes = 0
        for index in deadLetters.indices { deadLetters[index] = 0 }
    }
}
