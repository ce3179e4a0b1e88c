internal import LinkCoordinator
package import ByteStorage

/// The framing of a record's text: prefixes, white space, and headers.
package enum WireFormat {
    /// The size of the Confluent wire format's prefix: the byte 0 and a big-endian schema id of four bytes.
    static let schemaPrefixBytes = 5

    /// Returns a Boolean value that indicates whether a value begins with the prefix of the Confluent wire format.
    static func hasSchemaPrefix(_ value: ByteView) -> Bool { value.count >= schemaPrefixBytes && value[0] == 0 }

    /// Returns the schema id of a value with the prefix.
    static func schemaID(of value: ByteView) -> UInt32 {
        (1..<schemaPrefixBytes).reduce(0) { $0 << 8 | UInt32(value[$1]) }
    }

    /// Returns a Boolean value that indicates whether a byte is ASCII white space (WHATWG Infra), which is trimmed from
    /// both ends of a value.
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 || byte == 0x0C
    }

    /// Returns the range of `value` from `start` on, without white space at both ends.
    static func trimmed(_ value: ByteView, from start: Int) -> Range<Int> {
        var low = start
        var high = value.count
        while low < high, isWhiteSpace(value[low]) { low += 1 }
        while high > low, isWhiteSpace(value[high - 1]) { high -= 1 }
        return low..<high
    }

    /// Returns a Boolean value that indicates whether `trimmed(_:from:)` would remove white space from a text.
    static func hasWhiteSpaceAtEnds(_ text: ByteView) -> Bool {
        !text.isEmpty && (isWhiteSpace(text[0]) || isWhiteSpace(text[text.count - 1]))
    }

    /// Returns a Boolean value that indicates whether the text is a bare link: a scheme (RFC 3986, section 3.1), a
    /// colon, and no white space or control character.
    static func isLink(_ text: ByteView) -> Bool {
        let colon = Resolver.schemeLength(text)
        if colon == 0 { return false }
        for index in colon..<text.count where text[index] <= 0x20 || text[index] == 0x7F { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether the text needs no escape in a JSON string.
    static func isPlain(_ text: ByteView) -> Bool {
        for index in 0..<text.count {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
        }
        return true
    }

    /// Returns the failure of a value in UTF-16, by its byte order mark or the zeros of ASCII characters, or nil.
    static func refusal(ofUTF16 value: ByteView) -> IngestFailure? {
        guard value.count >= 4, value.count % 2 == 0 else { return nil }
        let hasMark = (value[0] == 0xFF && value[1] == 0xFE) || (value[0] == 0xFE && value[1] == 0xFF)
        guard hasMark || value[0] == 0 || value[1] == 0 else { return nil }
        let zero = value[0] == 0 ? 0 : 1
        let isASCII = (0..<min(6, value.count)).allSatisfy { (value[$0] == 0) == ($0 % 2 == zero) }
        guard hasMark || isASCII else { return nil }
        return IngestFailure(.notUTF8, "the value is UTF-16; send UTF-8: `iconv -f UTF-16 -t UTF-8`")
    }

    /// Returns the failure of a record with this header, or nil if the header does not prevent reading.
    ///
    /// Values are not decompressed, so a `content-encoding` other than `identity` is refused. The name is not
    /// case-sensitive.
    package static func refusal(ofHeader name: ByteView, value: ByteView?) -> IngestFailure? {
        guard equalsFolded(name, "content-encoding"), let value, !value.isEmpty,
            !equalsFolded(value, "identity")
        else { return nil }
        let named: [StaticString] = ["gzip", "x-gzip", "deflate", "br", "zstd", "snappy", "lz4"]
        let known = named.first { equalsFolded(value, $0) }
        let found = known.map { ", found \($0)" } ?? ""
        return IngestFailure(.encodingUnsupported, "expected a value without content-encoding\(found)")
    }
}

/// The decoding of Base64 (RFC 4648, section 4).
enum Base64 {
    /// Appends the decoded bytes to the open record of an arena.
    ///
    /// The text must be canonical: in groups of four characters with padding, without white space, and with zeros in
    /// the unused bits. Otherwise the function returns false.
    static func decode(_ text: ByteView, into arena: inout OutputArena) -> Bool {
        guard text.count % 4 == 0 else { return false }
        var index = 0
        while index < text.count {
            let isLast = index + 4 == text.count
            var padding = 0
            if isLast, text[index + 3] == UInt8(ascii: "=") { padding = text[index + 2] == UInt8(ascii: "=") ? 2 : 1 }
            var bits: UInt32 = 0
            for place in 0..<4 {
                let value = place < 4 - padding ? digit(text[index + place]) : 0
                if value > 63 { return false }
                bits = bits << 6 | UInt32(value)
            }
            if padding > 0 && bits & (1 << UInt32(8 * padding) - 1) != 0 { return false }
            for place in 0..<(3 - padding) {
                arena.append(byte: UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * place)))
            }
            index += 4
        }
        return true
    }

    /// Returns the value of a character, or 64 for any other byte.
    private static func digit(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: 64
        }
    }
}
