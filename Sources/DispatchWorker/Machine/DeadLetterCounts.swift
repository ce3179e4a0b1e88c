package import KafkaClient

/// Counts of dead letters among some records.
package struct DeadLetterCounts: Sendable, Equatable {
    /// The number of records.
    package var records = 0
    /// The number of dead letters among them.
    package var deadLetters = 0
    /// The number of dead letters by reason.
    package var reasons: [DeadLetterReason: Int] = [:]
    /// The partition and the offset of the last dead letter, or nil if there is none.
    package var example: PartitionOffset?

    /// Creates counts without records.
    package init() {}

    /// Adds the counts of later records.
    mutating func add(_ later: DeadLetterCounts) {
        records += later.records
        deadLetters += later.deadLetters
        reasons.merge(later.reasons, uniquingKeysWith: +)
        example = later.example ?? example
    }

    /// The reasons with their counts, the most frequent one first.
    package var reasonList: [String] {
        reasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map { "\($0.key.rawValue) \($0.value)" }
    }

    /// The position of the last dead letter as `TOPIC-PARTITION-OFFSET`.
    package var exampleText: String {
        example.map { "\($0.partition.topic)-\($0.partition.partition)-\($0.offset)" } ?? "none"
    }
}
