internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The values that a delivery service needs: when the message expires, which messages it replaces, and how
/// urgent it is.
///
/// The sources are Apple's article "Sending notification requests to APNs", the REST resource `projects.messages` of
/// FCM v1, and RFC 8030, "Generic Event Delivery Using HTTP Push".
struct Delivery: BitwiseCopyable {
    /// The collapse id, or an empty view.
    var collapse = ByteView.empty
    /// The priority in the words of RFC 8030, section 5.3, or an empty view.
    var priority = ByteView.empty
    /// The expiry, or nil for none.
    var expiry: MessageExpiry?

    /// A Boolean value that indicates whether there is something for `context.push`.
    var hasMembers: Bool { !collapse.isEmpty || !priority.isEmpty }

    /// Writes the members of `context.push`, the first one after a separator.
    func write(after separator: StaticString, to out: inout OutputArena) {
        if !collapse.isEmpty {
            out.append(separator)
            out.append("\"collapse\":")
            out.appendString(collapse)
        }
        if priority.isEmpty { return }
        out.append(collapse.isEmpty ? separator : ",")
        out.append("\"priority\":\"")
        // The words need no escape.
        out.append(priority)
        out.append(byte: UInt8(ascii: "\""))
    }

    /// Returns the word for a priority of a push service, regardless of case, or nil if it is unknown.
    ///
    /// `default` is the priority of a message without one, so the word for it is empty.
    static func priority(_ text: ByteView) -> ByteView? {
        switch text.count {
        case 1 where text.equals("5"): ByteView("normal")
        case 1 where text.equals("1"): ByteView("low")
        case 2 where text.equals("10"): ByteView("high")
        case 3 where equalsFolded(text, "low"): ByteView("low")
        case 4 where equalsFolded(text, "high"): ByteView("high")
        case 6 where equalsFolded(text, "normal"): ByteView("normal")
        case 7 where equalsFolded(text, "default"): .empty
        case 8 where equalsFolded(text, "very-low"): ByteView("very-low")
        default: nil
        }
    }

    /// Returns the collapse id, or nil if it is empty, too long, or not printable.
    static func collapse(_ text: ByteView) -> ByteView? {
        1...VendorReader.idBytes ~= text.count && VendorReader.isPrintable(text) ? text : nil
    }

    /// Returns the milliseconds since 1970 of a number of seconds, or of a time in the form of RFC 3339.
    ///
    /// A time without an offset is in UTC, as in requests to Airship.
    static func time(_ text: ByteView) -> Int64? {
        if let time = PushHeaders.milliseconds(text) ?? EventReader.milliseconds(text) { return time }
        guard text.count == "1970-01-01T00:00:00".utf8.count else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count + 1) { memory in
            guard let start = memory.baseAddress else { return nil }
            start.update(from: text.start, count: text.count)
            start[text.count] = UInt8(ascii: "Z")
            return EventReader.milliseconds(ByteView(start: UnsafePointer(start), count: text.count + 1))
        }
    }

    /// Returns the milliseconds of a number of seconds: at most 12 digits, a fraction, and the `s` of FCM's durations.
    ///
    /// Digits after the milliseconds are ignored. Returns nil for another text.
    static func milliseconds(seconds text: ByteView) -> Int64? {
        let text = !text.isEmpty && text[text.count - 1] == UInt8(ascii: "s") ? text.slice(0, text.count - 1) : text
        let point = text.firstIndex(of: UInt8(ascii: ".")) ?? text.count
        guard 1...12 ~= point, text.count - point <= 10, text.count - point != 1 else { return nil }
        var result: Int64 = 0
        for index in 0..<max(text.count, point + 4) where index != point {
            let digit = index < text.count ? text[index] &- UInt8(ascii: "0") : 0
            guard digit < 10 else { return nil }
            if index < point + 4 { result = result * 10 + Int64(digit) }
        }
        return result
    }
}

/// The time at which a message expires.
package enum MessageExpiry: BitwiseCopyable {
    /// A time in milliseconds since 1970.
    case time(Int64)
    /// The milliseconds after the timestamp of the record.
    case after(Int64)

    /// Returns the time in milliseconds since 1970, or nil if it is not known.
    ///
    /// - Parameter timestamp: The timestamp of the record, or a negative number for none.
    package func time(at timestamp: Int64) -> Int64? {
        switch self {
        case .time(let time): time
        case .after(let milliseconds): timestamp < 0 ? nil : timestamp &+ milliseconds
        }
    }
}

/// The nodes of the values that delivery needs, or -1.
struct DeliveryNodes: BitwiseCopyable {
    /// The number of seconds after the timestamp of the record.
    var timeToLive: Int32 = -1
    /// A Boolean value that indicates whether `timeToLive` has milliseconds if it is a JSON number.
    ///
    /// The durations of FCM v1 are strings. A number is from the Admin SDK for Node.js, whose `AndroidConfig.ttl` is in
    /// milliseconds.
    var hasMillisecondNumbers = false
    /// The time of expiry: seconds since 1970, or a text in the form of RFC 3339.
    var expiration: Int32 = -1
    var collapse: Int32 = -1
    var priority: Int32 = -1

    /// A Boolean value that indicates whether there are none.
    var isEmpty: Bool { timeToLive & expiration & collapse & priority == -1 }

    /// Creates a value without nodes.
    init() {}

    /// Finds the members of an object of FCM: `android`, or the headers in `apns` or `webpush`.
    init(of object: Int32, in nodes: JSONTape.Nodes) {
        guard nodes.kind(of: object) == .object else { return }
        let end = nodes.end(of: object)
        var node = object &+ 1
        while node < end {
            let member = nodes + Int(node)
            if member.pointee.kind != .null { set(member.pointee.name, node) }
            node = member.pointee.end
        }
    }

    /// Sets the node of a name.
    ///
    /// The names of headers have any case.
    private mutating func set(_ name: ByteView, _ node: Int32) {
        switch name.count {
        case 3 where equalsFolded(name, "ttl"): timeToLive = node
        case 5 where equalsFolded(name, "topic"): collapse = node
        case 7 where equalsFolded(name, "urgency"): priority = node
        case 8 where name.equals("priority"): priority = node
        case 11 where name.equals("collapseKey"): collapse = node
        case 12 where name.equals("collapse_key"): collapse = node
        case 13 where equalsFolded(name, "apns-priority"): priority = node
        case 15 where equalsFolded(name, "apns-expiration"): expiration = node
        case 16 where equalsFolded(name, "apns-collapse-id"): collapse = node
        default: break
        }
    }
}

// Reads the values that delivery needs.
extension VendorReader {
    /// Returns the nodes of the values for devices of a class.
    ///
    /// The form of a whole record states their places, and an FCM message has them in its part for the class.
    mutating func deliveryNodes(_ push: UnsafePointer<PushMessage>, for platform: PlatformClass) -> DeliveryNodes {
        switch push.pointee.kind {
        case .record:
            let form = image.forms[Int(push.pointee.recordForm)].record.delivery
            var nodes = DeliveryNodes()
            nodes.timeToLive = node(of: form.timeToLive, on: platform.surface)
            nodes.expiration = node(of: form.expiration, on: platform.surface)
            nodes.collapse = node(of: form.collapse, on: platform.surface)
            nodes.priority = node(of: form.priority, on: platform.surface)
            return nodes
        case .fcm:
            let part =
                switch platform {
                case .unknown: Int32(-1)
                case .apple: push.pointee.apple >= 0 ? tape.object("headers", of: push.pointee.apple) : -1
                case .android: push.pointee.android
                case .web: push.pointee.webpush >= 0 ? tape.object("headers", of: push.pointee.webpush) : -1
                }
            if part < 0 { return DeliveryNodes() }
            var nodes = DeliveryNodes(of: part, in: tape.nodes)
            nodes.hasMillisecondNumbers = platform == .android
            return nodes
        case .apns, .cloudEvents, .webPush, .map: return DeliveryNodes()
        }
    }

    /// Returns the first value at the places for devices of a platform, or -1.
    private mutating func node(of places: UnsafeBufferPointer<LinkImage>, on platform: VendorSurfaces) -> Int32 {
        for place in places where holdsAll(place.conditions) {
            let isForUnknown = platform.isEmpty && place.platform == .unknown
            if !place.platform.isEmpty && place.platform != platform && !isForUnknown { continue }
            let node = value(place.pointer)
            if node >= 0 { return node }
        }
        return -1
    }

    /// Returns the values of nodes.
    ///
    /// A value that cannot be read is left out, with a note.
    mutating func delivery(_ nodes: DeliveryNodes) -> Delivery {
        var delivery = Delivery()
        delivery.collapse = read(nodes.collapse, Delivery.collapse) ?? .empty
        delivery.priority = read(nodes.priority, Delivery.priority) ?? .empty
        if var time = read(nodes.timeToLive, Delivery.milliseconds) {
            if nodes.hasMillisecondNumbers && tape.kind(of: nodes.timeToLive) == .number { time /= 1000 }
            // Zero is one attempt at once, not a time.
            if time > 0 { delivery.expiry = .after(time) }
        } else if let time = read(nodes.expiration, Delivery.time), time != 0 {
            delivery.expiry = .time(time)
        }
        return delivery
    }

    /// Returns what a function reads of a string or a number, or nil after a note if it reads nothing.
    private mutating func read<Value>(_ node: Int32, _ body: (ByteView) -> Value?) -> Value? {
        guard node >= 0 else { return nil }
        let isText = tape.kind(of: node) == .string || tape.kind(of: node) == .number
        if isText, let value = body(tape.text(of: node)) { return value }
        note(.deliveryUnreadable, at: node)
        return nil
    }
}
