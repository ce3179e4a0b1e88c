internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// A reader of device objects: the id and the facts.
///
/// A malformed fact is marked as unreadable and does not make the event invalid. Views are valid until the next device
/// is read.
struct DeviceReader: ~Copyable {
    /// The tag of the id in the shape.
    ///
    /// The tag of a fact is its raw value. The tag of the id follows.
    @inline(__always) private static var idTag: UInt8 { 9 }
    /// The tags of the members that are strings, as bits.
    private static var plainTags: UInt64 {
        let texts: [DeviceFacts.Fact] = [.platform, .app, .os, .locale, .region, .coordinator]
        return texts.reduce(1 << UInt64(idTag)) { tags, fact in tags | UInt64(fact.bit) }
    }

    private var shape = MemberShape(DeviceFacts.Fact.allCases.map(\.name) + ["id"], plain: Self.plainTags)
    private var attributeShape = MemberShape([])
    private var normalForms = OutputArena(chunkBytes: 4096)
    private var hasNormalForms = false
    private var composer = Composer()
    /// A Boolean value that indicates whether only the id is stored.
    ///
    /// The facts of a device in a list are read when the device is selected.
    private var readsIDOnly = false
    private let capabilities = FactList(capacity: Limits.factElements)
    private let claims = FactList(capacity: Limits.factElements)
    private let attributes = FactList(capacity: 2 * Limits.factElements)

    /// Reads the object at the cursor and stores only the id.
    ///
    /// All of the object is validated.
    mutating func readID(
        _ cursor: inout JSONCursor, into device: UnsafeMutablePointer<EventDevice>
    ) throws(JSONError) {
        readsIDOnly = true
        defer { readsIDOnly = false }
        try read(&cursor, into: device)
    }

    /// Reads the object at the cursor.
    mutating func read(
        _ cursor: inout JSONCursor, into device: UnsafeMutablePointer<EventDevice>
    ) throws(JSONError) {
        device.pointee.clear()
        if hasNormalForms { clearNormalForms() }
        device.pointee.offset = cursor.offset
        var known: UInt16 = 0
        let base = cursor.start
        var scope = try cursor.enterObject()
        while true {
            cursor.readPlainMembers(&scope, &shape) { tag, plain in
                known |= Self.store(plain, tag, base, into: device)
            }
            if cursor.leaveObjectIfPossible(scope) { break }
            guard try cursor.nextMember(&scope, &shape) else { break }
            try readAny(scope.tag, &cursor, into: &device.pointee)
        }
        device.pointee.facts.known |= known
    }

    private mutating func clearNormalForms() {
        normalForms.reset()
        hasNormalForms = false
    }

    /// Stores a plain string as the value of a member, and returns the bit of the fact.
    ///
    /// - Parameter base: The start of the JSON text.
    @inline(__always)
    private static func store(
        _ plain: ByteView, _ tag: UInt8, _ base: UnsafePointer<UInt8>, into device: UnsafeMutablePointer<EventDevice>
    ) -> UInt16 {
        if plain.count > Limits.factBytes { return markUnreadable(plain, tag, base, into: device) }
        // The tags are literals because the compiler (Swift 6.3) does not inline `package` declarations of another
        // module.
        switch tag {
        case 0: device.pointee.facts.platform = plain
        case 1: device.pointee.facts.app = plain
        case 2: device.pointee.facts.os = plain
        case 3: device.pointee.facts.locale = plain
        case 4: device.pointee.facts.region = plain
        case 8: device.pointee.facts.coordinator = plain
        case Self.idTag:
            // The value begins at its quotation mark.
            device.pointee.idOffset = plain.start - base &- 1
            device.pointee.id = plain
            return 0
        default: return 0
        }
        return 1 &<< UInt16(truncatingIfNeeded: tag)
    }

    /// Marks a fact that is too long as unreadable, and returns no bit.
    @inline(never)
    private static func markUnreadable(
        _ plain: ByteView, _ tag: UInt8, _ base: UnsafePointer<UInt8>, into device: UnsafeMutablePointer<EventDevice>
    ) -> UInt16 {
        if tag == Self.idTag {
            device.pointee.idOffset = plain.start - base &- 1
        } else if let fact = DeviceFacts.Fact(rawValue: Int(tag)) {
            device.pointee.facts.setUnreadable(fact)
        }
        return 0
    }

    /// Reads the value of a member of any type.
    @inline(never)
    private mutating func readAny(
        _ tag: UInt8, _ cursor: inout JSONCursor, into device: inout EventDevice
    ) throws(JSONError) {
        let first = cursor.peek()
        if first == UInt8(ascii: "n") {
            _ = try cursor.null()
            return
        }
        if tag == Self.idTag {
            try readID(first, &cursor, into: &device)
        } else if !readsIDOnly, let fact = DeviceFacts.Fact(rawValue: Int(tag)) {
            try read(fact, first, &cursor, into: &device.facts)
        } else {
            try cursor.skip()
        }
    }

    private mutating func read(
        _ fact: DeviceFacts.Fact, _ first: UInt8, _ cursor: inout JSONCursor, into facts: inout DeviceView
    ) throws(JSONError) {
        switch fact {
        case .platform: facts.platform = try text(fact, first, &cursor, &facts)
        case .app: facts.app = try text(fact, first, &cursor, &facts)
        case .os: facts.os = try text(fact, first, &cursor, &facts)
        case .locale: facts.locale = try text(fact, first, &cursor, &facts)
        case .region: facts.region = try text(fact, first, &cursor, &facts)
        case .capabilities: facts.capabilities = try list(fact, capabilities.views, first, &cursor, &facts)
        case .claims: facts.claims = try list(fact, claims.views, first, &cursor, &facts)
        case .attributes: facts.attributes = try object(first, &cursor, &facts)
        case .coordinator: facts.coordinator = try text(fact, first, &cursor, &facts)
        }
    }

    private mutating func readID(
        _ first: UInt8, _ cursor: inout JSONCursor, into device: inout EventDevice
    ) throws(JSONError) {
        device.idOffset = cursor.offset
        guard first == UInt8(ascii: "\"") else {
            try cursor.skip()
            return
        }
        let string = try cursor.string()
        let id = cursor.unescaped(string)
        if id.count > Limits.deviceIDBytes { return }
        device.id = id
        device.isPlain = !string.hasEscape
    }

    /// Reads a fact that is a string.
    ///
    /// Marks the fact as unreadable and returns an empty view for any other type.
    private mutating func text(
        _ fact: DeviceFacts.Fact, _ first: UInt8, _ cursor: inout JSONCursor, _ facts: inout DeviceView
    ) throws(JSONError) -> ByteView {
        guard let text = try factText(first, &cursor) else {
            facts.setUnreadable(fact)
            return .empty
        }
        facts.setKnown(fact)
        return text
    }

    /// Reads a string of at most 256 bytes and returns it in normal form C.
    ///
    /// Returns nil for any other value.
    private mutating func factText(_ first: UInt8, _ cursor: inout JSONCursor) throws(JSONError) -> ByteView? {
        guard first == UInt8(ascii: "\"") else {
            try cursor.skip()
            return nil
        }
        let string = try cursor.string()
        let text = cursor.unescaped(string)
        if text.count > Limits.factBytes { return nil }
        return string.hasNonASCII || string.hasEscape ? normalForm(of: text) : text
    }

    private mutating func normalForm(of text: ByteView) -> ByteView {
        if text.isSurelyComposed { return text }
        hasNormalForms = true
        normalForms.begin()
        composer.append(text, to: &normalForms)
        return normalForms.finish()
    }

    private mutating func list(
        _ fact: DeviceFacts.Fact, _ views: UnsafeMutablePointer<ByteView>, _ first: UInt8, _ cursor: inout JSONCursor,
        _ facts: inout DeviceView
    ) throws(JSONError) -> UnsafeBufferPointer<ByteView> {
        guard first == UInt8(ascii: "[") else {
            try cursor.skip()
            facts.setUnreadable(fact)
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        var count = 0
        var isGood = true
        var scope = try cursor.enterArray()
        while try cursor.nextElement(&scope) {
            // An invalid element makes the whole list unreadable, so the rest needs no normalization.
            if !isGood || count == Limits.factElements {
                try cursor.skip()
                isGood = false
            } else if let text = try factText(cursor.peek(), &cursor) {
                views[count] = text
                count += 1
            } else {
                isGood = false
            }
        }
        if isGood { facts.setKnown(fact) } else { facts.setUnreadable(fact) }
        return UnsafeBufferPointer(start: views, count: isGood ? count : 0)
    }

    /// Reads the attributes as alternating names and values.
    ///
    /// A null counts as absent.
    private mutating func object(
        _ first: UInt8, _ cursor: inout JSONCursor, _ facts: inout DeviceView
    ) throws(JSONError) -> UnsafeBufferPointer<ByteView> {
        guard first == UInt8(ascii: "{") else {
            try cursor.skip()
            facts.setUnreadable(.attributes)
            return attributes.prefix(0)
        }
        var count = 0
        var isGood = true
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope, &attributeShape) {
            let first = cursor.peek()
            if first == UInt8(ascii: "n") {
                _ = try cursor.null()
                continue
            }
            let name = scope.name
            if !isGood || name.count > Limits.factBytes || count == 2 * Limits.factElements {
                try cursor.skip()
                isGood = false
            } else if let text = try factText(first, &cursor) {
                attributes.set(count, normalForm(of: name))
                attributes.set(count + 1, text)
                count += 2
            } else {
                isGood = false
            }
        }
        if isGood { facts.setKnown(.attributes) } else { facts.setUnreadable(.attributes) }
        return attributes.prefix(isGood ? count : 0)
    }
}

/// Storage for the strings of one fact, reused for each device.
struct FactList: ~Copyable {
    let views: UnsafeMutablePointer<ByteView>

    init(capacity: Int) {
        views = .allocate(capacity: capacity)
        views.initialize(repeating: .empty, count: capacity)
    }

    deinit { views.deallocate() }

    func set(_ index: Int, _ view: ByteView) { views[index] = view }

    func prefix(_ count: Int) -> UnsafeBufferPointer<ByteView> { UnsafeBufferPointer(start: views, count: count) }
}
