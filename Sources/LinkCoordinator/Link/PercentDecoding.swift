package import ByteStorage

/// Percent-decodes exactly one layer (RFC 3986, section 2.4) and checks the result.
package enum PercentDecoding {
    /// Appends the decoded text to the open record of `arena`.
    ///
    /// Returns `false` if an escape is malformed.
    ///
    /// If `plusIsSpace` is `true`, a literal plus becomes a space, as in the encoding of forms.
    package static func decode(_ text: ByteView, plusIsSpace: Bool, into arena: inout OutputArena) -> Bool {
        arena.reserve(text.count)
        var index = 0
        while index < text.count {
            let byte = text.start[index]
            if byte == UInt8(ascii: "%") {
                guard index &+ 2 < text.count, let high = hexDigit(text.start[index &+ 1]),
                    let low = hexDigit(text.start[index &+ 2])
                else { return false }
                arena.append(byte: high &<< 4 | low)
                index &+= 3
            } else {
                arena.append(byte: plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index &+= 1
            }
        }
        return true
    }

    /// Returns a Boolean value that indicates whether a decoded text is allowed: UTF-8 without C0 control characters,
    /// DEL, and, unless allowed, invisible characters.
    ///
    /// See RouteTableReference, "Path segments".
    package static func isClean(_ text: ByteView, invisiblesAllowed: Bool) -> Bool {
        var high: UInt8 = 0
        var index = 0
        while index < text.count {
            let byte = text.start[index]
            if byte < 0x20 || byte == 0x7F { return false }
            high |= byte
            index &+= 1
        }
        if high < 0x80 { return true }
        if text.firstIllFormedUTF8 != nil { return false }
        return invisiblesAllowed || !hasInvisible(text)
    }

    /// Returns a Boolean value that indicates whether well-formed text has one of U+200B–200F, U+202A–202E, U+2060,
    /// U+2066–2069, and U+FEFF.
    static func hasInvisible(_ text: ByteView) -> Bool {
        var index = 0
        while index &+ 2 < text.count {
            let a = text[index]
            if a == 0xE2 {
                let b = text[index + 1]
                let c = text[index + 2]
                if b == 0x80 && ((c >= 0x8B && c <= 0x8F) || (c >= 0xAA && c <= 0xAE)) { return true }
                if b == 0x81 && (c == 0xA0 || (c >= 0xA6 && c <= 0xA9)) { return true }
            } else if a == 0xEF && text[index + 1] == 0xBB && text[index + 2] == 0xBF {
                return true
            }
            index += 1
        }
        return false
    }

    /// Appends the text with all characters percent-encoded except unreserved ones (RFC 3986, section 2.3).
    package static func encode(_ text: ByteView, into arena: inout OutputArena) {
        let digits: StaticString = "0123456789ABCDEF"
        arena.reserve(text.count &* 3 &+ OutputArena.slack)
        if areUnreserved(text) {
            arena.putShort(text)
            return
        }
        for index in 0..<text.count {
            let byte = text[index]
            if isUnreserved(byte) {
                arena.put(byte: byte)
            } else {
                arena.put(byte: UInt8(ascii: "%"))
                arena.put(byte: digits.utf8Start[Int(byte >> 4)])
                arena.put(byte: digits.utf8Start[Int(byte & 15)])
            }
        }
    }

    /// Returns a Boolean value that indicates whether all bytes are letters, digits, `-`, or `.`, testing eight bytes
    /// at a time.
    ///
    /// A result of `false` does not mean that a byte must be encoded.
    private static func areUnreserved(_ text: ByteView) -> Bool {
        var index = 0
        while index &+ 8 <= text.count {
            if !areUnreserved(ByteScan.load(text, index)) { return false }
            index &+= 8
        }
        if index == text.count { return true }
        // The rest is filled with an unreserved byte.
        let remaining = text.count &- index
        return areUnreserved(
            ByteScan.tail(of: text, from: index) | 0x3030_3030_3030_3030 &<< UInt64(truncatingIfNeeded: 8 &* remaining))
    }

    @inline(__always)
    private static func areUnreserved(_ word: UInt64) -> Bool {
        let ones = ByteScan.ones
        // Each byte is below 0x80. Adding 0x80 - n sets its high bit exactly if it is n or greater.
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let small = low | 0x2020_2020_2020_2020
        let letters = (small &+ 0x1F &* ones) & ~(small &+ 0x05 &* ones)
        let digits = (low &+ 0x50 &* ones) & ~(low &+ 0x46 &* ones)
        let marks = (low &+ 0x53 &* ones) & ~(low &+ 0x51 &* ones)
        return (letters | digits | marks) & ~word & ByteScan.highs == ByteScan.highs
    }

    /// Returns a Boolean value that indicates whether a byte is an unreserved character of RFC 3986.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
