public import ByteStorage

extension JSONCursor {
    /// Reads the string at the cursor.
    @inlinable
    public mutating func string() throws(JSONError) -> JSONString {
        if peek() != UInt8(ascii: "\"") { throw failure(position < end ? .wrongType : .expectedValue) }
        let start = position + 1
        let limit = end
        var address = start
        var high: UInt64 = 0
        while limit - address >= 8 {
            let word = UnsafeRawPointer(address).loadUnaligned(as: UInt64.self)
            let stop = PlainText.stops(word)
            if stop != 0 { return try endRun(from: start, at: address, word, stop, high) }
            high |= word
            address += 8
        }
        if address == limit || limit - base < 8 {
            position = address
            return try stringSlow(from: start)
        }
        // The last bytes of the text are followed by zeros, which stop the scan like a control character.
        let shift = UInt64(truncatingIfNeeded: (8 &- (limit - address)) &<< 3)
        let word = UnsafeRawPointer(limit - 8).loadUnaligned(as: UInt64.self) &>> shift
        return try endRun(from: start, at: address, word, PlainText.stops(word), high)
    }

    /// Reads the string at the cursor without being inlined, for callers with a fast path of their own.
    @inline(never)
    mutating func anyString() throws(JSONError) -> JSONString { try string() }

    /// Ends a plain run that stops within `word`, the word at `address`: at the closing quote, or on the slow path.
    @inlinable
    @inline(__always)
    mutating func endRun(
        from start: UnsafePointer<UInt8>, at address: UnsafePointer<UInt8>, _ word: UInt64, _ stop: UInt64,
        _ high: UInt64
    ) throws(JSONError) -> JSONString {
        let bits = UInt64(truncatingIfNeeded: stop.trailingZeroBitCount) & 56
        let quote = address + Int(truncatingIfNeeded: bits &>> 3)
        if UInt8(truncatingIfNeeded: word &>> bits) != UInt8(ascii: "\"") {
            position = quote
            return try stringSlow(from: start)
        }
        position = quote + 1
        let raw = part(start, count: quote - start)
        let nonASCII = (high | word & ((1 &<< bits) &- 1)) & 0x8080_8080_8080_8080 != 0
        if nonASCII { try checkUTF8(raw) }
        return JSONString(raw: raw, hasEscape: false, hasNonASCII: nonASCII)
    }

    /// Continues byte by byte after the plain run, to handle escapes, the last bytes of the text, and errors.
    @inline(never)
    @usableFromInline
    mutating func stringSlow(from start: UnsafePointer<UInt8>) throws(JSONError) -> JSONString {
        var escape = false
        while position < end {
            let byte = position.pointee
            if byte == UInt8(ascii: "\"") {
                let raw = part(start, count: position - start)
                let nonASCII = raw.hasNonASCII
                if nonASCII { try checkUTF8(raw) }
                position += 1
                return JSONString(raw: raw, hasEscape: escape, hasNonASCII: nonASCII)
            }
            if byte < 0x20 { throw JSONError(.controlCharacter, at: offset) }
            if byte == UInt8(ascii: "\\") {
                escape = true
                try passEscape()
            } else {
                position += 1
            }
        }
        throw JSONError(.unexpectedEnd, at: offset)
    }

    @inline(never)
    @usableFromInline
    mutating func checkUTF8(_ raw: ByteView) throws(JSONError) {
        if let bad = raw.firstIllFormedUTF8 { throw JSONError(.badUTF8, at: raw.start - base + bad) }
    }

    /// Moves past one escape, or both halves of a surrogate pair.
    private mutating func passEscape() throws(JSONError) {
        let start = offset
        position += 1
        if position >= end { throw JSONError(.unexpectedEnd, at: offset) }
        let letter = position.pointee
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            let unit = try hexUnit(from: start)
            if unit & 0xFC00 == 0xDC00 { throw JSONError(.loneSurrogate, at: start) }
            guard unit & 0xFC00 == 0xD800 else { return }
            guard end - position >= 2, position[0] == UInt8(ascii: "\\"), position[1] == UInt8(ascii: "u") else {
                throw JSONError(.loneSurrogate, at: start)
            }
            position += 2
            if try hexUnit(from: offset - 2) & 0xFC00 != 0xDC00 { throw JSONError(.loneSurrogate, at: start) }
        default:
            throw JSONError(.badEscape, at: start)
        }
    }

    private mutating func hexUnit(from start: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            if position >= end { throw JSONError(.unexpectedEnd, at: offset) }
            guard let digit = hexDigit(position.pointee) else { throw JSONError(.badEscape, at: start) }
            unit = unit &* 16 &+ UInt32(digit)
            position += 1
        }
        return unit
    }

    /// Returns the string's text without escapes.
    ///
    /// A string with escapes is resolved into memory that is valid until the next text is opened.
    @inlinable
    @inline(__always)
    public mutating func unescaped(_ string: JSONString) -> ByteView {
        string.hasEscape ? resolveEscapes(string.raw) : string.raw
    }

    @inline(never)
    @usableFromInline
    mutating func resolveEscapes(_ raw: ByteView) -> ByteView {
        scratch.begin()
        scratch.reserve(raw.count)
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            if byte != UInt8(ascii: "\\") {
                scratch.append(byte: byte)
                index += 1
                continue
            }
            let letter = raw[index + 1]
            index += 2
            switch letter {
            case UInt8(ascii: "b"): scratch.append(byte: 0x08)
            case UInt8(ascii: "f"): scratch.append(byte: 0x0C)
            case UInt8(ascii: "n"): scratch.append(byte: 0x0A)
            case UInt8(ascii: "r"): scratch.append(byte: 0x0D)
            case UInt8(ascii: "t"): scratch.append(byte: 0x09)
            case UInt8(ascii: "u"):
                var scalar = hexValue(raw, index)
                index += 4
                if scalar & 0xFC00 == 0xD800 {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + (hexValue(raw, index + 2) & 0x3FF)
                    index += 6
                }
                scratch.appendUTF8(scalar)
            default: scratch.append(byte: letter)
            }
        }
        return scratch.finish()
    }
}
