package import KafkaClient
package import LinkCoordinator
package import LinkIngest
package import StrictJSON

/// Bounds of what is written for one record, judged while it is written: a record that passes one has no decision.
package struct OutputLimits: Sendable, Equatable {
    /// `limits.decision.bytes`: longest decision, in bytes.
    package var decisionBytes: Int
    /// `limits.output.bytes`: most bytes of all decisions of one record.
    package var recordBytes: Int

    /// Makes limits; without arguments those of the settings table.
    package init(decisionBytes: Int = 1_000_000, recordBytes: Int = 8 << 20) {
        self.decisionBytes = decisionBytes
        self.recordBytes = recordBytes
    }

    /// A decision is over its limit.
    var oversizeDecision: DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "a decision has more than \(decisionBytes) bytes, the limit (limits.decision.bytes)")
    }

    /// The decisions together are over their limit.
    func oversizeRecord(_ devices: Int) -> DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "the decisions for \(devices) devices have more than \(recordBytes) bytes together, the limit "
                + "(limits.output.bytes)")
    }
}

/// From a record's bytes to its decisions: the reader, the choice of the table and the resolver, one after another.
///
/// One per lane, used for every record of its life. It does no I/O, has no clock and allocates nothing per record: the
/// same record and tables give the same bytes.
package struct RecordProcessor: RecordProcessing, ~Copyable {
    private var reader: EventReader
    private var resolver = Resolver()
    private let tables: TableSet
    private let outputs: OutputLimits
    /// The table of all events that name no application, if there is one only.
    private let only: TableHandle?
    /// `topic-partition-offset` of the record, the start of its decisions' ids.
    private var source = SourceName()
    private let head: UnsafeMutablePointer<DecisionHead>

    /// Makes a processor.
    ///
    /// - Parameters:
    ///   - tables: The tables that are served.
    ///   - limits: Bounds of a record.
    ///   - passthrough: Names of the event's members that are copied into `context`.
    ///   - outputs: Bounds of a record's decisions.
    package init(
        tables: TableSet, limits: IngestLimits = IngestLimits(), passthrough: [String] = [],
        outputs: OutputLimits = OutputLimits()
    ) {
        self.tables = tables
        self.outputs = outputs
        only = tables.tables.count == 1 ? tables.tables[0].compiled.handle : nil
        reader = EventReader(limits: limits, passthrough: passthrough)
        head = .allocate(capacity: 1)
        head.initialize(
            to: DecisionHead(
                source: .empty, index: 0, event: .empty, eventIsPlain: true, device: .empty,
                deviceIsPlain: true, context: .empty))
    }

    deinit { head.deallocate() }

    /// Reads, resolves and encodes one record, as the protocol says.
    package mutating func process(
        _ record: ConsumedRecord, topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        guard let value = record.value else {
            return DeadLetterCause(reason: .nullValue, detail: "expected a value: a tombstone means nothing here")
        }
        source.set(topic: topicName, partition: record.partition, offset: record.offset)
        let before = decisions.count
        let cause = process(
            value: value, key: record.key, timestamp: record.timestamp, hasHead: true, into: &arena
        ) { device, decision, outcome in
            decisions.append(ProducedDecision(key: device, value: decision, outcome: outcome))
        }
        if cause != nil { decisions.removeSubrange(before...) }
        return cause
    }

    /// Resolves a value without a broker: the decisions come without the worker's members, nothing ever expires.
    package mutating func process(
        value: ByteView, key: ByteView?, into arena: inout OutputArena,
        body: (_ device: ByteView, _ decision: ByteView, _ outcome: DecisionOutcome) -> Void
    ) -> DeadLetterCause? {
        process(value: value, key: key, timestamp: -1, hasHead: false, into: &arena, body: body)
    }

    @inline(__always)
    private mutating func process(
        value: ByteView, key: ByteView?, timestamp: Int64, hasHead: Bool,
        into arena: inout OutputArena, body: (ByteView, ByteView, DecisionOutcome) -> Void
    ) -> DeadLetterCause? {
        if !reader.readInPlace(value: value, key: key) { return DeadLetterCause(reader.failure, value: value) }
        let event = reader.eventPointer
        let device = reader.devicePointer
        var index = 0
        var written = 0
        arena.recordLimit = outputs.decisionBytes
        defer { arena.recordLimit = .max }
        while index < event.pointee.deviceCount {
            if !event.pointee.isUsual && !reader.selectDevice(at: index) {
                return DeadLetterCause(reader.failure, value: value)
            }
            let request = event.pointer(to: \.request).unsafelyUnwrapped
            let facts = device.pointer(to: \.facts).unsafelyUnwrapped
            let isOnly = !event.pointee.hasApplication && only != nil
            let chosen =
                isOnly
                ? only
                : tables.table(
                    application: event.pointee.hasApplication ? event.pointee.application : nil, request: request,
                    using: &resolver)
            guard let table = chosen else { return Self.applicationUnknown(event.pointee) }
            if hasHead { fillHead(event, device, index: index) }
            let id =
                device.pointee.isPlain ? Self.ownBytes(device.pointee.id) : Self.kept(device.pointee.id, in: &arena)
            arena.begin()
            let isOver = timestamp >= 0 && event.pointee.expires.map { timestamp > $0 } ?? false
            let place = hasHead ? UnsafePointer(head) : nil
            let summary =
                isOver
                ? resolver.expire(request, facts, table: table, head: place, into: &arena)
                : resolver.resolve(request, facts, table: table, head: place, into: &arena)
            if arena.overflowed { return outputs.oversizeDecision }
            let decision = arena.finish()
            written &+= decision.count
            if written > outputs.recordBytes { return outputs.oversizeRecord(index &+ 1) }
            if case .internalError? = summary.reason { return Self.internalError(event.pointee) }
            body(id, decision, DecisionOutcome(summary.outcome))
            index &+= 1
        }
        return nil
    }

    /// Fills the worker's members of a decision, in place.
    private mutating func fillHead(
        _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>, index: Int
    ) {
        head.pointee.source = source.view
        head.pointee.index = index
        head.pointee.event = event.pointee.id
        head.pointee.eventIsPlain = event.pointee.idIsPlain
        head.pointee.device = device.pointee.id
        head.pointee.deviceIsPlain = device.pointee.isPlain
        head.pointee.context = event.pointee.context
    }

    /// An id that stands in the record itself, which the consumer keeps until its batch is over, and not until the
    /// reader reads the next.
    @inline(__always)
    private static func ownBytes(_ id: ByteView) -> ByteView { ByteView(start: id.start, count: id.count) }

    /// A copy of an id that may stand in the reader's memory, which the next device or record takes back.
    @inline(never)
    private static func kept(_ id: ByteView, in arena: inout OutputArena) -> ByteView {
        arena.begin()
        arena.append(id)
        return arena.finish()
    }

    @inline(never)
    private static func internalError(_ event: IngestedEvent) -> DeadLetterCause {
        DeadLetterCause(
            reason: .internal, detail: "what was read strictly does not read again: report this with the record",
            event: event.id.isEmpty ? nil : event.id.array)
    }

    @inline(never)
    private static func applicationUnknown(_ event: IngestedEvent) -> DeadLetterCause {
        DeadLetterCause(
            reason: .applicationUnknown,
            detail: event.hasApplication
                ? "expected an application that one table lists"
                : "expected `application`, or a link that exactly one table claims",
            pointer: event.hasApplication ? "/application" : nil, event: event.id.isEmpty ? nil : event.id.array)
    }
}

extension DecisionOutcome {
    /// The outcome of the core.
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
    /// The cause that a reader's failure is, with the pointer of its place.
    convenience init(_ failure: IngestFailure, value: ByteView) {
        self.init(
            reason: DeadLetterReason(rawValue: failure.reason.rawValue) ?? .internal, detail: failure.detail,
            pointer: failure.pointer(in: value), event: failure.event)
    }
}
