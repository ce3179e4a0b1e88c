package import KafkaClient

/// Finds the one record whose outputs a broker refuses: transactions get smaller until it stands alone.
package struct Isolation: Sendable, Equatable {
    /// A record whose outputs are refused: it becomes a dead letter `refused_output`.
    package struct Refused: Sendable, Equatable {
        /// Where it stands.
        package var partition: TopicPartition
        /// Its offset.
        package var offset: Int64
        /// How often its dead letter was refused too.
        package var deadLetterRefusals = 0
    }

    /// What one refusal has shown.
    enum Finding: Equatable {
        /// Not enough yet: the next transaction is smaller, or the same.
        case none
        /// This record's outputs are refused when they are sent alone.
        case record(Refused)
        /// The same record's dead letter is refused too.
        case deadLetter(Refused)
    }

    /// A record alone is refused this often before it is believed.
    static var tries: Int { 3 }

    /// Aborts in a row, each with an error of a record.
    package private(set) var failures = 0
    /// Most records of a transaction, or nil for no limit.
    package private(set) var limit: Int?
    /// The record that was found.
    package var refused: Refused?
    private var until: [PartitionOffset] = []

    /// Nothing was refused.
    package init() {}

    /// A transaction was aborted because of one of its records.
    mutating func recordRefused(records: Int, pending: [PartitionOffset]) -> Finding {
        failures += 1
        guard failures >= Self.tries else { return .none }
        if records == 1, let only = pending.first, pending.count == 1 {
            if var found = refused, found.partition == only.partition, found.offset == only.offset - 1 {
                found.deadLetterRefusals += 1
                refused = found
                return .deadLetter(found)
            }
            let found = Refused(partition: only.partition, offset: only.offset - 1)
            refused = found
            limit = 1
            return .record(found)
        }
        for offset in pending where !until.contains(where: { $0.partition == offset.partition }) {
            until.append(offset)
        }
        limit = max(1, min(limit ?? records, records) / 2)
        return .none
    }

    /// A transaction was committed; `position` tells how far a partition is, nil for one that was given up.
    mutating func committed(position: (TopicPartition) -> Int64?) {
        guard failures > 0 else { return }
        if let found = refused, let next = position(found.partition), next <= found.offset { return }
        until.removeAll { wanted in position(wanted.partition).map { $0 >= wanted.offset } ?? true }
        if refused != nil || until.isEmpty {
            self = Isolation()
        } else {
            limit = limit.map { $0 * 2 }
        }
    }
}
