internal import ByteStorage
package import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest

/// A counter of a lane, in addition to the counters by topic, outcome, and reason.
package enum LaneCounter: Int, Sendable, CaseIterable {
    case transactionsCommitted, abortedRevoked, abortedLost, abortedRefused, abortedTimeout, abortedError
    case abortedShutdown, abortedDeadLetters, rotations, recreatedFenced, recreatedSequence, recreatedState,
        recreatedFatal
    case fenced, rewinds, assigned, revoked, lost, queueFull
    /// Records that were duplicates or came from a position that is not current.
    case duplicates
    /// Gaps between offsets.
    case offsetGaps

    /// Returns the counter of transactions that were aborted for a cause.
    package static func aborted(_ cause: AbortCause) -> LaneCounter {
        switch cause {
        case .revoked: .abortedRevoked
        case .lost: .abortedLost
        case .refused: .abortedRefused
        case .timeout: .abortedTimeout
        case .error: .abortedError
        case .shutdown: .abortedShutdown
        case .deadLetters: .abortedDeadLetters
        }
    }
}

/// The number of an event in one partition.
package struct PartitionCount: Sendable, Equatable {
    package var partition: TopicPartition
    /// The number.
    package var count: UInt64
}

/// The counters and histograms of a lane since its start.
///
/// Records are counted when their commit has returned, so the totals equal those in the report.
package struct LaneMetrics: Sendable, Equatable {
    /// The counters, then the buckets and the sum of each histogram.
    private var words: [UInt64]
    /// The input topics, in the order of their first committed record.
    package private(set) var topics: [TopicTotals] = []
    /// The decisions in each output topic, in the order of `OutputTopics.names`.
    package private(set) var outputs: [OutputTotals]
    /// The partitions in which records no longer existed, with the number of times.
    package private(set) var dataLosses: [PartitionCount] = []

    /// The index of each histogram's first bucket in `words`, and the number of words.
    private static let layout: (starts: [Int], count: Int) = {
        var count = LaneCounter.allCases.count
        let starts = LaneHistogram.allCases.map { histogram in
            defer { count += histogram.bounds.count + 2 }
            return count
        }
        return (starts, count)
    }()

    /// Creates metrics that are zero, for a number of output topics.
    package init(outputs: Int = 1) {
        words = [UInt64](repeating: 0, count: Self.layout.count)
        self.outputs = Array(repeating: OutputTotals(), count: outputs)
    }

    /// Decisions by outcome in all output topics, in the order of `DecisionSummary.Outcome.allCases`.
    package var outcomes: [UInt64] {
        outputs.reduce(into: OutputTotals().outcomes) { sums, output in
            for index in sums.indices { sums[index] &+= output.outcomes[index] }
        }
    }

    /// The value of a counter.
    package subscript(counter: LaneCounter) -> UInt64 {
        get { words[counter.rawValue] }
        set { words[counter.rawValue] = newValue }
    }

    /// Returns the values of a histogram.
    package func values(of histogram: LaneHistogram) -> HistogramValues {
        let bounds = histogram.bounds
        let start = Self.layout.starts[histogram.rawValue]
        let end = start + bounds.count + 1
        return HistogramValues(bounds: bounds, buckets: Array(words[start..<end]), sum: words[end])
    }

    /// Adds a value to a histogram.
    package mutating func observe(_ histogram: LaneHistogram, _ value: UInt64) {
        let bounds = histogram.bounds
        let start = Self.layout.starts[histogram.rawValue]
        words[start + (bounds.firstIndex { value <= $0 } ?? bounds.count)] &+= 1
        words[start + bounds.count + 1] &+= value
    }

    /// Counts an event of the machine.
    package mutating func count(_ note: LaneNote) {
        switch note {
        case .committed: self[.transactionsCommitted] &+= 1
        case .aborted(let cause, _): self[.aborted(cause)] &+= 1
        case .rotated: self[.rotations] &+= 1
        case .recreated(let cause, let code): self[Self.recreated(cause, code)] &+= 1
        case .fenced: self[.fenced] &+= 1
        case .rewound: self[.rewinds] &+= 1
        case .assigned: self[.assigned] &+= 1
        case .revoked: self[.revoked] &+= 1
        case .lost: self[.lost] &+= 1
        case .dataLost(let partition, let expected, let actual, _):
            // A topic that ends before the expected offset was created again, so the number is unknown.
            countLoss(of: UInt64(clamping: max(1, actual &- expected)), in: partition)
        case .ready, .paused, .resumed, .commitVanished, .witnessUnknown, .refused, .deadLetterLimit, .slowed,
            .recovered, .failed:
            break
        }
    }

    private static func recreated(_ cause: String, _ code: KafkaErrorCode) -> LaneCounter {
        if cause == "fenced" { return .recreatedFenced }
        return switch code {
        case .outOfOrderSequence: .recreatedSequence
        case .invalidTransactionState: .recreatedState
        default: .recreatedFatal
        }
    }

    private mutating func countLoss(of records: UInt64, in partition: TopicPartition) {
        if let index = dataLosses.firstIndex(where: { $0.partition == partition }) {
            dataLosses[index].count &+= records
        } else {
            dataLosses.append(PartitionCount(partition: partition, count: records))
        }
    }

    /// Adds the records of a committed transaction, and removes them from the tally.
    ///
    /// `wallMilliseconds` is the time at which the commit returned.
    package mutating func add(_ tally: inout BatchTally, wallMilliseconds: Int64) {
        tally.flush()
        for topic in tally.topics where topic.records > 0 {
            if let index = topics.firstIndex(where: { $0.name == topic.name }) {
                topics[index].add(topic)
            } else {
                topics.append(topic)
            }
        }
        for index in outputs.indices { outputs[index].add(tally, output: index) }
        for timestamp in tally.sampledTimestamps where timestamp >= 0 {
            let age = max(0, wallMilliseconds.subtractingReportingOverflow(timestamp).partialValue)
            observe(.endToEndSeconds, UInt64(min(age, 1 << 40)) &* 1_000_000)
        }
        tally.removeAll()
    }
}

/// A histogram of a lane.
///
/// Durations are measured in nanoseconds.
package enum LaneHistogram: Int, Sendable, CaseIterable {
    /// Records of a batch that were processed at once.
    case batchRecords
    /// The duration of processing a batch.
    case resolveSeconds
    /// The time from a record's timestamp until its commit returned, of 1 in 64 records.
    case endToEndSeconds
    /// Input records of a committed transaction.
    case transactionRecords
    /// The time from the begin of a committed transaction until its commit returned.
    case transactionSeconds
    /// The duration of a commit call.
    case commitSeconds
    /// The duration of a call that adds offsets to a transaction.
    case sendOffsetsSeconds
    /// The duration of the lane's answer to a rebalance.
    case rebalanceSeconds

    /// The upper bounds of the buckets, without the last one, which has no bound.
    package var bounds: [UInt64] {
        switch self {
        case .batchRecords, .transactionRecords: Self.counts
        case .resolveSeconds: Self.shortTimes
        case .endToEndSeconds, .transactionSeconds, .commitSeconds, .sendOffsetsSeconds, .rebalanceSeconds: Self.times
        }
    }

    /// A Boolean value that indicates whether the values are nanoseconds.
    package var isTime: Bool {
        switch self {
        case .batchRecords, .transactionRecords: false
        default: true
        }
    }

    private static let counts: [UInt64] = [1, 10, 100, 1_000, 10_000, 50_000, 100_000, 500_000]
    /// From 100 µs to 1 s.
    private static let shortTimes: [UInt64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000,
    ]
    /// From 1 ms to 60 s.
    private static let times: [UInt64] = [
        1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000, 30_000_000_000, 60_000_000_000,
    ]
}

/// The values of a histogram.
package struct HistogramValues: Sendable, Equatable {
    /// The upper bounds of the buckets, without the last one.
    package var bounds: [UInt64]
    /// The number of values in each bucket, which are one more than the bounds.
    package var buckets: [UInt64]
    /// The sum of the values.
    package var sum: UInt64

    /// The number of values.
    package var count: UInt64 { buckets.reduce(0, &+) }
}

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

/// The committed decisions in an output topic.
package struct OutputTotals: Sendable, Equatable {
    /// Decisions by outcome, in the order of `DecisionSummary.Outcome.allCases`.
    package private(set) var outcomes = [UInt64](repeating: 0, count: DecisionSummary.Outcome.allCases.count)
    /// The size of the decisions in bytes.
    package private(set) var bytes: UInt64 = 0

    /// Adds the decisions of a transaction in the output topic with an index.
    mutating func add(_ tally: BatchTally, output: Int) {
        guard output < tally.outputBytes.count else { return }
        for index in outcomes.indices { outcomes[index] &+= tally.outcomes[output * outcomes.count + index] }
        bytes &+= tally.outputBytes[output]
    }
}

/// The records that were processed since the last end of a transaction.
///
/// On a commit they are added to the metrics, and otherwise they are dropped, so the metrics count only committed
/// records.
package struct BatchTally: Sendable {
    /// The maximum number of sampled timestamps.
    package static let sampleLimit = 8_192
    /// The bits of an offset that are zero for a sampled record, so one record in 64 is sampled.
    private static let sampleMask: Int64 = 63
    private static let outcomeCount = DecisionSummary.Outcome.allCases.count

    /// The input topics.
    ///
    /// A topic without records stays in the list.
    package private(set) var topics: [TopicTotals] = []
    /// Decisions by output topic and outcome, in the order of `DecisionSummary.Outcome.allCases`.
    package private(set) var outcomes: [UInt64]
    /// The size of the decisions in bytes by output topic.
    package private(set) var outputBytes: [UInt64]
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

    /// Creates a tally for a number of output topics.
    package init(outputs: Int = 1) {
        outcomes = [UInt64](repeating: 0, count: outputs * DecisionSummary.Outcome.allCases.count)
        outputBytes = [UInt64](repeating: 0, count: outputs)
    }

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
        let output = Int(decision.output)
        outcomes[output &* Self.outcomeCount &+ Int(decision.outcome.rawValue)] &+= 1
        outputBytes[output] &+= UInt64(truncatingIfNeeded: decision.value.count)
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
        for index in outputBytes.indices { outputBytes[index] = 0 }
        sampledTimestamps.removeAll(keepingCapacity: true)
        if !traces.isEmpty { traces.removeAll() }
    }
}
