internal import RouteAnalysis
internal import LinkCoordinator
internal import LinkIngest
internal import ByteStorage
internal import StrictJSON

/// Explanations of an event's decisions, device by device, for `linkd resolve --explain`.
///
/// A class: the compiler needs half a minute to check the moves of a noncopyable structure that contains a resolver.
final class Explainer {
    private var reader: EventReader
    private var resolver = Resolver()
    private let tables: TableSet

    /// The explanation for one device: the decision of a table, and the envelope in which the request was found.
    struct DeviceExplanation {
        /// The decision, or nil if the request opens nothing and needs no table.
        var decision: Explanation?
        var envelope: EnvelopeTrace

        /// Returns a decision's JSON with the envelope and the trace as its last members.
        func json(of made: [UInt8]) -> [UInt8] {
            var json = JSONText()
            json.beginObject()
            envelope.write("envelope", to: &json)
            if let decision { json.raw("explain", decision.json) }
            json.endObject()
            var bytes = made
            bytes[bytes.count - 1] = UInt8(ascii: ",")
            return bytes + Array(json.finish().utf8.dropFirst())
        }
    }

    /// Creates an explainer for a set of tables.
    init(_ tables: TableSet, limits: IngestLimits, _ vendors: LoadedVendors) {
        self.tables = tables
        reader = EventReader(limits: limits, vendors: vendors.table, platforms: vendors.platforms)
    }

    /// Returns an explanation for each device of an event, or an empty array if there is no decision.
    func explain(value: ByteView, key: ByteView?, headers: EnvelopeHeaders) -> [DeviceExplanation] {
        guard reader.readInPlace(value: value, key: key, headers: headers) else { return [] }
        var explanations: [DeviceExplanation] = []
        let event = reader.eventPointer
        let device = reader.devicePointer
        for index in 0..<event.pointee.deviceCount {
            guard reader.selectDevice(at: index) else { return [] }
            guard let request = event.pointer(to: \.request), let facts = device.pointer(to: \.facts) else { return [] }
            let application = event.pointee.hasApplication ? event.pointee.application : nil
            let isOpen = application == nil && tables.single == nil
            if isOpen && hasPointerLinks(request) {
                guard let link = try? tables.pointerLink(request, using: &resolver) else { return [] }
                if !link.isEmpty { reader.openLink(link) }
            }
            // An event that cannot be read again is a dead letter `internal`, which has no explanation.
            guard let chosen = try? tables.table(application: application, request: request, using: &resolver),
                let table = tables.tables.first(where: { $0.compiled.handle == chosen })
            else {
                guard isOpen, (try? tables.opensNothing(request, using: &resolver)) == true else { return [] }
                explanations.append(DeviceExplanation(decision: nil, envelope: envelope(nil)))
                continue
            }
            let trace = envelope(EnvelopeTrace.tablePointer(in: request.pointee, of: table))
            // As in the record processor, a link at a pointer of the table can be one of a link platform.
            if hasPointerLinks(request) {
                guard let link = try? resolver.pointerLink(request, table: chosen, keepsReadings: false) else {
                    return []
                }
                if !link.isEmpty { reader.openLink(link) }
            }
            explanations.append(DeviceExplanation(decision: table.explain(request, facts), envelope: trace))
        }
        return explanations
    }

    /// Returns a Boolean value that indicates whether a link of a link platform can be at the pointers of a table.
    private func hasPointerLinks(_ request: UnsafePointer<RequestView>) -> Bool {
        reader.unwrapsLinks && request.pointee.form == .payload && request.pointee.tapped.kind == .unknown
    }

    /// Returns the envelope of the record for the selected device.
    private func envelope(_ tablePointer: String?) -> EnvelopeTrace {
        EnvelopeTrace(
            kind: reader.envelope, cloudEvents: reader.cloudEventsMode, message: reader.explainMessage(),
            tablePointer: tablePointer)
    }

    /// The explanations of each table for an event that no table claims, and the envelope of the event.
    struct UnclaimedEvent {
        /// The envelope, or nil if there is no explanation.
        var envelope: EnvelopeTrace?
        /// The tables, those with suggestions first.
        var tables: [(table: RouteTable, explanation: Explanation)] = []
    }

    /// Returns the explanations of each table for an event that no table claims.
    func unclaimed(value: ByteView, key: ByteView?, headers: EnvelopeHeaders) -> UnclaimedEvent {
        guard reader.readInPlace(value: value, key: key, headers: headers) else { return UnclaimedEvent() }
        let event = reader.eventPointer
        guard reader.selectDevice(at: 0), !event.pointee.hasApplication, let request = event.pointer(to: \.request),
            let facts = reader.devicePointer.pointer(to: \.facts),
            request.pointee.form == .link || request.pointee.form == .payload
        else { return UnclaimedEvent() }
        let all = tables.tables.map { (table: $0, explanation: $0.explain(request, facts)) }
        // Tables with suggestions come first, then those with the scheme of the link.
        func rank(_ explanation: Explanation) -> Int {
            (explanation.suggestions.isEmpty ? 2 : 0) + (explanation.decision.reason == .scheme ? 1 : 0)
        }
        let sorted = all.enumerated().sorted { a, b in
            (rank(a.element.explanation), a.offset) < (rank(b.element.explanation), b.offset)
        }
        return UnclaimedEvent(envelope: envelope(nil), tables: sorted.map(\.element))
    }

    /// The applications that the tables list.
    var applications: [String] { tables.tables.flatMap { $0.source.applications.map(\.value) } }
}
