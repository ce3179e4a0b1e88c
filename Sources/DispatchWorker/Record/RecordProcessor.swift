package import KafkaClient
package import LinkCoordinator
package import LinkIngest
package import ByteStorage

/// The size limits of the output of one record, checked while it is written.
///
/// A record that exceeds one has no decisions.
package struct OutputLimits: Sendable, Equatable {
    /// `limits.decision.bytes`: the maximum size of a decision, in bytes.
    package var decisionBytes: Int
    /// `limits.output.bytes`: the maximum size of all decisions of one record, in bytes.
    package var recordBytes: Int

    /// Creates limits.
    ///
    /// The defaults are those of the settings table.
    package init(decisionBytes: Int = 1_000_000, recordBytes: Int = 8 << 20) {
        self.decisionBytes = decisionBytes
        self.recordBytes = recordBytes
    }

    /// The cause for a decision that exceeds its limit.
    var oversizeDecision: DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "a decision exceeds the limit of \(decisionBytes) bytes (limits.decision.bytes)")
    }

    /// Returns the cause for decisions that exceed their limit together.
    func oversizeRecord(_ devices: Int) -> DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "the decisions for \(counted(devices, "device")) exceed the limit of \(recordBytes) bytes together "
                + "(limits.output.bytes)")
    }
}

/// The processor of a lane, which reads a record, chooses the table, and resolves the link.
///
/// A lane uses one instance for all its records. It performs no I/O, has no clock, and allocates nothing per record.
/// The same record and tables yield the same bytes.
package struct RecordProcessor: RecordProcessing, ~Copyable {
    var reader: EventReader
    /// One resolver for each view of a request.
    ///
    /// All but the first are created on demand.
    let resolvers: UnsafeMutablePointer<Resolver>
    var resolverCount = 1
    let views: UnsafeMutablePointer<RequestRoot>
    private let served: ServedTables
    /// The tables that this processor serves until `refresh` takes newer ones.
    var version: ServedTables.Version
    let outputs: OutputLimits
    /// The table of all usual events without an application: the only one that is served, or nil with a canary.
    private var usualTable: TableHandle?
    /// The candidate's side, or nil without a canary.
    var canary: CanaryRun?
    /// `topic-partition-offset` of the record, the beginning of its decisions' ids.
    private var source = SourceName()
    let head: UnsafeMutablePointer<DecisionHead>

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - tables: The tables that are served, which `refresh` replaces by newer ones.
    ///   - limits: The limits of a record.
    ///   - passthrough: The names of the event's members that are copied into `context`.
    ///   - outputs: The limits of a record's decisions.
    ///   - vendors: The vendors whose messages are recognized, or nil for none.
    ///   - platforms: The link platforms whose links are replaced by their destinations, or nil for none.
    package init(
        tables: ServedTables, limits: IngestLimits = IngestLimits(), passthrough: [String] = [],
        outputs: OutputLimits = OutputLimits(), vendors: VendorTable? = nil, platforms: LinkPlatforms? = nil
    ) {
        served = tables
        version = tables.current()
        self.outputs = outputs
        resolvers = .allocate(capacity: RequestRoot.maxCount)
        resolvers.initialize(to: Resolver())
        views = .allocate(capacity: RequestRoot.maxCount)
        reader = EventReader(limits: limits, passthrough: passthrough, vendors: vendors, platforms: platforms)
        head = .allocate(capacity: 1)
        head.initialize(
            to: DecisionHead(
                source: .empty, index: 0, event: .empty, eventIsPlain: true, device: .empty,
                deviceIsPlain: true, context: .empty))
        useVersion()
    }

    /// Creates a processor whose tables never change.
    package init(
        tables: TableSet, limits: IngestLimits = IngestLimits(), passthrough: [String] = [],
        outputs: OutputLimits = OutputLimits(), vendors: VendorTable? = nil, platforms: LinkPlatforms? = nil
    ) {
        self.init(
            tables: ServedTables(ServedTables.Version(tables)), limits: limits, passthrough: passthrough,
            outputs: outputs, vendors: vendors, platforms: platforms)
    }

    /// Takes the newest tables, and returns the number of their version.
    ///
    /// The decisions so far stay valid, because their bytes are in an arena.
    package mutating func refresh() -> Int {
        if served.number != version.number {
            version = served.current()
            useVersion()
        }
        return version.number
    }

    /// Prepares for the tables of the version.
    ///
    /// With a canary, all events are processed device by device.
    private mutating func useVersion() {
        usualTable = version.canary == nil ? version.tables.single : nil
        guard let plan = version.canary else {
            canary = nil
            return
        }
        if let canary {
            canary.use(plan)
        } else {
            canary = CanaryRun(plan, decisionLimit: outputs.decisionBytes)
        }
    }

    /// Withdraws the counts of the last record, whose decisions are not produced.
    package mutating func withdraw() { canary?.withdraw() }

    /// Counts what was processed since the last end of a transaction, or drops it.
    ///
    /// Returns the canary's totals of all committed transactions, or nil without a canary.
    package mutating func ended(isCommitted: Bool) -> CanaryTotals? { canary?.ended(isCommitted: isCommitted) }

    deinit {
        head.deallocate()
        resolvers.deinitialize(count: resolverCount)
        resolvers.deallocate()
        views.deallocate()
    }

    /// Reads, resolves, and encodes one record.
    @inline(__always)
    package mutating func process(
        _ record: ConsumedRecord, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        guard let value = record.value else { return .nullValue }
        let isRead = reader.readInPlace(value: value, key: record.key)
        return process(record, value, isRead: isRead, topicName: topicName, into: &arena, decisions: &decisions)
    }

    /// Reads, resolves, and encodes one record with headers that determine how its value is read.
    @inline(never)
    package mutating func process(
        _ record: ConsumedRecord, headers: EnvelopeHeaders, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        guard let value = record.value else { return .nullValue }
        let isRead = reader.readInPlace(value: value, key: record.key, headers: headers)
        return process(record, value, isRead: isRead, topicName: topicName, into: &arena, decisions: &decisions)
    }

    @inline(__always)
    private mutating func process(
        _ record: ConsumedRecord, _ value: ByteView, isRead: Bool, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        source.set(topic: topicName, partition: record.partition, offset: record.offset)
        let before = decisions.count
        let cause = process(value: value, isRead: isRead, timestamp: record.timestamp, hasHead: true, into: &arena) {
            device, decision, outcome in
            decisions.append(ProducedDecision(key: device, value: decision, outcome: outcome))
        }
        if cause != nil { decisions.removeSubrange(before...) }
        return cause
    }

    /// Resolves a value without a broker.
    ///
    /// The decisions have no worker members except for `context`.
    ///
    /// - Parameters:
    ///   - hasContext: A Boolean value that indicates whether the decisions have the member `context`.
    ///   - time: The time that an expiry is compared with, in milliseconds since 1970, or -1 for no expiry.
    package mutating func process(
        value: ByteView, key: ByteView?, headers: EnvelopeHeaders = EnvelopeHeaders(), hasContext: Bool = false,
        time: Int64 = -1, into arena: inout OutputArena,
        body: (_ device: ByteView, _ decision: ByteView, _ outcome: DecisionOutcome) -> Void
    ) -> DeadLetterCause? {
        let isRead =
            headers.isEmpty
            ? reader.readInPlace(value: value, key: key)
            : reader.readInPlace(value: value, key: key, headers: headers)
        // A head without a source has only the context.
        if hasContext { source = SourceName() }
        return process(value: value, isRead: isRead, timestamp: time, hasHead: hasContext, into: &arena, body: body)
    }

    /// Returns a Boolean value that indicates whether the last event that could be read has expired at a time.
    package func hasExpired(at time: Int64) -> Bool { Self.isOver(reader.eventPointer, time) }

    @inline(__always)
    private mutating func process(
        value: ByteView, isRead: Bool, timestamp: Int64, hasHead: Bool,
        into arena: inout OutputArena, body: (ByteView, ByteView, DecisionOutcome) -> Void
    ) -> DeadLetterCause? {
        if !isRead { return DeadLetterCause(reader.failure, value: value) }
        let event = reader.eventPointer
        arena.recordLimit = outputs.decisionBytes
        defer { arena.recordLimit = .max }
        guard event.pointee.isUsual, !event.pointee.hasApplication, let table = usualTable else {
            return processOther(value, timestamp: timestamp, hasHead: hasHead, into: &arena, body: body)
        }
        let device = reader.devicePointer
        let request = event.pointer(to: \.request).unsafelyUnwrapped
        let facts = device.pointer(to: \.facts).unsafelyUnwrapped
        if hasHead { fillHead(event, device, index: 0) }
        let id = Self.stableID(of: device, in: &arena)
        arena.begin()
        let decisionHead = hasHead ? UnsafePointer(head) : nil
        let summary =
            Self.isOver(event, timestamp)
            ? resolvers.pointee.expire(request, facts, table: table, head: decisionHead, into: &arena)
            : resolvers.pointee.resolve(request, facts, table: table, head: decisionHead, into: &arena)
        if arena.overflowed { return outputs.oversizeDecision }
        let decision = arena.finish()
        if decision.count > outputs.recordBytes { return outputs.oversizeRecord(1) }
        if summary.reason == .internalError { return Self.internalError(event.pointee) }
        body(id, decision, DecisionOutcome(summary.outcome))
        return nil
    }

    @inline(__always)
    static func isOver(_ event: UnsafeMutablePointer<IngestedEvent>, _ timestamp: Int64) -> Bool {
        timestamp >= 0 && event.pointee.expires.map { timestamp > $0 } ?? false
    }

    /// Fills in the worker's members of a decision, in place.
    mutating func fillHead(
        _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>, index: Int
    ) {
        head.pointee.source = source.view
        head.pointee.index = index
        head.pointee.event = event.pointee.id
        head.pointee.eventIsPlain = event.pointee.idIsPlain
        head.pointee.device = device.pointee.id
        head.pointee.deviceIsPlain = device.pointee.isPlain
        head.pointee.context =
            device.pointee.context.isEmpty ? event.pointee.context : device.pointee.context
    }

    /// Returns the device's id with the lifetime of the batch: a view into the record, or a copy if the id is in memory
    /// that the reader reuses.
    @inline(__always)
    static func stableID(
        of device: UnsafeMutablePointer<EventDevice>, in arena: inout OutputArena
    ) -> ByteView {
        let id = device.pointee.id
        return device.pointee.isPlain ? ByteView(start: id.start, count: id.count) : copy(of: id, in: &arena)
    }

    /// Returns a copy of an id in the reader's memory, which the next device or record overwrites.
    @inline(never)
    private static func copy(of id: ByteView, in arena: inout OutputArena) -> ByteView {
        arena.begin()
        arena.append(id)
        return arena.finish()
    }

    @inline(never)
    static func internalError(_ event: IngestedEvent) -> DeadLetterCause {
        DeadLetterCause(
            reason: .internal, detail: "a valid value cannot be read a second time: report this bug with the record",
            event: event.id.isEmpty ? nil : event.id.array)
    }

    @inline(never)
    static func applicationUnknown(_ event: IngestedEvent) -> DeadLetterCause {
        DeadLetterCause(
            reason: .applicationUnknown,
            detail: event.hasApplication
                ? "expected an application that one table lists"
                : "expected `application`, or a link that exactly one table matches",
            pointer: event.hasApplication ? "/application" : nil, event: event.id.isEmpty ? nil : event.id.array)
    }
}

extension DecisionOutcome {
    /// Creates the outcome from that of a decision.
    init(_ outcome: DecisionSummary.Outcome) {
        switch outcome {
        case .navigate: self = .navigate
        case .external: self = .external
        case .deferred: self = .deferred
        case .none: self = .none
        case .reject: self = .reject
        }
    }
}

extension DeadLetterCause {
    /// Creates the cause from a reader's failure, with the pointer to its location.
    convenience init(_ failure: IngestFailure, value: ByteView) {
        self.init(
            reason: DeadLetterReason(rawValue: failure.reason.rawValue) ?? .internal, detail: failure.detail,
            pointer: failure.pointer(in: value), event: failure.event)
    }
}
