public import ByteStorage

/// Output of JSON strings (RFC 8259, section 7).
extension OutputArena {
    /// Appends a JSON string with its quotes, and escapes only `"`, `\`, and C0 controls (RFC 8259, section 7).
    @inlinable
    public mutating func appendString(_ text: ByteView) {
        append(byte: UInt8(ascii: "\""))
        appendEscaped(text)
        append(byte: UInt8(ascii: "\""))
    }

    /// Appends a text as a JSON string, for cold paths.
    package mutating func appendString(_ text: String) {
        var text = text
        text.withUTF8 { appendString(ByteView($0)) }
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

    /// Writes a JSON string without its quotes, for which six times its bytes must have been reserved.
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

    /// Appends a validated JSON value in the compact form of this writer.
    ///
    /// The result has no white space. Its strings escape only `"`, `\`, and C0 controls, and its numbers keep their
    /// text.
    ///
    /// - Parameter json: The text of one valid value.
    package mutating func appendCompact(_ json: ByteView) {
        var index = 0
        while index < json.count {
            let byte = json[index]
            if byte == UInt8(ascii: "\"") {
                index = appendStringText(json, from: index)
            } else {
                if byte > 0x20 { append(byte: byte) }
                index += 1
            }
        }
    }

    /// Appends the string that begins at `start` and returns the index after its end.
    private mutating func appendStringText(_ json: ByteView, from start: Int) -> Int {
        append(byte: UInt8(ascii: "\""))
        var run = start + 1
        var index = run
        while true {
            index = ByteScan.first(UInt8(ascii: "\""), or: UInt8(ascii: "\\"), in: json, from: index)
            append(json.slice(run, index))
            guard index < json.count, json[index] != UInt8(ascii: "\"") else { break }
            index = appendEscape(json, from: index)
            run = index
        }
        append(byte: UInt8(ascii: "\""))
        return index + 1
    }

    /// Appends the character of the escape at `start` and returns the index after the escape.
    private mutating func appendEscape(_ json: ByteView, from start: Int) -> Int {
        guard start + 1 < json.count else { return json.count }
        let letter = json[start + 1]
        if letter == UInt8(ascii: "/") {
            append(byte: letter)
            return start + 2
        }
        guard letter == UInt8(ascii: "u") else {
            append(byte: UInt8(ascii: "\\"))
            append(byte: letter)
            return start + 2
        }
        var end = start + 6
        var scalar = hexValue(json, start + 2)
        if scalar & 0xFC00 == 0xD800 {
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + (hexValue(json, start + 8) & 0x3FF)
            end += 6
        }
        if scalar < 0x20 || scalar == 0x22 || scalar == 0x5C {
            escape(UInt8(truncatingIfNeeded: scalar))
        } else {
            appendUTF8(scalar)
        }
        return min(end, json.count)
    }

    /// Appends a Unicode scalar as UTF-8 (RFC 3629).
    @inlinable
    public mutating func append(scalar: UInt32) {
        if scalar < 0x80 { append(byte: UInt8(truncatingIfNeeded: scalar)) } else { appendUTF8(scalar) }
    }

    /// Appends a Unicode scalar as UTF-8 (RFC 3629).
    @usableFromInline
    mutating func appendUTF8(_ scalar: UInt32) {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | scalar &>> shift & 0x3F) }
        func lead(_ mark: UInt32, _ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: mark | scalar &>> shift) }
        if scalar < 0x80 {
            append(byte: UInt8(truncatingIfNeeded: scalar))
        } else if scalar < 0x800 {
            append(byte: lead(0xC0, 6))
            append(byte: tail(0))
        } else if scalar < 0x10000 {
            append(byte: lead(0xE0, 12))
            append(byte: tail(6))
            append(byte: tail(0))
        } else {
            append(byte: lead(0xF0, 18))
            append(byte: tail(12))
            append(byte: tail(6))
            append(byte: tail(0))
        }
    }
}
