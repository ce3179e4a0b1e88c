internal import ByteStorage
internal import StrictJSON

// Reads what a message does besides links: actions of the app, and what is for devices of other platforms.
extension VendorReader {
    /// A Boolean value that indicates whether the push service itself shows a notification.
    ///
    /// FCM shows a title or a body, also one that the app translates, on every platform.
    var isShown: Bool { isShown(notifications.0) || isShown(notifications.1) }

    private func isShown(_ notification: Int32) -> Bool {
        guard tape.isObject(notification) else { return false }
        var node = tape.first(in: notification)
        while node < tape.end(of: notification) {
            let member = tape.nodes + Int(node)
            let isText = member.pointee.kind == .string && !member.pointee.text.isEmpty
            let name = member.pointee.name
            if isText && (name.hasPrefix(ByteView("title")) || name.hasPrefix(ByteView("body"))) { return true }
            node = member.pointee.end
        }
        return false
    }

    // MARK: Actions

    /// Notes the place of an action that the app runs instead of opening a link.
    mutating func noteCustomAction(_ rules: RuleImages, in base: Int32 = -1) {
        for list in rules where holdsAll(list, in: base) {
            for condition in list where condition.kind == .present || condition.kind == .tests {
                note(.customAction, at: value(condition.pointer, in: base))
                return
            }
        }
    }

    /// Notes the window that an Apple device brings to the front.
    mutating func noteWindow(_ message: VendorMessage) {
        guard message.surfaces == .apple, message.recordForm < 0, surface.first >= 0 else { return }
        let aps = tape.object("aps", of: surface.first)
        guard aps >= 0 else { return }
        let window = tape.member(ByteView("target-content-id"), of: aps)
        if tape.isString(window), !tape.text(of: window).isEmpty { note(.customAction, at: window) }
    }

    /// Returns the button that is a single object, or nil if it has another id.
    mutating func findObject(_ action: ByteView, _ button: ButtonImage) -> (button: ButtonImage?, base: Int32) {
        let object = value(button.place)
        guard object >= 0, tape.kind(of: object) == .object else { return (nil, -1) }
        let id = value(button.id, in: object)
        guard id >= 0, equals(id, action), isButton(button, object) else { return (nil, -1) }
        return (button, object)
    }

    // MARK: Links of the envelope

    /// Returns what the links of the envelope itself open, or nil if there is none.
    mutating func ownLink(_ message: VendorMessage) -> VendorOutcome? {
        ownLink(message.ownLink, message) ?? ownLink(message.otherOwnLink, message)
    }

    private mutating func ownLink(_ node: Int32, _ message: VendorMessage) -> VendorOutcome? {
        guard let outcome = outcome(ofLinkAt: node) else { return nil }
        let isAllowed = !message.requiresHTTPS || LinkWrapper.hasScheme(ByteView("https"), outcome.link)
        if outcome.kind != .link || isAllowed { return outcome }
        note(.linkNotHTTPS, at: node)
        return VendorOutcome(kind: .noLink)
    }

    // MARK: Other platforms

    /// Notes the links that only devices of other platforms open.
    ///
    /// The members of the message are no longer loaded after that.
    mutating func noteOtherPlatforms(_ message: VendorMessage) {
        noteLink(in: message.apple, .apple)
        noteLink(in: message.android, .android)
        noteLink(in: message.web, .web)
        if LinkWrapper.hasScheme(ByteView("https"), trimmedText(of: message.webLink)) {
            note(.platformNeeded, at: message.webLink)
        }
    }

    private mutating func noteLink(in object: Int32, _ surfaces: VendorSurfaces) {
        guard object >= 0 else { return }
        surface.load(object, -1, of: tape.nodes)
        let number = recognized(surfaces, from: 0)
        guard number >= 0 else { return }
        let form = form(Int32(truncatingIfNeeded: number))
        var other = VendorMessage()
        other.surfaces = surfaces
        guard !isBackground(other), !holds(form.pointee.silent) else { return }
        for link in form.pointee.links where holdsAll(link.conditions) {
            let node = value(link.pointer)
            let text = trimmedText(of: node)
            if text.isEmpty || isWrapperWithoutLink(text, link) { continue }
            if WireFormat.hasScheme(text) { note(.platformNeeded, at: node) }
            return
        }
    }

    /// Returns the text of a string without white space at both ends, or an empty view.
    private mutating func trimmedText(of node: Int32) -> ByteView {
        guard tape.isString(node) else { return .empty }
        let text = tape.text(of: node)
        let range = WireFormat.trimmed(text, from: 0)
        return text.slice(range.lowerBound, range.upperBound)
    }

    private func isWrapperWithoutLink(_ text: ByteView, _ link: LinkImage) -> Bool {
        !link.wrapperScheme.isEmpty && LinkWrapper.hasScheme(link.wrapperScheme, text)
            && LinkWrapper.content(of: text, link) == nil
    }
}
