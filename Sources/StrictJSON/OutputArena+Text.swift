extension OutputArena {
    /// Appends bytes behind which `padding` more can be read, as those of a table.
    @inlinable
    public mutating func appendPadded(_ bytes: ByteView) {
        reserve(bytes.count &+ Self.slack)
        putPadded(bytes)
    }

    /// Appends a number as decimal text.
    @inlinable
    public mutating func append(decimal value: Int64) {
        reserve(20)
        if value >= 0 && value < 10 {
            put(byte: UInt8(truncatingIfNeeded: value) &+ UInt8(ascii: "0"))
            return
        }
        if value < 0 { put(byte: UInt8(ascii: "-")) }
        var rest = value.magnitude
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20 && rest >= bound {
            digits &+= 1
            // Wraps with the twentieth digit only, after which it is not looked at.
            bound = bound &* 10
        }
        var place = cursor + digits
        cursor = place
        repeat {
            place -= 1
            place.pointee = UInt8(truncatingIfNeeded: rest % 10) &+ UInt8(ascii: "0")
            rest /= 10
        } while rest != 0
    }

    /// Appends a JSON string with its quotes; only `"`, `\` and C0 controls are escaped (RFC 8259, section 7).
    @inlinable
    public mutating func appendString(_ text: ByteView) {
        append(byte: UInt8(ascii: "\""))
        appendEscaped(text)
        append(byte: UInt8(ascii: "\""))
    }

    /// Appends the inside of a JSON string: as `appendString`, without the quotes.
    @inlinable
    public mutating func appendEscaped(_ text: ByteView) {
        if text.count > Self.pieceBytes { return appendEscapedPieces(text) }
        reserve(text.count &* 6 &+ Self.slack)
        putEscaped(text)
    }

    /// Bytes of text for which room is reserved at once as if all of them were escaped.
    @usableFromInline static var pieceBytes: Int { 4096 }

    /// Appends a long text piece by piece, so that no more room is taken than it fills.
    @inline(never)
    @usableFromInline
    mutating func appendEscapedPieces(_ text: ByteView) {
        var at = 0
        while at < text.count {
            let end = min(at + Self.pieceBytes, text.count)
            reserve((end - at) &* 6 &+ Self.slack)
            putEscaped(text.slice(at, end))
            at = end
        }
    }

    /// Appends ASCII text with its letters in capitals, as Foundation prints a UUID.
    @inlinable
    public mutating func appendUppercased(_ text: ByteView) {
        reserve(text.count)
        putUppercased(text)
    }
}
