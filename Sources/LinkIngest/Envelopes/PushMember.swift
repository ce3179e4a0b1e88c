/// The members by which push bodies are told apart; the raw value is the tag in the shape of a body.
///
/// Apple, "Generating a remote notification"; Firebase, REST resource `projects.messages` of FCM v1.
enum PushMember: UInt8, CaseIterable {
    case aps, message, token, topic, condition, data, notification, android, apns, webpush

    /// The name in the text.
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
        case .webpush: "webpush"
        }
    }

    /// Its bit in a set of members.
    var bit: UInt16 { 1 << UInt16(rawValue) }

    /// The members that make an object the inside of an FCM message.
    static let messageContent: UInt16 =
        PushMember.data.bit | PushMember.notification.bit | PushMember.android.bit | PushMember.apns.bit
        | PushMember.webpush.bit
}
