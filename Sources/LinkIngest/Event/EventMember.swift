/// The members that an event knows at its top level; the raw value is the tag in the reader's shape.
///
/// The members of a push body follow them (`PushMember`), for a record may be a push as a whole.
enum EventMember: UInt8, CaseIterable {
    // The first three are those of nearly every event.
    case id, link, device, application, expires, path, mode, route, params, payload, payloadType, action, devices

    /// The name in the text.
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
        case .action: "action"
        case .devices: "devices"
        }
    }

    /// The tag of the first member of a push body.
    static var firstPushTag: UInt8 { EventMember.devices.rawValue + 1 }
    /// The tag of the first name that only the configuration knows.
    static var firstOtherTag: UInt8 { firstPushTag + PushMember.webpush.rawValue + 1 }

    /// The tags, as bits, of the members whose values are taken as they stand when they are plain strings.
    static var plainTags: UInt64 { 1 << UInt64(EventMember.id.rawValue) | 1 << UInt64(EventMember.link.rawValue) }
}
