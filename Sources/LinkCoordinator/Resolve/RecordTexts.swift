internal import ByteStorage
internal import StrictJSON

/// The texts of a record that had to be created by resolving escapes or composing.
///
/// They are valid until `forget`, which a resolver calls for the next request, never between the devices of a record.
struct RecordTexts: ~Copyable {
    /// Only the cursor's memory for resolved escapes is used, which is valid until a text is opened.
    private var escapes = JSONCursor(maxDepth: 1)
    private var arena = OutputArena(chunkBytes: 4096)
    private var composer = Composer()

    /// Removes all texts.
    mutating func forget() {
        escapes.open(.empty)
        arena.reset()
    }

    /// Returns the text of a strictly validated JSON string with its quotes.
    mutating func text(quoted raw: ByteView) -> ByteView {
        let inner = raw.slice(1, raw.count &- 1)
        let hasEscape = ByteScan.first(UInt8(ascii: "\\"), in: inner, from: 0) < inner.count
        return escapes.unescaped(JSONString(raw: inner, hasEscape: hasEscape, hasNonASCII: true))
    }

    /// Returns the text in normalization form C (NFC), without a copy if it is already composed.
    ///
    /// See RouteTableReference, "Text".
    mutating func normalForm(_ text: ByteView) -> ByteView {
        if text.isSurelyComposed { return text }
        arena.begin()
        composer.append(text, to: &arena)
        return arena.finish()
    }

    /// Returns the NFC form of a text if that form is ASCII, or nil.
    ///
    /// Only three non-ASCII characters compose to ASCII, each by itself: U+212A (`K`), U+037E (`;`), and U+1FEF (a
    /// grave accent).
    mutating func composedASCII(_ text: ByteView) -> ByteView? {
        arena.begin()
        arena.reserve(text.count)
        var index = 0
        while index < text.count {
            let rest = text.dropFirst(index)
            if text[index] < 0x80 {
                arena.append(byte: text[index])
                index += 1
            } else if rest.hasPrefix(ByteView("\u{212A}")) {
                arena.append(byte: UInt8(ascii: "K"))
                index += 3
            } else if rest.hasPrefix(ByteView("\u{37E}")) {
                arena.append(byte: UInt8(ascii: ";"))
                index += 2
            } else if rest.hasPrefix(ByteView("\u{1FEF}")) {
                arena.append(byte: UInt8(ascii: "`"))
                index += 3
            } else {
                arena.abandon()
                return nil
            }
        }
        return arena.finish()
    }

    /// Returns a text that the closure writes.
    mutating func write<Failure: Error>(
        _ body: (inout OutputArena) throws(Failure) -> Void
    ) throws(Failure) -> ByteView {
        arena.begin()
        try body(&arena)
        return arena.finish()
    }
}
