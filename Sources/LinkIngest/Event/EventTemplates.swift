internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The shapes of the usual events met last: a link for one device, as the same producer writes it again and again.
///
/// What such an event says is read by comparing (`TextTemplate`); all others go the general way. A guess can cost time
/// but never change an answer, and where guesses keep missing they are left off for a while.
struct EventTemplates: ~Copyable {
    /// One of them is empty, to learn in.
    private static let places = 5
    /// What is learned costs as much time as some hits gain; with more such costs than gains guesses rest.
    private static let learningCost: Int32 = 8
    private static let patience: Int32 = 256
    private static let rest: Int32 = 16_384

    private let templates: UnsafeMutablePointer<Place>
    /// The place that took a text last.
    private var current = 0
    /// The place whose values stand in the event and the device, or -1.
    private var filled = -1
    /// The empty place.
    private var empty = 0
    private var score: Int32 = 0
    private var resting: Int32 = 0
    /// Where values are noted that nobody reads.
    private let ignored: UnsafeMutablePointer<ByteView>

    private struct Place: ~Copyable {
        var template = TextTemplate()
        /// The facts of the device that its values say.
        var facts: UInt16 = 0
    }

    init() {
        templates = .allocate(capacity: Self.places)
        for place in 0..<Self.places { (templates + place).initialize(to: Place()) }
        ignored = .allocate(capacity: 1)
        ignored.initialize(to: .empty)
    }

    deinit {
        templates.deinitialize(count: Self.places)
        templates.deallocate()
        ignored.deallocate()
    }

    /// Says that something else than a template wrote into the event or the device.
    mutating func lose() { filled = -1 }

    /// Reads a record of a known shape into an event and its device; false where it has none.
    @inline(__always)
    mutating func take(
        _ text: ByteView, into event: UnsafeMutablePointer<IngestedEvent>,
        _ device: UnsafeMutablePointer<EventDevice>
    ) -> Bool {
        if resting > 0 { return false }
        if !fill(current, with: text, event, device) && !takeOther(text, event, device) { return false }
        if score > 0 { score &-= 1 }
        let request = event.pointer(to: \.request).unsafelyUnwrapped
        request.pointee.bytesBehind = text.end - request.pointee.text.end
        return true
    }

    @inline(never)
    private mutating func takeOther(
        _ text: ByteView, _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>
    ) -> Bool {
        for place in 0..<Self.places where place != current {
            if fill(place, with: text, event, device) {
                current = place
                return true
            }
        }
        return false
    }

    /// Reads a text by the template at a place.
    @inline(__always)
    private mutating func fill(
        _ place: Int, with text: ByteView, _ event: UnsafeMutablePointer<IngestedEvent>,
        _ device: UnsafeMutablePointer<EventDevice>
    ) -> Bool {
        let template = templates + place
        if filled != place {
            if template.pointee.template.isEmpty { return false }
            prepare(place, event, device)
        }
        return template.pointee.template.takes(text)
    }

    /// Makes event and device those of a template, of which nothing but values changes from text to text.
    @inline(never)
    private mutating func prepare(
        _ place: Int, _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>
    ) {
        filled = place
        event.pointee.clear(all: true)
        event.pointee.deviceCount = 1
        event.pointee.isUsual = true
        event.pointee.request.form = .link
        event.pointee.request.isPlain = true
        event.pointee.request.isScreened = true
        device.pointee.clear()
        device.pointee.facts.known = templates[place].facts
    }

    /// Learns the shape of a usual event that was read the general way, if all that it says stands in plain strings.
    @inline(never)
    mutating func learn(
        _ text: ByteView, _ event: UnsafeMutablePointer<IngestedEvent>, _ device: UnsafeMutablePointer<EventDevice>
    ) {
        if resting > 0 {
            resting -= 1
            return
        }
        // A value that is not plain may stand in any record of a shape that is known.
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
        let place = templates + empty
        place.pointee.facts = device.pointee.facts.known
        place.pointee.template.learn(text) { value in targets.take(value) ?? unread }
        if targets.isAnyLeft { place.pointee.template.forget() }
        if place.pointee.template.isEmpty { return }
        // The shape that was learned longest ago makes room for the next.
        empty = (empty + 1) % Self.places
        templates[empty].template.forget()
    }
}

/// The texts of an event and of its device, to be found again among the values of its record.
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

    /// Whether one of them did not stand among the values, for it was not plain.
    var isAnyLeft: Bool { !left.isEmpty }

    /// The text that stands where a value does.
    mutating func take(_ value: ByteView) -> TextTemplate.Value? {
        guard let index = left.firstIndex(where: { $0.place.pointee.start == value.start }) else { return nil }
        return left.remove(at: index)
    }
}
