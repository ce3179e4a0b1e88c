internal import KafkaClient

/// The entries that a run of `linkd produce` did not store, and the entry at which the next run goes on.
struct ProduceOutcome: Equatable {
    /// The number of entries for `--skip`, so that the next run sends no entry that is stored or possibly stored.
    var skip: Int
    /// The entries before the next run's that are certainly not stored.
    var notStored: [ClosedRange<Int>] = []
    /// The entries that a broker can have stored without an answer.
    var possiblyStored: [ClosedRange<Int>] = []
    /// The number of records that are certainly not stored.
    var notStoredCount = 0
    /// The number of records that a broker can have stored without an answer.
    var possiblyStoredCount = 0

    /// Creates the outcome of a run.
    ///
    /// The next run goes on after the last entry that is stored or possibly stored, if no later one is stored. Entries
    /// that a broker refused for themselves, such as too large ones, are not tried again.
    ///
    /// - Parameters:
    ///   - read: The number of entries, including skipped ones.
    ///   - requested: The number of entries to skip. A signal can come before all of them are read.
    ///   - lastDelivered: The number of the last stored entry, or 0.
    ///   - undelivered: The records without an acknowledgment.
    init(read: Int, skip requested: Int = 0, lastDelivered: Int, undelivered: [UndeliveredRecord]) {
        let unknown = undelivered.filter(\.mayBeStored).map { Int($0.number) }.sorted()
        let missing = undelivered.filter { !$0.mayBeStored }.sorted { $0.number < $1.number }
        let stored = max(lastDelivered, unknown.last ?? 0)
        let next = missing.first { Int($0.number) > stored && !$0.code.isRecordLevel }
        skip = next.map { Int($0.number) - 1 } ?? max(read, requested)
        let before = missing.map { Int($0.number) }.filter { $0 <= skip }
        notStored = Self.ranges(before)
        possiblyStored = Self.ranges(unknown)
        notStoredCount = missing.count
        possiblyStoredCount = unknown.count
    }

    /// Returns the number of records of `limit` that the next run sends, if this run has passed `sent` to the client.
    ///
    /// The records of the listed entries are not among them.
    func rest(of limit: Int, sent: Int) -> Int {
        let again = notStoredCount - notStored.reduce(0) { $0 + $1.count }
        return max(0, limit - (sent - again))
    }

    /// Returns the ranges of sorted numbers.
    static func ranges(_ numbers: [Int]) -> [ClosedRange<Int>] {
        var result: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = result.last, last.upperBound + 1 == number {
                result[result.count - 1] = last.lowerBound...number
            } else {
                result.append(number...number)
            }
        }
        return result
    }
}
