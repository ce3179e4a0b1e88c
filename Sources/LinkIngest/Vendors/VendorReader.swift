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
    private(set) var notes = Growable<VendorNote>(capacity: 64)
    /// The tapped button, if its name is the id of the button, or -1.
    ///
    /// The id is a value of the record, so the pointers of notes do not contain it.
    var namedButton: Int32 = -1
    /// The objects with what the push service itself shows for the message, or -1.
    var notifications: (Int32, Int32) = (-1, -1)
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
            guard kind == .string, tape.text(of: node).hasPrefix(start) else { return false }
        }
        guard let empty = condition.empty else { return true }
        switch kind {
        case .object, .array: return (tape.end(of: node) == node &+ 1) == empty
        case .string: return tape.text(of: node).isEmpty == empty
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
        case .string, .number, .boolean: tape.text(of: node) == text
        default: false
        }
    }

    // MARK: Links

    /// Returns what the first link that is present opens, or nil if none is.
    mutating func outcome(
        of links: UnsafeBufferPointer<LinkImage>, in base: Int32 = -1, on platform: VendorSurfaces
    ) -> VendorOutcome? {
        var needsPlatform = false
        for link in links {
            let isForUnknown = link.platform == .unknown
            if !link.platform.isEmpty && !platform.isEmpty && link.platform != platform { continue }
            guard holdsAll(link.conditions, in: base) else { continue }
            let node = value(link.pointer, in: base)
            if !link.platform.isEmpty && platform.isEmpty && !isForUnknown {
                needsPlatform = true
            } else if let outcome = outcome(ofLinkAt: node, link) {
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
    /// - Parameter image: The place of the link, if it is one of the table.
    mutating func outcome(ofLinkAt node: Int32, _ image: LinkImage? = nil) -> VendorOutcome? {
        guard node >= 0 else { return nil }
        switch tape.kind(of: node) {
        case .string: break
        case .null: return nil
        default:
            note(.linkNotText, at: node)
            return nil
        }
        let text = tape.text(of: node)
        let range = WireFormat.trimmed(text, from: 0)
        if range.isEmpty { return nil }
        let link = text.slice(range.lowerBound, range.upperBound)
        var wrapped: ByteView?
        if let image, !image.wrapperScheme.isEmpty, LinkWrapper.hasScheme(image.wrapperScheme, link) {
            wrapped = LinkWrapper.content(of: link, image)
            if wrapped == nil { return nil }
        }
        if range.count < text.count { note(.linkTrimmed, at: node) }
        if let wrapped { return outcome(ofWrapped: wrapped, at: node) }
        if WireFormat.hasScheme(link) { return VendorOutcome(kind: .link, link: link, node: node) }
        note(.linkWithoutScheme, at: node)
        return VendorOutcome(kind: .noLink)
    }

    /// Returns what a wrapped link opens.
    private mutating func outcome(ofWrapped encoded: ByteView, at node: Int32) -> VendorOutcome {
        texts.begin()
        let decodes = LinkWrapper.decode(encoded, into: &texts)
        let content = texts.finish()
        guard decodes, content.firstIllFormedUTF8 == nil, WireFormat.hasScheme(content) else {
            note(.linkWithoutScheme, at: node)
            return VendorOutcome(kind: .noLink)
        }
        note(.linkUnwrapped, at: node)
        return VendorOutcome(kind: .link, link: content, node: node)
    }
}
