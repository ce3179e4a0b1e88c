internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The reading of an event's members, in the order of the text.
extension EventReader {
    /// Reads the members of a record in one pass.
    ///
    /// - Parameter stopsAtMessage: A Boolean value that indicates whether to stop at the first member of a push
    ///   message, unless a member of an event, such as `link`, comes before it. `state.isMessage` is true then.
    mutating func scanRecord(stopsAtMessage: Bool = true) throws(JSONError) {
        context.clear()
        cursor.open(text)
        var scope = try cursor.enterObject()
        while true {
            readPlainMembers(&scope)
            if cursor.leaveObjectIfPossible(scope) { break }
            guard try cursor.nextMember(&scope, &shape) else { break }
            if stopsAtMessage, EventMember.pushTags.contains(scope.tag), state.forms == 0 {
                state.isMessage = true
                return
            }
            if scope.tag >= EventMember.firstPushTag { notice(scope.tag) }
            try readAny(scope.tag)
        }
        try cursor.finish()
    }

    /// Reads all values of a record that is probably a push message into a list, and the members of an event from the
    /// list.
    ///
    /// A record with a member such as `link` is an event, whatever else it contains. It is scanned again.
    @inline(never)
    mutating func readMessageRecord() throws(JSONError) {
        startOver()
        state.hasOther = true
        state.hasMembers = true
        do throws(JSONError) {
            try messages.open(strict: text)
        } catch {
            // The scan ends with the same error, after the event's id if it precedes the error.
            return try scanRecord(stopsAtMessage: false)
        }
        if messages.hasForm || messages.vendors.tape.isCut {
            try scanRecord(stopsAtMessage: false)
            state.isListed = state.forms == 0
            return
        }
        state.isListed = true
        cursor.open(validated: text)
        let root = messages.vendors.tape.nodes
        var node: Int32 = 1
        while node < root.pointee.end {
            let member = root + Int(node)
            let tag = shape.tag(of: member.pointee.name)
            if tag < EventMember.firstPushTag || context.isPassedThrough(tag) {
                cursor.move(to: member.pointee.start - text.start)
                try readAny(tag)
            }
            node = member.pointee.end
        }
    }

    /// Notices a member that only push messages and other envelopes have.
    ///
    /// Most of these members are objects. A member with the name and another type is usual in events.
    private mutating func notice(_ tag: UInt8) {
        guard tag < 64, envelopeTags & (1 &<< UInt64(tag)) != 0 else { return }
        let isObject = cursor.peek() == UInt8(ascii: "{")
        let isText = tag == EventMember.versionTag || !EventMember.pushTags.contains(tag)
        guard isObject || isText && cursor.peek() != UInt8(ascii: "n") else { return }
        state.mayBeMessage = true
        state.hasOther = true
    }

    /// Reads consecutive plain strings as values of the id, the link, and ignored members.
    @inline(__always)
    private mutating func readPlainMembers(_ scope: inout ObjectScope) {
        let event = eventPointer
        let end = text.end
        var isID = false
        var isLink = false
        cursor.readPlainMembers(&scope, &shape) { tag, plain in
            if tag == EventMember.link.rawValue {
                isLink = true
                event.pointee.request.text = plain
                event.pointee.request.bytesAfter = end - plain.end
            } else if tag == EventMember.id.rawValue {
                isID = true
                event.pointee.id = plain
            }
        }
        // The value begins at its quotation mark.
        if isID { checkID(isPlain: true, at: event.pointee.id.start - text.start &- 1) }
        if isLink {
            state.countForm(at: event.pointee.request.text.start - text.start &- 1)
            event.pointee.request.form = .link
            event.pointee.request.isScreened = true
            // A plain string is between two quotation marks, so an empty link has these two bytes as well.
            let link = event.pointee.request.text
            if link.start.pointee == UInt8(ascii: " ") || link.end[-1] == UInt8(ascii: " ") { state.hasOther = true }
        }
    }

    /// Reads the value of a member of any type.
    private mutating func readAny(_ tag: UInt8) throws(JSONError) {
        let first = cursor.peek()
        if first == UInt8(ascii: "n") {
            _ = try cursor.null()
            return
        }
        let start = cursor.offset
        if tag == EventMember.device.rawValue {
            try readDevice(first, at: start)
        } else if tag < EventMember.firstPushTag {
            if tag > EventMember.device.rawValue { state.hasMembers = true }
            if let member = EventMember(rawValue: tag) { try readMember(member, first, at: start) }
        } else {
            // The members of a push message are read after the others.
            if tag == userTag {
                try readUser(first, at: start)
            } else {
                if first == UInt8(ascii: "\"") { state.countText(tag) }
                try cursor.skip()
            }
        }
        if context.isPassedThrough(tag) { context.store(tag, text.slice(start, cursor.offset)) }
    }

    private mutating func readMember(_ member: EventMember, _ first: UInt8, at start: Int) throws(JSONError) {
        switch member {
        case .id: try readID(first, at: start)
        case .link: try readForm(.link, "expected `link` to be a string", first, at: start)
        case .path: try readForm(.path, "expected `path` to be a string", first, at: start)
        case .route: try readForm(.route, "expected `route` to be a string", first, at: start)
        case .payload: try readPayload(first, at: start)
        case .device: try readDevice(first, at: start)
        case .devices: try readDevices(first, at: start)
        case .application:
            guard let text = try readText("expected `application` to be a string", first, at: start) else { return }
            eventPointer.pointee.application = cursor.unescaped(text)
            eventPointer.pointee.hasApplication = true
        case .action:
            guard let text = try readText("expected `action` to be a string", first, at: start) else { return }
            eventPointer.pointee.action = cursor.unescaped(text)
        case .mode: try readMode(first, at: start)
        case .params: try readParams(first, at: start)
        case .payloadType: try readPayloadType(first, at: start)
        case .headers: try readHeaders(first, at: start)
        case .expires:
            let expected: StaticString = "expected `expires` to be a string with an RFC 3339 time"
            guard let text = try readText(expected, first, at: start) else { return }
            eventPointer.pointee.expires = Self.milliseconds(cursor.unescaped(text))
            if eventPointer.pointee.expires == nil { state.record(.type(expected, at: start)) }
        }
    }

    /// Returns the milliseconds since 1970 of an RFC 3339 date-time, or nil.
    ///
    /// Digits after the milliseconds are ignored. A leap second (section 5.7) counts as the second that follows it.
    static func milliseconds(_ text: ByteView) -> Int64? {
        guard text.count <= 64, let time = UTCDateTime(text), time.clock.second != 60 || time.seconds % 86_400 == 0
        else { return nil }
        return time.milliseconds
    }

    /// Reads a member that must be a string.
    ///
    /// Records a fault and returns nil for any other type.
    private mutating func readText(
        _ expected: StaticString, _ first: UInt8, at start: Int
    ) throws(JSONError) -> JSONString? {
        if first == UInt8(ascii: "\"") { return try cursor.string() }
        try cursor.skip()
        state.record(.type(expected, at: start))
        return nil
    }

    private mutating func readID(_ first: UInt8, at start: Int) throws(JSONError) {
        let expected: StaticString = "expected `id` to be a string of 1 to 128 bytes"
        guard let text = try readText(expected, first, at: start) else { return }
        eventPointer.pointee.id = cursor.unescaped(text)
        checkID(isPlain: !text.hasEscape, at: start)
    }

    /// Checks the length of the id.
    @inline(__always)
    private mutating func checkID(isPlain: Bool, at start: Int) {
        eventPointer.pointee.idIsPlain = isPlain
        let count = eventPointer.pointee.id.count
        if count == 0 || count > Limits.eventIDBytes { refuseID(at: start) }
    }

    @inline(never)
    private mutating func refuseID(at start: Int) {
        eventPointer.pointee.id = .empty
        state.record(.type("expected `id` to be a string of 1 to 128 bytes", at: start))
    }

    private mutating func readForm(
        _ form: RequestView.Form, _ expected: StaticString, _ first: UInt8, at start: Int
    ) throws(JSONError) {
        guard let text = try readText(expected, first, at: start) else { return }
        state.countForm(at: start)
        eventPointer.pointee.request.form = form
        eventPointer.pointee.request.text = cursor.unescaped(text)
        eventPointer.pointee.request.isScreened = false
        eventPointer.pointee.request.bytesAfter = text.hasEscape ? 0 : self.text.end - text.raw.end
        // The white space is removed when the event is complete.
        if form == .link, WireFormat.hasWhiteSpaceAtEnds(eventPointer.pointee.request.text) { state.hasOther = true }
    }

    private mutating func readPayload(_ first: UInt8, at start: Int) throws(JSONError) {
        guard first == UInt8(ascii: "{") else {
            try cursor.skip()
            return state.record(.type("expected `payload` to be an object", at: start))
        }
        state.countForm(at: start)
        eventPointer.pointee.request.form = .payload
        cursor.depthLimit = limits.depth + 1
        defer { cursor.depthLimit = limits.depth }
        eventPointer.pointee.request.payload = try messages.open(at: &cursor)
    }

    private mutating func readPayloadType(_ first: UInt8, at start: Int) throws(JSONError) {
        let expected: StaticString = "expected `payloadType` to be `apns` or `fcm`"
        guard let text = try readText(expected, first, at: start) else { return }
        let name = cursor.unescaped(text)
        if name.equals("apns") {
            state.hasOther = true
            state.namedKind = .apns
        } else if name.equals("fcm") {
            state.hasOther = true
            state.namedKind = .fcm
        } else {
            state.record(.type(expected, at: start))
        }
    }

    private mutating func readMode(_ first: UInt8, at start: Int) throws(JSONError) {
        let expected: StaticString = "expected `mode` to be `replace`, `append`, or `reuse`"
        state.hasOther = true
        guard let text = try readText(expected, first, at: start) else { return }
        let name = cursor.unescaped(text)
        if name.equals("replace") {
            eventPointer.pointee.request.mode = .replace
        } else if name.equals("append") {
            eventPointer.pointee.request.mode = .append
        } else if name.equals("reuse") {
            eventPointer.pointee.request.mode = .reuse
        } else {
            state.record(.type(expected, at: start))
        }
    }

    /// Reads `params`, which can be strings, numbers, Booleans, and lists of these.
    ///
    /// A null counts as absent.
    private mutating func readParams(_ first: UInt8, at start: Int) throws(JSONError) {
        guard first == UInt8(ascii: "{") else {
            try cursor.skip()
            return state.record(.type("expected `params` to be an object", at: start))
        }
        state.hasOther = true
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            let first = cursor.peek()
            let offset = cursor.offset
            if first == UInt8(ascii: "[") {
                try readParamList()
                continue
            }
            try cursor.skip()
            if first == UInt8(ascii: "{") {
                state.record(.type("expected a string, a number, a Boolean, or a list of these", at: offset))
            }
        }
        eventPointer.pointee.request.params = text.slice(start, cursor.offset)
    }

    private mutating func readParamList() throws(JSONError) {
        var scope = try cursor.enterArray()
        while try cursor.nextElement(&scope) {
            let first = cursor.peek()
            let offset = cursor.offset
            try cursor.skip()
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "n") {
                state.record(.type("expected a string, a number, or a Boolean", at: offset))
            }
        }
    }

    private mutating func readDevice(_ first: UInt8, at start: Int) throws(JSONError) {
        guard first == UInt8(ascii: "{") else {
            try cursor.skip()
            return state.record(.type("expected `device` to be an object", at: start))
        }
        state.countDevice(list: false, at: start)
        try devices.read(&cursor, into: devicePointer)
        checkDeviceID()
    }

    private mutating func readUser(_ first: UInt8, at start: Int) throws(JSONError) {
        state.hasOther = true
        state.hasMembers = true
        let expected: StaticString = "expected `user` to be a string of 1 to 256 bytes"
        guard let text = try readText(expected, first, at: start) else { return }
        let user = cursor.unescaped(text)
        guard (1...Limits.deviceIDBytes).contains(user.count) else { return state.record(.type(expected, at: start)) }
        state.user = user
        state.userOffset = start
    }

    private mutating func readDevices(_ first: UInt8, at start: Int) throws(JSONError) {
        guard first == UInt8(ascii: "[") else {
            try cursor.skip()
            return state.record(.type("expected `devices` to be an array", at: start))
        }
        state.countDevice(list: true, at: start)
        state.listOffset = start
        var scope = try cursor.enterArray()
        while try cursor.nextElement(&scope) {
            let start = cursor.offset
            guard cursor.peek() == UInt8(ascii: "{") else {
                try cursor.skip()
                state.record(.type("expected the device to be an object", at: start))
                continue
            }
            if state.listed == limits.devices { state.isTooLong = true }
            if state.isTooLong {
                state.skipped += 1
                try cursor.skip()
                continue
            }
            try devices.readID(&cursor, into: devicePointer)
            checkDeviceID()
            deviceTexts.set(state.listed, text.slice(start, cursor.offset))
            state.listed += 1
        }
    }

    private mutating func checkDeviceID() {
        if devicePointer.pointee.id.isEmpty { refuseDevice() }
    }

    @inline(never)
    private mutating func refuseDevice() {
        guard state.deviceFault == nil else { return }
        let device = devicePointer
        state.hasOther = true
        state.deviceFault = Fault(
            .badDevice, "expected the device's `id` to be a string of 1 to 256 bytes",
            at: device.pointee.idOffset < 0 ? device.pointee.offset : device.pointee.idOffset)
    }
}

/// The members of an event at the top level.
///
/// The raw value is the tag in the reader's shape.
///
/// The members of a push body (`PushMember`) follow, because a record can be a push body.
enum EventMember: UInt8 {
    // The first three are members of nearly every event.
    case id, link, device, application, expires, path, mode, route, params, payload, payloadType, headers, action
    case devices

    /// The names of the members in JSON, in the order of their tags.
    static let names: [StaticString] = [
        "id", "link", "device", "application", "expires", "path", "mode", "route", "params", "payload", "payloadType",
        "headers", "action", "devices",
    ]

    /// The tag of the first member of a push body.
    static var firstPushTag: UInt8 { EventMember.devices.rawValue + 1 }

    /// The tags of the members of a push body.
    static var pushTags: Range<UInt8> { firstPushTag..<sessionTag }
    /// The tag of the member `data` of a push body.
    static var dataTag: UInt8 { firstPushTag + PushMember.data.rawValue }
    /// The tag of the member of an answer of an API that has a link.
    static var sessionTag: UInt8 { firstPushTag + PushMember.webpush.rawValue + 1 }
    /// The name of this member.
    static var sessionName: StaticString { "session_id" }

    /// The tag of the attribute of CloudEvents with the version.
    static var versionTag: UInt8 { firstPushTag + PushMember.specversion.rawValue }

    /// The tags, as bits, of the members that an event rarely has, and other envelopes have.
    static var envelopeTags: UInt64 {
        let members: [PushMember] = [.aps, .message, .data, .notification, .android, .apns, .webpush, .specversion]
        return members.reduce(0) { $0 | 1 << UInt64(firstPushTag + $1.rawValue) }
    }

    /// The tags, as bits, of the members whose plain strings are stored without further checks.
    static var plainTags: UInt64 { 1 << UInt64(EventMember.id.rawValue) | 1 << UInt64(EventMember.link.rawValue) }
}
