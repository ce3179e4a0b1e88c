/// A wait that doubles from 100 ms to 5 s until something succeeds.
package struct Backoff: Sendable, Equatable {
    private var milliseconds = 100

    /// Starts at 100 ms.
    package init() {}

    /// The next wait in milliseconds.
    package mutating func next() -> Int {
        defer { milliseconds = min(milliseconds * 2, 5_000) }
        return milliseconds
    }

    /// Begins again at 100 ms.
    package mutating func reset() { milliseconds = 100 }
}
