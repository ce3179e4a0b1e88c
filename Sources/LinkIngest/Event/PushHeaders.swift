internal import ByteStorage
internal import LinkCoordinator
internal import StrictJSON

/// The headers of a request to APNs or to a service of Web Push that an event has beside the body.
///
/// The sources are Apple's article "Sending notification requests to APNs" and RFC 8030. The names have any case, as in
/// HTTP.
struct PushHeaders: BitwiseCopyable {
    /// The headers that are read.
    enum Name: UInt8, CaseIterable {
        case topic, id, expiration, pushType, collapse, priority
        // The headers of Web Push.
        case timeToLive, webTopic, urgency

        /// The name of the header.
        var text: ByteView {
            let pointer = ByteView(pointer)
            return pointer.slice(ByteView("/headers/").count, pointer.count)
        }

        /// A Boolean value that indicates whether the header is one of Web Push, and not of APNs.
        var isOfWebPush: Bool { rawValue >= Self.timeToLive.rawValue }

        /// The place of the header in the record, for notes.
        var pointer: StaticString {
            switch self {
            case .topic: "/headers/apns-topic"
            case .id: "/headers/apns-id"
            case .expiration: "/headers/apns-expiration"
            case .pushType: "/headers/apns-push-type"
            case .collapse: "/headers/apns-collapse-id"
            case .priority: "/headers/apns-priority"
            case .timeToLive: "/headers/ttl"
            case .webTopic: "/headers/topic"
            case .urgency: "/headers/urgency"
            }
        }

        /// Returns the header with a name, or nil if it is not read.
        init?(_ name: ByteView) {
            for known in Self.allCases where equalsFolded(name, known.text) {
                self = known
                return
            }
            return nil
        }
    }

    /// The bundle identifier, or an empty view.
    private(set) var application = ByteView.empty
    /// The id of the notification, or an empty view.
    private(set) var id = ByteView.empty
    /// The time of expiry in milliseconds since 1970, or nil.
    private(set) var expires: Int64?
    /// A Boolean value that indicates whether the push is one in the background.
    private(set) var isBackground = false
    /// The values for delivery in the headers of APNs, and in the headers of Web Push.
    private(set) var delivery = Delivery()
    private(set) var webDelivery = Delivery()
    /// The headers that cannot be read, as bits.
    private var unreadable: UInt16 = 0

    /// The endings of topics that are not part of the bundle identifier.
    private static let suffixes: [StaticString] = [
        ".voip", ".voip-ptt", ".complication", ".location-query", ".pushkit.fileprovider", ".push-type.liveactivity",
        ".push-type.widgets", ".push-type.controls",
    ]

    /// Returns a Boolean value that indicates whether a header was skipped.
    func isUnreadable(_ name: Name) -> Bool { unreadable & 1 << name.rawValue != 0 }

    /// Marks a header that cannot be read.
    mutating func setUnreadable(_ name: Name) { unreadable |= 1 << name.rawValue }

    /// Reads a header.
    mutating func set(_ name: Name, _ value: ByteView) {
        guard (1...Limits.headerBytes).contains(value.count) else { return setUnreadable(name) }
        switch name {
        case .topic: application = Self.application(value)
        case .id: if value.count <= Limits.eventIDBytes { id = value } else { setUnreadable(.id) }
        case .pushType: isBackground = value.equals("background")
        case .expiration:
            guard let time = Self.milliseconds(value) else { return setUnreadable(.expiration) }
            // Zero is one attempt at once, not a time.
            expires = time == 0 ? nil : time
        case .collapse: delivery.collapse = Delivery.collapse(value) ?? skip(name)
        case .priority: delivery.priority = Delivery.priority(value) ?? skip(name)
        case .webTopic: webDelivery.collapse = Delivery.collapse(value) ?? skip(name)
        case .urgency: webDelivery.priority = Delivery.priority(value) ?? skip(name)
        case .timeToLive:
            guard let time = Delivery.milliseconds(seconds: value) else { return setUnreadable(.timeToLive) }
            webDelivery.expiry = time == 0 ? nil : .after(time)
        }
    }

    /// Marks a header that cannot be read, and returns no value.
    private mutating func skip(_ name: Name) -> ByteView {
        setUnreadable(name)
        return .empty
    }

    private static func application(_ topic: ByteView) -> ByteView {
        for suffix in suffixes {
            let ending = ByteView(suffix)
            let start = topic.count - ending.count
            if start > 0, topic.dropFirst(start) == ending { return topic.slice(0, start) }
        }
        return topic
    }

    /// Returns the milliseconds of a number of seconds with at most 12 digits, or nil.
    static func milliseconds(_ text: ByteView) -> Int64? {
        guard 1...12 ~= text.count else { return nil }
        var number: Int64 = 0
        for index in 0..<text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number * 1000
    }
}

/// The reading of the headers of a push request, and their use for an event.
extension EventReader {
    /// Reads `headers`, whose values are strings or numbers.
    ///
    /// A null counts as absent. A header that cannot be read is skipped, with a note.
    mutating func readHeaders(_ first: UInt8, at start: Int) throws(JSONError) {
        guard first == UInt8(ascii: "{") else {
            try cursor.skip()
            return state.record(.type("expected `headers` to be an object", at: start))
        }
        state.hasOther = true
        state.hasPushHeaders = true
        pushHeaders = PushHeaders()
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            let name = PushHeaders.Name(scope.name)
            let first = cursor.peek()
            let start = cursor.offset
            if let name, first == UInt8(ascii: "\"") {
                pushHeaders.set(name, cursor.unescaped(try cursor.string()))
                continue
            }
            try cursor.skip()
            guard let name, first != UInt8(ascii: "n") else { continue }
            if first &- UInt8(ascii: "0") < 10 {
                pushHeaders.set(name, text.slice(start, cursor.offset))
            } else {
                pushHeaders.setUnreadable(name)
            }
        }
    }

    /// Applies the headers to an event whose payload is a body of APNs or a declarative message of Web Push.
    mutating func applyHeaders() {
        let headers = pushHeaders
        guard let kind = messages.push?.pointee.kind, kind == .apns || kind == .webPush else { return }
        messages.headerDelivery = kind == .apns ? headers.delivery : headers.webDelivery
        for name in PushHeaders.Name.allCases where name.isOfWebPush == (kind == .webPush) {
            if headers.isUnreadable(name) { messages.noteHeader(name) }
        }
        guard kind == .apns else { return }
        if !eventPointer.pointee.hasApplication, !headers.application.isEmpty {
            eventPointer.pointee.application = headers.application
            eventPointer.pointee.hasApplication = true
        }
        if eventPointer.pointee.id.isEmpty, !headers.id.isEmpty {
            eventPointer.pointee.id = headers.id
            eventPointer.pointee.idIsPlain = false
            state.hasHeaderID = true
        }
        if eventPointer.pointee.expires == nil { eventPointer.pointee.expires = headers.expires }
        messages.isBackground = headers.isBackground
    }
}
