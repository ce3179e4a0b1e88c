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
    /// The records that were found and are not committed yet: there may be one at the head of several partitions.
    package var refused: [Refused] = []
    private var until: [PartitionOffset] = []

    /// Nothing was refused.
    package init() {}

    /// Whether a record's outputs are refused, so that it becomes a dead letter.
    func isRefused(_ partition: TopicPartition, _ offset: Int64) -> Bool {
        refused.contains { $0.offset == offset && $0.partition == partition }
    }

    /// A transaction was aborted because of one of its records.
    mutating func recordRefused(records: Int, pending: [PartitionOffset]) -> Finding {
        failures += 1
        guard failures >= Self.tries else { return .none }
        if records == 1, let only = pending.first, pending.count == 1 {
            if let index = refused.firstIndex(where: {
                $0.partition == only.partition && $0.offset == only.offset - 1
            }) {
                refused[index].deadLetterRefusals += 1
                return .deadLetter(refused[index])
            }
            let found = Refused(partition: only.partition, offset: only.offset - 1)
            refused.append(found)
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
        let hadRefused = !refused.isEmpty
        refused.removeAll { found in position(found.partition).map { $0 > found.offset } ?? true }
        guard refused.isEmpty else { return }
        until.removeAll { wanted in position(wanted.partition).map { $0 >= wanted.offset } ?? true }
        if hadRefused || until.isEmpty {
            self = Isolation()
        } else {
            limit = limit.map { $0 * 2 }
        }
    }
}
