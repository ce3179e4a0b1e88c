internal import LinkCoordinator
package import ByteStorage
internal import StrictJSON

/// The reading of records that are not usual events: push messages, events of vendors, and events of CloudEvents.
extension EventReader {
    /// Reads an event that was scanned and is not the usual one (a link for one device).
    @inline(never)
    mutating func readOtherEvent(_ key: ByteView?) -> Bool {
        state.hasOther = true
        state.hasMembers = true
        eventPointer.pointee.isUsual = false
        guard state.forms == 0 || mayBeAnswer else { return accept(complete(key)) }
        if !state.isListed, let fault = open(text) { return accept(fault) }
        let isDetected = messages.detectRecord(allowsCloudEvents: !cloudEvent.isPresent, state.namedKind)
        // The data of CloudEvents is read by itself, so only the outer members have to be complete.
        if messages.push?.pointee.kind != .cloudEvents, let fault = cutFault { return accept(fault) }
        if state.forms > 0 && messages.push?.pointee.kind != .record {
            messages.clear()
        } else if isDetected {
            if messages.push?.pointee.kind == .cloudEvents {
                messages.clearData()
                return readStructured(key)
            }
            state.isPushRecord = true
            state.forms = 0
        }
        return accept(complete(key))
    }

    /// A Boolean value that indicates whether a form for records can read the event although it has a link.
    ///
    /// An answer of Branch's API contains the link that was clicked, and the data of this link.
    private var mayBeAnswer: Bool {
        mutating get {
            guard case .link = eventPointer.pointee.request.form else { return false }
            return state.mayBeAnswer
        }
    }

    /// Opens a text that was validated before.
    private mutating func open(_ text: ByteView) -> Fault? {
        do throws(JSONError) {
            try messages.open(text)
            return nil
        } catch {
            return Self.unreadable
        }
    }

    private static var unreadable: Fault {
        Fault(.internal, "a valid value cannot be read a second time: report this bug with the record")
    }

    /// The fault if values of a payload were left out, or nil.
    ///
    /// A value that was left out could be a silent mark, a link, or the mark of another vendor.
    var cutFault: Fault? {
        mutating get {
            guard let cut = messages.vendors.tape.cut else { return nil }
            guard let start = cut.start else {
                return Fault(
                    .tooManyValues, "expected the JSON in a string to be nested at most as deep as `limits.json.depth`",
                    at: messages.vendors.place(of: cut.node, in: text))
            }
            return Fault(
                .tooManyValues, "expected at most 16384 values, with those in strings with JSON",
                at: start >= text.start && start < text.end
                    ? start - text.start : messages.vendors.place(of: cut.node, in: text))
        }
    }

    /// Notes the other envelopes that an event could be, because it has members that only they have.
    @inline(never)
    mutating func noteEnvelopes() -> Fault? {
        messages.noteEnvelopes(of: text, allowsCloudEvents: !cloudEvent.isPresent)
        if case .payload = eventPointer.pointee.request.form {
            do throws(JSONError) {
                try messages.reopen(eventPointer.pointee.request.payload)
            } catch {
                return Self.unreadable
            }
        } else {
            noteRequest()
        }
        return nil
    }

    /// Sets the request to what the message opens for the selected device.
    ///
    /// Returns false if the strings with JSON that these devices read reach a limit.
    mutating func selectMessage() -> Bool {
        let isWhole = messages.select(
            devicePointer.pointee.facts.platform, action: eventPointer.pointee.action,
            context: eventPointer.pointee.context, of: text, into: &eventPointer.pointee.request,
            &devicePointer.pointee)
        return isWhole || accept(cutFault)
    }

    // MARK: Links

    /// Marks an event as not usual if its link is one of a link platform.
    @inline(never)
    mutating func checkLink() {
        if messages.isPlatformLink(eventPointer.pointee.request.text) { markOther() }
    }

    /// Sets the request to what the link opens for the selected device.
    mutating func selectLink() {
        if !state.keepsLink {
            state.keepsLink = true
            messages.keepLink(eventPointer.pointee.request)
        }
        messages.selectLink(devicePointer.pointee.facts.platform, into: &eventPointer.pointee.request)
    }

    /// Replaces the message's link by one that a route table's pointer leads to.
    package mutating func openLink(_ link: ByteView) {
        messages.openLink(link, devicePointer.pointee.facts.platform, into: &eventPointer.pointee.request)
    }

    // MARK: Headers

    /// Reads a record with headers as `readInPlace(value:key:)` does without them.
    @inline(never)
    package mutating func readInPlace(value: ByteView, key: ByteView?, headers: [HeaderView]) -> Bool {
        guard fits(value) else { return false }
        var relevant = EnvelopeHeaders()
        for header in headers {
            relevant.add(name: header.name, value: header.value)
            if let refusal = WireFormat.refusal(ofHeader: header.name, value: header.value) {
                failure = refusal
                return false
            }
        }
        return relevant.isEmpty ? readValue(value, key) : readEnvelope(value, key, relevant)
    }

    private mutating func readEnvelope(_ value: ByteView, _ key: ByteView?, _ headers: EnvelopeHeaders) -> Bool {
        switch headers.mode {
        case .none:
            messages.isIncomplete = headers.hasSpecificationVersion
            defer { messages.isIncomplete = false }
            guard readValue(value, key) else { return false }
            if messages.isIncomplete { noteIncomplete() }
            return true
        case .batch(let isJSON): return refuseBatch(value, key, isJSON: isJSON)
        case .otherFormat:
            failure = IngestFailure(
                .schemaUnsupported, "expected the content type application/cloudevents+json of CloudEvents")
        case .binary: return readBinary(value, key, headers)
        case .structured: return readStructured(value, key)
        }
        return false
    }

    /// Adds the note that the record has some of the headers of CloudEvents only.
    private mutating func noteIncomplete() {
        markOther()
        if case .payload = eventPointer.pointee.request.form { return }
        noteRequest()
    }

    /// Adds the notes about a request other than a payload.
    mutating func noteRequest() {
        let isTrimmed = state.hasTrimmedLink
        let isSkipped = context.hasSkipped
        eventPointer.pointee.request.notes =
            state.mayBeMessage
            ? messages.eventNotes(isLinkTrimmed: isTrimmed, hasSkipped: isSkipped)
            : messages.requestNotes(isLinkTrimmed: isTrimmed, hasSkipped: isSkipped)
        eventPointer.pointee.request.earlyNotes = eventPointer.pointee.request.notes.count
    }

    private mutating func readBinary(_ value: ByteView, _ key: ByteView?, _ headers: EnvelopeHeaders) -> Bool {
        let lent = lend(value, key)
        startOver()
        let type = MediaType(headers.contentType)
        guard headers.specificationVersion.equals("1.0") else {
            return accept(Self.unsupportedVersion())
        }
        guard type.isEmpty || type.isJSON || type.isPlainText else {
            return accept(Self.unsupportedData())
        }
        cloudEvent.isPresent = true
        cloudEvent.id = headers.id
        cloudEvent.partitionKey = headers.partitionKey
        return finishCloudEvent(readUnknown(value: lent.value, key: lent.key, isText: type.isPlainText))
    }

    private mutating func readStructured(_ value: ByteView, _ key: ByteView?) -> Bool {
        let lent = lend(value, key)
        startOver()
        frame(lent.value)
        do throws(JSONError) {
            try messages.open(strict: text)
        } catch {
            fail(IngestFailure(error, textOffset: textOffset))
            return false
        }
        guard messages.vendors.tape.isObject(0) else { return accept(.type("expected an object", at: 0)) }
        return readStructured(lent.key)
    }

    // MARK: CloudEvents

    /// Reads the open event of CloudEvents in JSON.
    ///
    /// The specification is CloudEvents 1.0, "JSON Event Format", section 3.
    mutating func readStructured(_ key: ByteView?) -> Bool {
        if messages.vendors.tape.nodes[0].isCut, let fault = cutFault { return accept(fault) }
        let members = EnvelopeMembers(of: 0, in: messages.vendors.tape.nodes)
        if let fault = checkAttributes(members) { return accept(fault) }
        cloudEvent.isPresent = true
        cloudEvent.isStructured = true
        cloudEvent.id = copy(members.id)
        cloudEvent.partitionKey =
            messages.vendors.tape.isString(members.partitionKey) ? copy(members.partitionKey) : .empty
        var isText = false
        if members.dataContentType >= 0 {
            let type = MediaType(messages.vendors.tape.text(of: members.dataContentType))
            isText = type.isPlainText
            guard isText || type.isJSON || type.isEmpty else {
                return accept(Self.unsupportedData(offset: offset(of: members.dataContentType)))
            }
        }
        if members.encodedData >= 0 { return readEncoded(members.encodedData, isText: isText, key) }
        guard members.data >= 0 else {
            return accept(Fault(.missingLink, "expected `data` or `data_base64`"))
        }
        return readData(members.data, isText: isText, key)
    }

    private mutating func checkAttributes(_ members: EnvelopeMembers) -> Fault? {
        for node in [members.specificationVersion, members.id, members.source, members.type] {
            guard messages.vendors.tape.isString(node), !messages.vendors.tape.text(of: node).isEmpty else {
                return .type(
                    "expected `specversion`, `id`, `source`, and `type` to be strings that are not empty",
                    at: node >= 0 ? offset(of: node) : nil)
            }
        }
        if members.data >= 0 && members.encodedData >= 0 {
            return Fault(
                .ambiguousEvent, "expected only one of `data` and `data_base64`", at: offset(of: members.encodedData))
        }
        if !messages.vendors.tape.text(of: members.specificationVersion).equals("1.0") {
            return Self.unsupportedVersion(offset: offset(of: members.specificationVersion))
        }
        if members.dataContentType >= 0, !messages.vendors.tape.isString(members.dataContentType) {
            return .type("expected `datacontenttype` to be a string", at: offset(of: members.dataContentType))
        }
        return nil
    }

    /// Returns the offset of a value in the open text.
    mutating func offset(of node: Int32) -> Int? {
        let start = messages.vendors.tape.nodes[Int(node)].text.start
        return start >= text.start && start <= text.end ? start - text.start : nil
    }

    private static func unsupportedVersion(offset: Int? = nil) -> Fault {
        Fault(.schemaUnsupported, "expected CloudEvents of the version 1.0", at: offset)
    }

    private static func unsupportedData(offset: Int? = nil) -> Fault {
        Fault(.schemaUnsupported, "expected data of the type application/json or text/plain", at: offset)
    }

    /// Returns a copy of a string of the open text.
    private mutating func copy(_ node: Int32) -> ByteView {
        messages.copy(messages.vendors.tape.text(of: node))
    }

    private mutating func readData(_ data: Int32, isText: Bool, _ key: ByteView?) -> Bool {
        if isText {
            guard messages.vendors.tape.isString(data) else {
                return accept(.type("expected `data` to be a string with a link", at: offset(of: data)))
            }
            cloudEvent.isDecoded = true
            return readInner(copy(data), isText: true, key)
        }
        guard messages.vendors.tape.isObject(data) else {
            return accept(.type("expected `data` to be an object", at: offset(of: data)))
        }
        return readInner(messages.vendors.tape.nodes[Int(data)].text, isText: false, key)
    }

    private mutating func readEncoded(_ data: Int32, isText: Bool, _ key: ByteView?) -> Bool {
        guard messages.vendors.tape.isString(data),
            let decoded = messages.decode(messages.vendors.tape.text(of: data))
        else { return accept(.type("expected `data_base64` to be Base64 with padding", at: offset(of: data))) }
        cloudEvent.isDecoded = true
        return readInner(decoded, isText: isText, key)
    }

    /// Reads the data of the event.
    private mutating func readInner(_ data: ByteView, isText: Bool, _ key: ByteView?) -> Bool {
        let start = cloudEvent.isDecoded ? 0 : textOffset + (data.start - text.start)
        cloudEvent.outerOffset = textOffset
        startOver()
        let range = WireFormat.trimmed(data, from: 0)
        text = data.slice(range.lowerBound, range.upperBound)
        textOffset = start + range.lowerBound
        return finishCloudEvent(readText(key, isText: isText))
    }

    /// Completes the event with the attributes of the outer one, after the data was read.
    private mutating func finishCloudEvent(_ isRead: Bool) -> Bool {
        markOther()
        guard isRead else { return false }
        let id = cloudEvent.id
        let isFree = eventPointer.pointee.id.isEmpty || state.hasHeaderID
        if isFree, (1...Limits.eventIDBytes).contains(id.count), id.firstIllFormedUTF8 == nil {
            eventPointer.pointee.id = id
            eventPointer.pointee.idIsPlain = false
        }
        return true
    }
}

/// The attributes of the event of CloudEvents that contains the record.
///
/// They are used if the contained event does not have these properties itself.
struct CloudEvent {
    /// A Boolean value that indicates whether the record is the data of an event.
    var isPresent = false
    /// A Boolean value that indicates whether the attributes are in the value, and not in headers.
    var isStructured = false
    /// The id and the partition key, or empty views.
    var id = ByteView.empty
    var partitionKey = ByteView.empty
    /// A Boolean value that indicates whether the data is in memory of the reader, because it was encoded.
    var isDecoded = false
    /// The offset of the outer event in the value.
    var outerOffset: Int?

    /// Clears the attributes of the last record.
    mutating func clear() {
        if isPresent { self = CloudEvent() }
    }
}
