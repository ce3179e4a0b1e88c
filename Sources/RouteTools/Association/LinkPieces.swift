internal import ByteStorage
internal import LinkCoordinator

/// The components of a link as written, for the rules of Apple and Android.
struct LinkPieces: Sendable, Equatable {
    /// The scheme.
    var scheme: String
    /// The host as written, without user information and port; empty for none.
    var host: String
    /// The port as written, or nil.
    var port: String?
    /// The path as written.
    var path: String
    /// The query as written, or nil if there is no `?`.
    var query: String?
    /// The fragment as written, or nil if there is no `#`.
    var fragment: String?

    /// Splits a link of the form `scheme://authority/path?query#fragment`; returns nil for another form.
    init?(_ link: String) {
        var rest = Substring(link)
        if let hash = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        guard let range = rest.firstRange(of: "://") else { return nil }
        scheme = String(rest[..<range.lowerBound])
        rest = rest[range.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        path = String(rest[slash...])
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        if !authority.hasSuffix("]"), let colon = authority.lastIndex(of: ":") {
            port = String(authority[authority.index(after: colon)...])
            authority = authority[..<colon]
        }
        host = String(authority)
    }

    /// Returns text with its percent escapes decoded once; an incomplete escape stays as it is.
    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var at = 0
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count, let high = hexDigit(bytes[at + 1]),
                let low = hexDigit(bytes[at + 2])
            {
                result.append(high << 4 | low)
                at += 3
            } else {
                result.append(bytes[at])
                at += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns a Boolean value that indicates whether a link in the usual spelling can have a text in its path as
    /// written.
    ///
    /// A character that RFC 3986 allows in a path stands for itself, and every other one is percent-encoded, with
    /// uppercase digits unless the case is ignored.
    static func isUsual(_ text: String, foldsCase: Bool = false) -> Bool {
        let bytes = Array(text.utf8)
        var at = 0
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "%") {
                guard at + 2 < bytes.count, let high = hexDigit(bytes[at + 1]), let low = hexDigit(bytes[at + 2]),
                    !isPlain(high << 4 | low), foldsCase || max(bytes[at + 1], bytes[at + 2]) < UInt8(ascii: "a")
                else { return false }
                at += 3
            } else {
                guard isPlain(bytes[at]) else { return false }
                at += 1
            }
        }
        return true
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        lowerASCII(byte) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
            || "-._~!$&'()*+,;=:@/".utf8.contains(byte)
    }

    /// The items of a query: the texts between `&`, split at the first `=`.
    static func items(_ query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { item in
            let sign = item.firstIndex(of: "=") ?? item.endIndex
            return (String(item[..<sign]), String(item[sign...].dropFirst()))
        }
    }
}
