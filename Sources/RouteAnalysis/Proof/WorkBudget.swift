internal import LinkCoordinator

/// A limit on the work of a proof; deciding whether patterns cover another is coNP-hard in general.
///
/// A unit is one step with one pattern or one state. The budget counts work instead of time, so that a result is the
/// same on every machine. Ordinary tables stay far below the limits.
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

    /// Creates a budget.
    package init(perSearch: Int = 2_000_000, total: Int = 400_000_000) {
        self.perSearch = perSearch
        remaining = total
    }

    /// Begins a search with a new limit.
    package mutating func begin() { remainingInSearch = min(perSearch, remaining) }

    /// Uses units; throws if the search, or all of them together, have none left.
    package mutating func spend(_ units: Int) throws(Exhausted) {
        remainingInSearch -= units
        remaining -= units
        if remainingInSearch < 0 || remaining < 0 { throw Exhausted() }
    }
}
