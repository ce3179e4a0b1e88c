internal import LinkCoordinator
internal import LinkIngest
internal import RouteTools
internal import ByteStorage
internal import StrictJSON

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
}

extension EnvelopeTrace {
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
