package import KafkaClient

/// A counter of a lane, besides those by topic, outcome, and reason.
package enum LaneCounter: Int, Sendable, CaseIterable {
    case transactionsCommitted, abortedRevoked, abortedLost, abortedRefused, abortedTimeout, abortedError
    case abortedShutdown, rotations, recreatedFenced, recreatedSequence, recreatedState, recreatedFatal
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
        }
    }
}

/// The number of an event in one partition.
package struct PartitionCount: Sendable, Equatable {
    /// The partition.
    package var partition: TopicPartition
    /// The number.
    package var count: UInt64
}

/// The counters and histograms of a lane since its start.
///
/// Records are counted when their commit has returned, so that the totals are those of the report.
package struct LaneMetrics: Sendable, Equatable {
    /// The counters, then the buckets and the sum of each histogram.
    private var words: [UInt64]
    /// The input topics, in the order of their first committed record.
    package private(set) var topics: [TopicTotals] = []
    /// Decisions by outcome, in the order of `DecisionOutcome.allCases`.
    package private(set) var outcomes = [UInt64](repeating: 0, count: DecisionOutcome.allCases.count)
    /// The size of the decisions in bytes.
    package private(set) var outputBytes: UInt64 = 0
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

    /// Creates metrics that are zero.
    package init() { words = [UInt64](repeating: 0, count: Self.layout.count) }

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
        case .dataLost(let partition, let expected, let actual):
            // A topic that ends before the expected offset was created again, so that the number is unknown.
            countLoss(of: UInt64(clamping: max(1, actual &- expected)), in: partition)
        case .ready, .paused, .resumed, .commitVanished, .refused, .deadLetterLimit, .failed: break
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
        for index in outcomes.indices { outcomes[index] &+= tally.outcomes[index] }
        outputBytes &+= tally.outputBytes
        for timestamp in tally.sampledTimestamps where timestamp >= 0 {
            let age = max(0, wallMilliseconds.subtractingReportingOverflow(timestamp).partialValue)
            observe(.endToEndSeconds, UInt64(min(age, 1 << 40)) &* 1_000_000)
        }
        tally.removeAll()
    }
}
