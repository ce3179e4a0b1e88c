package import ByteStorage
package import LinkCoordinator
package import LinkIngest
package import ShortLinks

/// The one place where a record and a configuration become decisions or a dead letter.
///
/// A decider reads a record, chooses the table, and resolves the link for each device. A lane uses one instance for all
/// its records. It performs no I/O, has no clock, and allocates nothing for a record with one message. The same record,
/// configuration, and facts of known devices yield the same bytes.
package struct Decider: ~Copyable {
    var reader: EventReader
    /// One resolver for each view of a request.
    ///
    /// All but the first are created on demand.
    let resolvers: UnsafeMutablePointer<Resolver>
    var resolverCount = 1
    let views: UnsafeMutablePointer<RequestRoot>
    var tables: TableSet
    /// The limits of a record and of its decisions.
    package let limits: Limits
    /// The table of all usual events without an application: the only one that is served, or nil with a candidate.
    private var usualTable: TableHandle?
    /// The topics of the decisions, or nil if all decisions go to one.
    let outputs: OutputTopics?
    /// The topics of the tables' decisions about events without an application, or empty without `outputs`.
    private var tableOutputs: [(table: TableHandle, output: UInt8)] = []
    /// The topic of the decisions of `usualTable` about such events.
    private var usualOutput: UInt8 = 0
    /// The topic of the candidate's decisions about such events.
    private(set) var candidateOutput: UInt8 = 0
    /// The candidate's side, or nil without a candidate.
    var candidate: CandidateRun?
    /// `topic-partition-offset` of the record, the beginning of its decisions' ids.
    var source = SourceName()
    let head: UnsafeMutablePointer<DecisionHead>
    /// The names for `context.query`, or nil for none.
    private let queryNames: UnsafeMutablePointer<QueryNames>?
    /// A Boolean value that indicates whether facts of known devices are joined.
    private let joinsDevices: Bool
    /// The index of the only device of an event for which a decision is made, or nil for all devices.
    ///
    /// A usual event has a decision for its only device with any index.
    package var onlyDevice: Int?
    /// The index of the only item of a record with several messages that is decided, or nil for all items.
    package var onlyItem: Int?

    /// Creates a decider.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - devices: The devices about which more is known than events say, or nil for no join.
    package init(_ configuration: DeciderConfiguration, devices: (any KnownDevices)? = nil) {
        joinsDevices = devices != nil
        tables = configuration.tables
        limits = configuration.limits
        outputs = configuration.outputs
        resolvers = .allocate(capacity: RequestRoot.maxCount)
        resolvers.initialize(to: Resolver())
        views = .allocate(capacity: RequestRoot.maxCount)
        reader = EventReader(configuration, devices: devices)
        queryNames = configuration.contextQuery.isEmpty ? nil : .allocate(capacity: 1)
        queryNames?.initialize(to: QueryNames(configuration.contextQuery))
        head = .allocate(capacity: 1)
        head.initialize(
            to: DecisionHead(
                source: .empty, index: 0, event: .empty, eventIsPlain: true, device: .empty,
                deviceIsPlain: true, application: .empty, context: .empty))
        head.pointee.queryNames = queryNames
        use(tables, candidate: configuration.candidate)
    }

    /// Uses other tables.
    ///
    /// The decisions so far stay valid, because their bytes are in an arena. With a candidate, all events are decided
    /// device by device.
    package mutating func use(_ tables: TableSet, candidate plan: CanaryPlan?) {
        self.tables = tables
        usualTable = plan == nil ? tables.single : nil
        if let outputs {
            tableOutputs = tables.tables.map { ($0.compiled.handle, outputs.index(of: $0)) }
            usualOutput = tableOutputs.first?.output ?? 0
            candidateOutput = plan.map { outputs.index(of: $0.candidate) } ?? 0
        }
        guard let plan else {
            candidate = nil
            return
        }
        if let candidate {
            candidate.use(plan)
        } else {
            candidate = CandidateRun(plan, decisionLimit: limits.decisionBytes)
        }
    }

    /// Uses another file of short links from the next record on, if the configuration had one.
    package mutating func use(_ shortLinks: ShortLinkFile) { reader.use(shortLinks) }

    /// Returns the counts of the candidate for the last record, which are then zero.
    package mutating func takeCounts() -> CandidateCounts { candidate?.takeCounts() ?? CandidateCounts() }

    deinit {
        head.deallocate()
        queryNames?.deinitialize(count: 1)
        queryNames?.deallocate()
        resolvers.deinitialize(count: resolverCount)
        resolvers.deallocate()
        views.deallocate()
    }

    /// Decides about one record for each of its devices.
    ///
    /// Appends the decisions to `decisions` in the order of the event's devices and writes their bytes to `arena`.
    /// Returns nil on success. Otherwise returns the cause of a dead letter and appends nothing. If the cause is of an
    /// item, the record has several messages: the decisions of the other items were appended. `headers` contains the
    /// headers of the record, if it has any.
    package mutating func decide(
        _ record: ConsumedRecord, headers: [HeaderView] = [], topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        guard let value = record.value else { return .nullValue }
        if value.isEmpty { return .emptyValue }
        let isRead =
            record.hasHeaders
            ? reader.readInPlace(value: value, key: record.key, headers: headers)
            : reader.readInPlace(value: value, key: record.key)
        source.set(topic: topicName, partition: record.partition, offset: record.offset)
        let before = decisions.count
        let cause = decide(
            value, key: record.key, headers: headers, isRead: isRead, timestamp: record.timestamp, into: &arena
        ) { decision in
            decisions.append(decision)
        }
        if let cause, cause.item == nil { decisions.removeSubrange(before...) }
        return cause
    }

    /// Decides about a value that is not in a topic.
    ///
    /// The decisions have no worker members except for `context`. An expiry is compared with `time` in milliseconds
    /// since 1970, or not at all for -1. If the returned cause is of an item, the decisions of the other items stand.
    package mutating func decide(
        value: ByteView, key: ByteView?, headers: [HeaderView] = [], time: Int64 = -1, into arena: inout OutputArena,
        body: (_ device: ByteView, _ decision: ByteView, _ outcome: DecisionSummary.Outcome) -> Void
    ) -> DeadLetterCause? {
        if value.isEmpty { return .emptyValue }
        // A head without a source has only the context.
        source = SourceName()
        let isRead = reader.readInPlace(value: value, key: key, headers: headers)
        return decide(value, key: key, headers: headers, isRead: isRead, timestamp: time, into: &arena) { decision in
            body(decision.key, decision.value, decision.outcome)
        }
    }

    /// Returns a Boolean value that indicates whether the last event that could be read has expired at a time.
    package func hasExpired(at time: Int64) -> Bool { Self.isOver(reader.eventPointer, time) }

    @inline(__always)
    private mutating func decide(
        _ value: ByteView, key: ByteView?, headers: [HeaderView], isRead: Bool, timestamp: Int64,
        into arena: inout OutputArena, body: (ProducedDecision) -> Void
    ) -> DeadLetterCause? {
        if !isRead {
            return decideItems(value, key: key, headers: headers, timestamp: timestamp, into: &arena, body: body)
        }
        let event = reader.eventPointer
        arena.recordLimit = limits.decisionBytes
        defer { arena.recordLimit = .max }
        guard event.pointee.isUsual, !event.pointee.hasApplication, let table = usualTable else {
            return decideOther(value, timestamp: timestamp, into: &arena, body: body)
        }
        let device = reader.devicePointer
        if joinsDevices { reader.joinDevice() }
        let request = event.pointer(to: \.request).unsafelyUnwrapped
        let facts = device.pointer(to: \.facts).unsafelyUnwrapped
        fillHead(event, device, index: 0)
        let id = Self.stableID(of: device, in: &arena)
        arena.begin()
        let summary =
            Self.isOver(event, timestamp)
            ? resolvers.pointee.expire(request, facts, table: table, head: UnsafePointer(head), into: &arena)
            : resolvers.pointee.resolve(request, facts, table: table, head: UnsafePointer(head), into: &arena)
        if arena.overflowed { return oversizeDecision }
        let decision = arena.finish()
        if decision.count > limits.outputBytes { return oversizeRecord(1) }
        if summary.reason == .internalError { return Self.internalError(event.pointee) }
        body(ProducedDecision(key: id, value: decision, outcome: summary.outcome, output: usualOutput))
        return nil
    }

    /// The topic of the decisions about the event that was read last, or nil if it states no application.
    var statedOutput: UInt8? {
        guard let outputs, reader.eventPointer.pointee.hasApplication else { return nil }
        return outputs.index(of: reader.eventPointer.pointee.application)
    }

    /// Returns the topic of the decisions of a served table about events without an application.
    func output(of table: TableHandle) -> UInt8 { tableOutputs.first { $0.table == table }?.output ?? 0 }

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
        head.pointee.expires = event.pointee.expires
        head.pointee.application = event.pointee.hasApplication ? event.pointee.application : .empty
        head.pointee.context =
            device.pointee.context.isEmpty ? event.pointee.context : device.pointee.context
        guard joinsDevices else { return }
        head.pointee.isUser = event.pointee.hasNoDevice
        head.pointee.queryNames = event.pointee.hasNoDevice ? nil : queryNames
        head.pointee.facts = event.pointee.hasNoDevice ? .empty : device.pointee.joined
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
}

// The causes of dead letters that the reader does not find.
extension Decider {
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

    /// The cause for a decision that exceeds its limit.
    var oversizeDecision: DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "a decision exceeds the limit of \(limits.decisionBytes) bytes (limits.decision.bytes)")
    }

    /// Returns the cause for decisions that exceed their limit together.
    func oversizeRecord(_ devices: Int) -> DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "the decisions for \(devices) device\(devices == 1 ? "" : "s") exceed the limit of "
                + "\(limits.outputBytes) bytes together (limits.output.bytes)")
    }
}

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
    package var output: UInt8 = 0
}
