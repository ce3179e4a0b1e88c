/// The members that identify push bodies and events of CloudEvents.
///
/// The raw value is the tag in the shape of a body.
///
/// The sources are Apple's article "Generating a remote notification" and the REST resource `projects.messages` of FCM
/// v1, and the JSON event format of CloudEvents.
enum PushMember: UInt8, CaseIterable {
    case aps, message, token, topic, condition, data, notification, android, apns, specversion, webpush

    /// The name of the member in JSON.
    var name: StaticString {
        switch self {
        case .aps: "aps"
        case .message: "message"
        case .token: "token"
        case .topic: "topic"
        case .condition: "condition"
        case .data: "data"
        case .notification: "notification"
        case .android: "android"
        case .apns: "apns"
        case .specversion: "specversion"
        case .webpush: "webpush"
        }
    }
}
