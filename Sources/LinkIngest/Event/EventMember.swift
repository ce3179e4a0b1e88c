/// The members of an event at the top level.
///
/// The raw value is the tag in the reader's shape.
///
/// The members of a push body (`PushMember`) follow, because a record can be a push body.
enum EventMember: UInt8, CaseIterable {
    // The first three are members of nearly every event.
    case id, link, device, application, expires, path, mode, route, params, payload, payloadType, headers, action
    case devices

    /// The name of the member in JSON.
    var name: StaticString {
        switch self {
        case .id: "id"
        case .link: "link"
        case .device: "device"
        case .application: "application"
        case .expires: "expires"
        case .path: "path"
        case .mode: "mode"
        case .route: "route"
        case .params: "params"
        case .payload: "payload"
        case .payloadType: "payloadType"
        case .headers: "headers"
        case .action: "action"
        case .devices: "devices"
        }
    }

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
