internal import ByteStorage

/// The decoding of Base64 (RFC 4648, section 4).
enum Base64 {
    /// Appends the decoded bytes to the open record of an arena.
    ///
    /// The text must be canonical: in groups of four characters with padding, without white space, and with zeros in
    /// the unused bits. Otherwise the function returns false.
    static func decode(_ text: ByteView, into arena: inout OutputArena) -> Bool {
        guard text.count % 4 == 0 else { return false }
        var index = 0
        while index < text.count {
            let isLast = index + 4 == text.count
            var padding = 0
            if isLast, text[index + 3] == UInt8(ascii: "=") { padding = text[index + 2] == UInt8(ascii: "=") ? 2 : 1 }
            var bits: UInt32 = 0
            for place in 0..<4 {
                let value = place < 4 - padding ? digit(text[index + place]) : 0
                if value > 63 { return false }
                bits = bits << 6 | UInt32(value)
            }
            if padding > 0 && bits & (1 << UInt32(8 * padding) - 1) != 0 { return false }
            for place in 0..<(3 - padding) {
                arena.append(byte: UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * place)))
            }
            index += 4
        }
        return true
    }

    /// Returns the value of a character, or 64 for any other byte.
    private static func digit(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: 64
        }
    }
}
