package import StrictJSON

/// Percent-decoding, exactly one layer (RFC 3986, section 2.4), and the checks of what came out.
package enum PercentDecoding {
    /// Appends `text` decoded to the open record of `arena`; false where an escape is broken.
    ///
    /// `plusIsSpace` turns a literal plus into a space, as forms write it.
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

    /// Whether text that was decoded may stand: UTF-8 without C0 controls, DEL and, unless allowed, invisibles (N4).
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

    /// Whether well-formed text has one of U+200B-200F, 202A-202E, 2060, 2066-2069, FEFF.
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

    /// Appends `text` with all but unreserved characters percent-encoded (RFC 3986, section 2.3).
    package static func encode(_ text: ByteView, into arena: inout OutputArena) {
        let digits: StaticString = "0123456789ABCDEF"
        arena.reserve(text.count &* 3)
        for index in 0..<text.count {
            let byte = text[index]
            if isUnreserved(byte) {
                arena.append(byte: byte)
            } else {
                arena.append(byte: UInt8(ascii: "%"))
                arena.append(byte: digits.utf8Start[Int(byte >> 4)])
                arena.append(byte: digits.utf8Start[Int(byte & 15)])
            }
        }
    }

    /// Whether a byte is an unreserved character of RFC 3986.
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
