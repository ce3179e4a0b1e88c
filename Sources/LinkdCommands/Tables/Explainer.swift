internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools
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
            let members = JSONText.object { json in
                envelope.write("envelope", to: &json)
                if let decision { json.raw("explain", decision.json) }
            }
            var bytes = made
            bytes[bytes.count - 1] = UInt8(ascii: ",")
            return bytes + Array(members.utf8.dropFirst())
        }
    }

    /// Creates an explainer of the decisions that a decider with the same configuration and devices makes.
    init(_ configuration: DeciderConfiguration, devices: (any KnownDevices)? = nil) {
        tables = configuration.tables
        reader = EventReader(configuration, devices: devices)
    }

    /// Returns an explanation for each device of an event, or of each event in a list, or an empty array if there is no
    /// decision.
    ///
    /// - Parameters:
    ///   - value: The value of the record.
    ///   - key: The key of the record, or nil for none.
    ///   - headers: The headers of the record.
    ///   - only: The index of the only device that is explained, or nil for all devices.
    ///   - isItem: A Boolean value that indicates whether it is an item of a list, which has no items.
    func explain(
        value: ByteView, key: ByteView?, headers: [HeaderView], only: Int? = nil, isItem: Bool = false
    ) -> [DeviceExplanation] {
        guard reader.readInPlace(value: value, key: key, headers: headers) else {
            guard !isItem, let batch = reader.batch(of: value, key: key, headers: headers) else { return [] }
            return batch.items.flatMap { place in
                explain(
                    value: value.slice(place.lowerBound, place.upperBound), key: key,
                    headers: RecordBatch.headers(headers), isItem: true)
            }
        }
        var explanations: [DeviceExplanation] = []
        let event = reader.eventPointer
        let device = reader.devicePointer
        for index in 0..<event.pointee.deviceCount where only ?? index == index {
            guard reader.selectDevice(at: index) else { return [] }
            if event.pointee.hasNoDevice {
                explanations.append(DeviceExplanation(decision: nil, envelope: envelope(nil)))
                continue
            }
            guard let request = event.pointer(to: \.request), let facts = device.pointer(to: \.facts) else { return [] }
            // An event that cannot be read again is a dead letter `internal`, which has no explanation.
            guard let choice = try? reader.chooseTable(in: tables, using: &resolver) else { return [] }
            switch choice {
            case .unknown: return []
            case .opensNothing: explanations.append(DeviceExplanation(decision: nil, envelope: envelope(nil)))
            case .table(let chosen):
                guard let table = tables.tables.first(where: { $0.compiled.handle == chosen }) else { return [] }
                let trace = envelope(EnvelopeTrace.tablePointer(in: request.pointee, of: table))
                let isRead = try? reader.openPointerLink(of: chosen, keepsReadings: false, using: &resolver)
                guard isRead != nil else { return [] }
                explanations.append(DeviceExplanation(decision: table.explain(request, facts), envelope: trace))
            }
        }
        return explanations
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
        /// The tables: first the tables that read the link's scheme and host, then the tables with suggestions.
        var tables: [Claim] = []
    }

    /// The explanation of one table for an event that no single table claims.
    struct Claim {
        var table: RouteTable
        /// A Boolean value that indicates whether the table reads the scheme and host of the link.
        var isClaimed: Bool
        var explanation: Explanation
    }

    /// Returns the explanations of each table for an event that no table claims, or more than one.
    func unclaimed(value: ByteView, key: ByteView?, headers: [HeaderView]) -> UnclaimedEvent {
        guard reader.readInPlace(value: value, key: key, headers: headers) else { return UnclaimedEvent() }
        let event = reader.eventPointer
        guard reader.selectDevice(at: 0), !event.pointee.hasApplication, let request = event.pointer(to: \.request),
            let facts = reader.devicePointer.pointer(to: \.facts),
            request.pointee.form == .link || request.pointee.form == .payload
        else { return UnclaimedEvent() }
        let claimants = (try? tables.claimants(of: request, using: &resolver)) ?? []
        let all = tables.tables.map { table in
            Claim(
                table: table, isClaimed: claimants.contains { $0.compiled.handle == table.compiled.handle },
                explanation: table.explain(request, facts))
        }
        // The tables that claim the link come first, then tables with suggestions, then tables with its scheme.
        func rank(_ claim: Claim) -> Int {
            if claim.isClaimed { return 0 }
            let isOtherScheme = claim.explanation.decision.reason == .scheme
            return 1 + (claim.explanation.suggestions.isEmpty ? 2 : 0) + (isOtherScheme ? 1 : 0)
        }
        let sorted = all.enumerated().sorted { a, b in (rank(a.element), a.offset) < (rank(b.element), b.offset) }
        return UnclaimedEvent(envelope: envelope(nil), tables: sorted.map(\.element))
    }

    /// The applications that the tables list.
    var applications: [String] { tables.tables.flatMap { $0.source.applications.map(\.value) } }
}

/// The envelope of a record for one device: its kind, the vendor, and the place of the link.
struct EnvelopeTrace {
    /// The part of the rules that decided what a push message opens.
    enum Source: String {
        /// The tapped button.
        case button
        /// A pointer of the route table.
        case table
        /// The vendor's form.
        case vendor
        /// The envelope itself, such as Web Push.
        case envelope
    }

    /// The kind of the envelope.
    var kind: String
    /// The mode in which the record is the data of an event of CloudEvents, or nil.
    var cloudEvents: String?
    /// The push message, or nil if the record has none.
    var message: MessageExplanation?
    /// The JSON pointer of the link or route in the payload to which a pointer of the route table leads, or nil.
    var tablePointer: String?

    /// The part of the rules that decided, or nil if the message opens nothing.
    var source: Source? {
        guard let message else { return nil }
        if message.isButton { return .button }
        if tablePointer != nil { return .table }
        guard message.link != nil || message.reason == "open_app" else { return nil }
        return message.vendor == nil ? .envelope : .vendor
    }

    /// The JSON pointer of the link or route in the payload, or nil.
    var pointer: String? { source == .table ? tablePointer : message?.pointer }

    /// The kind of the payload of a native event, or nil.
    private var payload: String? { message.flatMap { $0.envelope == kind ? nil : $0.envelope } }

    /// The lines for people, with a label of 11 characters.
    ///
    /// A record without a push message has lines only if it is an event of CloudEvents.
    var lines: [String] {
        guard message != nil || cloudEvents != nil else { return [] }
        let inner = payload.map { ", with a payload of the kind \($0)" } ?? ""
        let outer = cloudEvents.map { ", in an event of CloudEvents (\($0))" } ?? ""
        var lines = [Self.line("envelope", kind + inner + outer)]
        guard let message else { return lines }
        for note in message.recordNotes { lines.append(Self.line("", "note: \(note)")) }
        let marks = message.marks.joined(separator: " and ")
        lines.append(Self.line("vendor", message.vendor.map { "\($0), recognized by \(marks)" } ?? "none"))
        if let remark = message.remark { lines.append(Self.line("", "remark: \(Escaping.visible(remark))")) }
        if !message.others.isEmpty {
            lines.append(Self.line("", "also recognized: \(message.others.joined(separator: ", "))"))
        }
        lines.append(Self.line("found", foundText(message)))
        let ids = [message.message.map { "message \($0)" }, message.campaign.map { "campaign \($0)" }]
        let texts = ids.compactMap(\.self)
        if !texts.isEmpty { lines.append(Self.line("ids", texts.joined(separator: ", "))) }
        return lines
    }

    private func foundText(_ message: MessageExplanation) -> String {
        let place = pointer.map { " at \($0)" } ?? ""
        switch source {
        case .button:
            if message.link != nil { return "by the tapped button\(place)" }
            return "the tapped button " + (message.reason == "open_app" ? "only opens the app" : "opens nothing")
        case .table: return "by a pointer of the route table\(place)"
        case .vendor: return message.link == nil ? "only the app is opened" : "by the vendor's form\(place)"
        case .envelope: return "by the envelope\(place)"
        case nil: return "no link"
        }
    }

    private static func line(_ label: String, _ text: String) -> String {
        DisplayWidth.pad(label, to: 11) + text
    }

    /// Writes the trace as a member.
    func write(_ name: String, to json: inout JSONText) {
        json.beginObject(name)
        json.text("kind", kind)
        if let cloudEvents { json.text("cloudevents", cloudEvents) }
        if let payload { json.text("payload", payload) }
        if let message {
            json.text("vendor", message.vendor)
            if let remark = message.remark { json.text("remark", remark) }
            json.texts("marks", message.marks)
            json.texts("also", message.others)
            json.text("source", source?.rawValue)
            json.text("pointer", pointer)
            if source != .table {
                json.text("link", message.link)
                json.text("reason", message.reason)
            }
            json.text("message", message.message)
            json.text("campaign", message.campaign)
            json.texts("notes", message.recordNotes + message.notes)
        }
        json.endObject()
    }

    /// Returns the JSON pointer of the link or route to which a pointer of a route table leads, or nil.
    ///
    /// The resolver uses the first pointer that leads to a nonempty string. A reading of the payload is repeated here,
    /// because the resolver does not record pointers.
    static func tablePointer(in request: RequestView, of table: RouteTable) -> String? {
        guard request.form == .payload else { return nil }
        let payload = table.source.payload
        let roots = request.roots.map { ($0, try? JSONValue.parse($0, maxDepth: 512)) }
        for pointers in [payload.link.map(\.value.text), [payload.route].compactMap { $0?.value.text }] {
            for (root, value) in roots {
                for pointer in pointers {
                    guard let (found, isFound) = value?.nearest(to: pointer), isFound, let text = found.string,
                        !text.isEmpty
                    else { continue }
                    return path(of: root, in: request.payload) + pointer
                }
            }
        }
        return nil
    }

    /// Returns the JSON pointer of a root in the payload.
    private static func path(of root: ByteView, in payload: ByteView) -> String {
        guard root.start >= payload.start, root.end <= payload.end else { return "" }
        return JSONLocation.locate(offset: root.start - payload.start, in: payload).pointer
    }
}
