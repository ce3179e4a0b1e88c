internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// A reader of messages with the rules of a vendor table.
///
/// It keeps the values of the current record only.
struct VendorReader: ~Copyable {
    let image: VendorImage
    /// The table, which owns the memory of the image.
    let table: VendorTable?
    var tape: JSONTape
    var surface: VendorSurface
    var notes = Growable<VendorNote>(capacity: 64)
    /// The tapped button, if its name is the id of the button, or -1.
    ///
    /// The id is a value of the record, so the pointers of notes do not contain it.
    var namedButton: Int32 = -1
    /// The objects with the parts of the message that the push service itself shows, or -1.
    var notifications: (Int32, Int32) = (-1, -1)
    var plans = MessagePlans()
    var tests = ValueTests()
    /// The pointers in notes.
    private var texts = OutputArena(chunkBytes: 4096)

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - table: The vendors, or nil for none.
    ///   - depth: The limit of nested objects and arrays in a payload.
    init(_ table: VendorTable?, depth: Int) {
        self.table = table
        image = table?.image ?? VendorImage()
        tape = JSONTape(depth: depth)
        surface = VendorSurface(image)
    }

    /// Removes the values of the last record.
    mutating func clear() {
        tape.clear()
        surface.clear()
        notes.removeAll()
        namedButton = -1
        if texts.bytesInUse > 0 { texts.reset() }
    }

    // MARK: Notes

    mutating func note(_ code: VendorNote.Code, _ text: ByteView = .empty) {
        notes.append(VendorNote(code: code, text: text))
    }

    /// Adds a note about a value.
    @inline(never)
    mutating func note(_ code: VendorNote.Code, at node: Int32) { note(code, notedPointer(to: node)) }

    /// Returns the JSON pointer of a value for a note.
    mutating func notedPointer(to node: Int32) -> ByteView {
        texts.begin()
        tape.appendPointer(of: node, unnamed: namedButton, to: &texts)
        return texts.finish()
    }

    /// Returns the JSON pointer of a value in the payload.
    mutating func pointer(to node: Int32) -> ByteView {
        texts.begin()
        tape.appendPointer(of: node, to: &texts)
        return texts.finish()
    }

    // MARK: Values

    /// Returns the offset in a text of a value, or of the innermost value around it whose address is in the text.
    ///
    /// A string that was unescaped is in other memory, so it is located by its name.
    func place(of node: Int32, in text: ByteView) -> Int? {
        var node = node
        while node >= 0 {
            let value = tape.nodes + Int(node)
            for address in [value.pointee.start, value.pointee.name.start]
            where address >= text.start && address < text.end { return address - text.start }
            node = value.pointee.parent
        }
        return nil
    }

    /// Returns the node of a value that is present, or -1.
    ///
    /// - Parameter base: The object of a button for a pointer that begins there.
    mutating func value(_ pointer: PointerImage, in base: Int32 = -1) -> Int32 {
        var node = pointer.slot >= 0 ? surface.member(pointer.slot) : base
        guard node >= 0 else { return -1 }
        var walked: Int32 = pointer.slot >= 0 ? 1 : 0
        if walked == pointer.embeddedAt && walked > 0 { node = content(node) }
        for step in pointer.steps {
            guard node >= 0 else { return -1 }
            switch tape.kind(of: node) {
            case .object: node = tape.member(step.name, of: node)
            case .array: node = step.index >= 0 ? tape.element(Int(step.index), of: node) : -1
            default: return -1
            }
            walked &+= 1
            if walked == pointer.embeddedAt && node >= 0 { node = content(node) }
        }
        return node >= 0 && tape.kind(of: node) != .null ? node : -1
    }

    /// Returns the object or the array that a string contains, or -1, or the node itself if it is no string.
    private mutating func content(_ node: Int32) -> Int32 {
        guard tape.kind(of: node) == .string else { return node }
        tests.giveUp()
        let content = tape.readContent(of: node)
        guard content >= 0 else { return -1 }
        switch tape.kind(of: content) {
        case .object, .array: return content
        default: return -1
        }
    }

    // MARK: Conditions

    mutating func holds(_ rules: RuleImages, in base: Int32 = -1) -> Bool {
        for list in rules where holdsAll(list, in: base) { return true }
        return false
    }

    mutating func holdsAll(_ conditions: ConditionImages, in base: Int32 = -1) -> Bool {
        for index in 0..<conditions.count where !holds(conditions[index], in: base) { return false }
        return true
    }

    private mutating func holds(_ condition: ConditionImage, in base: Int32) -> Bool {
        if condition.kind == .prefix { return surface.hasPrefix(condition.prefix) }
        if condition.kind == .shown { return isShown == condition.isShown }
        let node = value(condition.pointer, in: base)
        switch condition.kind {
        case .present: return node >= 0
        case .absent: return node < 0
        case .prefix, .shown: return false
        case .tests: return node >= 0 && passes(node, condition)
        }
    }

    private mutating func passes(_ node: Int32, _ condition: ConditionImage) -> Bool {
        let kind = tape.kind(of: node)
        if let wanted = condition.valueKind, kind != wanted { return false }
        if condition.hasEquals && !isOne(of: condition.equals, node) { return false }
        if condition.notEquals.count > 0 && isOne(of: condition.notEquals, node) { return false }
        if let start = condition.start {
            guard kind == .string else { return false }
            let begins = tape.text(of: node).hasPrefix(start)
            tests.add(.begins, node, start, passes: begins)
            if !begins { return false }
        }
        guard let empty = condition.empty else { return true }
        switch kind {
        case .object, .array: return (tape.end(of: node) == node &+ 1) == empty
        case .string:
            let isEmpty = tape.text(of: node).isEmpty
            tests.add(.empty, node, passes: isEmpty)
            return isEmpty == empty
        default: return false
        }
    }

    private mutating func isOne(of texts: UnsafeBufferPointer<ByteView>, _ node: Int32) -> Bool {
        for index in 0..<texts.count where equals(node, texts[index]) { return true }
        return false
    }

    /// Returns a Boolean value that indicates whether a string, number, or Boolean value has a text.
    mutating func equals(_ node: Int32, _ text: ByteView) -> Bool {
        switch tape.kind(of: node) {
        case .string, .number, .boolean: break
        default: return false
        }
        let equals = tape.text(of: node) == text
        tests.add(.equals, node, text, passes: equals)
        return equals
    }

    // MARK: Links

    /// Returns what the first link that is present opens, or nil if none is.
    mutating func outcome(
        of links: UnsafeBufferPointer<LinkImage>, in base: Int32 = -1, on platform: VendorSurfaces
    ) -> VendorOutcome? {
        var needsPlatform = false
        for index in links.indices {
            let place = links.baseAddress.unsafelyUnwrapped + index
            let link = place.pointee
            let isForUnknown = link.platform == .unknown
            if !link.platform.isEmpty && !platform.isEmpty && link.platform != platform { continue }
            guard holdsAll(link.conditions, in: base) else { continue }
            let node = value(link.pointer, in: base)
            if !link.platform.isEmpty && platform.isEmpty && !isForUnknown {
                needsPlatform = true
            } else if let outcome = outcome(ofLinkAt: node, place) {
                return outcome
            }
        }
        if needsPlatform { notePlatformLinks(links, in: base) }
        return nil
    }

    /// Notes the links that devices of a certain platform would open.
    private mutating func notePlatformLinks(_ links: UnsafeBufferPointer<LinkImage>, in base: Int32) {
        let first = notes.count
        for link in links where !link.platform.isEmpty && link.platform != .unknown {
            let node = value(link.pointer, in: base)
            guard holdsAll(link.conditions, in: base), tape.isString(node), !tape.text(of: node).isEmpty else {
                continue
            }
            let pointer = notedPointer(to: node)
            var isNoted = false
            for index in first..<notes.count where notes[index].text == pointer { isNoted = true }
            if !isNoted { note(.platformNeeded, pointer) }
        }
    }

    /// Returns what a link opens, or nil if the node is -1, or no string with text.
    ///
    /// - Parameter place: The place of the link, if it is one of the table.
    mutating func outcome(ofLinkAt node: Int32, _ place: UnsafePointer<LinkImage>? = nil) -> VendorOutcome? {
        guard node >= 0 else { return nil }
        switch tape.kind(of: node) {
        case .string: break
        case .null: return nil
        default:
            note(.linkNotText, at: node)
            return nil
        }
        let text = tape.text(of: node)
        if text.isEmpty {
            tests.giveUp()
            return nil
        }
        // A value of only white space has no scheme, so no other place is read.
        let range = WireFormat.trimmed(text, from: 0)
        let link = text.slice(range.lowerBound, range.upperBound)
        var wrapped: ByteView?
        if let place, !place.pointee.wrapperScheme.isEmpty, LinkWrapper.hasScheme(place.pointee.wrapperScheme, link) {
            wrapped = LinkWrapper.content(of: link, place.pointee)
            if wrapped == nil {
                tests.giveUp()
                return nil
            }
        }
        if range.count < text.count { note(.linkTrimmed, at: node) }
        if let wrapped { return outcome(ofWrapped: wrapped, at: node) }
        if Resolver.schemeLength(link) > 0 { return VendorOutcome(kind: .link, link: link, node: node, place: place) }
        note(.linkWithoutScheme, at: node)
        return VendorOutcome(kind: .noLink)
    }

    /// Returns what a wrapped link opens.
    private mutating func outcome(ofWrapped encoded: ByteView, at node: Int32) -> VendorOutcome {
        texts.begin()
        let decodes = PercentDecoding.decode(encoded, plusIsSpace: false, into: &texts)
        let content = texts.finish()
        guard decodes, PercentDecoding.isClean(content, invisiblesAllowed: true), Resolver.schemeLength(content) > 0
        else {
            note(.linkWithoutScheme, at: node)
            return VendorOutcome(kind: .noLink)
        }
        note(.linkUnwrapped, at: node)
        return VendorOutcome(kind: .link, link: content, node: node)
    }
}

// Reads what a message does in addition to links: actions of the app, and parts for devices of other platforms.
extension VendorReader {
    /// A Boolean value that indicates whether the push service itself shows a notification.
    ///
    /// FCM shows a title or a body, also one that the app translates, on every platform.
    var isShown: Bool {
        mutating get { isShown(notifications.0) || isShown(notifications.1) }
    }

    private mutating func isShown(_ notification: Int32) -> Bool {
        guard tape.isObject(notification) else { return false }
        var node = tape.first(in: notification)
        while node < tape.end(of: notification) {
            let member = tape.nodes + Int(node)
            let name = member.pointee.name
            let isText = member.pointee.kind == .string
            if isText && (name.hasPrefix(ByteView("title")) || name.hasPrefix(ByteView("body"))) {
                let isEmpty = member.pointee.text.isEmpty
                tests.add(.empty, node, passes: isEmpty)
                if !isEmpty { return true }
            }
            node = member.pointee.end
        }
        return false
    }

    // MARK: Actions

    /// Notes the place of an action that the app runs instead of opening a link.
    mutating func noteCustomAction(_ rules: RuleImages, in base: Int32 = -1) {
        for list in rules where holdsAll(list, in: base) {
            for condition in list where condition.kind == .present || condition.kind == .tests {
                note(.customAction, at: value(condition.pointer, in: base))
                return
            }
        }
    }

    /// Notes the window that an Apple device brings to the front.
    mutating func noteWindow(_ message: VendorMessage) {
        guard message.surfaces == .apple, message.recordForm < 0 else { return }
        let aps = aps()
        guard aps >= 0 else { return }
        let window = tape.member(ByteView("target-content-id"), of: aps)
        if tape.isString(window), !tape.text(of: window).isEmpty { note(.customAction, at: window) }
    }

    /// Returns the object `aps` of the top level, or -1.
    ///
    /// The member of the first object counts, as for the members that the table lists.
    mutating func aps() -> Int32 {
        var node = surface.first >= 0 ? tape.member(ByteView("aps"), of: surface.first) : -1
        if node < 0, surface.second >= 0 { node = tape.member(ByteView("aps"), of: surface.second) }
        return tape.isObject(node) ? node : -1
    }

    /// Returns the button that is a single object, or nil if it has another id.
    mutating func findObject(_ action: ByteView, _ button: ButtonImage) -> (button: ButtonImage?, base: Int32) {
        let object = value(button.place)
        guard object >= 0, tape.kind(of: object) == .object else { return (nil, -1) }
        let id = value(button.id, in: object)
        guard id >= 0, equals(id, action), isButton(button, object) else { return (nil, -1) }
        return (button, object)
    }

    // MARK: Links of the envelope

    /// Returns what the links of the envelope itself open, or nil if there is none.
    mutating func ownLink(_ message: VendorMessage) -> VendorOutcome? {
        ownLink(message.ownLink, message) ?? ownLink(message.otherOwnLink, message)
    }

    private mutating func ownLink(_ node: Int32, _ message: VendorMessage) -> VendorOutcome? {
        guard let outcome = outcome(ofLinkAt: node) else { return nil }
        let isAllowed = !message.requiresHTTPS || LinkWrapper.hasScheme(ByteView("https"), outcome.link)
        if outcome.kind != .link || isAllowed { return outcome }
        note(.linkNotHTTPS, at: node)
        return VendorOutcome(kind: .noLink)
    }

    // MARK: Other platforms

    /// Notes the links that only devices of other platforms open.
    ///
    /// The members of the message are no longer loaded after that.
    mutating func noteOtherPlatforms(_ message: VendorMessage) {
        noteLink(in: message.apple, .apple)
        noteLink(in: message.android, .android)
        noteLink(in: message.web, .web)
        if LinkWrapper.hasScheme(ByteView("https"), trimmedText(of: message.webLink)) {
            note(.platformNeeded, at: message.webLink)
        }
    }

    private mutating func noteLink(in object: Int32, _ surfaces: VendorSurfaces) {
        guard object >= 0 else { return }
        surface.load(object, -1, of: tape.nodes)
        let number = recognized(surfaces, from: 0)
        guard number >= 0 else { return }
        let form = form(Int32(truncatingIfNeeded: number))
        var other = VendorMessage()
        other.surfaces = surfaces
        guard !isBackground(other), !holds(form.pointee.silent) else { return }
        for link in form.pointee.links where holdsAll(link.conditions) {
            let node = value(link.pointer)
            guard tape.isString(node), !tape.text(of: node).isEmpty else { continue }
            let text = trimmedText(of: node)
            if isWrapperWithoutLink(text, link) { continue }
            if Resolver.schemeLength(text) > 0 { note(.platformNeeded, at: node) }
            return
        }
    }

    /// Returns the text of a string without white space at both ends, or an empty view.
    private mutating func trimmedText(of node: Int32) -> ByteView {
        guard tape.isString(node) else { return .empty }
        let text = tape.text(of: node)
        let range = WireFormat.trimmed(text, from: 0)
        return text.slice(range.lowerBound, range.upperBound)
    }

    private func isWrapperWithoutLink(_ text: ByteView, _ link: LinkImage) -> Bool {
        !link.wrapperScheme.isEmpty && LinkWrapper.hasScheme(link.wrapperScheme, text)
            && LinkWrapper.content(of: text, link) == nil
    }
}

/// The result of reading a message for one kind of device.
struct VendorReading: BitwiseCopyable {
    /// The positions of the form and of its vendor in the table, or -1.
    var form: Int32 = -1
    var vendor: Int32 = -1
    /// The ids of the message and of the campaign, or -1.
    var message: Int32 = -1
    var campaign: Int32 = -1
    /// The outcome of the tapped button.
    ///
    /// It precedes the pointers of the route table.
    var tapped = VendorOutcome()
    /// The outcome of the message.
    ///
    /// The pointers of the route table precede it.
    var body = VendorOutcome()
    /// The position of the first note.
    var firstNote = 0
    /// The number of notes that are not about the body.
    var earlyNotes = 0
    /// The number of all notes.
    var allNotes = 0
}

/// The outcome of a message or a button: a link, or nothing.
struct VendorOutcome: BitwiseCopyable {
    enum Kind: UInt8 {
        /// There is no such button.
        case undecided
        /// A link with a scheme.
        case link
        /// Nothing.
        case noLink
        /// The app without a link.
        case opensApp
    }

    var kind = Kind.undecided
    var link = ByteView.empty
    /// The node of the link, or -1.
    var node: Int32 = -1
    /// The place of a link as it is in the message, if it is one of the table.
    var place: UnsafePointer<LinkImage>?
}

/// A note about a message: a code, and the place or the vendor that it is about.
struct VendorNote: BitwiseCopyable {
    /// The codes of notes.
    enum Code: UInt8, CaseIterable {
        case vendorAlso, envelopeAlso, jsonText, idTooLong, buttonUnknown, silent, linkNotText, linkTrimmed
        case linkWithoutScheme, linkNotHTTPS, linkUnwrapped, platformNeeded, customAction, dryRun
        case cloudEventsIncomplete, tooManyValues, headerUnreadable, idMalformed, dismissed, memberSkipped
        case deliveryUnreadable

        /// The text before the pointer or the id.
        var text: StaticString {
            switch self {
            case .vendorAlso: "vendor_also:"
            case .envelopeAlso: "envelope_also:"
            case .jsonText: "json_text "
            case .idTooLong: "id_too_long "
            case .buttonUnknown: "button_unknown"
            case .silent: "silent"
            case .linkNotText: "link_not_text "
            case .linkTrimmed: "link_trimmed "
            case .linkWithoutScheme: "link_without_scheme "
            case .linkNotHTTPS: "link_not_https "
            case .linkUnwrapped: "link_unwrapped "
            case .platformNeeded: "platform_needed "
            case .customAction: "custom_action "
            case .dryRun: "dry_run"
            case .cloudEventsIncomplete: "cloudevents_incomplete"
            case .tooManyValues: "too_many_values"
            case .headerUnreadable: "header_unreadable "
            case .idMalformed: "id_malformed "
            case .dismissed: "dismissed"
            case .memberSkipped: "member_skipped "
            case .deliveryUnreadable: "delivery_unreadable "
            }
        }
    }

    var code: Code
    /// The pointer or the id, or an empty view.
    var text = ByteView.empty
}

/// The parsing of links whose path contains another link, percent-encoded.
enum LinkWrapper {
    /// Returns a Boolean value that indicates whether a link has a scheme, regardless of case, and an authority.
    static func hasScheme(_ scheme: ByteView, _ link: ByteView) -> Bool {
        guard link.count >= scheme.count + 3 else { return false }
        return ByteScan.equalFolded(link.slice(0, scheme.count), scheme)
            && link.slice(scheme.count, scheme.count + 3).equals("://")
    }

    /// Returns the segment that contains the actual link, or nil if there is none.
    ///
    /// It is the second segment of the path. The first one must equal `wrapperSegment`. Empty segments do not count.
    static func content(of link: ByteView, _ image: LinkImage) -> ByteView? {
        var index = image.wrapperScheme.count + 3
        while index < link.count, link[index] != UInt8(ascii: "/") { index += 1 }
        let first = segment(of: link, from: &index)
        guard first == image.wrapperSegment else { return nil }
        let second = segment(of: link, from: &index)
        return second.isEmpty ? nil : second
    }

    /// Returns the next segment that is not empty, or an empty view at the end of the path.
    private static func segment(of link: ByteView, from index: inout Int) -> ByteView {
        while index < link.count, link[index] == UInt8(ascii: "/") { index += 1 }
        let start = index
        while index < link.count, !isEnd(link[index]) { index += 1 }
        return link.slice(start, index)
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
