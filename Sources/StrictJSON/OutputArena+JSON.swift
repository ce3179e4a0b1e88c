public import ByteStorage

/// Output of JSON strings (RFC 8259, section 7).
extension OutputArena {
    /// Appends a JSON string with its quotes; only `"`, `\`, and C0 controls are escaped (RFC 8259, section 7).
    @inlinable
    public mutating func appendString(_ text: ByteView) {
        append(byte: UInt8(ascii: "\""))
        appendEscaped(text)
        append(byte: UInt8(ascii: "\""))
    }

    /// Appends a JSON string without its quotes.
    @inlinable
    public mutating func appendEscaped(_ text: ByteView) {
        if text.count > Self.pieceBytes { return appendEscapedPieces(text) }
        reserve(text.count &* 6 &+ Self.slack)
        putEscaped(text)
    }

    /// The number of bytes for which space is reserved at once, as if all of them were escaped.
    @usableFromInline static var pieceBytes: Int { 4096 }

    /// Appends a long text in pieces, so that little more space is reserved than the text fills.
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

    /// Writes a JSON string without its quotes; six times its bytes must have been reserved.
    @inlinable
    @inline(__always)
    public mutating func putEscaped(_ text: ByteView) {
        var index = 0
        while index &+ 8 <= text.count {
            let word = UnsafeRawPointer(text.start + index).loadUnaligned(as: UInt64.self)
            let stop = PlainText.stops(word)
            if stop == 0 {
                put(word, count: 8)
                index &+= 8
                continue
            }
            let plain = stop.trailingZeroBitCount &>> 3
            put(word, count: plain)
            index &+= plain
            escape(text.start[index])
            index &+= 1
        }
        while index < text.count {
            let byte = text.start[index]
            index &+= 1
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                put(byte: byte)
            } else {
                escape(byte)
            }
        }
    }

    /// Writes the escape of a byte that must not occur unescaped in a string.
    @inline(never)
    @usableFromInline
    mutating func escape(_ byte: UInt8) {
        let short: UInt8 =
            switch byte {
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
            default: 0
            }
        put(byte: UInt8(ascii: "\\"))
        if short != 0 {
            put(byte: short)
            return
        }
        put("u00")
        let digits: StaticString = "0123456789abcdef"
        put(byte: digits.utf8Start[Int(byte >> 4)])
        put(byte: digits.utf8Start[Int(byte & 15)])
    }
}
