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
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        for index in 0..<colon {
            let byte = text[index]
            let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26
            let isOther =
                byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
            if !isLetter && !(isOther && index > 0) { return false }
        }
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

    /// Returns the failure of a record with this header, or nil if the header does not prevent reading.
    ///
    /// Values are not decompressed, so a `content-encoding` other than `identity` is refused. The name is not
    /// case-sensitive.
    package static func refusal(ofHeader name: ByteView, value: ByteView?) -> IngestFailure? {
        guard name.equalsFoldingCase("content-encoding"), let value, !value.isEmpty,
            !value.equalsFoldingCase("identity")
        else { return nil }
        let named: [StaticString] = ["gzip", "x-gzip", "deflate", "br", "zstd", "snappy", "lz4"]
        let known = named.first { value.equalsFoldingCase($0) }
        let found = known.map { ", found \($0)" } ?? ""
        return IngestFailure(.encodingUnsupported, "expected a value without content-encoding\(found)")
    }
}
