internal import ByteStorage

/// The texts that a resolution creates by decoding, composing, and folding, and those that templates produce.
///
/// They are valid until `reset`.
struct ResolutionTexts: ~Copyable {
    /// The open text, between `begin` and `finish`.
    var arena: OutputArena
    /// The texts that templates produce.
    var built: OutputArena
    private var composer = Composer()
    /// A Boolean value that indicates whether a text was begun since the last reset.
    private var isUsed = false

    init(chunkBytes: Int, builtChunkBytes: Int) {
        arena = OutputArena(chunkBytes: chunkBytes)
        built = OutputArena(chunkBytes: builtChunkBytes)
    }

    /// Removes all texts.
    @inline(__always)
    mutating func reset() {
        resetArena()
        if built.bytesInUse != 0 { built.reset() }
    }

    /// Removes all texts except those that templates produced.
    @inline(__always)
    mutating func resetArena() {
        if isUsed {
            arena.reset()
            isUsed = false
        }
    }

    /// Begins a text in `arena`.
    @inline(__always)
    mutating func begin() {
        isUsed = true
        arena.begin()
    }

    /// Ends the open text and returns it.
    @inline(__always)
    mutating func finish() -> ByteView { arena.finish() }

    /// Returns a copy of a text with the padding that `WideScan` requires.
    @inline(never)
    mutating func padded(_ text: ByteView) -> ByteView {
        begin()
        arena.reserve(text.count &+ WideScan.padding)
        arena.appendReserved(text)
        return arena.finish()
    }

    /// Returns the text in NFC, without a copy if it is already composed.
    ///
    /// See RouteTableReference, "Text".
    @inline(never)
    mutating func normalForm(_ text: ByteView) -> ByteView {
        if text.isSurelyComposed { return text }
        begin()
        composer.append(text, to: &arena)
        return arena.finish()
    }

    /// Returns the text with lowercase ASCII letters.
    mutating func folded(_ text: ByteView) -> ByteView {
        begin()
        arena.reserve(text.count)
        for index in 0..<text.count { arena.append(byte: ByteScan.foldASCII(text[index])) }
        return arena.finish()
    }

    /// Returns the text with uppercase ASCII letters, as Foundation prints a UUID.
    mutating func uppercased(_ text: ByteView) -> ByteView {
        begin()
        arena.appendUppercased(text)
        return arena.finish()
    }
}
