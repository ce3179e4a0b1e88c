internal import ByteStorage

/// What kind of push body an object is.
enum PushKind {
    /// The dictionary with `aps` that APNs takes.
    case apns
    /// A message of FCM v1, wrapped in `message` or bare.
    case fcm
    /// Neither could be found out: the object itself is looked into.
    case other
}

/// The parts of one object that may be a push body: which are there, with the type that they must have, and where.
///
/// Nothing but `seen` is cleared between records: a range counts only while its bit is set.
struct PushParts {
    /// Bits of `PushMember`.
    var seen: UInt16 = 0
    var android = ByteView.empty
    var webpush = ByteView.empty
    /// `apns.payload`; empty when `apns` has none.
    var apnsPayload = ByteView.empty
    /// The target's token, escapes resolved.
    var token = ByteView.empty
    var tokenIsPlain = true

    func has(_ member: PushMember) -> Bool { seen & member.bit != 0 }
}

/// A push body's own parts and, where it is wrapped, those of its `message`.
struct PushBody {
    var outer = PushParts()
    var inner = PushParts()
    /// The `message` object of a wrapped body.
    var message = ByteView.empty

    /// Forgets the last record.
    mutating func clear() {
        outer.seen = 0
        inner.seen = 0
    }

    /// What the body is by its looks; `aps` counts first, for APNs bodies may have a `message` of their own.
    var foundKind: PushKind? {
        if outer.has(.aps) { return .apns }
        if outer.has(.message) || outer.seen & PushMember.messageContent != 0 { return .fcm }
        return nil
    }

    /// The parts of the FCM message, wrapped or bare.
    var messageParts: PushParts { outer.has(.message) ? inner : outer }

    /// The FCM message's text in a body whose whole text is `body`.
    func messageText(of body: ByteView) -> ByteView { outer.has(.message) ? message : body }
}
