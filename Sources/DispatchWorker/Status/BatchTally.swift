internal import KafkaClient
internal import ByteStorage

/// The records that were processed since the last end of a transaction.
///
/// On a commit they are added to the metrics, and otherwise they are dropped, so that the metrics count committed
/// records only.
package struct BatchTally: Sendable {
    /// The maximum number of sampled timestamps.
    package static let sampleLimit = 8_192
    /// The bits of an offset that are zero for a sampled record, which is 1 in 64.
    private static let sampleMask: Int64 = 63

    /// The input topics.
    ///
    /// Those without records stay in the list.
    package private(set) var topics: [TopicTotals] = []
    /// Decisions by outcome, in the order of `DecisionOutcome.allCases`.
    package private(set) var outcomes = [UInt64](repeating: 0, count: DecisionOutcome.allCases.count)
    /// The size of the decisions in bytes.
    package private(set) var outputBytes: UInt64 = 0
    /// The timestamps of the sampled records in milliseconds since 1970.
    package private(set) var sampledTimestamps: [Int64] = []
    /// The samples of records with sampled traces, if they are logged.
    package var traces = TraceSamples()
    /// The index in `topics` by the consumer's index of a topic, or -1.
    private var indices: [Int] = []
    /// The topic of the records that are not in `topics` yet.
    private var current = -1
    private var records: UInt64 = 0
    private var bytes: UInt64 = 0

    /// Creates an empty tally.
    package init() {}

    /// Counts the following records for a topic.
    @inline(never)
    mutating func use(topic: Int32, name: ByteView) {
        flush()
        let number = Int(max(0, topic))
        while indices.count <= number { indices.append(-1) }
        if indices[number] < 0 {
            indices[number] = topics.count
            topics.append(TopicTotals(name: name.string))
        }
        current = indices[number]
    }

    /// Counts a record.
    @inline(__always)
    mutating func count(_ record: ConsumedRecord) {
        records &+= 1
        bytes &+= UInt64(truncatingIfNeeded: record.value?.count ?? 0)
        if record.offset & Self.sampleMask == 0 { sample(record.timestamp) }
    }

    @inline(never)
    private mutating func sample(_ timestamp: Int64) {
        if sampledTimestamps.count < Self.sampleLimit { sampledTimestamps.append(timestamp) }
    }

    /// Counts a decision of the current record.
    @inline(__always)
    mutating func count(_ decision: ProducedDecision) {
        outcomes[Int(decision.outcome.rawValue)] &+= 1
        outputBytes &+= UInt64(truncatingIfNeeded: decision.value.count)
    }

    /// Counts the current record as a dead letter.
    mutating func countDeadLetter(_ reason: DeadLetterReason) {
        guard current >= 0, let index = DeadLetterReason.allCases.firstIndex(of: reason) else { return }
        topics[current].deadLetters[index] &+= 1
    }

    /// Adds the records of the current topic to `topics`.
    mutating func flush() {
        guard current >= 0 else { return }
        topics[current].records &+= records
        topics[current].bytes &+= bytes
        records = 0
        bytes = 0
    }

    /// Removes all records.
    package mutating func removeAll() {
        records = 0
        bytes = 0
        for index in topics.indices { topics[index].reset() }
        for index in outcomes.indices { outcomes[index] = 0 }
        outputBytes = 0
        sampledTimestamps.removeAll(keepingCapacity: true)
        if !traces.isEmpty { traces.removeAll() }
    }
}
