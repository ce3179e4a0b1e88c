package import ByteStorage
package import LinkCoordinator

/// One encoded decision: the output record for one device.
package struct ProducedDecision {
    /// The device's id, which is the key of the output record.
    ///
    /// It is valid as long as the consumed batch or the arena.
    package var key: ByteView
    /// The decision's JSON, valid until the arena is reset.
    package var value: ByteView
    /// The outcome, for counters.
    package var outcome: DecisionSummary.Outcome
    /// The index of its topic in `OutputTopics.names`.
    package var output: UInt8

    /// Creates a decision's record.
    package init(key: ByteView, value: ByteView, outcome: DecisionSummary.Outcome, output: UInt8 = 0) {
        self.key = key
        self.value = value
        self.outcome = outcome
        self.output = output
    }
}
