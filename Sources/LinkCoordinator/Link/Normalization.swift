internal import ByteStorage

/// Returns the text in normalization form C (NFC).
///
/// ASCII text is returned unchanged.
///
/// See RouteTableReference, "Text".
///
/// - Parameter bytes: Well-formed UTF-8.
package func nfc(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBufferPointer { text in
        if ByteView(text).isSurelyComposed { return bytes }
        var composer = Composer()
        var arena = OutputArena(chunkBytes: bytes.count * 2)
        arena.begin()
        composer.append(ByteView(text), to: &arena)
        return arena.finish().array
    }
}

/// Returns the text in normalization form C (NFC).
package func nfc(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    return String(decoding: nfc([UInt8](text.utf8)), as: UTF8.self)
}

extension ByteView {
    /// A Boolean value that indicates whether well-formed text is in NFC because all of its characters are in certain
    /// ranges.
    ///
    /// The ranges contain only starters that never change or compose in NFC (the Unicode quick check is `Yes` and the
    /// combining class is 0): characters up to U+02FF, Cyrillic letters, the dashes and quotation marks from U+2010 to
    /// U+2027, CJK ideographs, Hangul syllables, and the pictographs from U+1F300 to U+1FAFF. All other text is passed
    /// to `Composer`.
    package var isSurelyComposed: Bool {
        var index = 0
        while index < count {
            let lead = start[index]
            if lead < 0x80 {
                index &+= 1
                continue
            }
            guard let length = composedLength(at: index, lead: lead) else { return false }
            index &+= length
        }
        return true
    }

    private func composedLength(at index: Int, lead: UInt8) -> Int? {
        switch lead {
        case 0xC2...0xCB, 0xD0, 0xD1: return 2
        case 0xD2: return start[index &+ 1] >= 0x8A ? 2 : nil
        case 0xD3: return 2
        case 0xE2: return start[index &+ 1] == 0x80 && (0x90...0xA7).contains(start[index &+ 2]) ? 3 : nil
        case 0xE5...0xE8: return 3
        case 0xEB, 0xEC: return 3
        case 0xF0:
            return start[index &+ 1] == 0x9F && (0x8C...0xAB).contains(start[index &+ 2]) ? 4 : nil
        default: return nil
        }
    }
}
