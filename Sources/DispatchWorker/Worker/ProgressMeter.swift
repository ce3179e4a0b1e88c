/// The line `progress` of the log: the work of the last 30 s.
///
/// A worker without work and without lag writes none.
package struct ProgressMeter: Sendable {
    /// The interval between two lines, in nanoseconds.
    package static let interval: UInt64 = 30_000_000_000

    /// The committed work of all lanes since their start.
    private struct Totals {
        var records: UInt64 = 0
        var outcomes = [UInt64](repeating: 0, count: DecisionOutcome.allCases.count)
        var deadLetters = [UInt64](repeating: 0, count: DeadLetterReason.allCases.count)
        var commits = LaneMetrics().values(of: .commitSeconds)

        init(_ lanes: [LaneView] = []) {
            for metrics in lanes.map(\.snapshot.metrics) {
                for topic in metrics.topics {
                    records &+= topic.records
                    for index in deadLetters.indices { deadLetters[index] &+= topic.deadLetters[index] }
                }
                for index in outcomes.indices { outcomes[index] &+= metrics.outcomes[index] }
                let commits = metrics.values(of: .commitSeconds)
                for index in commits.buckets.indices { self.commits.buckets[index] &+= commits.buckets[index] }
            }
        }

        /// Returns the work without the work that was done before.
        ///
        /// No count is smaller than before, because a lane keeps its counts until the process ends.
        func since(_ before: Totals) -> Totals {
            var result = self
            result.records &-= before.records
            for index in outcomes.indices { result.outcomes[index] &-= before.outcomes[index] }
            for index in deadLetters.indices { result.deadLetters[index] &-= before.deadLetters[index] }
            for index in commits.buckets.indices { result.commits.buckets[index] &-= before.commits.buckets[index] }
            return result
        }
    }

    private var before = Totals()
    private var beganAt: UInt64?

    /// Creates a meter before its first interval.
    package init() {}

    /// Returns the line at the end of an interval with work, or nil.
    package mutating func line(_ snapshot: WorkerSnapshot) -> LogEntry? {
        guard let began = beganAt else {
            beganAt = snapshot.now
            before = Totals(snapshot.lanes)
            return nil
        }
        let passed = snapshot.now.saturatingSubtract(began)
        guard passed >= Self.interval else { return nil }
        let all = Totals(snapshot.lanes)
        let work = all.since(before)
        before = all
        beganAt = snapshot.now
        let lags = snapshot.partitions.compactMap(\.lag)
        let lag = lags.reduce(0, &+)
        guard work.records > 0 || lag > 0 else { return nil }
        return LogEntry(
            .info, "progress", "records processed",
            Self.fields(work, seconds: Double(passed) / 1e9, lag: lags.isEmpty ? nil : lag, snapshot.tables))
    }

    private static func fields(
        _ work: Totals, seconds: Double, lag: Int64?, _ tables: [ServedTable]
    ) -> [LogField] {
        var fields = [LogField("records_per_s", .number(Int64((Double(work.records) / seconds).rounded())))]
        if let lag { fields.append(LogField("lag", .number(lag))) }
        for (outcome, count) in zip(DecisionOutcome.allCases, work.outcomes) {
            fields.append(LogField("\(outcome)", .number(Int64(clamping: count))))
        }
        fields.append(LogField("dead_letters", .number(Int64(clamping: work.deadLetters.reduce(0, &+)))))
        let reasons = zip(DeadLetterReason.allCases, work.deadLetters).filter { $0.1 > 0 }
        if !reasons.isEmpty {
            fields.append(LogField("reasons", .list(reasons.map { "\($0.0.rawValue)=\($0.1)" })))
        }
        if let median = work.commits.quantile(0.5), let high = work.commits.quantile(0.99) {
            fields.append(LogField("commit_p50_ms", .number(milliseconds(median))))
            fields.append(LogField("commit_p99_ms", .number(milliseconds(high))))
        }
        if !tables.isEmpty {
            fields.append(LogField("tables", .list(tables.map { "\($0.id)@\($0.version)+\($0.hash)" })))
        }
        return fields
    }

    private static func milliseconds(_ nanoseconds: UInt64) -> Int64 {
        Int64(clamping: (nanoseconds + 999_999) / 1_000_000)
    }
}

extension HistogramValues {
    /// Returns the upper bound of the bucket that contains a quantile, or nil without values.
    ///
    /// For a value beyond the last bound, it is that bound.
    package func quantile(_ share: Double) -> UInt64? {
        let total = count
        guard total > 0 else { return nil }
        let rank = max(1, (Double(total) * share).rounded(.up))
        var seen: UInt64 = 0
        for (bound, number) in zip(bounds, buckets) {
            seen += number
            if Double(seen) >= rank { return bound }
        }
        return bounds.last
    }
}
