internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The kind of an envelope that contains a push message or an event with a link.
enum EnvelopeKind: UInt8 {
    /// The body of an APNs notification, with `aps`.
    case apns
    /// An event of CloudEvents in JSON.
    case cloudEvents
    /// A declarative message of Web Push.
    case webPush
    /// An event or a request that a form of the vendor table reads.
    case record
    /// An FCM v1 message, either wrapped in `message` or bare.
    case fcm
    /// A map that a form of the vendor table reads, or any map in `payload`.
    case map
}

/// The kind that an event states in `payloadType`.
enum PayloadType: UInt8 {
    case apns, fcm
}

/// The class of a device's platform, for which a message is read.
enum PlatformClass: UInt8 {
    case unknown, apple, android, web

    /// The number of classes.
    static let count = 4

    /// Returns the class of a platform.
    ///
    /// Case is ignored.
    init(_ platform: ByteView) {
        self =
            switch platform.count {
            case 3 where equalsFolded(platform, "ios"): .apple
            case 3 where equalsFolded(platform, "web"): .web
            case 4 where equalsFolded(platform, "tvos"): .apple
            case 5 where equalsFolded(platform, "macos"): .apple
            case 6 where equalsFolded(platform, "ipados"): .apple
            case 7 where equalsFolded(platform, "android"): .android
            case 7 where equalsFolded(platform, "watchos"): .apple
            case 8 where equalsFolded(platform, "visionos"): .apple
            default: .unknown
            }
    }

    /// The surface that devices of the class receive, or none.
    var surface: VendorSurfaces {
        switch self {
        case .unknown: []
        case .apple: .apple
        case .android: .android
        case .web: .web
        }
    }
}

extension DeviceClass {
    /// The names of the platforms whose class is not `unknown`.
    package static let platforms = ["ios", "ipados", "tvos", "macos", "watchos", "visionos", "android", "web"]
}

/// The push message of a record: its kind and the nodes of its parts.
struct PushMessage: BitwiseCopyable {
    var kind = EnvelopeKind.map
    /// The kind that the event states, or nil.
    var type: PayloadType?
    /// The form of an envelope of the kind `record`, or -1.
    var recordForm: Int32 = -1
    var members: EnvelopeMembers
    /// The object with the parts of an FCM message: the body, or its member `message`.
    var message: Int32 = 0
    /// The parts of an FCM message, or -1.
    var data: Int32 = -1
    var android: Int32 = -1
    var applePayload: Int32 = -1
    var webpush: Int32 = -1
    var token: Int32 = -1
    /// A Boolean value that indicates whether an FCM message is for a topic or a condition.
    var isBroadcast = false
    /// The member `notification` of an FCM message, or -1.
    var notification: Int32 = -1
    /// A Boolean value that indicates whether FCM only validates the message and sends it to no device.
    var isDryRun = false
    /// The part of an FCM message for Apple's devices, whose member `payload` is `applePayload`, or -1.
    var apple: Int32 = -1

    init(members: EnvelopeMembers) { self.members = members }
}

// Detects the envelope of a body, and finds the parts that a device receives.
extension VendorReader {
    /// Detects the envelope of the body at node 0 that is the whole value of a record.
    ///
    /// Returns nil if there is none. Notes the other kinds that the body could be.
    mutating func detectRecord(allowsCloudEvents: Bool, _ type: PayloadType?) -> PushMessage? {
        var message = PushMessage(members: EnvelopeMembers(of: 0, in: tape.nodes))
        let members = message.members
        if !allowsCloudEvents && members.isCloudEvent(in: tape.nodes) { return nil }
        let form = loadRecordForm()
        message.recordForm = Int32(truncatingIfNeeded: form)
        var found = kind(members, form: form, allowsCloudEvents: true)
        if found == nil, recognized(.devices, from: 0) >= 0 {
            found = .map
        } else if found == nil, type != nil {
            message.type = type
            found = .map
        }
        guard let found else { return nil }
        message.kind = found
        if found != .record { message.recordForm = -1 }
        complete(&message)
        return message
    }

    /// Notes the kinds that the body at node 0 could be, although it is an event.
    mutating func noteEnvelopes(allowsCloudEvents: Bool) {
        let first = notes.count
        let members = EnvelopeMembers(of: 0, in: tape.nodes)
        _ = kind(members, form: loadRecordForm(), isEvent: true, allowsCloudEvents: allowsCloudEvents)
        if notes.count == first, recognized(.devices, from: 0) >= 0 { note(.envelopeAlso, ByteView("vendor_map")) }
    }

    /// Returns the first form for records that recognizes the body at node 0, or -1.
    private mutating func loadRecordForm() -> Int {
        surface.load(0, -1, of: tape.nodes)
        return recognized(.record, from: 0)
    }

    /// Returns the kind of the body at node 0 by its members and forms, and notes the other kinds that it could be.
    ///
    /// - Parameters:
    ///   - form: The first form for records that recognizes the body, or -1.
    ///   - isEvent: A Boolean value that indicates whether the body is an event. All kinds are noted then.
    private mutating func kind(
        _ members: EnvelopeMembers, form: Int, isEvent: Bool = false, allowsCloudEvents: Bool
    ) -> EnvelopeKind? {
        var found: EnvelopeKind?
        func offer(_ kind: EnvelopeKind, _ name: ByteView) {
            if found == nil && !isEvent { found = kind } else { note(.envelopeAlso, name) }
        }
        if tape.isObject(members.aps) { offer(.apns, ByteView("apns")) }
        if allowsCloudEvents, members.isCloudEvent(in: tape.nodes) { offer(.cloudEvents, ByteView("cloudevents")) }
        if members.webPush >= 0 { tests.giveUp() }
        if members.isWebPush(in: tape.nodes) { offer(.webPush, ByteView("web_push")) }
        var next = form
        while next >= 0 {
            offer(.record, image.forms[next].record.envelope)
            next = recognized(.record, from: next + 1)
        }
        let isFree = found == nil && !isEvent
        if members.isFCM(in: tape.nodes), isFree || isWholeFCM(members) { offer(.fcm, ByteView("fcm")) }
        return found
    }

    /// Returns a Boolean value that indicates whether the body is a message of FCM with content, and with a target or
    /// the wrapper.
    ///
    /// It does not resemble one by accident.
    private mutating func isWholeFCM(_ members: EnvelopeMembers) -> Bool {
        if tape.isObject(members.message) {
            return EnvelopeMembers(of: members.message, in: tape.nodes).hasContent(in: tape.nodes)
        }
        let hasTarget = tape.isString(members.token) || tape.isString(members.topic) || tape.isString(members.condition)
        return hasTarget && members.hasContent(in: tape.nodes)
    }

    /// Detects the envelope of the body at node 0 that is the payload of an event.
    ///
    /// Notes the other kinds that the body could be.
    mutating func detectPayload(_ type: PayloadType?) -> PushMessage {
        var message = PushMessage(members: EnvelopeMembers(of: 0, in: tape.nodes))
        message.type = type
        // A stated kind is not ambiguous, so there are no notes.
        if type == nil {
            let form = loadRecordForm()
            message.kind = kind(message.members, form: form, allowsCloudEvents: false) ?? .map
            if message.kind == .record { message.recordForm = Int32(truncatingIfNeeded: form) }
        }
        complete(&message)
        return message
    }

    /// Applies the kind that the event states, and finds the parts of an FCM message.
    private mutating func complete(_ message: inout PushMessage) {
        if message.kind != .cloudEvents, let type = message.type {
            message.recordForm = -1
            message.kind = type == .apns ? .apns : message.members.isFCM(in: tape.nodes) ? .fcm : .map
        }
        guard message.kind == .fcm else { return }
        guard tape.isObject(message.members.message) else { return setParts(of: &message, message.members) }
        message.message = message.members.message
        setParts(of: &message, EnvelopeMembers(of: message.message, in: tape.nodes))
        message.isDryRun = isTrue("validate_only") || isTrue("validateOnly")
    }

    /// Sets the parts of an FCM message, given the members of its object.
    @inline(__always)
    private mutating func setParts(of message: inout PushMessage, _ parts: EnvelopeMembers) {
        message.data = tape.isObject(parts.data) ? parts.data : -1
        message.android = tape.isObject(parts.android) ? parts.android : -1
        message.webpush = tape.isObject(parts.webpush) ? parts.webpush : -1
        message.applePayload = tape.isObject(parts.apns) ? tape.object("payload", of: parts.apns) : -1
        message.token = tape.isString(parts.token) ? parts.token : -1
        message.isBroadcast = tape.isString(parts.topic) || tape.isString(parts.condition)
        message.notification = parts.notification
        message.apple = tape.isObject(parts.apns) ? parts.apns : -1
    }

    /// Returns a Boolean value that indicates whether a member of the body is true.
    private mutating func isTrue(_ name: StaticString) -> Bool {
        let node = tape.member(ByteView(name), of: 0)
        return node >= 0 && equals(node, ByteView("true"))
    }

    /// Returns the message that devices of a class receive.
    mutating func message(
        _ push: UnsafePointer<PushMessage>, for platform: PlatformClass, action: ByteView = .empty
    ) -> VendorMessage {
        var message = VendorMessage()
        message.platform = platform.surface
        message.action = action
        message.first = 0
        switch push.pointee.kind {
        case .apns: message.surfaces = .apple
        case .record: message.recordForm = push.pointee.recordForm
        case .webPush:
            message.surfaces = .web
            message.first = tape.object("data", of: push.pointee.members.notification)
            message.ownLink = tape.member(ByteView("navigate"), of: push.pointee.members.notification)
            // The name in an older draft of the format.
            message.otherOwnLink = tape.member(ByteView("default_action_url"), of: push.pointee.members.notification)
            message.ownButtons = tape.member(ByteView("actions"), of: push.pointee.members.notification)
        case .fcm: setParts(push, platform, &message)
        case .map, .cloudEvents:
            if platform != .unknown {
                message.surfaces = platform.surface
            } else if push.pointee.type == .fcm {
                message.surfaces = .android
            }
        }
        if message.first < 0 {
            message.first = message.second
            message.second = -1
        }
        return message
    }

    private mutating func setParts(
        _ push: UnsafePointer<PushMessage>, _ platform: PlatformClass, _ message: inout VendorMessage
    ) {
        message.second = push.pointee.data
        message.surfaces = platform == .unknown ? .android : platform.surface
        message.isDryRun = push.pointee.isDryRun
        message.notifications.0 = push.pointee.notification
        switch platform {
        case .unknown:
            message.first = -1
            message.apple = push.pointee.applePayload
            message.android = tape.object("data", of: push.pointee.android)
            message.web = tape.object("data", of: push.pointee.webpush)
            message.webLink = webLink("fcm_options", push)
            if message.webLink < 0 { message.webLink = webLink("fcmOptions", push) }
        case .apple:
            message.first = push.pointee.applePayload
            message.android = push.pointee.data
        case .android:
            message.first = tape.object("data", of: push.pointee.android)
            message.notifications.1 = tape.object("notification", of: push.pointee.android)
        case .web:
            message.first = tape.object("data", of: push.pointee.webpush)
            message.notifications.1 = tape.object("notification", of: push.pointee.webpush)
            message.ownLink = webLink("fcm_options", push)
            message.otherOwnLink = webLink("fcmOptions", push)
            message.requiresHTTPS = true
        }
    }

    /// Returns the link that an FCM message has for browsers, or -1.
    private mutating func webLink(_ options: StaticString, _ push: UnsafePointer<PushMessage>) -> Int32 {
        let options = tape.object(options, of: push.pointee.webpush)
        return options >= 0 ? tape.member(ByteView("link"), of: options) : -1
    }
}

/// The members of a body that identify its envelope: their nodes, or -1.
struct EnvelopeMembers: BitwiseCopyable {
    var aps: Int32 = -1
    var message: Int32 = -1
    var data: Int32 = -1
    var notification: Int32 = -1
    var android: Int32 = -1
    var apns: Int32 = -1
    var webpush: Int32 = -1
    var webPush: Int32 = -1
    var token: Int32 = -1
    var topic: Int32 = -1
    var condition: Int32 = -1
    var specificationVersion: Int32 = -1
    var id: Int32 = -1
    var source: Int32 = -1
    var type: Int32 = -1
    var encodedData: Int32 = -1
    var dataContentType: Int32 = -1
    var partitionKey: Int32 = -1

    /// Creates a value without members.
    init() {}

    /// Finds the members of an object in one pass.
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

    private mutating func set(_ name: ByteView, _ node: Int32) {
        switch name.count {
        case 2 where name.equals("id"): id = node
        case 3 where name.equals("aps"): aps = node
        case 4 where name.equals("data"): data = node
        case 4 where name.equals("apns"): apns = node
        case 4 where name.equals("type"): type = node
        case 5 where name.equals("token"): token = node
        case 5 where name.equals("topic"): topic = node
        case 6 where name.equals("source"): source = node
        case 7 where name.equals("message"): message = node
        case 7 where name.equals("android"): android = node
        case 7 where name.equals("webpush"): webpush = node
        case 8 where name.equals("web_push"): webPush = node
        case 9 where name.equals("condition"): condition = node
        case 11 where name.equals("specversion"): specificationVersion = node
        case 11 where name.equals("data_base64"): encodedData = node
        case 12 where name.equals("notification"): notification = node
        case 12 where name.equals("partitionkey"): partitionKey = node
        case 15 where name.equals("datacontenttype"): dataContentType = node
        default: break
        }
    }

    /// Returns a Boolean value that indicates whether the body is a message of FCM, or one around it.
    func isFCM(in nodes: JSONTape.Nodes) -> Bool { nodes.isObject(message) || hasContent(in: nodes) }

    /// Returns a Boolean value that indicates whether there is a member that only messages of FCM have.
    func hasContent(in nodes: JSONTape.Nodes) -> Bool {
        nodes.isObject(data) || nodes.isObject(notification) || nodes.isObject(android)
            || nodes.isObject(apns) || nodes.isObject(webpush)
    }

    /// Returns a Boolean value that indicates whether the body is a declarative message of Web Push.
    func isWebPush(in nodes: JSONTape.Nodes) -> Bool {
        guard webPush >= 0, nodes.kind(of: webPush) == .number, nodes.isObject(notification) else { return false }
        return nodes[Int(webPush)].text.equals("8030")
    }

    /// Returns a Boolean value that indicates whether the body is an event of CloudEvents.
    func isCloudEvent(in nodes: JSONTape.Nodes) -> Bool {
        nodes.isString(specificationVersion) && nodes.isString(id) && nodes.isString(source) && nodes.isString(type)
            && (data >= 0 || encodedData >= 0)
    }
}

/// The members that identify push bodies and events of CloudEvents.
///
/// The raw value is the tag in the shape of a body.
///
/// The sources are Apple's article "Generating a remote notification" and the REST resource `projects.messages` of FCM
/// v1, and the JSON event format of CloudEvents.
enum PushMember: UInt8 {
    case aps, message, token, topic, condition, data, notification, android, apns, specversion, webpush

    /// The names of the members in JSON, in the order of their tags.
    static let names: [StaticString] = [
        "aps", "message", "token", "topic", "condition", "data", "notification", "android", "apns", "specversion",
        "webpush",
    ]
}

// Reads the members of an event or a request that is a whole record and has a form of its own in the vendor table.
extension VendorReader {
    /// Returns the producer's id of the event, or an empty view.
    ///
    /// An id that is too long is skipped, with a note.
    mutating func eventID(of form: Int32) -> ByteView {
        for place in image.forms[Int(form)].record.event {
            guard let node = node(at: place) else { continue }
            if tape.text(of: node).count <= Limits.eventIDBytes { return tape.text(of: node) }
            note(.idTooLong, at: node)
        }
        return .empty
    }

    /// Returns the id of the only device, which can be longer than its limit, or nil.
    mutating func deviceID(of form: Int32) -> ByteView? {
        for place in image.forms[Int(form)].record.device {
            if let node = node(at: place) { return tape.text(of: node) }
        }
        return nil
    }

    /// Returns the id of the tapped button, or an empty view.
    mutating func action(of form: Int32) -> ByteView {
        for place in image.forms[Int(form)].record.action {
            let node = value(place)
            if tape.isString(node) { return tape.text(of: node) }
        }
        return .empty
    }

    /// Returns the platform of the device, which can be longer than its limit, or an empty view.
    mutating func platform(of form: Int32) -> ByteView {
        let record = image.forms[Int(form)].record
        for place in record.platform {
            let node = value(place)
            guard tape.isString(node) else { continue }
            let text = tape.text(of: node)
            for known in record.platformNames where known.name == text { return known.platform }
            return text
        }
        return .empty
    }

    /// Returns the array of the devices, or -1.
    mutating func devices(of form: Int32) -> Int32 {
        for place in image.forms[Int(form)].record.devices {
            let node = value(place)
            if node >= 0, tape.kind(of: node) == .array { return node }
        }
        return -1
    }

    /// Returns a Boolean value that indicates whether the request is for devices that it does not name.
    mutating func isBroadcast(_ form: Int32) -> Bool { holds(image.forms[Int(form)].record.broadcast) }

    /// Returns the string or number at a place, or nil if there is none, or an empty one.
    private mutating func node(at place: PointerImage) -> Int32? {
        let node = value(place)
        guard node >= 0, tape.kind(of: node) == .string || tape.kind(of: node) == .number else { return nil }
        return tape.text(of: node).isEmpty ? nil : node
    }
}
