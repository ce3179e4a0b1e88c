internal import KafkaClient

/// The limits on dead letters, which stop a worker before it moves a whole topic into the dead letters.
///
/// It counts the last records of a lane, except those that a replay has written: they failed before, so that many of
/// them may fail again without a defect of the input. A copy from the last commit replaces it when records are consumed
/// again, so that no record counts twice.
struct DeadLetterWatch: Sendable {
    /// The number of records to which `dlq.max.ratio` refers.
    private static let window = 1_000
    /// The number of records up to which results are added up, so that small ones need little memory.
    private static let sampleRecords = 64

    private let maxRatio: Double
    private let maxConsecutive: Int
    /// The counts of the last records, newest last.
    ///
    /// Only the newest ones that add up to the window are kept.
    private var samples: [DeadLetterCounts] = []
    private var records = 0

    init(_ policy: LanePolicy) {
        maxRatio = policy.deadLetterMaxRatio
        maxConsecutive = policy.deadLetterMaxConsecutive
    }

    /// The maximum number of records of a result, so that the records that count are fewer than two windows.
    var recordLimit: Int { maxRatio > 0 ? Self.window : .max }

    /// Counts a result.
    ///
    /// Returns the limit that was exceeded with its counts, or nil.
    mutating func count(_ result: BatchResult) -> DeadLetterExcess? {
        guard maxRatio > 0 || maxConsecutive > 0, result.records > 0 else { return nil }
        add(DeadLetterCounts(result))
        if maxConsecutive > 0 && result.longestDeadLetterRun > maxConsecutive {
            return excess(
                "\(result.longestDeadLetterRun) consecutive dead letters in one partition exceed dlq.max.consecutive, "
                    + "which is \(maxConsecutive)")
        }
        guard maxRatio > 0 && records >= Self.window && result.deadLetters > result.replays.deadLetters else {
            return nil
        }
        let deadLetters = samples.reduce(0) { $0 + $1.deadLetters }
        guard Double(deadLetters) > maxRatio * Double(records) else { return nil }
        return excess("the share of dead letters exceeds dlq.max.ratio, which is \(maxRatio)")
    }

    private mutating func add(_ counts: DeadLetterCounts) {
        guard counts.records > 0 else { return }
        records += counts.records
        if let last = samples.indices.last, samples[last].records + counts.records <= Self.sampleRecords {
            samples[last].add(counts)
        } else {
            samples.append(counts)
        }
        while let oldest = samples.first, records - oldest.records >= Self.window {
            records -= oldest.records
            samples.removeFirst()
        }
    }

    private func excess(_ limit: String) -> DeadLetterExcess {
        var counts = DeadLetterCounts()
        for sample in samples { counts.add(sample) }
        return DeadLetterExcess(limit: limit, counts: counts)
    }
}

/// A limit on dead letters that was exceeded.
package struct DeadLetterExcess: Sendable, Equatable {
    /// The sentence that names the limit.
    package var limit: String
    /// The counts of the last records.
    package var counts: DeadLetterCounts

    /// Creates an excess.
    package init(limit: String, counts: DeadLetterCounts) {
        self.limit = limit
        self.counts = counts
    }

    /// The exit of a worker that exceeds the limit.
    var exit: WorkerExit {
        WorkerExit(
            .deadLetterLimit,
            "\(limit): \(counts.deadLetters) of the last \(counts.records) records are dead letters "
                + "(\(counts.reasonList.joined(separator: ", "))), for example \(counts.exampleText)",
            advice: "check the producer of this record, the tables, and the reasons in the worker reference; the open "
                + "transaction is aborted, so the input still has its records")
    }
}

extension DeadLetterCounts {
    /// Creates the counts of a result without its replays.
    init(_ result: BatchResult) {
        self.init()
        records = result.records - result.replays.records
        deadLetters = result.deadLetters - result.replays.deadLetters
        reasons = result.reasons
        for (reason, count) in result.replays.reasons {
            let others = (reasons[reason] ?? 0) - count
            reasons[reason] = others > 0 ? others : nil
        }
        example = result.lastDeadLetter
    }
}
