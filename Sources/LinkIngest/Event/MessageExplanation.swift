internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The explanation of a push message for one device: how it was read, and where its link was found.
package struct MessageExplanation: Sendable, Equatable {
    /// The kind of envelope: `apns`, `fcm`, `web_push`, `vendor_map`, `map`, or the kind that a form of the vendor
    /// table names.
    package var envelope: String
    /// The notes about the record as a whole.
    package var recordNotes: [String] = []
    /// The id of the vendor, or nil if none was recognized.
    package var vendor: String?
    /// The remark of the vendor's row, such as the end of the product.
    package var remark: String?
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

    /// The kind of the record: `native` for an event, `url` for a bare link, or the kind of its push message.
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
            result.remark = vendors.table?.vendors[Int(reading.vendor)].remark
            result.marks = vendors.marks(of: Int(reading.form), vendors.message(push, for: PlatformClass(platform)))
        }
        if reading.message >= 0 { result.message = vendors.tape.text(of: reading.message).string }
        if reading.campaign >= 0 { result.campaign = vendors.tape.text(of: reading.campaign).string }
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
        guard let marks = table?.marks(ofForm: form) else { return [] }
        for (index, list) in marks.enumerated() where holdsAll(image.forms[form].marks[index]) {
            return (list.array ?? []).map(Self.text)
        }
        return []
    }

    /// Returns the pointer of a condition, or the beginning of a name.
    private static func text(_ condition: JSONValue) -> String {
        if let start = condition["prefix"]?.string { return "\(start)*" }
        let pointer = condition.string ?? condition["at"]?.string ?? ""
        return condition["absent"] == nil ? pointer : "no \(pointer)"
    }
}

extension VendorNote {
    /// The note as in a decision.
    fileprivate var string: String { ByteView(code.text).string + text.string }
}

// The notes about events that are no messages, or that could also be other envelopes.
extension MessageReader {
    /// Returns the notes about a request other than a message.
    mutating func requestNotes(isLinkTrimmed: Bool, hasSkipped: Bool) -> UnsafeBufferPointer<RequestNote> {
        if hasSkipped {
            envelopeNotes.removeAll()
            if isIncomplete { envelopeNotes.append(fixedNotes[0]) }
            return eventNotes(isLinkTrimmed: isLinkTrimmed, hasSkipped: true)
        }
        let first = isIncomplete ? 0 : 1
        return UnsafeBufferPointer(start: fixedNotes + first, count: (isLinkTrimmed ? 2 : 1) - first)
    }

    /// Reads the other envelopes that an event could be, and keeps the notes about them.
    ///
    /// - Parameter text: The text of the event, which was validated.
    mutating func noteEnvelopes(of text: ByteView, allowsCloudEvents: Bool) {
        envelopeNotes.removeAll()
        do throws(JSONError) {
            try open(text)
            vendors.noteEnvelopes(allowsCloudEvents: allowsCloudEvents)
            if vendors.tape.isCut { vendors.note(.tooManyValues) }
        } catch {
            // The payload of an event may be nested one level deeper than a record that is a push message.
            clear()
            vendors.note(.tooManyValues)
        }
        for index in 0..<vendors.notes.count {
            let note = vendors.notes[index]
            envelopeNotes.append(RequestNote(code: ByteView(note.code.text), place: note.text))
        }
    }

    /// Returns the notes about an event that could be another envelope, after `noteEnvelopes`.
    mutating func eventNotes(isLinkTrimmed: Bool, hasSkipped: Bool) -> UnsafeBufferPointer<RequestNote> {
        // Called again with more notes. Notes that are there already are not repeated.
        if hasSkipped { addEventNote(fixedNotes[2]) }
        if isLinkTrimmed { addEventNote(fixedNotes[1]) }
        return envelopeNotes.range(0, count: envelopeNotes.count)
    }

    private mutating func addEventNote(_ note: RequestNote) {
        for known in envelopeNotes.range(0, count: envelopeNotes.count) where known.code == note.code { return }
        envelopeNotes.append(note)
    }

    /// Opens the payload of an event again, after `noteEnvelopes`, and keeps the notes.
    mutating func reopen(_ payload: ByteView) throws(JSONError) {
        try open(payload)
        let first = vendors.notes.count
        for note in envelopeNotes.range(first, count: envelopeNotes.count - first) {
            vendors.note(note.place.isEmpty ? .tooManyValues : .envelopeAlso, note.place)
        }
    }
}
