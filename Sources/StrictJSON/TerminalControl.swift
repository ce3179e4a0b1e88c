/// The characters that can control a terminal although JSON allows them unescaped.
package enum TerminalControl {
    /// Returns a Boolean value that indicates whether a scalar is DEL or in C1, changes the writing direction, or
    /// breaks a line.
    ///
    /// All such scalars are below U+10000.
    package static func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    /// Returns JSON text with the same value, in which these characters are escaped.
    ///
    /// JSON itself requires escapes only for C0 (RFC 8259, section 7). The other characters occur only inside strings.
    package static func escaped(json text: String) -> String {
        guard text.unicodeScalars.contains(where: contains) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if contains(scalar) {
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
