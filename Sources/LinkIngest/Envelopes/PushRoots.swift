internal import ByteStorage

/// The objects of a push body in which a table's pointers are resolved, for one device.
struct PushRoots: ~Copyable {
    private let views: UnsafeMutablePointer<ByteView> = .allocate(capacity: 2)

    deinit { views.deallocate() }

    /// Returns the roots in the order of precedence.
    ///
    /// They are valid until the next call.
    ///
    /// FCM merges `apns.payload`, `android`, or `webpush` into the message, depending on the platform of the device. If
    /// the platform is unknown, the only root is the message.
    mutating func roots(
        of body: PushBody, text: ByteView, kind: PushKind, platform: ByteView
    ) -> UnsafeBufferPointer<ByteView> {
        guard kind == .fcm else {
            views[0] = text
            return UnsafeBufferPointer(start: views, count: 1)
        }
        let parts = body.messageParts
        let own = Self.platformPart(parts, platform)
        var count = 0
        if !own.isEmpty {
            views[0] = own
            count = 1
        }
        views[count] = body.messageText(of: text)
        return UnsafeBufferPointer(start: views, count: count + 1)
    }

    private static func platformPart(_ parts: PushParts, _ platform: ByteView) -> ByteView {
        if isOne(of: applePlatforms, platform) { return parts.has(.apns) ? parts.apnsPayload : .empty }
        if platform.equalsFoldingCase("android") { return parts.has(.android) ? parts.android : .empty }
        if platform.equalsFoldingCase("web") { return parts.has(.webpush) ? parts.webpush : .empty }
        return .empty
    }

    private static let applePlatforms: [StaticString] = ["ios", "ipados", "macos", "tvos", "watchos", "visionos"]

    private static func isOne(of names: [StaticString], _ platform: ByteView) -> Bool {
        for name in names where platform.equalsFoldingCase(name) { return true }
        return false
    }
}

extension ByteView {
    /// Returns a Boolean value that indicates whether these bytes equal a lowercase literal if the case of ASCII
    /// letters is ignored.
    func equalsFoldingCase(_ literal: StaticString) -> Bool {
        let other = ByteView(literal)
        guard count == other.count else { return false }
        for index in 0..<count {
            let byte = self[index]
            let folded = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
            if folded != other[index] { return false }
        }
        return true
    }
}
