/// The rules of names.
///
/// See RouteTableReference, "Names".
package enum NameRule: Sendable {
    /// Routes, coordinators, and screens: `[A-Za-z0-9][A-Za-z0-9._~-]{0,63}`.
    ///
    /// These names need no escapes in a path.
    case path
    /// Models, fields, captures, guards, capabilities, vars, and table ids: `[A-Za-z][A-Za-z0-9_-]{0,63}`.
    case identifier

    /// The maximum length of a name, in bytes.
    package static let maxBytes = 64

    /// Returns a Boolean value that indicates whether a name satisfies the rule.
    package func matches(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count <= Self.maxBytes else { return false }
        let digitFirst = Self.isDigit(first) && self == .path
        return (Self.isLetter(first) || digitFirst) && bytes.dropFirst().allSatisfy(continues)
    }

    /// A description of valid names, for messages.
    package var text: String {
        switch self {
        case .path: "a letter or digit, then up to 63 letters, digits, `.`, `_`, `~`, and `-`"
        case .identifier: "a letter, then up to 63 letters, digits, `_`, and `-`"
        }
    }

    /// Returns a Boolean value that indicates whether a byte is allowed after the first one.
    package func continues(_ byte: UInt8) -> Bool {
        if Self.isLetter(byte) || Self.isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") {
            return true
        }
        return self == .path && (byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~"))
    }

    /// Returns a Boolean value that indicates whether a name is reserved: `__…`, `screen`, `coordinator`, `present`,
    /// and `stack`.
    package static func isReserved(_ name: String) -> Bool {
        name.hasPrefix("__") || ["screen", "coordinator", "present", "stack"].contains(name)
    }

    /// The suggestion for a reserved name.
    static let reservedAdvice =
        "use another name: `screen`, `coordinator`, `present`, `stack`, and names that begin with `__` are reserved"

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
