/// A JSON pointer (RFC 6901).
package struct JSONPath: Sendable, Hashable {
    /// The pointer as written.
    package let text: String

    /// The names or indices from the root, with `~1` and `~0` decoded.
    package let tokens: [String]

    /// Creates a pointer from its text.
    ///
    /// Returns nil for a nonempty text that does not begin with `/`, or if `~` is not followed by 0 or 1.
    package init?(_ text: String) {
        self.text = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var read: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let token = Self.unescape(part) else { return nil }
            read.append(token)
        }
        tokens = read
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var escaped = false
        for byte in part {
            if escaped {
                guard byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") else { return nil }
                bytes.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
                escaped = false
            } else if byte == UInt8(ascii: "~") {
                escaped = true
            } else {
                bytes.append(byte)
            }
        }
        return escaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
