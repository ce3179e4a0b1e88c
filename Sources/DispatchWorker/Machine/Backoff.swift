/// A delay that doubles from 100 ms to 5 s until a call succeeds.
package struct Backoff: Sendable, Equatable {
    private let first: Int
    private var milliseconds: Int

    /// Creates a delay that starts at `first` milliseconds.
    ///
    /// With 0, the first delay is zero and the second one 100 ms.
    package init(first: Int = 100) {
        self.first = first
        milliseconds = first
    }

    /// Returns the next delay in milliseconds.
    package mutating func next() -> Int {
        defer { milliseconds = min(max(100, milliseconds * 2), 5_000) }
        return milliseconds
    }

    /// Restarts at the first delay.
    package mutating func reset() { milliseconds = first }
}
