internal import ByteStorage

/// Parses texts with braces: redirects, external targets, and identities.
package struct TemplateParser {
    /// A piece of a text: literal text or the content of braces, with its byte offset.
    private enum Piece {
        case text(String, Int)
        case braces(String, Int)
    }

    /// Splits a text at its braces.
    private static func pieces(_ reader: inout TextReader) throws(TextError) -> [Piece] {
        var pieces: [Piece] = []
        while !reader.isAtEnd {
            let start = reader.at
            let text = reader.text(until: "{", "}")
            if !text.isEmpty { pieces.append(.text(text, start)) }
            if reader.isAtEnd { break }
            guard reader.take("{") else { throw TextError("there is a `}` without a `{`", at: reader.at) }
            let inside = reader.at
            let name = reader.text(until: "{", "}")
            guard reader.take("}") else { throw TextError("expected `}` after the name", at: reader.at) }
            pieces.append(.braces(name, inside))
        }
        return pieces
    }

    /// Parses the template of a redirect, such as `/orders/{order}`.
    ///
    /// - Parameters:
    ///   - text: The template.
    ///   - fileOffset: A closure that converts a byte offset in the text into one in the file.
    package static func path(_ text: String, fileOffset: (Int) -> Int) throws(TextError) -> TableSource.PathTemplate {
        let bytes = Array(text.utf8)
        if bytes.count > 1, bytes.last == UInt8(ascii: "/") {
            throw TextError("a template must not end with `/`", at: bytes.count - 1)
        }
        var segments: [[TableSource.TemplatePart]] = []
        var start = 1
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
            if end == start { throw TextError("a template must not have empty segments", at: start) }
            var reader = TextReader(bytes, from: start, to: end)
            var parts: [TableSource.TemplatePart] = []
            for piece in try pieces(&reader) {
                switch piece {
                case .text(let text, let offset):
                    try PatternParser.checkCharacters(text.utf8, at: offset)
                    parts.append(.text(text))
                case .braces(let name, let offset):
                    parts.append(.name(try self.name(name, at: offset, fileOffset)))
                }
            }
            if case .text(let only) = parts.first, parts.count == 1, only == "." || only == ".." {
                throw TextError("a link cannot have the segment `.` or `..`", at: start)
            }
            segments.append(parts)
            start = end + 1
        }
        if segments.count > PatternParser.maxSegments {
            throw TextError(
                "the template has \(segments.count) segments, the limit is \(PatternParser.maxSegments)", at: 0)
        }
        return TableSource.PathTemplate(segments: segments, text: text)
    }

    private static func name(
        _ text: String, at offset: Int, _ fileOffset: (Int) -> Int
    ) throws(TextError) -> Located<String> {
        if text.hasPrefix("query.") {
            throw TextError(
                "`{query.…}` is only allowed in external targets; a redirect keeps the query of the link", at: offset)
        }
        guard NameRule.identifier.matches(text) else {
            throw TextError("expected the name of a capture between the braces", at: offset, kind: .name)
        }
        return Located(text, at: fileOffset(offset))
    }

    /// Parses an external target, such as `https://shop.example/p/{id}?q={query.q}`.
    static func external(_ text: String, fileOffset: (Int) -> Int) throws(TextError) -> TableSource.ExternalTemplate {
        var reader = TextReader(text)
        var read: [TableSource.TemplatePart] = []
        for piece in try pieces(&reader) {
            switch piece {
            case .text(let text, let offset):
                try checkURL(Array(text.utf8), at: offset)
                // An encoded period is one (RFC 3986 section 6.2.2.2), also in a segment `..`.
                read.append(.text(text.replacing("%2e", with: ".").replacing("%2E", with: ".")))
            case .braces(let name, let offset) where name.hasPrefix("query."):
                read.append(.query(Located(String(name.dropFirst(6)), at: fileOffset(offset))))
            case .braces(let name, let offset): read.append(.name(try self.name(name, at: offset, fileOffset)))
            }
        }
        let head = Array(text.utf8.prefix { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") })
        let parts = head.withUnsafeBufferPointer { buffer -> (String, [UInt8], UInt16?, Bool)? in
            guard let url = WebURL(ByteView(buffer)), let host = WebURL.normalHost(url.host) else { return nil }
            return (url.scheme.string, host, url.port, host.elementsEqual(url.host.buffer) && !url.rest.isEmpty)
        }
        guard let (scheme, host, port, isWhole) = parts, !host.isEmpty else {
            throw TextError("expected scheme://host with a literal scheme and host, and without userinfo", at: 0)
        }
        guard scheme == scheme.lowercased(), isWhole || head.count == text.utf8.count, host.last != UInt8(ascii: ".")
        else {
            throw TextError(
                "scheme and host must be literal and lowercase; captures are only allowed after `/`, `?`, or `#`", at: 0
            )
        }
        return TableSource.ExternalTemplate(scheme: scheme, host: host, port: port, parts: read, text: text)
    }

    /// Throws an error for characters that a URL can have only percent-encoded.
    private static func checkURL(_ bytes: [UInt8], at offset: Int) throws(TextError) {
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
                UInt8(ascii: "`"), UInt8(ascii: "|"), 0...0x20, 0x7F...0xFF:
                throw TextError("this character must be percent-encoded in a URL", at: offset + index)
            case UInt8(ascii: "%"):
                let digits = bytes[(index + 1)...].prefix(2)
                guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
                    throw TextError("expected two hexadecimal digits after `%`", at: offset + index)
                }
            default: continue
            }
        }
    }

    /// Parses the identity of a screen: text with `{Model.field}`.
    static func identity(_ text: String) throws(TextError) -> [TableSource.IdentityTemplate.Part] {
        var reader = TextReader(text)
        var parts: [TableSource.IdentityTemplate.Part] = []
        for piece in try pieces(&reader) {
            switch piece {
            case .text(let text, _): parts.append(.text(text))
            case .braces(let name, let offset):
                let halves = name.split(separator: ".", omittingEmptySubsequences: false)
                guard halves.count == 2, halves.allSatisfy({ NameRule.identifier.matches(String($0)) }) else {
                    throw TextError(
                        "expected a model and a field, `{MODEL.FIELD}`", at: offset,
                        suggestion: halves.count == 1 ? "write `{MODEL.\(name)}`" : nil)
                }
                parts.append(.field(model: String(halves[0]), field: String(halves[1])))
            }
        }
        return parts
    }
}

/// A JSON pointer (RFC 6901).
package struct JSONPath: Sendable, Hashable {
    /// The pointer as written.
    package let text: String

    /// The names or indices from the root, with `~1` and `~0` decoded.
    package let tokens: [String]

    /// Creates a pointer from its text.
    ///
    /// Returns nil for a nonempty text that does not begin with `/`, or if `~` is not followed by 0 or 1.
    package init?(_ text: String) {
        self.text = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var read: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let token = Self.unescape(part) else { return nil }
            read.append(token)
        }
        tokens = read
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var escaped = false
        for byte in part {
            if escaped {
                guard byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") else { return nil }
                bytes.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
                escaped = false
            } else if byte == UInt8(ascii: "~") {
                escaped = true
            } else {
                bytes.append(byte)
            }
        }
        return escaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

/// A valid version in a table.
package struct VersionText: Sendable, Hashable {
    /// The ASCII bytes of the version as written.
    package let bytes: [UInt8]

    /// Creates a version from its text, or returns nil if the text is not a version.
    package init?(_ text: String) {
        bytes = [UInt8](text.utf8)
        let reads = bytes.withUnsafeBufferPointer { Version(ByteView($0)) != nil }
        guard reads else { return nil }
    }

    /// The version as written.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
