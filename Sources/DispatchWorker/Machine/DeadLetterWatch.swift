/// The limits on dead letters, which stop a worker before it moves a whole topic into the dead letters.
struct DeadLetterWatch: Sendable {
    private let maxRatio: Double
    private let maxConsecutive: Int
    /// The records and dead letters of each batch.
    ///
    /// Only the newest samples that add up to 1,000 records are kept.
    private var samples: [(records: Int, deadLetters: Int)] = []

    init(_ policy: LanePolicy) {
        maxRatio = policy.deadLetterMaxRatio
        maxConsecutive = policy.deadLetterMaxConsecutive
    }

    /// Counts a batch.
    ///
    /// Returns a description of the limit that was exceeded, or nil.
    mutating func count(_ batch: BatchResult) -> String? {
        if maxConsecutive > 0 && batch.longestDeadLetterRun > maxConsecutive {
            return "\(batch.longestDeadLetterRun) consecutive dead letters in one partition; the limit "
                + "dlq.max.consecutive is \(maxConsecutive)"
        }
        guard maxRatio > 0 && batch.records > 0 else { return nil }
        samples.append((batch.records, batch.deadLetters))
        var records = 0
        var deadLetters = 0
        var newestCount = 0
        for sample in samples.reversed() where records < 1_000 {
            records += sample.records
            deadLetters += sample.deadLetters
            newestCount += 1
        }
        samples.removeFirst(samples.count - newestCount)
        guard records >= 1_000, Double(deadLetters) > maxRatio * Double(records) else { return nil }
        return "\(deadLetters) of the last \(records) records are dead letters; the limit dlq.max.ratio is \(maxRatio)"
    }
}
