/// The counters of a lane since its start.
///
/// Committed items are counted when their commit returns.
package struct LaneCounters: Sendable, Equatable {
    /// Input records of committed transactions.
    package var records = 0
    /// Decisions of committed transactions.
    package var decisions = 0
    /// Dead letters of committed transactions.
    package var deadLetters = 0
    /// Committed transactions.
    package var committed = 0
    /// Aborted transactions.
    package var aborted = 0
    /// Producers that were replaced after an unknown outcome.
    package var rotations = 0
    /// Producers that were replaced after a failure.
    package var recreations = 0
    /// The number of times that the lane returned to committed offsets.
    package var rewinds = 0

    /// Creates counters that are zero.
    package init() {}
}
