/// A wait that doubles from 100 ms to 5 s until something succeeds.
package struct Backoff: Sendable, Equatable {
    private let first: Int
    private var milliseconds: Int

    /// Starts at `first` milliseconds; 0 makes the first wait free and the second one 100 ms.
    package init(first: Int = 100) {
        self.first = first
        milliseconds = first
    }

    /// The next wait in milliseconds.
    package mutating func next() -> Int {
        defer { milliseconds = min(max(100, milliseconds * 2), 5_000) }
        return milliseconds
    }

    /// Begins again.
    package mutating func reset() { milliseconds = first }
}
