package import ByteStorage
package import LinkDecider
package import LinkIngest
internal import ShortLinks

/// The processor of a lane: a decider that takes the newest tables, and the counts of a canary's open transaction.
package struct RecordProcessor: RecordProcessing, ~Copyable {
    private var decider: Decider
    private let served: ServedTables
    private var version: Int
    private var canary: CanaryCounts?
    private let devices: RegisteredDevices?
    private let shortLinks: ShortLinkSource?
    private var shortLinksNumber: Int

    /// Creates a processor that uses the served tables instead of the tables in the configuration.
    ///
    /// - Parameters:
    ///   - served: The tables.
    ///   - configuration: The configuration.
    ///   - devices: The registry's devices, or nil for no join.
    package init(_ served: ServedTables, _ configuration: DeciderConfiguration, devices: RegisteredDevices? = nil) {
        self.devices = devices
        shortLinks = configuration.shortLinks
        shortLinksNumber = shortLinks?.number ?? 0
        let first = served.current()
        self.served = served
        version = first.number
        var configuration = configuration
        configuration.tables = first.tables
        configuration.candidate = first.canary
        decider = Decider(configuration, devices: devices)
        canary = first.canary.map(CanaryCounts.init)
    }

    /// Creates a processor whose tables never change.
    package init(_ configuration: DeciderConfiguration) {
        let version = ServedTables.Version(configuration.tables, canary: configuration.candidate)
        self.init(ServedTables(version), configuration)
    }

    /// The limits of a record and of its decisions.
    package var limits: Limits { decider.limits }

    /// The registry's devices, or nil.
    package var knownDevices: (any KnownDevices)? { devices }

    /// Looks ahead at the devices of records that are probably processed next, and returns the number of these records.
    package mutating func lookAhead(_ records: UnsafeBufferPointer<ConsumedRecord>, from start: Int) -> Int {
        devices?.lookAhead(records, from: start) ?? records.count - start
    }

    /// Decides about a record with the tables of the last `refresh`.
    package mutating func process(
        _ record: ConsumedRecord, headers: [HeaderView], topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        if canary != nil { count() }
        return decider.decide(record, headers: headers, topicName: topicName, into: &arena, decisions: &decisions)
    }

    /// Takes the newest tables, short links, and state of the registry, and returns the number of the tables' version.
    package mutating func refresh() -> Int {
        devices?.refresh()
        if let shortLinks, shortLinks.number != shortLinksNumber {
            shortLinksNumber = shortLinks.number
            decider.use(shortLinks.file)
        }
        guard served.number != version else { return version }
        let next = served.current()
        version = next.number
        if canary != nil { count() }
        decider.use(next.tables, candidate: next.canary)
        if let plan = next.canary, canary != nil {
            canary?.use(plan)
        } else {
            canary = next.canary.map(CanaryCounts.init)
        }
        return version
    }

    /// Drops the counts of the last record, whose decisions are not produced.
    package mutating func withdraw() { _ = decider.takeCounts() }

    /// Counts what was decided since the last end of a transaction, or drops it.
    ///
    /// Returns the canary's totals of all committed transactions, or nil without a canary.
    package mutating func ended(isCommitted: Bool) -> CanaryTotals? {
        guard canary != nil else { return nil }
        count()
        return canary?.ended(isCommitted: isCommitted)
    }

    /// Counts the last record for the open transaction.
    ///
    /// It waits for the next record, because the decisions of a record can be withdrawn.
    private mutating func count() { canary?.add(decider.takeCounts()) }
}

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
