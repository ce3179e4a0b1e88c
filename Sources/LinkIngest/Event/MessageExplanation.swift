internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The explanation of a push message for one device: how it was read, and where its link was found.
package struct MessageExplanation: Sendable, Equatable {
    /// The kind of envelope: `apns`, `fcm`, `web_push`, `vendor_map`, `map`, or that of a form of the vendor table.
    package var envelope: String
    /// The notes about the record as a whole.
    package var recordNotes: [String] = []
    /// The id of the vendor, or nil if none was recognized.
    package var vendor: String?
    /// The conditions by which the vendor's form was recognized: pointers, and beginnings of names with `*`.
    package var marks: [String] = []
    /// The ids of the other vendors that were recognized.
    package var others: [String] = []
    /// A Boolean value that indicates whether the tapped button decided.
    package var isButton = false
    /// The link, if the message opens one.
    package var link: String?
    /// The reason if the message opens no link: `no_link` or `open_app`.
    package var reason: String?
    /// The JSON pointer of the link in the payload.
    package var pointer: String?
    /// The id of the message.
    package var message: String?
    /// The id of the campaign.
    package var campaign: String?
    /// The notes about the message.
    package var notes: [String] = []
}

extension EventReader {
    /// Returns an explanation of the push message for the selected device, or nil if the event has none.
    ///
    /// It describes the rules of the vendor table only. The pointers of a route table can lead to another link.
    package mutating func explainMessage() -> MessageExplanation? {
        guard case .payload = eventPointer.pointee.request.form else { return nil }
        return messages.explain(devicePointer.pointee.facts.platform, action: eventPointer.pointee.action)
    }

    /// The kind of the record: `native` for an event, `url` for a bare link, or that of its push message.
    package var envelope: String {
        mutating get {
            if state.isPushRecord { return messages.envelope }
            return state.isBareLink ? "url" : "native"
        }
    }

    /// The mode in which the record is the data of an event of CloudEvents: `binary`, `structured`, or nil.
    package var cloudEventsMode: String? {
        cloudEvent.isPresent ? cloudEvent.isStructured ? "structured" : "binary" : nil
    }
}

extension MessageReader {
    /// Returns an explanation of the message for devices of a platform that was read before.
    mutating func explain(_ platform: ByteView, action: ByteView) -> MessageExplanation? {
        guard let push, isRead(PlatformClass(platform)) else { return nil }
        // The nodes of the first reading are gone if a device of another class was read after it.
        let reading = vendors.read(message(push, PlatformClass(platform), action))
        var result = MessageExplanation(envelope: envelope(of: push.pointee))
        result.recordNotes = (0..<recordNotes).map { vendors.notes[$0].string }
        for index in reading.firstNote..<reading.firstNote + reading.allNotes {
            if vendors.notes[index].code == .vendorAlso { result.others.append(vendors.notes[index].text.string) }
            result.notes.append(vendors.notes[index].string)
        }
        if reading.form >= 0 {
            result.vendor = vendors.image.vendors[Int(reading.vendor)].string
            result.marks = vendors.marks(of: Int(reading.form), vendors.message(push, for: PlatformClass(platform)))
        }
        if !reading.message.isEmpty { result.message = reading.message.string }
        if !reading.campaign.isEmpty { result.campaign = reading.campaign.string }
        result.isButton = reading.tapped.kind != .undecided && !push.pointee.isDryRun
        let outcome = result.isButton ? reading.tapped : reading.body
        switch outcome.kind {
        case .link:
            result.link = outcome.link.string
            result.pointer = vendors.pointer(to: outcome.node).string
        case .opensApp: result.reason = "open_app"
        case .noLink, .undecided: result.reason = "no_link"
        }
        return result
    }

    /// The kind of the message's envelope, or `native` if there is no message.
    var envelope: String { push.map { envelope(of: $0.pointee) } ?? "native" }

    private func envelope(of push: PushMessage) -> String {
        switch push.kind {
        case .apns: "apns"
        case .cloudEvents: "cloudevents"
        case .webPush: "web_push"
        case .record: vendors.image.forms[Int(push.recordForm)].record.envelope.string
        case .fcm: "fcm"
        case .map: push.type == nil ? "vendor_map" : "map"
        }
    }
}

extension VendorReader {
    /// Returns the conditions of the first list of marks that holds for a form.
    fileprivate mutating func marks(of form: Int, _ message: VendorMessage) -> [String] {
        surface.load(message.first, message.second, of: tape.nodes)
        guard let source = table?.form(at: form) else { return [] }
        for (index, list) in source.marks.enumerated() where holdsAll(image.forms[form].marks[index]) {
            return list.map(\.text)
        }
        return []
    }
}

extension VendorCondition {
    /// The pointer of the condition, or the beginning of a name.
    fileprivate var text: String {
        switch self {
        case .present(let pointer), .tests(let pointer, _): pointer.text
        case .absent(let pointer): "no \(pointer.text)"
        case .prefix(let start): "\(start)*"
        case .shown(let isShown): isShown ? "shown" : "not shown"
        }
    }
}

extension VendorNote {
    /// The note as in a decision.
    fileprivate var string: String { ByteView(code.text).string + text.string }
}
