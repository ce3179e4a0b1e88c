internal import ByteStorage
internal import StrictJSON

/// Texts of one record that had to be made: escapes resolved, normal form C.
///
/// What is lent lives until `forget`, which a resolver calls when the next request comes, never between the devices of
/// one record.
struct RecordTexts: ~Copyable {
    /// Only its memory for resolved escapes is used, which lives until a text is opened.
    private var escapes = JSONCursor(maxDepth: 1)
    private var arena = OutputArena(chunkBytes: 4096)
    private var composer = Composer()

    /// Forgets all texts.
    mutating func forget() {
        escapes.open(.empty)
        arena.reset()
    }

    /// The text of a string that was read strictly, from its quotes on.
    mutating func text(quoted raw: ByteView) -> ByteView {
        let inner = raw.slice(1, raw.count &- 1)
        let hasEscape = ByteScan.first(UInt8(ascii: "\\"), in: inner, from: 0) < inner.count
        return escapes.unescaped(JSONString(raw: inner, hasEscape: hasEscape, hasNonASCII: true))
    }

    /// The text in normal form C (rule N5): itself where that changes nothing.
    mutating func normalForm(_ text: ByteView) -> ByteView {
        if text.isSurelyComposed { return text }
        arena.begin()
        composer.append(text, to: &arena)
        return arena.finish()
    }

    /// The normal form C of a text that comes to ASCII, or nil: only three other characters come to that, U+212A
    /// (`K`), U+037E (`;`) and U+1FEF (a grave accent), each by itself.
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

    /// A JSON text that was read strictly, without white space and needless escapes.
    mutating func compact(_ json: ByteView) -> ByteView {
        arena.begin()
        arena.appendCompact(json)
        return arena.finish()
    }

    /// Writes a text of its own.
    mutating func write<Failure: Error>(
        _ body: (inout OutputArena) throws(Failure) -> Void
    ) throws(Failure) -> ByteView {
        arena.begin()
        try body(&arena)
        return arena.finish()
    }
}
