/// The result of a decision, for counters and exit codes.
///
/// The decision itself is written as JSON.
package struct DecisionSummary: Sendable, Equatable {
    /// The kinds of outcomes, with their published names.
    package enum Outcome: UInt8, Sendable { case navigate, external, deferred, none, reject }
    /// The outcome.
    package var outcome: Outcome
    /// The reason, if the decision has one.
    package var reason: ReasonCode?

    init(_ outcome: Outcome, _ reason: ReasonCode? = nil) {
        self.outcome = outcome
        self.reason = reason
    }
}
