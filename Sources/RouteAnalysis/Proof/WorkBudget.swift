internal import LinkCoordinator

/// A limit on the work of a proof; deciding whether patterns cover another is coNP-hard in general.
///
/// A unit is one step with one pattern or one state. The budget counts work instead of time, so that a result is the
/// same on every machine. Ordinary tables stay far below the limits.
///
/// A caller who waits for an answer can end the work earlier. What was proved until then is no result.
package struct WorkBudget: Sendable {
    /// The error that is thrown when a search would exceed the budget.
    package struct Exhausted: Error, Sendable, Equatable {
        /// Creates the error.
        package init() {}
    }

    /// The maximum number of units of one search.
    package var perSearch: Int

    /// The remaining units of all searches together.
    package private(set) var remaining: Int

    private var remainingInSearch = 0
    private let isOver: @Sendable () -> Bool

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - perSearch: The maximum number of units of one search.
    ///   - total: The units of all searches together.
    ///   - isOver: A function that returns true to take away all units before the next search.
    package init(
        perSearch: Int = 2_000_000, total: Int = 400_000_000, isOver: @escaping @Sendable () -> Bool = { false }
    ) {
        self.perSearch = perSearch
        remaining = total
        self.isOver = isOver
    }

    /// Begins a search with a new limit.
    package mutating func begin() {
        if isOver() { remaining = 0 }
        remainingInSearch = min(perSearch, remaining)
    }

    /// Uses units; throws if the search, or all of them together, have none left.
    package mutating func spend(_ units: Int) throws(Exhausted) {
        remainingInSearch -= units
        remaining -= units
        if remainingInSearch < 0 || remaining < 0 { throw Exhausted() }
    }
}
