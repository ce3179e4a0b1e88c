/// The members that an event knows at its top level; the raw value is the tag in the reader's shape.
///
/// `sent` and `campaign` say nothing to the reader: they are here because most events have them, and a name that is
/// known is told from a repeated one by a bit. The members of a push body follow them (`PushMember`), for a record may
/// be a push as a whole.
enum EventMember: UInt8, CaseIterable {
    case id, link, device, sent, campaign, application, expires, path, mode, route, params, payload, payloadType,
        action, devices

    /// The name in the text.
    var name: StaticString {
        switch self {
        case .id: "id"
        case .link: "link"
        case .device: "device"
        case .sent: "sent"
        case .campaign: "campaign"
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
    static let firstPushTag = UInt8(allCases.count)
    /// The tag of the first name that only the configuration knows.
    static let firstOtherTag = firstPushTag + UInt8(PushMember.allCases.count)
}
