/// The number of recreated producers and its limit.
struct Recreations: Sendable, Equatable {
    private var times: [UInt64] = []
    private(set) var backoff = Backoff()
    /// The last time that a transaction younger than its timeout was fenced.
    private var fencedAt: UInt64?

    /// Counts a recreation.
    ///
    /// Returns true if there were more than 3 in 5 min.
    mutating func count(now: UInt64) -> Bool {
        times.removeAll { now &- $0 > 300_000_000_000 }
        times.append(now)
        return times.count > 3
    }

    /// Returns the delay before the next producer, in milliseconds.
    mutating func wait() -> Int { backoff.next() }

    /// Resets the delay after a commit.
    mutating func resetBackoff() { backoff.reset() }

    /// Records that a transaction younger than its timeout was fenced.
    ///
    /// Returns true if it is the second one in 60 s.
    mutating func countYoungFencing(now: UInt64) -> Bool {
        defer { fencedAt = now }
        return fencedAt.map { now &- $0 <= 60_000_000_000 } ?? false
    }
}
