package import KafkaClient

/// Finds the one record whose outputs a broker refuses: transactions get smaller until it stands alone.
package struct Isolation: Sendable, Equatable {
    /// A record whose outputs are refused: it becomes a dead letter `refused_output`.
    package struct Refused: Sendable, Equatable {
        /// Where it stands.
        package var partition: TopicPartition
        /// Its offset.
        package var offset: Int64
    }

    /// Aborts in a row, each with an error of a record.
    package private(set) var failures = 0
    /// Most records of a transaction, or nil for no limit.
    package private(set) var limit: Int?
    /// The record that was found.
    package private(set) var refused: Refused?
    private var until: [PartitionOffset] = []

    /// Nothing was refused.
    package init() {}

    /// A transaction was aborted because of one of its records.
    mutating func recordRefused(records: Int, pending: [PartitionOffset]) {
        failures += 1
        guard failures >= 3 else { return }
        if records == 1, let only = pending.first, pending.count == 1 {
            refused = Refused(partition: only.partition, offset: only.offset - 1)
            limit = 1
            return
        }
        for offset in pending where !until.contains(where: { $0.partition == offset.partition }) {
            until.append(offset)
        }
        limit = max(1, min(limit ?? records, records) / 2)
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
