/// The rules of names (route-table.md, section 3) and the names that are reserved (2.7).
package enum NameRule: Sendable {
    /// Routes, coordinators and screens: `[A-Za-z0-9][A-Za-z0-9._~-]{0,63}`, so that they print without escapes.
    case path
    /// Models, fields, captures, guards, capabilities, vars and table ids: `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    case identifier

    /// Most bytes of a name.
    package static let maxBytes = 64

    /// Whether the rule takes the name.
    package func takes(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count <= Self.maxBytes else { return false }
        let digitFirst = Self.isDigit(first) && self == .path
        return (Self.isLetter(first) || digitFirst) && bytes.dropFirst().allSatisfy(continues)
    }

    /// What a name must be, for messages.
    package var text: String {
        switch self {
        case .path: "a letter or digit, then up to 63 letters, digits, '.', '_', '~' or '-'"
        case .identifier: "a letter, then up to 63 letters, digits, '_' or '-'"
        }
    }

    /// Whether a byte may stand after the first.
    package func continues(_ byte: UInt8) -> Bool {
        if Self.isLetter(byte) || Self.isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") {
            return true
        }
        return self == .path && (byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~"))
    }

    /// Whether the name is kept for the product: `__…`, `screen`, `coordinator`, `present`, `stack`.
    package static func isReserved(_ name: String) -> Bool {
        name.hasPrefix("__") || ["screen", "coordinator", "present", "stack"].contains(name)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
