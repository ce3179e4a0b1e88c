package import ByteStorage

/// The parts of a web URL that determine its destination, for fields of type `url` and for external targets.
package struct WebURL: Sendable {
    /// The scheme as written.
    package let scheme: ByteView

    /// The host as written, without the port.
    package let host: ByteView

    /// The port, or nil if none is written or it is the default port of `http` or `https`.
    package let port: UInt16?

    /// The path, query, and fragment as written.
    package let rest: ByteView

    /// Creates a URL from a text of the form `scheme://host…`.
    ///
    /// Returns nil for a text without an authority, with userinfo, or with a control character or backslash.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - allowsSpaces: Pass `true` to allow unescaped spaces, which received links may have. Otherwise, a space
    ///     results in nil.
    package init?(_ text: ByteView, allowsSpaces: Bool = false) {
        let least: UInt8 = allowsSpaces ? 0x20 : 0x21
        for byte in text.buffer where byte < least || byte == 0x7F || byte == UInt8(ascii: "\\") { return nil }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(text.slice(0, colon)),
            text.dropFirst(colon).hasPrefix(ByteView("://"))
        else { return nil }
        scheme = text.slice(0, colon)
        var end = colon + 3
        while end < text.count, text[end] != UInt8(ascii: "/"), text[end] != UInt8(ascii: "?"),
            text[end] != UInt8(ascii: "#")
        {
            end += 1
        }
        let authority = text.slice(colon + 3, end)
        rest = text.slice(end, text.count)
        guard authority.firstIndex(of: UInt8(ascii: "@")) == nil,
            let (name, written) = Self.splitPort(authority)
        else { return nil }
        host = name
        port =
            (written == 443 && equalsFolded(scheme, "https")) || (written == 80 && equalsFolded(scheme, "http"))
            ? nil : written
    }

    /// Returns a Boolean value that indicates whether a scheme is `http` or `https`, in any case.
    ///
    /// Browsers never read such a link without a host.
    static func isWeb(_ scheme: ByteView) -> Bool { equalsFolded(scheme, "https") || equalsFolded(scheme, "http") }

    /// Returns a Boolean value that indicates whether a scheme is `http` or `https`, in any case.
    package static func isWeb(_ scheme: String) -> Bool { ["http", "https"].contains(scheme.lowercased()) }

    /// Returns a Boolean value that indicates whether the bytes are a scheme of RFC 3986: a letter, followed by
    /// letters, digits, `+`, `-`, and `.`.
    package static func isScheme(_ text: ByteView) -> Bool {
        guard text.count > 0, (text[0] | 0x20) &- UInt8(ascii: "a") < 26 else { return false }
        for byte in text.buffer {
            switch byte {
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"):
                continue
            default: if (byte | 0x20) &- UInt8(ascii: "a") >= 26 { return false }
            }
        }
        return true
    }

    /// Returns the host and port of an authority without userinfo, or nil if the port is not from 0 to 65535.
    package static func splitPort(_ authority: ByteView) -> (host: ByteView, port: UInt16?)? {
        var at = authority.count
        while at > 0, authority[at - 1] != UInt8(ascii: ":") {
            if authority[at - 1] == UInt8(ascii: "]") { return (authority, nil) }
            at -= 1
        }
        if at == 0 { return (authority, nil) }
        let digits = authority.dropFirst(at)
        var port: UInt32 = 0
        for byte in digits.buffer {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            port = port &* 10 &+ UInt32(digit)
            guard port <= 65535 else { return nil }
        }
        return (authority.slice(0, at - 1), digits.isEmpty ? nil : UInt16(truncatingIfNeeded: port))
    }

    /// Returns the lowercase host without one trailing dot.
    ///
    /// Returns nil unless the host is empty, a name without empty labels, or an IPv6 literal.
    ///
    /// See RouteTableReference, "Authority".
    package static func normalHost(_ host: ByteView) -> [UInt8]? {
        host.buffer.map(lowerASCII).withUnsafeBufferPointer { lowered in
            normalHost(lowered: ByteView(lowered))?.array
        }
    }

    /// Returns the normalized form of a host that is already lowercase, or nil.
    static func normalHost(lowered: ByteView) -> ByteView? {
        if !lowered.isEmpty && lowered[0] == UInt8(ascii: "[") { return isIPv6Literal(lowered) ? lowered : nil }
        let isRooted = !lowered.isEmpty && lowered[lowered.count - 1] == UInt8(ascii: ".")
        let name = isRooted ? lowered.slice(0, lowered.count - 1) : lowered
        var beginsLabel = !name.isEmpty
        for byte in name.buffer {
            switch byte {
            case UInt8(ascii: "."):
                if beginsLabel { return nil }
                beginsLabel = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "-"):
                beginsLabel = false
            default: return nil
            }
        }
        return beginsLabel ? nil : name
    }

    /// Returns a Boolean value that indicates whether the text is an IPv6 address in brackets.
    private static func isIPv6Literal(_ text: ByteView) -> Bool {
        guard text.count >= 4, text[text.count - 1] == UInt8(ascii: "]") else { return false }
        return isIPv6(text.slice(1, text.count - 1))
    }

    /// Returns a Boolean value that indicates whether the text is an IPv6 address of RFC 3986, section 3.2.2, without a
    /// zone.
    package static func isIPv6(_ text: ByteView) -> Bool {
        var groups = 0
        var gap = false
        var at = 0
        if text.hasPrefix(ByteView("::")) {
            gap = true
            at = 2
        }
        while at < text.count {
            var end = at
            while end < text.count, text[end] != UInt8(ascii: ":") { end += 1 }
            let group = text.slice(at, end)
            if end == text.count, group.firstIndex(of: UInt8(ascii: ".")) != nil {
                guard isIPv4(group) else { return false }
                groups += 2
                break
            }
            guard isHexGroup(group) else { return false }
            groups += 1
            if end == text.count { break }
            at = end + 1
            if at < text.count, text[at] == UInt8(ascii: ":") {
                if gap { return false }
                gap = true
                at += 1
            } else if at == text.count {
                return false
            }
        }
        return gap ? groups < 8 : groups == 8
    }

    private static func isHexGroup(_ text: ByteView) -> Bool {
        guard text.count >= 1, text.count <= 4 else { return false }
        for byte in text.buffer where byte &- UInt8(ascii: "0") >= 10 && (byte | 0x20) &- UInt8(ascii: "a") >= 6 {
            return false
        }
        return true
    }

    private static func isIPv4(_ text: ByteView) -> Bool {
        var parts = 0
        var at = 0
        while at <= text.count {
            var end = at
            while end < text.count, text[end] != UInt8(ascii: ".") { end += 1 }
            guard let value = TextForms.integer(text.slice(at, end)), value >= 0, value <= 255 else { return false }
            parts += 1
            at = end + 1
        }
        return parts == 4
    }
}

/// Returns the byte, in lowercase if it is an uppercase ASCII letter.
package func lowerASCII(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
}

/// Returns a Boolean value that indicates whether the bytes equal the lowercase literal, ignoring the case of ASCII
/// letters.
package func equalsFolded(_ text: ByteView, _ literal: StaticString) -> Bool { equalsFolded(text, ByteView(literal)) }

/// Returns a Boolean value that indicates whether the bytes equal a lowercase text, ignoring the case of ASCII letters.
package func equalsFolded(_ text: ByteView, _ other: ByteView) -> Bool {
    guard text.count == other.count else { return false }
    // Usual texts are in lowercase, and words are compared faster than bytes.
    if text == other { return true }
    for index in 0..<text.count where lowerASCII(text[index]) != other[index] { return false }
    return true
}

/// Searches for the bytes that have a meaning in a link.
extension ByteScan {
    /// Returns the index of the first slash, percent sign, or byte above 0x7F at or after `from`, or the end.
    package static func segmentStop(in view: ByteView, from: Int) -> Int {
        var index = from
        while index &+ 8 <= view.count {
            let word = load(view, index)
            let found = zeros(word ^ 0x2F2F_2F2F_2F2F_2F2F) | zeros(word ^ 0x2525_2525_2525_2525) | (word & highs)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        if index >= view.count { return index }
        let word = tail(of: view, from: index)
        let found = zeros(word ^ 0x2F2F_2F2F_2F2F_2F2F) | zeros(word ^ 0x2525_2525_2525_2525) | (word & highs)
        return min(view.count, index &+ found.trailingZeroBitCount &>> 3)
    }

    /// Returns the offset of the first C0 control character, DEL, backslash, or ill-formed UTF-8 sequence, or nil.
    ///
    /// See RouteTableReference, "Limits".
    package static func firstForbidden(in view: ByteView) -> Int? {
        var index = 0
        var high: UInt64 = 0
        while index &+ 8 <= view.count {
            let word = load(view, index)
            let controls = (word &- 0x2020_2020_2020_2020) & ~word & highs
            let found = controls | zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F) | zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C)
            high |= word
            if found != 0 { return firstForbiddenSlow(in: view) }
            index &+= 8
        }
        while index < view.count {
            let byte = view.start[index]
            if isForbidden(byte) { return firstForbiddenSlow(in: view) }
            high |= UInt64(byte)
            index &+= 1
        }
        return high & highs == 0 ? nil : view.firstIllFormedUTF8
    }

    @inline(never)
    private static func firstForbiddenSlow(in view: ByteView) -> Int? {
        var first: Int?
        for index in 0..<view.count where isForbidden(view[index]) {
            first = index
            break
        }
        guard let illFormed = view.firstIllFormedUTF8 else { return first }
        return min(first ?? illFormed, illFormed)
    }

    static func isForbidden(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") }
}
