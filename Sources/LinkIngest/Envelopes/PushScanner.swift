internal import ByteStorage
internal import StrictJSON

/// A reader of push bodies, which collects their parts in the single pass over the record.
struct PushScanner: ~Copyable {
    private var bodyShape = MemberShape(PushMember.allCases.map(\.name))
    private var messageShape = MemberShape(PushMember.allCases.map(\.name))
    private var apnsShape = MemberShape(["payload"])

    /// Reads the object at the cursor as a push body, and returns its text.
    mutating func readBody(
        _ cursor: inout JSONCursor, of text: ByteView, into body: inout PushBody
    ) throws(JSONError) -> ByteView {
        body.clear()
        let start = cursor.offset
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope, &bodyShape) {
            try readMember(PushMember(rawValue: scope.tag), &cursor, of: text, into: &body)
        }
        return text.slice(start, cursor.offset)
    }

    /// Reads the value of a member of the body.
    mutating func readMember(
        _ member: PushMember?, _ cursor: inout JSONCursor, of text: ByteView, into body: inout PushBody
    ) throws(JSONError) {
        let isObject = cursor.peek() == UInt8(ascii: "{")
        guard member == .message, isObject else {
            return try readPart(member, isObject, &cursor, of: text, into: &body.outer)
        }
        body.outer.seen |= PushMember.message.bit
        let start = cursor.offset
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope, &messageShape) {
            let isObject = cursor.peek() == UInt8(ascii: "{")
            try readPart(PushMember(rawValue: scope.tag), isObject, &cursor, of: text, into: &body.inner)
        }
        body.message = text.slice(start, cursor.offset)
    }

    private mutating func readPart(
        _ member: PushMember?, _ isObject: Bool, _ cursor: inout JSONCursor, of text: ByteView,
        into parts: inout PushParts
    ) throws(JSONError) {
        switch member {
        case .aps?, .data?, .notification?:
            try cursor.skip()
            if isObject { parts.seen |= member?.bit ?? 0 }
        case .android? where isObject:
            parts.seen |= PushMember.android.bit
            parts.android = try cursor.skip()
        case .webpush? where isObject:
            parts.seen |= PushMember.webpush.bit
            parts.webpush = try cursor.skip()
        case .apns? where isObject:
            parts.seen |= PushMember.apns.bit
            parts.apnsPayload = try readPlatformPayload(&cursor)
        case .token? where cursor.peek() == UInt8(ascii: "\""):
            let token = try cursor.string()
            parts.seen |= PushMember.token.bit
            parts.token = cursor.unescaped(token)
            parts.tokenIsPlain = !token.hasEscape
        case .topic?, .condition?:
            if cursor.peek() == UInt8(ascii: "\"") { parts.seen |= member?.bit ?? 0 }
            try cursor.skip()
        default:
            try cursor.skip()
        }
    }

    /// Reads the object `apns` of FCM, and returns its object `payload` or an empty view.
    private mutating func readPlatformPayload(_ cursor: inout JSONCursor) throws(JSONError) -> ByteView {
        var payload = ByteView.empty
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope, &apnsShape) {
            let isPayload = scope.tag == 0 && cursor.peek() == UInt8(ascii: "{")
            let value = try cursor.skip()
            if isPayload { payload = value }
        }
        return payload
    }
}
