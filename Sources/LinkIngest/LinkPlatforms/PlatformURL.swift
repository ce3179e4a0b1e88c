internal import ByteStorage

/// The parts of a link with an authority, as they are written.
struct PlatformURL {
    /// The whole link.
    let text: ByteView
    /// The scheme, the colon, two slashes, and the authority.
    let origin: ByteView
    /// The host without user information, port, and one trailing dot.
    let host: ByteView
    /// A Boolean value that indicates whether the scheme is `http` or `https`.
    let isWeb: Bool
    /// The path, which is empty or begins with a slash.
    let path: ByteView
    /// The query without its question mark, or an empty view.
    let query: ByteView
    /// The fragment with its number sign, or an empty view.
    let fragment: ByteView

    /// Splits a link.
    ///
    /// Returns nil for a text that no platform writes: without a scheme or an authority, with a port other than the
    /// scheme's own, or with user information before the host of a web link.
    init?(_ text: ByteView) {
        let colon = Self.schemeLength(text)
        guard colon > 0, colon &+ 2 < text.count, text.start[colon &+ 1] == UInt8(ascii: "/"),
            text.start[colon &+ 2] == UInt8(ascii: "/")
        else { return nil }
        let isSecure = colon == 5 && text.start[4] | 0x20 == UInt8(ascii: "s")
        isWeb = (colon == 4 || isSecure) && Self.beginsWithHTTP(text)
        let from = colon &+ 3
        var end = from
        var hostStart = from
        var hostEnd = -1
        while end < text.count {
            let byte = text.start[end]
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            if byte == UInt8(ascii: ":") && hostEnd < 0 { hostEnd = end }
            end &+= 1
            if byte == UInt8(ascii: "@") {
                hostStart = end
                hostEnd = -1
            }
        }
        if isWeb && hostStart > from { return nil }
        if hostEnd < 0 {
            hostEnd = end
        } else if !Self.isOwnPort(text.slice(hostEnd &+ 1, end), ofWeb: isWeb, isSecure: isSecure) {
            return nil
        }
        if hostEnd &- hostStart > 1 && text.start[hostEnd &- 1] == UInt8(ascii: ".") { hostEnd &-= 1 }
        host = text.slice(hostStart, hostEnd)
        self.text = text
        origin = text.slice(0, end)
        let mark = ByteScan.first(UInt8(ascii: "?"), or: UInt8(ascii: "#"), in: text, from: end)
        path = text.slice(end, mark)
        let hash = ByteScan.first(UInt8(ascii: "#"), in: text, from: mark)
        query = mark < hash ? text.slice(mark &+ 1, hash) : .empty
        fragment = text.slice(hash, text.count)
    }

    /// Returns the length of the scheme before its colon (RFC 3986, section 3.1), or 0.
    static func schemeLength(_ text: ByteView) -> Int {
        var index = 0
        while index < text.count {
            let byte = text.start[index]
            let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26
            if !isLetter {
                if index == 0 { return 0 }
                if byte == UInt8(ascii: ":") { return index }
                let isOther =
                    byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".")
                if !isOther { return 0 }
            }
            index &+= 1
        }
        return 0
    }

    /// Returns a Boolean value that indicates whether a text of at least four bytes begins with `http`, in any case.
    @inline(__always)
    private static func beginsWithHTTP(_ text: ByteView) -> Bool {
        let t = UInt8(ascii: "t")
        return text.start[0] | 0x20 == UInt8(ascii: "h") && text.start[1] | 0x20 == t && text.start[2] | 0x20 == t
            && text.start[3] | 0x20 == UInt8(ascii: "p")
    }

    /// Returns a Boolean value that indicates whether a port is empty or the scheme's own.
    private static func isOwnPort(_ port: ByteView, ofWeb isWeb: Bool, isSecure: Bool) -> Bool {
        port.isEmpty || (isWeb && (isSecure ? port.equals("443") : port.equals("80")))
    }

    /// A Boolean value that indicates whether the host is a name in ASCII without escapes and empty labels.
    var hasPlainHost: Bool {
        var beginsLabel = true
        for byte in host.buffer {
            let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26
            let isPlain =
                isLetter || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            if byte == UInt8(ascii: ".") ? beginsLabel : !isPlain { return false }
            beginsLabel = byte == UInt8(ascii: ".")
        }
        return !beginsLabel
    }
}
