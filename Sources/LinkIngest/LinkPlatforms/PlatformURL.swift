internal import LinkCoordinator
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
        let colon = Resolver.schemeLength(text)
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

    /// Returns a Boolean value that indicates whether a text of at least four bytes begins with `http`, in any case.
    @inline(__always)
    private static func beginsWithHTTP(_ text: ByteView) -> Bool {
        let t = UInt8(ascii: "t")
        return text.start[0] | 0x20 == UInt8(ascii: "h") && text.start[1] | 0x20 == t && text.start[2] | 0x20 == t
            && text.start[3] | 0x20 == UInt8(ascii: "p")
    }

    /// Returns a Boolean value that indicates whether a port is empty or the scheme's own, with any leading zeros.
    private static func isOwnPort(_ port: ByteView, ofWeb isWeb: Bool, isSecure: Bool) -> Bool {
        var port = port
        while port.count > 1, port[0] == UInt8(ascii: "0") { port = port.dropFirst(1) }
        return port.isEmpty || (isWeb && (isSecure ? port.equals("443") : port.equals("80")))
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

/// The items of a query, separated by `&`, in order and as they are written.
struct WrittenQuery {
    /// An item of a query.
    struct Item {
        /// The whole item.
        let text: ByteView
        /// The name, still encoded.
        let name: ByteView
        /// The value, still encoded, or an empty view.
        let value: ByteView
        /// A Boolean value that indicates whether the query continues after the item.
        let isFollowed: Bool
    }

    private let query: ByteView
    private var position = 0

    /// Creates a sequence of the items of a query, without its question mark.
    init(_ query: ByteView) { self.query = query }

    /// Returns the next item, which is empty between two separators, or nil after the last one.
    mutating func next() -> Item? {
        guard position < query.count else { return nil }
        let end = ByteScan.first(UInt8(ascii: "&"), in: query, from: position)
        let text = query.slice(position, end)
        position = end &+ 1
        let equals = text.firstIndex(of: UInt8(ascii: "=")) ?? text.count
        return Item(
            text: text, name: text.slice(0, equals), value: text.dropFirst(min(equals &+ 1, text.count)),
            isFollowed: end < query.count)
    }

    /// Returns a Boolean value that indicates whether a name, decoded, is `known`, or only begins with it.
    ///
    /// A name with a malformed escape is no known name.
    static func name(_ written: ByteView, is known: ByteView, orBegins isPrefix: Bool = false) -> Bool {
        var index = 0
        var matched = 0
        while matched < known.count {
            guard index < written.count else { return false }
            var byte = written.start[index]
            index &+= 1
            if byte == UInt8(ascii: "%") {
                guard index &+ 1 < written.count, let high = hexDigit(written.start[index]),
                    let low = hexDigit(written.start[index &+ 1])
                else { return false }
                byte = high &<< 4 | low
                index &+= 2
            }
            if byte != known.start[matched] { return false }
            matched &+= 1
        }
        return isPrefix || index == written.count
    }
}
