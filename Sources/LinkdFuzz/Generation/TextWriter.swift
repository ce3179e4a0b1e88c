/// A writer of JSON text in many forms: the same string with various escapes, and values of every kind.
package struct TextWriter {
    /// The white space of one producer.
    package struct Style: Sendable {
        var afterComma = ""
        var afterColon = ""
        var inside = ""

        /// Returns a common style or an unusual one.
        static func any(_ random: inout RandomSource) -> Style {
            switch random.below(6) {
            case 0: Style(afterComma: " ", afterColon: " ")
            case 1: Style(afterComma: "\r", afterColon: " ", inside: " ")
            case 2: Style(afterComma: String(repeating: " ", count: random.below(40)), afterColon: "  ")
            default: Style()
            }
        }
    }

    /// The text written so far.
    package var bytes: [UInt8] = []

    /// Creates an empty text.
    package init() {}

    /// Appends a text without changes.
    package mutating func raw(_ text: String) { bytes += Array(text.utf8) }

    /// Appends a string with only the required escapes.
    package mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { add(byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func add(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0..<0x20: raw("\\u00" + (byte < 16 ? "0" : "1") + String(byte % 16, radix: 16))
        default: bytes.append(byte)
        }
    }

    /// Appends a string with additional escapes.
    package mutating func escaped(_ text: String, _ random: inout RandomSource) {
        let often = 1 + random.below(8)
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            if scalar == "/", random.one(in: 2) {
                raw("\\/")
            } else if random.one(in: often) {
                for unit in String(Character(scalar)).utf16 {
                    let digits = String(unit, radix: 16, uppercase: random.one(in: 2))
                    raw("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
                }
            } else {
                for byte in String(Character(scalar)).utf8 { add(byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a value of any kind, including nested objects and arrays.
    package mutating func anything(_ random: inout RandomSource, depth: Int = 3) {
        switch random.below(depth > 0 ? 12 : 8) {
        case 0: raw("null")
        case 1: raw(random.pick(["true", "false"]))
        case 2: raw(random.pick(["0", "-1", "12", "5.0", "1e9", "-0", "99999999999999999999", "0.10", "1E-400"]))
        case 3: escaped(random.pick(["a", "é", "e\u{301}", "\u{1F600}", "a/b", "\u{0}"]), &random)
        case 4: string(String(repeating: "x", count: random.below(300)))
        case 5, 6, 7: string(random.pick(["", "a", "ios", "6.1.0", "кот", "e\u{301}", "shop:///", "a\\b\"c"]))
        case 8, 9:
            raw("{")
            for index in 0..<random.below(6) {
                raw(index > 0 ? ",\"" : "\"")
                raw(random.pick(["a", "b", "link", "aps", "x\(index)", "\\u0061", "m\(random.below(99))"]) + "\":")
                anything(&random, depth: depth - 1)
            }
            raw("}")
        default:
            raw("[")
            for index in 0..<random.below(6) {
                if index > 0 { raw(",") }
                anything(&random, depth: depth - 1)
            }
            raw("]")
        }
    }
}
