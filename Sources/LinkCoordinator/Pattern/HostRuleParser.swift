internal import ByteStorage

extension HostRule {
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
