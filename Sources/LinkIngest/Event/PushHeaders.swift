internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The headers of an APNs request that an event has beside the body.
///
/// The source is Apple's article "Sending notification requests to APNs". The names are in lowercase, as HTTP/2 has
/// them.
struct PushHeaders: BitwiseCopyable {
    /// The headers that are read.
    enum Name: UInt8, CaseIterable {
        case topic, id, expiration, pushType

        /// The name of the header.
        var text: StaticString {
            switch self {
            case .topic: "apns-topic"
            case .id: "apns-id"
            case .expiration: "apns-expiration"
            case .pushType: "apns-push-type"
            }
        }

        /// The place of the header in the record, for notes.
        var pointer: StaticString {
            switch self {
            case .topic: "/headers/apns-topic"
            case .id: "/headers/apns-id"
            case .expiration: "/headers/apns-expiration"
            case .pushType: "/headers/apns-push-type"
            }
        }

        /// Returns the header with a name, or nil if it is not read.
        init?(_ name: ByteView) {
            for known in Self.allCases where name.equals(known.text) {
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
    /// The headers that cannot be read, as bits.
    private var unreadable: UInt8 = 0

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
            guard let seconds = Self.number(value) else { return setUnreadable(.expiration) }
            // Zero is one attempt at once, not a time.
            expires = seconds == 0 ? nil : seconds * 1000
        }
    }

    private static func application(_ topic: ByteView) -> ByteView {
        for suffix in suffixes {
            let ending = ByteView(suffix)
            let start = topic.count - ending.count
            if start > 0, topic.dropFirst(start) == ending { return topic.slice(0, start) }
        }
        return topic
    }

    /// Returns a number of at most 12 digits, or nil.
    private static func number(_ text: ByteView) -> Int64? {
        guard text.count <= 12 else { return nil }
        var number: Int64 = 0
        for index in 0..<text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
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
        state.headers = PushHeaders()
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            let name = PushHeaders.Name(scope.name)
            let first = cursor.peek()
            let start = cursor.offset
            if let name, first == UInt8(ascii: "\"") {
                state.headers?.set(name, cursor.unescaped(try cursor.string()))
                continue
            }
            try cursor.skip()
            guard let name, first != UInt8(ascii: "n") else { continue }
            if first &- UInt8(ascii: "0") < 10 {
                state.headers?.set(name, text.slice(start, cursor.offset))
            } else {
                state.headers?.setUnreadable(name)
            }
        }
    }

    /// Applies the headers to an event whose payload is a body of APNs.
    mutating func applyHeaders() {
        guard let headers = state.headers, messages.push?.pointee.kind == .apns else { return }
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
        for name in PushHeaders.Name.allCases where headers.isUnreadable(name) { messages.noteHeader(name) }
    }
}
