internal import ByteStorage

/// A rule of a table that matches hosts.
///
/// Hosts are lowercase.
///
/// See RouteTableReference, "Host rules".
package enum HostRule: Sendable, Hashable {
    /// `*`: every host, including the empty one.
    case any

    /// `""`: an empty or absent authority.
    case empty

    /// A host name, on a specific port, or on any port if `port` is nil.
    case exact(host: [UInt8], port: UInt16?)

    /// `*.example.com`: hosts with at least one label before the suffix, which is stored without `*.`.
    case suffix([UInt8])

    /// The rule as written in a table.
    package var text: String {
        switch self {
        case .any: "*"
        case .empty: ""
        case .exact(let host, let port):
            String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
        case .suffix(let suffix): "*." + String(decoding: suffix, as: UTF8.self)
        }
    }

    /// Returns a Boolean value that indicates whether the rule matches a link's host and port.
    ///
    /// - Parameters:
    ///   - host: The lowercase host without a trailing dot, or empty for an empty or absent authority.
    ///   - port: The port, or nil for none. The default ports of `http` and `https` count as none.
    package func matches(host: [UInt8], port: UInt16?) -> Bool {
        switch self {
        case .any: return true
        case .empty: return host.isEmpty
        case .exact(let own, let ownPort):
            return own == host && (ownPort == nil || ownPort == port)
        case .suffix(let suffix):
            let labels = host.count - suffix.count - 1
            return labels > 0 && host[labels] == UInt8(ascii: ".") && host[(labels + 1)...].elementsEqual(suffix)
        }
    }

    /// Returns a Boolean value that indicates whether both rules match a common host.
    package func overlaps(_ other: HostRule) -> Bool {
        switch (self, other) {
        case (.any, _), (_, .any): true
        case (.exact(let host, let port), .exact(let other, let otherPort)):
            host == other && (port == nil || otherPort == nil || port == otherPort)
        case (.exact(let host, let port), _): other.matches(host: host, port: port)
        case (_, .exact(let host, let port)): matches(host: host, port: port)
        case (.empty, .empty): true
        case (.suffix(let a), .suffix(let b)):
            a == b || a.reversed().starts(with: (b.reversed() + [UInt8(ascii: ".")]))
                || b.reversed().starts(with: (a.reversed() + [UInt8(ascii: ".")]))
        default: false
        }
    }

    /// The rank of the rule in the precedence of patterns: exact with port, exact, suffix, any.
    private var rank: Int {
        switch self {
        case .exact(_, .some): 0
        case .exact(_, nil), .empty: 1
        case .suffix: 2
        case .any: 3
        }
    }

    /// Compares the precedence of two rules.
    ///
    /// Returns a negative number if the first rule precedes, a positive number if the second one does, and 0 if they
    /// are equal.
    ///
    /// Rules of the same rank are disjoint unless both are suffixes. The longer suffix precedes. Otherwise, the order
    /// of bytes makes the order total.
    package static func compare(_ a: HostRule, _ b: HostRule) -> Int {
        if a.rank != b.rank { return a.rank - b.rank }
        switch (a, b) {
        case (.suffix(let x), .suffix(let y)):
            return x.count != y.count ? y.count - x.count : compareBytes(x, y)
        case (.exact(let x, let xPort), .exact(let y, let yPort)):
            let hosts = compareBytes(x, y)
            return hosts != 0 ? hosts : Int(xPort ?? 0) - Int(yPort ?? 0)
        case (.exact, .empty): return 1
        case (.empty, .exact): return -1
        default: return 0
        }
    }

    /// Parses a host rule: `*`, the empty text, `*.suffix`, or a host with an optional `:port`.
    package static func parse(_ text: String) throws(TextError) -> HostRule {
        if text == "*" { return .any }
        if text.isEmpty { return .empty }
        if let likely = likely(text) {
            throw TextError(likely.message, at: 0, suggestion: likely.form.map { "write `\($0)`" })
        }
        if text.hasPrefix("*.") {
            let suffix = Array(text.utf8.dropFirst(2))
            try check(suffix, at: 2)
            if suffix.first == UInt8(ascii: "[") {
                throw TextError("`*.` is not allowed before an IPv6 address", at: 2)
            }
            return .suffix(suffix)
        }
        let bytes = Array(text.utf8)
        let parts = bytes.withUnsafeBufferPointer { buffer -> (host: [UInt8], port: UInt16?, hasPort: Bool)? in
            guard let parts = WebURL.splitPort(ByteView(buffer)) else { return nil }
            return (parts.host.array, parts.port, parts.host.count < buffer.count)
        }
        guard let parts, !parts.hasPort || parts.port != nil else {
            throw TextError(
                "a port must be a number from 0 to 65535", at: 0,
                suggestion: text.lastIndex(of: ":").map { "write `\(text[..<$0])` for any port" })
        }
        try check(parts.host, at: 0)
        return .exact(host: parts.host, port: parts.port)
    }

    /// Returns a message and the correct form for common mistakes: a URL, a path, or `*` in another position.
    private static func likely(_ text: String) -> (message: String, form: String?)? {
        let scheme = text.firstRange(of: "://")
        let rest = scheme.map { text[$0.upperBound...] } ?? text[...]
        let host = rest.prefix { !"/?#".contains($0) }
        if scheme != nil || host.count < rest.count {
            let name = host.drop { $0 == "@" }.lowercased()
            return ("a host must not have a scheme or a path", name.isEmpty ? nil : name)
        }
        if host.contains("@") {
            return ("a host must not have userinfo", String(host.split(separator: "@").last ?? ""))
        }
        if host.hasPrefix(".") { return ("a host must not begin with `.`", "*" + host) }
        guard host.contains("*"), !host.hasPrefix("*.") || host.dropFirst().contains("*") else { return nil }
        if host.hasPrefix("*:") { return ("`*` already matches every host and port", "*") }
        let end = host.split(separator: "*", omittingEmptySubsequences: false).last?.drop { $0 == "." } ?? ""
        return ("`*` is only allowed alone, or as `*.` before a host", end.contains(".") ? "*." + end : nil)
    }

    private static func check(_ host: [UInt8], at offset: Int) throws(TextError) {
        let normal = host.withUnsafeBufferPointer { WebURL.normalHost(ByteView($0)) }
        if normal == host, !host.isEmpty, host.first != UInt8(ascii: ".") { return }
        let lower = String(decoding: host, as: UTF8.self).lowercased()
        if let normal, !normal.isEmpty, Array(lower.utf8) == normal, normal != host {
            throw TextError("a host must be lowercase", at: offset, suggestion: "write `\(lower)`")
        }
        throw TextError(
            "expected a host of letters, digits, `.`, `_`, `~`, and `-`, without a dot at its ends, "
                + "or an `[IPv6]` literal",
            at: offset, suggestion: "write an international name in its `xn--` form")
    }
}
