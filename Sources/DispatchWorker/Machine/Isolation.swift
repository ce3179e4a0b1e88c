package import KafkaClient

/// The search for the one record whose outputs a broker refuses.
///
/// Transactions become smaller until they hold only that record.
package struct Isolation: Sendable, Equatable {
    /// A record whose outputs are refused.
    ///
    /// It becomes a dead letter with the reason `refused_output`.
    package struct Refused: Sendable, Equatable {
        /// The partition.
        package var partition: TopicPartition
        /// Its offset.
        package var offset: Int64
        /// The number of times that its dead letter was refused.
        package var deadLetterRefusals = 0
    }

    /// The result of one refusal.
    enum Finding: Equatable {
        /// No record is found yet. The next transaction has fewer records, or the same.
        case none
        /// The outputs of this record are refused even when they are alone in a transaction.
        case record(Refused)
        /// The dead letter of the same record is also refused.
        case deadLetter(Refused)
    }

    /// The number of refusals of a single record before it counts as the cause.
    static var tries: Int { 3 }

    /// The number of consecutive aborts because of a record.
    package private(set) var failures = 0
    /// The maximum number of records of a transaction, or nil for no limit.
    package private(set) var limit: Int?
    /// The records that were found and are not committed yet.
    ///
    /// Several partitions may each have one.
    package var refused: [Refused] = []
    private var until: [PartitionOffset] = []

    /// Creates a search without refusals.
    package init() {}

    /// Returns a Boolean value that indicates whether a record's outputs are refused, so that it becomes a dead letter.
    func isRefused(_ partition: TopicPartition, _ offset: Int64) -> Bool {
        refused.contains { $0.offset == offset && $0.partition == partition }
    }

    /// Records that a transaction was aborted because of one of its records.
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

    /// Records that a transaction was committed.
    ///
    /// `position` returns the next offset of a partition, or nil for one that is no longer owned.
    mutating func committed(position: (TopicPartition) -> Int64?) {
        guard failures > 0 else { return }
        let hadRefused = !refused.isEmpty
        refused.removeAll { found in position(found.partition).map { $0 > found.offset } ?? true }
        guard refused.isEmpty else { return }
        until.removeAll { end in position(end.partition).map { $0 >= end.offset } ?? true }
        if hadRefused || until.isEmpty {
            self = Isolation()
        } else {
            limit = limit.map { $0 * 2 }
        }
    }
}
