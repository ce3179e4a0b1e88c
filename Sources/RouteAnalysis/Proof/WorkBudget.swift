internal import LinkCoordinator

/// Counts the work of a proof: deciding whether patterns cover another is coNP-hard in general.
///
/// A unit is one look at one pattern or one state. Counting, not time, so that a verdict is the same on every machine.
/// Ordinary tables stay far below the bounds.
package struct WorkBudget: Sendable {
    /// Thrown where a question would take more work than it may.
    package struct Exhausted: Error, Sendable, Equatable {}

    /// Most units of one question.
    package var perQuestion: Int

    /// Units left for all questions together.
    package private(set) var left: Int

    private var question = 0

    /// Makes a budget.
    package init(perQuestion: Int = 2_000_000, total: Int = 400_000_000) {
        self.perQuestion = perQuestion
        left = total
    }

    /// Begins a question: what the last one took does not count against it.
    package mutating func begin() { question = min(perQuestion, left) }

    /// Takes units; throws where the question or all of them together have none left.
    package mutating func spend(_ units: Int) throws(Exhausted) {
        question -= units
        left -= units
        if question < 0 || left < 0 { throw Exhausted() }
    }
}
