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

    /// Reads the number at the cursor and returns its text (RFC 8259, section 6), without a check of its range.
    public mutating func number() throws(JSONError) -> ByteView {
        let first = peek()
        guard first == UInt8(ascii: "-") || Self.isDigit(first) else {
            throw failure(position < end ? .wrongType : .expectedValue)
        }
        let start = position
        if first == UInt8(ascii: "-") { position += 1 }
        if position < end, position.pointee == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits()
        }
        if position < end, position.pointee == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if position < end, position.pointee | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, position.pointee == UInt8(ascii: "+") || position.pointee == UInt8(ascii: "-") {
                position += 1
            }
            try digits()
        }
        return part(start, count: position - start)
    }

    private mutating func digits() throws(JSONError) {
        guard position < end, Self.isDigit(position.pointee) else { throw failure(.badNumber) }
        while position < end, Self.isDigit(position.pointee) { position += 1 }
    }

    @inlinable
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    /// Reads `true` or `false` at the cursor.
    public mutating func bool() throws(JSONError) -> Bool {
        switch peek() {
        case UInt8(ascii: "t"):
            try literal("true")
            return true
        case UInt8(ascii: "f"):
            try literal("false")
            return false
        default:
            throw failure(position < end ? .wrongType : .expectedValue)
        }
    }

    /// Reads a `null` at the cursor, or returns false if there is another value.
    public mutating func null() throws(JSONError) -> Bool {
        if peek() != UInt8(ascii: "n") { return false }
        try literal("null")
        return true
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        let expected = ByteView(word)
        for index in 0..<expected.count {
            if position + index >= end { throw JSONError(.unexpectedEnd, at: end - base) }
            if position[index] != expected[index] { throw JSONError(.badLiteral, at: offset) }
        }
        position += expected.count
    }

    /// Moves past the value at the cursor, validates it, and returns its bytes.
    @discardableResult
    public mutating func skip() throws(JSONError) -> ByteView {
        let first = peek()
        let start = position
        switch first {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer()
        default: try skipScalar(first)
        }
        return part(start, count: position - start)
    }

    private mutating func skipScalar(_ first: UInt8) throws(JSONError) {
        switch first {
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        case UInt8(ascii: "n"): _ = try null()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try number()
        default: throw failure(.expectedValue)
        }
    }

    /// Moves past an object or array without recursion, with the open scopes in `frames`.
    private mutating func skipContainer() throws(JSONError) {
        let outer = depth
        try push()
        while depth > outer {
            if frames[depth].isArray {
                var array = ArrayScope()
                array.first = !frames[depth].started
                frames[depth].started = true
                guard try nextElement(&array) else { continue }
            } else {
                var scope = frames[depth]
                guard try nextMember(&scope) else { continue }
                frames[depth] = scope
            }
            let first = peek()
            switch first {
            case UInt8(ascii: "\""): _ = try string()
            case UInt8(ascii: "{"), UInt8(ascii: "["): try push()
            default: try skipScalar(first)
            }
        }
    }

    private mutating func push() throws(JSONError) {
        if peek() == UInt8(ascii: "{") {
            setFrame(try enterObject())
        } else {
            _ = try enterArray()
            var scope = ObjectScope(firstName: names.count)
            scope.isArray = true
            setFrame(scope)
        }
    }
}

/// A validated string in its original form, without its quotes.
public struct JSONString {
    /// The bytes between the quotes, with their escapes.
    public var raw: ByteView
    /// A Boolean value that indicates whether the bytes contain a backslash.
    public var hasEscape: Bool
    /// A Boolean value that indicates whether the bytes contain one over 0x7F.
    public var hasNonASCII: Bool

    /// Creates a string from its validated bytes.
    @inlinable
    public init(raw: ByteView, hasEscape: Bool, hasNonASCII: Bool) {
        self.raw = raw
        self.hasEscape = hasEscape
        self.hasNonASCII = hasNonASCII
    }
}

/// The definition of plain text, shared by the reader and the writer.
@usableFromInline
enum PlainText {
    /// Returns the high bits of the bytes of `word` that end a plain run.
    ///
    /// Only the lowest bit that is set is exact.
    @inlinable
    @inline(__always)
    static func stops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ 0x2222_2222_2222_2222
        let slash = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let quotes = (quote &- ones) & ~quote
        let slashes = (slash &- ones) & ~slash
        let controls = (word &- 0x2020_2020_2020_2020) & ~word
        return (quotes | slashes | controls) & highs
    }
}

/// Returns the number of the four hexadecimal digits at `start`.
func hexValue(_ text: ByteView, _ start: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in start..<start + 4 where index < text.count {
        value = value << 4 | UInt32(hexDigit(text[index]) ?? 0)
    }
    return value
}
