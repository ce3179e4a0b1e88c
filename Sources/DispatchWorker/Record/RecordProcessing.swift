package import ByteStorage
package import LinkDecider
package import LinkIngest

/// A processor that turns one record's bytes into decisions, without I/O.
///
/// The same bytes, tables, and facts of known devices yield the same decisions.
package protocol RecordProcessing: ~Copyable {
    /// The limits of a record and of its decisions.
    var limits: Limits { get }
    /// The devices about which more is known than records say, or nil.
    var knownDevices: (any KnownDevices)? { get }

    /// Looks ahead at the devices of records that are probably processed next, and returns the number of these records.
    ///
    /// It changes no decision.
    mutating func lookAhead(_ records: UnsafeBufferPointer<ConsumedRecord>, from start: Int) -> Int

    /// Resolves one record for each of its devices.
    ///
    /// Appends the decisions to `decisions` in the order of the event's devices and writes their bytes to `arena`.
    /// Returns nil on success. Otherwise returns the cause of a dead letter and appends nothing. If the cause is of an
    /// item, the decisions of the other items were appended. `headers` contains the headers of the record, if it has
    /// any.
    mutating func process(
        _ record: ConsumedRecord, headers: [HeaderView], topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause?

    /// Takes the newest tables, and returns the number of their version.
    ///
    /// A lane calls it between two batches.
    mutating func refresh() -> Int

    /// Withdraws the counts of the last record, which was processed and whose decisions are not produced.
    mutating func withdraw()

    /// Counts what was processed since the last end of a transaction, or drops it.
    ///
    /// Returns the canary's totals of all committed transactions, or nil without a canary.
    mutating func ended(isCommitted: Bool) -> CanaryTotals?
}

extension RecordProcessing where Self: ~Copyable {
    /// The default limits.
    package var limits: Limits { Limits() }

    /// Returns nil, for a processor without a registry of devices.
    package var knownDevices: (any KnownDevices)? { nil }

    /// Does nothing, for a processor without a registry of devices.
    package mutating func lookAhead(_ records: UnsafeBufferPointer<ConsumedRecord>, from start: Int) -> Int {
        records.count - start
    }

    /// Returns 0, the number of tables that never change.
    package mutating func refresh() -> Int { 0 }

    /// Does nothing, for a processor without counts.
    package mutating func withdraw() {}

    /// Returns nil, for a processor without a canary.
    package mutating func ended(isCommitted: Bool) -> CanaryTotals? { nil }
}

extension DeadLetterCause {
    /// The cause for a record whose decisions a broker refuses.
    static var refusedOutput: DeadLetterCause {
        DeadLetterCause(
            reason: .refusedOutput,
            detail: "a broker refuses this record's decisions even when they are alone in a transaction")
    }
}
