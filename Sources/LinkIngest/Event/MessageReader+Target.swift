internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// The target and the kind of a message.
extension MessageReader {
    /// The target of a message.
    enum Target {
        /// The device with a token.
        case token(ByteView)
        /// All devices that follow a topic, or for which a condition holds.
        case broadcast
    }

    /// Returns the target of an FCM message, or nil if there is none.
    mutating func target() -> Target? {
        guard let push, push.pointee.kind == .fcm else { return nil }
        if push.pointee.token >= 0 { return .token(vendors.tape.text(of: push.pointee.token)) }
        return push.pointee.isBroadcast ? .broadcast : nil
    }

    /// Returns the kind that an event states for its payload if the payload would be detected as another one.
    mutating func payloadType(_ stated: PayloadType?) -> RequestView.PayloadType {
        guard let stated, let push else { return .unspecified }
        let isAPNs = vendors.tape.isObject(push.pointee.members.aps)
        let isFCM = !isAPNs && push.pointee.members.isFCM(in: vendors.tape.nodes)
        switch stated {
        case .apns: return isAPNs ? .unspecified : .apns
        case .fcm: return isFCM ? .unspecified : .fcm
        }
    }
}
