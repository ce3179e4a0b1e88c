internal import ByteStorage

/// The kind of a push body.
enum PushKind {
    /// The body of an APNs notification, with `aps`.
    case apns
    /// An FCM v1 message, either wrapped in `message` or bare.
    case fcm
    /// An unknown kind. Links are searched for in the object itself.
    case other
}

/// The parts of an object that can be a push body: the members of the right type, and their ranges.
///
/// Only `seen` is cleared between records. A range is valid only if its bit is set.
struct PushParts {
    /// The bits of the members that are present with the right type.
    var seen: UInt16 = 0
    var android = ByteView.empty
    var webpush = ByteView.empty
    /// The object `apns.payload`, or an empty view.
    var apnsPayload = ByteView.empty
    /// The unescaped token of the target.
    var token = ByteView.empty
    var tokenIsPlain = true

    func has(_ member: PushMember) -> Bool { seen & member.bit != 0 }
}

/// The parts of a push body, and those of its `message` if it is wrapped.
struct PushBody {
    var outer = PushParts()
    var inner = PushParts()
    /// The object `message` of a wrapped body.
    var message = ByteView.empty

    /// Clears the state of the last record.
    mutating func clear() {
        outer.seen = 0
        inner.seen = 0
    }

    /// The detected body format.
    ///
    /// `aps` has precedence, because an APNs body can have a member `message` of its own.
    var detectedKind: PushKind? {
        if outer.has(.aps) { return .apns }
        if outer.has(.message) || outer.seen & PushMember.messageContent != 0 { return .fcm }
        return nil
    }

    /// The parts of the FCM message, wrapped or bare.
    var messageParts: PushParts { outer.has(.message) ? inner : outer }

    /// Returns the text of the FCM message in the body `body`.
    func messageText(of body: ByteView) -> ByteView { outer.has(.message) ? message : body }
}
