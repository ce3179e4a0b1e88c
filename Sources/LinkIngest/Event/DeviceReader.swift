internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// A reader of device objects: the id and the facts.
///
/// A malformed fact is marked as unreadable and does not make the event invalid. Views are valid until the next device
/// is read.
struct DeviceReader: ~Copyable {
    private var shape = MemberShape(
        [
            "id", "platform", "app", "locale", "os", "region", "capabilities", "claims", "attributes", "coordinator",
        ],
        plain: 0b10_0011_1111)
    private var attributeShape = MemberShape([])
    private var normalForms = OutputArena(chunkBytes: 4096)
    private var hasNormalForms = false
    private var composer = Composer()
    /// A Boolean value that indicates whether only the id is stored.
    ///
    /// The facts of a device in a list are read when the device is selected.
    private var readsIDOnly = false
    private let capabilities = FactList(capacity: IngestLimits.factElements)
    private let claims = FactList(capacity: IngestLimits.factElements)
    private let attributes = FactList(capacity: 2 * IngestLimits.factElements)

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
            cursor.plainMembers(&scope, &shape) { tag, plain in
                known |= Self.store(plain, tag, base, into: device)
            }
            if cursor.leavesObject(scope) { break }
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
        if plain.count > IngestLimits.factBytes { return refuse(plain, tag, base, into: device) }
        switch tag {
        case 0:
            // The value begins at its quotation mark.
            device.pointee.idOffset = plain.start - base &- 1
            device.pointee.id = plain
            return 0
        case 1:
            device.pointee.facts.platform = plain
            return FactBits.platform
        case 2:
            device.pointee.facts.app = plain
            return FactBits.app
        case 3:
            device.pointee.facts.locale = plain
            return FactBits.locale
        case 4:
            device.pointee.facts.os = plain
            return FactBits.os
        case 5:
            device.pointee.facts.region = plain
            return FactBits.region
        case 9:
            device.pointee.facts.coordinator = plain
            return FactBits.coordinator
        default: return 0
        }
    }

    /// Marks a fact that is too long as unreadable, and returns no bit.
    @inline(never)
    private static func refuse(
        _ plain: ByteView, _ tag: UInt8, _ base: UnsafePointer<UInt8>, into device: UnsafeMutablePointer<EventDevice>
    ) -> UInt16 {
        switch tag {
        case 0: device.pointee.idOffset = plain.start - base &- 1
        case 1: device.pointee.facts.setUnreadable(.platform)
        case 2: device.pointee.facts.setUnreadable(.app)
        case 3: device.pointee.facts.setUnreadable(.locale)
        case 4: device.pointee.facts.setUnreadable(.os)
        case 5: device.pointee.facts.setUnreadable(.region)
        case 9: device.pointee.facts.setUnreadable(.coordinator)
        default: break
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
        if readsIDOnly && tag != 0 {
            try cursor.skip()
            return
        }
        try readMember(tag, first, &cursor, into: &device)
    }

    private mutating func readMember(
        _ tag: UInt8, _ first: UInt8, _ cursor: inout JSONCursor, into device: inout EventDevice
    ) throws(JSONError) {
        switch tag {
        case 0: try readID(first, &cursor, into: &device)
        case 1: device.facts.platform = try text(.platform, first, &cursor, &device.facts)
        case 2: device.facts.app = try text(.app, first, &cursor, &device.facts)
        case 3: device.facts.locale = try text(.locale, first, &cursor, &device.facts)
        case 4: device.facts.os = try text(.os, first, &cursor, &device.facts)
        case 5: device.facts.region = try text(.region, first, &cursor, &device.facts)
        case 6: device.facts.capabilities = try list(.capabilities, capabilities.views, first, &cursor, &device.facts)
        case 7: device.facts.claims = try list(.claims, claims.views, first, &cursor, &device.facts)
        case 8: device.facts.attributes = try object(first, &cursor, &device.facts)
        case 9: device.facts.coordinator = try text(.coordinator, first, &cursor, &device.facts)
        default: try cursor.skip()
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
        if id.count > IngestLimits.deviceIDBytes { return }
        device.id = id
        device.isPlain = !string.hasEscape
    }

    /// Reads a fact that is a string.
    ///
    /// Marks the fact as unreadable and returns an empty view for any other type.
    private mutating func text(
        _ fact: DeviceView.Fact, _ first: UInt8, _ cursor: inout JSONCursor, _ facts: inout DeviceView
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
        if text.count > IngestLimits.factBytes { return nil }
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
        _ fact: DeviceView.Fact, _ views: UnsafeMutablePointer<ByteView>, _ first: UInt8, _ cursor: inout JSONCursor,
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
            if !isGood || count == IngestLimits.factElements {
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
            if !isGood || name.count > IngestLimits.factBytes || count == 2 * IngestLimits.factElements {
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

/// The bits of the facts that are strings, equal to those of `DeviceView.Fact`.
///
/// They are repeated here because the compiler (Swift 6.3) does not inline `package` declarations of another module.
enum FactBits {
    @inline(__always) static var platform: UInt16 { 1 << 0 }
    @inline(__always) static var app: UInt16 { 1 << 1 }
    @inline(__always) static var os: UInt16 { 1 << 2 }
    @inline(__always) static var locale: UInt16 { 1 << 3 }
    @inline(__always) static var region: UInt16 { 1 << 4 }
    @inline(__always) static var coordinator: UInt16 { 1 << 8 }
    /// All bits.
    static var texts: UInt16 { platform | app | os | locale | region | coordinator }
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
