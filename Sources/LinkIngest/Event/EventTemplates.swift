internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The templates of recent usual events.
///
/// A usual event is a link for one device. A producer writes all such events in the same form.
///
/// An event that matches a template (`TextTemplate`) is read by comparison. All other events are parsed. A miss costs
/// time but never changes the result. If too many records miss, the templates are not used for some records.
struct EventTemplates: ~Copyable {
    /// The number of slots.
    ///
    /// One of them is empty, to learn the next template.
    private static let slots = 5
    /// The cost of learning a template, in hits.
    ///
    /// The templates are suspended when the costs exceed the gains by `patience`.
    private static let learningCost: Int32 = 8
    private static let patience: Int32 = 256
    private static let rest: Int32 = 16_384

    private let templates: UnsafeMutablePointer<Slot>
    /// The slot of the last match.
    private var current = 0
    /// The slot whose values are in the event and the device, or -1.
    private var filled = -1
    /// The empty slot.
    private var empty = 0
    private var score: Int32 = 0
    private var resting: Int32 = 0
    /// The storage for values that are not used.
    private let ignored: UnsafeMutablePointer<ByteView>

    private struct Slot: ~Copyable {
        var template = TextTemplate()
        /// The facts of the device that the template provides.
        var facts: UInt16 = 0
    }

    init() {
        templates = .allocate(capacity: Self.slots)
        for slot in 0..<Self.slots { (templates + slot).initialize(to: Slot()) }
        ignored = .allocate(capacity: 1)
        ignored.initialize(to: .empty)
    }

    deinit {
        templates.deinitialize(count: Self.slots)
        templates.deallocate()
        ignored.deallocate()
    }

    /// Records that the event or the device no longer has the values of a template.
    mutating func invalidate() { filled = -1 }

    /// Reads a record that matches a template into an event and its device.
    ///
    /// Returns false if no template matches.
    @inline(__always)
    mutating func read(
        _ text: ByteView, into event: UnsafeMutablePointer<IngestedEvent>,
        _ device: UnsafeMutablePointer<EventDevice>
    ) -> Bool {
        if resting > 0 { return false }
        if !fill(current, with: text, event, device) && !readOther(text, event, device) { return false }
        if score > 0 { score &-= 1 }
        let request = event.pointer(to: \.request).unsafelyUnwrapped
        request.pointee.bytesBehind = text.end - request.pointee.text.end
        return true
    }

    @inline(never)
    private mutating func readOther(
        _ text: ByteView, _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>
    ) -> Bool {
        for slot in 0..<Self.slots where slot != current {
            if fill(slot, with: text, event, device) {
                current = slot
                return true
            }
        }
        return false
    }

    /// Reads a text with the template in a slot.
    @inline(__always)
    private mutating func fill(
        _ slot: Int, with text: ByteView, _ event: UnsafeMutablePointer<IngestedEvent>,
        _ device: UnsafeMutablePointer<EventDevice>
    ) -> Bool {
        let template = templates + slot
        if filled != slot {
            if template.pointee.template.isEmpty { return false }
            prepare(slot, event, device)
        }
        return template.pointee.template.matches(text)
    }

    /// Resets the event and the device to the constant part of a template.
    @inline(never)
    private mutating func prepare(
        _ slot: Int, _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>
    ) {
        filled = slot
        event.pointee.clear(all: true)
        event.pointee.deviceCount = 1
        event.pointee.isUsual = true
        event.pointee.request.form = .link
        event.pointee.request.isPlain = true
        event.pointee.request.isScreened = true
        device.pointee.clear()
        device.pointee.facts.known = templates[slot].facts
    }

    /// Learns the template of a usual event that was parsed, if all its values are plain strings.
    @inline(never)
    mutating func learn(
        _ text: ByteView, _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>
    ) {
        if resting > 0 {
            resting -= 1
            return
        }
        // A record of a known form can contain values that are not plain. Such a record has nothing new to learn.
        guard event.pointee.request.isPlain, event.pointee.idIsPlain, device.pointee.isPlain, !text.hasNonASCII,
            text.firstIndex(of: UInt8(ascii: "\\")) == nil, device.pointee.facts.known & ~FactBits.texts == 0,
            device.pointee.facts.unreadable == 0
        else { return }
        score += Self.learningCost
        if score > Self.patience {
            score = 0
            resting = Self.rest
            return
        }
        var targets = Targets(event, device)
        let unread = TextTemplate.Value(place: ignored, bytes: 0...Int.max)
        let slot = templates + empty
        slot.pointee.facts = device.pointee.facts.known
        slot.pointee.template.learn(text) { value in targets.remove(value) ?? unread }
        if targets.isAnyLeft { slot.pointee.template.forget() }
        if slot.pointee.template.isEmpty { return }
        // The oldest template is replaced next.
        empty = (empty + 1) % Self.slots
        templates[empty].template.forget()
    }
}

/// The values of an event and its device, whose positions in the text of the record are searched for.
private struct Targets {
    private var left: [TextTemplate.Value] = []

    init(_ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>) {
        add(event.pointer(to: \.request.text), 0...Int.max)
        add(device.pointer(to: \.id), 1...IngestLimits.deviceIDBytes)
        if !event.pointee.id.isEmpty { add(event.pointer(to: \.id), 1...IngestLimits.eventIDBytes) }
        let known = device.pointee.facts.known
        let most = 0...IngestLimits.factBytes
        if known & FactBits.platform != 0 { add(device.pointer(to: \.facts.platform), most) }
        if known & FactBits.app != 0 { add(device.pointer(to: \.facts.app), most) }
        if known & FactBits.os != 0 { add(device.pointer(to: \.facts.os), most) }
        if known & FactBits.locale != 0 { add(device.pointer(to: \.facts.locale), most) }
        if known & FactBits.region != 0 { add(device.pointer(to: \.facts.region), most) }
        if known & FactBits.coordinator != 0 { add(device.pointer(to: \.facts.coordinator), most) }
    }

    private mutating func add(_ place: UnsafeMutablePointer<ByteView>?, _ bytes: ClosedRange<Int>) {
        if let place { left.append(TextTemplate.Value(place: place, bytes: bytes)) }
    }

    /// A Boolean value that indicates whether a value was not found, because it is not a plain string.
    var isAnyLeft: Bool { !left.isEmpty }

    /// Removes and returns the target whose text begins where a value begins.
    mutating func remove(_ value: ByteView) -> TextTemplate.Value? {
        guard let index = left.firstIndex(where: { $0.place.pointee.start == value.start }) else { return nil }
        return left.remove(at: index)
    }
}
