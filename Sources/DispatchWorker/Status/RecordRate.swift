/// The rate of committed records during the last seconds.
///
/// It is computed from the totals that readers of the worker's state add, so that the lanes keep no time.
package struct RecordRate: Sendable {
    /// The time that the rate covers, in nanoseconds.
    package static let span: UInt64 = 10_000_000_000
    /// The least time between two kept totals, in nanoseconds, which bounds their number.
    private static let spacing: UInt64 = 250_000_000

    private var totals: [(at: UInt64, records: Int)] = []

    /// Creates a rate without totals.
    package init() {}

    /// Adds a total, and returns the records per second since the oldest total of the last 10 s.
    ///
    /// If there is none, the newest one before that time is used. The first total returns 0.
    package mutating func add(_ records: Int, at now: UInt64) -> Double {
        while totals.count > 1, now.saturatingSubtract(totals[1].at) >= Self.span { totals.removeFirst() }
        let result = totals.first.map { Self.rate(from: $0, to: (now, records)) } ?? 0
        if now.saturatingSubtract(totals.last?.at ?? 0) >= Self.spacing || totals.isEmpty {
            totals.append((now, records))
        }
        return result
    }

    private static func rate(from first: (at: UInt64, records: Int), to last: (at: UInt64, records: Int)) -> Double {
        let nanoseconds = last.at.saturatingSubtract(first.at)
        return nanoseconds == 0 ? 0 : Double(max(0, last.records - first.records)) * 1e9 / Double(nanoseconds)
    }
}
