internal import LinkCoordinator
internal import ByteStorage
internal import ShortLinks
internal import StrictJSON

/// A reader of the push message of a record, for each class of devices once.
struct MessageReader: ~Copyable {
    var vendors: VendorReader
    /// The memory of the message, which is read in place.
    private let pushMemory: UnsafeMutablePointer<PushMessage>
    /// A Boolean value that indicates whether the record has a message.
    private var hasMessage = false
    /// The platform that the record itself states, or an empty view.
    private(set) var platform = ByteView.empty
    /// The readings by class, and the classes that were read, as bits.
    let readings: UnsafeMutablePointer<Reading>
    private var known: UInt8 = 0
    private let roots: UnsafeMutablePointer<ByteView>
    var notes = Growable<RequestNote>(capacity: 64)
    private var links: LinkUnwrapper
    private let none = RequestOpening()
    /// The request with a link as it was read, for further devices.
    private var original = RequestView(form: .link, text: .empty)
    /// The number of notes of the vendor reader that are about the record as a whole.
    private(set) var recordNotes = 0
    /// A Boolean value that indicates whether the record has some of the headers of CloudEvents only.
    var isIncomplete = false
    /// A Boolean value that indicates whether a header states that the message is a push in the background.
    var isBackground = false
    /// The values for delivery in the headers of the push request, or nil.
    var headerDelivery: Delivery?
    /// The values for delivery to the devices of the class that was read last, if the message has any.
    private var delivery = Delivery()
    /// The notes about requests other than messages: the kind of the record, that its link was trimmed, and that a
    /// member was not passed through.
    let fixedNotes: UnsafeMutablePointer<RequestNote>
    /// The notes about an event that could be another envelope.
    var envelopeNotes = Growable<RequestNote>(capacity: 64)
    private var contexts = OutputArena(chunkBytes: 4096)
    /// The first member of `push` for each vendor of the table.
    private let vendorMembers: UnsafeMutablePointer<ByteView>
    private var vendorTexts = OutputArena(chunkBytes: 4096)
    /// The members of the reader's memory that are the data of CloudEvents.
    private var texts = OutputArena(chunkBytes: 4096)

    /// The reading for a class of devices.
    struct Reading: BitwiseCopyable {
        var tapped = RequestOpening()
        var body = RequestOpening()
        var firstNote = 0
        var earlyNotes = 0
        var noteCount = 0
        var context = ByteView.empty
        var expiry: MessageExpiry?
    }

    init(_ table: VendorTable?, _ links: consuming LinkUnwrapper, limits: Limits) {
        self.links = links
        vendors = VendorReader(table, depth: limits.depth)
        pushMemory = .allocate(capacity: 1)
        vendorMembers = .allocate(capacity: max(vendors.image.vendors.count, 1))
        for (number, vendor) in vendors.image.vendors.enumerated() {
            vendorTexts.begin()
            vendorTexts.append("\"push\":{\"vendor\":")
            vendorTexts.appendString(vendor)
            (vendorMembers + number).initialize(to: vendorTexts.finish())
        }
        readings = .allocate(capacity: PlatformClass.count)
        readings.initialize(repeating: Reading(), count: PlatformClass.count)
        roots = .allocate(capacity: 2)
        roots.initialize(repeating: .empty, count: 2)
        fixedNotes = .allocate(capacity: 3)
        fixedNotes.initialize(
            to: RequestNote(code: ByteView(VendorNote.Code.cloudEventsIncomplete.text), place: .empty))
        (fixedNotes + 1).initialize(
            to: RequestNote(code: ByteView(VendorNote.Code.linkTrimmed.text), place: ByteView("/link")))
        (fixedNotes + 2).initialize(
            to: RequestNote(code: ByteView(VendorNote.Code.memberSkipped.text), place: ByteView("/campaign")))
    }

    deinit {
        pushMemory.deallocate()
        vendorMembers.deallocate()
        fixedNotes.deallocate()
        readings.deallocate()
        roots.deallocate()
    }

    /// Uses another file of short links from the next record on.
    mutating func use(_ shortLinks: ShortLinkFile) { links.use(shortLinks) }

    /// Removes the message of the last record.
    mutating func clear() {
        vendors.clear()
        hasMessage = false
        platform = .empty
        known = 0
        notes.removeAll()
        links.clear()
        recordNotes = 0
        isBackground = false
        headerDelivery = nil
        if contexts.bytesInUse > 0 { contexts.reset() }
        if isIncomplete { vendors.note(.cloudEventsIncomplete) }
    }

    /// The message, or nil if the record has none.
    @inline(__always)
    var push: UnsafePointer<PushMessage>? { hasMessage ? UnsafePointer(pushMemory) : nil }

    /// The form of an event or a request that has one of its own, or nil.
    var recordForm: Int32? {
        guard let push, push.pointee.kind == .record else { return nil }
        return push.pointee.recordForm
    }

    /// A Boolean value that indicates whether a record can be a list of such events or requests.
    var isListed: Bool {
        mutating get { recordForm.map { vendors.form($0).pointee.record.isListed } ?? false }
    }

    /// Opens the text of a message, which was validated strictly.
    mutating func open(_ text: ByteView) throws(JSONError) {
        clear()
        _ = try vendors.tape.append(validated: text)
    }

    /// Opens the message at a cursor, which is validated strictly, and returns its text.
    mutating func open(at cursor: inout JSONCursor) throws(JSONError) -> ByteView {
        clear()
        return try vendors.tape.append(at: &cursor)
    }

    /// Opens an event of CloudEvents, which was not validated.
    mutating func open(strict text: ByteView) throws(JSONError) {
        clear()
        _ = try vendors.tape.append(strict: text)
    }

    /// A Boolean value that indicates whether the open text has a member that only an event has, such as `link`.
    var hasForm: Bool {
        let names: [StaticString] = ["link", "path", "route", "payload"]
        for name in names {
            let node = vendors.tape.member(ByteView(name), of: 0)
            if node >= 0, vendors.tape.kind(of: node) != .null { return true }
        }
        return false
    }

    /// Detects the envelope of the open text, which is the whole value of a record.
    ///
    /// Returns false if there is none.
    mutating func detectRecord(allowsCloudEvents: Bool, _ type: PayloadType?) -> Bool {
        let input = UInt32(type?.rawValue ?? 7) << 1 | (allowsCloudEvents ? 1 : 0)
        hasMessage = vendors.detectKnown(input, into: pushMemory) {
            $0.detectRecord(allowsCloudEvents: allowsCloudEvents, type)
        }
        vendors.tape.mark()
        recordNotes = vendors.notes.count
        return hasMessage
    }

    /// Detects the envelope of the open text, which is the payload of an event.
    mutating func detectPayload(_ type: PayloadType?) {
        let input = UInt32(type?.rawValue ?? 7) << 1 | 1 << 8
        hasMessage = vendors.detectKnown(input, into: pushMemory) { $0.detectPayload(type) }
        vendors.tape.mark()
        recordNotes = vendors.notes.count
    }

    /// Sets the platform that the record states.
    mutating func setPlatform(_ platform: ByteView) { self.platform = platform }

    /// Sets what a payload opens for the devices of a platform, and the roots in which pointers are looked up.
    ///
    /// Returns false if values were left out. What the payload opens is unknown then.
    ///
    /// - Parameter text: The JSON text of the record.
    mutating func select(
        _ devicePlatform: ByteView, action: ByteView, context: ByteView, of text: ByteView,
        into request: inout RequestView, _ device: inout EventDevice
    ) -> Bool {
        guard let push else { return true }
        let platform = PlatformClass(devicePlatform)
        let place = Int(platform.rawValue)
        if known & 1 << platform.rawValue == 0 {
            read(push, platform, action, context, text, into: readings + place)
            if vendors.tape.isCut { return false }
            known |= 1 << platform.rawValue
        }
        let found = readings + place
        setRoots(of: push, platform, in: &request)
        device.roots = request.roots
        device.context = found.pointee.context
        device.expiry = found.pointee.expiry
        request.action = action
        request.tapped = found.pointee.tapped
        request.found = found.pointee.body
        request.notes = notes.range(found.pointee.firstNote, count: found.pointee.noteCount)
        request.earlyNotes = found.pointee.earlyNotes
        request.view = platform.rawValue
        return true
    }

    private mutating func read(
        _ push: UnsafePointer<PushMessage>, _ platform: PlatformClass, _ action: ByteView, _ context: ByteView,
        _ text: ByteView, into result: UnsafeMutablePointer<Reading>
    ) {
        let reading = vendors.read(push, for: platform, action: action, isBackground: isBackground)
        result.pointee.firstNote = notes.count
        append(0..<recordNotes)
        append(reading.firstNote..<reading.firstNote + reading.earlyNotes)
        let delivers = readDelivery(push, platform)
        result.pointee.expiry = delivers ? delivery.expiry : nil
        result.pointee.tapped = open(reading.tapped, platform, text)
        result.pointee.earlyNotes = notes.count - result.pointee.firstNote
        append(reading.firstNote + reading.earlyNotes..<reading.firstNote + reading.allNotes)
        result.pointee.body = open(reading.body, platform, text)
        result.pointee.noteCount = notes.count - result.pointee.firstNote
        let hasMembers = reading.vendor >= 0 || delivers && delivery.hasMembers
        result.pointee.context = hasMembers ? pushContext(reading, delivers, context) : .empty
    }

    /// Reads the values for delivery to devices of a class, and adds the notes about them.
    ///
    /// Returns false if the message has none.
    @inline(__always)
    private mutating func readDelivery(_ push: UnsafePointer<PushMessage>, _ platform: PlatformClass) -> Bool {
        guard push.pointee.kind == .record || push.pointee.kind == .fcm else {
            guard let headerDelivery else { return false }
            delivery = headerDelivery
            return true
        }
        let nodes = vendors.deliveryNodes(push, for: platform)
        if nodes.isEmpty { return false }
        let first = vendors.notes.count
        delivery = vendors.delivery(nodes)
        append(first..<vendors.notes.count)
        return true
    }

    /// Returns the message that devices of a class receive.
    mutating func message(
        _ push: UnsafePointer<PushMessage>, _ platform: PlatformClass, _ action: ByteView
    ) -> VendorMessage {
        var message = vendors.message(push, for: platform, action: action)
        message.isBackground = isBackground
        return message
    }

    /// Notes that a header of the push request cannot be read.
    mutating func noteHeader(_ name: PushHeaders.Name) {
        vendors.note(.headerUnreadable, ByteView(name.pointer))
        recordNotes = vendors.notes.count
    }

    /// Notes that the campaign of the event was not passed through.
    mutating func noteSkippedMember() {
        vendors.note(.memberSkipped, ByteView("/campaign"))
        recordNotes = vendors.notes.count
    }

    /// Returns the producer's id of a record with a form of its own, and notes one that is too long.
    mutating func eventID(of form: Int32) -> ByteView {
        let id = vendors.eventID(of: form)
        recordNotes = vendors.notes.count
        return id
    }

    /// Returns a Boolean value that indicates whether the message was read for a class of devices.
    func isRead(_ platform: PlatformClass) -> Bool { known & 1 << platform.rawValue != 0 }

    /// Adds notes of the vendor reader.
    private mutating func append(_ range: Range<Int>) {
        for index in range {
            let note = vendors.notes[index]
            notes.append(RequestNote(code: ByteView(note.code.text), place: note.text))
        }
    }

    /// Returns what a message or a button opens.
    private mutating func open(
        _ outcome: VendorOutcome, _ platform: PlatformClass, _ text: ByteView
    ) -> RequestOpening {
        switch outcome.kind {
        case .undecided: return none
        case .link:
            var opening = links.open(outcome.link, for: platform, &notes)
            if opening.link.start >= text.start && opening.link.end <= text.end {
                // The link is a part of the record, so it can be split in place.
                opening.bytesAfter = Int32(clamping: text.end - opening.link.end)
                opening.isScreened = vendors.tape.nodes[Int(outcome.node)].isPlain
            }
            return opening
        case .noLink: return RequestOpening(.noLink)
        case .opensApp: return RequestOpening(.opensApp)
        }
    }

    /// Returns the members of `context`: the members that are passed through, then `push`.
    private mutating func pushContext(_ reading: VendorReading, _ delivers: Bool, _ passed: ByteView) -> ByteView {
        contexts.begin()
        if !passed.isEmpty {
            contexts.append(passed)
            contexts.append(byte: UInt8(ascii: ","))
        }
        if reading.vendor >= 0 {
            contexts.append(vendorMembers[Int(reading.vendor)])
            if reading.message >= 0 {
                contexts.append(",\"message\":")
                contexts.appendString(vendors.tape.text(of: reading.message))
            }
            if reading.campaign >= 0 {
                contexts.append(",\"campaign\":")
                contexts.appendString(vendors.tape.text(of: reading.campaign))
            }
        } else {
            contexts.append("\"push\":{")
        }
        if delivers { delivery.write(after: reading.vendor >= 0 ? "," : "", to: &contexts) }
        contexts.append(byte: UInt8(ascii: "}"))
        return contexts.finish()
    }

    /// Sets the objects in which a table's pointers are resolved, in the order of precedence.
    ///
    /// FCM merges `apns.payload`, `android`, or `webpush` into the message, depending on the platform of the device. If
    /// the platform is unknown, the only root is the message.
    private mutating func setRoots(
        of push: UnsafePointer<PushMessage>, _ platform: PlatformClass, in request: inout RequestView
    ) {
        var part: Int32 = -1
        let whole = push.pointee.message
        if push.pointee.kind == .fcm {
            switch platform {
            case .unknown: break
            case .apple: part = push.pointee.applePayload
            case .android: part = push.pointee.android
            case .web: part = push.pointee.webpush
            }
        }
        request.rootNodes = part >= 0 ? (part, whole) : (whole, -1)
        roots[0] = vendors.tape.nodes[Int(request.rootNodes.0)].text
        if part >= 0 { roots[1] = vendors.tape.nodes[Int(whole)].text }
        request.roots = UnsafeBufferPointer(start: roots, count: part >= 0 ? 2 : 1)
        request.payloadNodes = UnsafePointer(vendors.tape.nodes)
    }

    // MARK: Links

    /// Returns a Boolean value that indicates whether a link is one of a link platform.
    @inline(__always)
    mutating func isPlatformLink(_ link: ByteView) -> Bool {
        links.origins.excludes(link) ? false : links.applies(to: link)
    }

    /// Keeps the link of an event, and removes the message of the last record.
    mutating func keepLink(_ request: RequestView) {
        clear()
        original = request
    }

    /// Sets a request to what its link opens for the devices of a platform.
    mutating func selectLink(_ devicePlatform: ByteView, into request: inout RequestView) {
        let platform = PlatformClass(devicePlatform)
        let place = Int(platform.rawValue)
        if known & 1 << platform.rawValue == 0 {
            known |= 1 << platform.rawValue
            var reading = Reading()
            reading.firstNote = notes.count
            for note in original.notes { notes.append(note) }
            reading.body = links.open(original.text, for: platform, &notes)
            reading.noteCount = notes.count - reading.firstNote
            readings[place] = reading
        }
        let found = readings[place]
        request = original
        request.notes = notes.range(found.firstNote, count: found.noteCount)
        request.earlyNotes = found.noteCount
        request.view = platform.rawValue
        guard found.body.kind == .link else {
            request.found = found.body
            return
        }
        request.found.wrapperQuery = found.body.wrapperQuery
        if found.body.link.start == original.text.start && found.body.link.count == original.text.count { return }
        request.text = found.body.link
        // The destination is decoded text of unknown bytes in other memory.
        request.isScreened = false
        request.bytesAfter = 0
    }

    /// Sets a request to what the link opens that a route table's pointer leads to, for the devices of a platform.
    mutating func openLink(_ link: ByteView, _ devicePlatform: ByteView, into request: inout RequestView) {
        let platform = PlatformClass(devicePlatform)
        let found = readings + Int(platform.rawValue)
        let first = notes.count
        for index in 0..<request.earlyNotes {
            notes.append(notes.range(found.pointee.firstNote + index, count: 1)[0])
        }
        // Further devices of the class select the same reading.
        found.pointee.tapped = links.open(link, for: platform, &notes)
        found.pointee.firstNote = first
        found.pointee.earlyNotes = notes.count - first
        found.pointee.noteCount = found.pointee.earlyNotes
        request.tapped = found.pointee.tapped
        request.earlyNotes = found.pointee.earlyNotes
        request.notes = notes.range(first, count: found.pointee.noteCount)
    }

    // MARK: The data of CloudEvents

    /// Removes the data of the last record.
    mutating func clearData() {
        if texts.bytesInUse > 0 { texts.reset() }
    }

    /// Returns a copy of a text that stays valid while another text is open.
    mutating func copy(_ text: ByteView) -> ByteView {
        texts.begin()
        texts.append(text)
        return texts.finish()
    }

    /// Returns decoded Base64, or nil if the text is not valid.
    mutating func decode(_ text: ByteView) -> ByteView? {
        texts.begin()
        guard Base64.decode(text, into: &texts) else {
            texts.abandon()
            return nil
        }
        return texts.finish()
    }
}

/// The target and the kind of a message.
extension MessageReader {
    /// The target of a message.
    enum Target {
        /// The device with a token.
        case token(ByteView)
        /// All devices that follow a topic, or for which a condition holds.
        case broadcast
    }

    /// Returns the target of an FCM message, or nil if there is none.
    mutating func target() -> Target? {
        guard let push, push.pointee.kind == .fcm else { return nil }
        if push.pointee.token >= 0 { return .token(vendors.tape.text(of: push.pointee.token)) }
        return push.pointee.isBroadcast ? .broadcast : nil
    }

    /// Returns the kind that an event states for its payload, if detection would find another kind.
    mutating func payloadType(_ stated: PayloadType?) -> RequestView.PayloadType {
        guard let stated, let push else { return .unspecified }
        let isAPNs = vendors.tape.isObject(push.pointee.members.aps)
        let isFCM = !isAPNs && push.pointee.members.isFCM(in: vendors.tape.nodes)
        switch stated {
        case .apns: return isAPNs ? .unspecified : .apns
        case .fcm: return isFCM ? .unspecified : .fcm
        }
    }
}

/// The opening of a message for a class of devices, with the notes about it.
///
/// It is valid until the next record is read.
package struct MessageOpening: BitwiseCopyable {
    let reading: MessageReader.Reading
}

extension EventReader {
    /// The opening of the message for the class of the selected device.
    ///
    /// `openLink` changes it. Setting an earlier value withdraws the change, for a second route table.
    package var opening: MessageOpening {
        mutating get { messages.opening(devicePointer.pointee.facts.platform) }
        set {
            messages.setOpening(
                newValue, devicePointer.pointee.facts.platform, into: &eventPointer.pointee.request)
        }
    }
}

extension MessageReader {
    fileprivate mutating func opening(_ devicePlatform: ByteView) -> MessageOpening {
        MessageOpening(reading: readings[Int(PlatformClass(devicePlatform).rawValue)])
    }

    fileprivate mutating func setOpening(
        _ opening: MessageOpening, _ devicePlatform: ByteView, into request: inout RequestView
    ) {
        readings[Int(PlatformClass(devicePlatform).rawValue)] = opening.reading
        request.tapped = opening.reading.tapped
        request.earlyNotes = opening.reading.earlyNotes
        request.notes = notes.range(opening.reading.firstNote, count: opening.reading.noteCount)
    }
}
