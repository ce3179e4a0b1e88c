internal import ByteStorage

/// Parses pattern texts.
///
/// See RouteTableReference, "Patterns".
package enum PatternParser {
    /// The maximum number of segments of a pattern.
    package static let maxSegments = 64

    /// Parses a path pattern.
    ///
    /// A trailing optional segment results in two patterns, the longer one first.
    package static func parse(_ text: String, foldsCase: Bool) throws(TextError) -> [Pattern] {
        var parts = Parts(foldsCase: foldsCase)
        try parts.read(text)
        let terminal = parts.terminal ?? .end
        let full = Pattern(
            matchers: parts.matchers + [terminal], captures: parts.captures, text: parts.texts.isEmpty ? "/" : text)
        guard parts.optional else { return [full] }
        let written = "/" + parts.texts.joined(separator: "/")
        let shorter = parts.texts.dropLast()
        return [
            Pattern(matchers: full.matchers, captures: full.captures, text: written),
            Pattern(
                matchers: parts.matchers.dropLast() + [.end], captures: parts.captures.dropLast(),
                text: "/" + shorter.joined(separator: "/")),
        ]
    }

    /// Parses the prefix of a rewrite: at least one segment, of literals and at most one capture of a single segment.
    package static func parsePrefix(_ text: String, foldsCase: Bool) throws(TextError) -> Pattern {
        var parts = Parts(foldsCase: foldsCase)
        try parts.read(text)
        if parts.terminal != nil { throw TextError("a prefix must not have a tail", at: 0) }
        if parts.optional { throw TextError("a prefix must not have an optional segment", at: 0) }
        if parts.matchers.isEmpty { throw TextError("a prefix must have at least one segment", at: 0) }
        if parts.captures.count > 1 { throw TextError("a prefix must have at most one capture", at: 0) }
        return Pattern(matchers: parts.matchers + [.restStar], captures: parts.captures, text: text)
    }

    /// Returns the pattern of `anySegment`.
    package static func anySegment(_ text: String, foldsCase: Bool) throws(TextError) -> Pattern {
        let bytes = Array(text.utf8)
        if bytes.isEmpty { throw TextError("a segment must not be empty", at: 0) }
        try checkLiteral(bytes, at: 0)
        let own = foldsCase ? bytes.map(lowerASCII) : bytes
        return Pattern(matchers: [.anySegment(own)], captures: [], text: "anySegment:" + text)
    }

    /// Throws an error for a literal segment that no link can have.
    static func checkLiteral(_ bytes: some Collection<UInt8>, at offset: Int) throws(TextError) {
        if bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8) {
            throw TextError("a link cannot have the segment `.` or `..`", at: offset)
        }
        try checkCharacters(bytes, at: offset)
    }

    /// Throws an error for characters that no path can have.
    ///
    /// See RouteTableReference, "Path segments".
    package static func checkCharacters(_ bytes: some Collection<UInt8>, at offset: Int) throws(TextError) {
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F, 0x200B...0x200F, 0x202A...0x202E, 0x2060, 0x2066...0x2069, 0xFEFF:
                throw TextError("a path cannot have control or invisible characters", at: offset)
            default: continue
            }
        }
    }
}

/// The parts of a pattern during parsing.
private struct Parts {
    let foldsCase: Bool
    var matchers: [Matcher] = []
    var captures: [Capture] = []
    /// The text of each segment, without the `?` of an optional one.
    var texts: [String] = []
    var terminal: Matcher?
    var optional = false

    init(foldsCase: Bool) { self.foldsCase = foldsCase }

    mutating func read(_ text: String) throws(TextError) {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "/") else {
            let isURL = text.contains("://")
            throw TextError(
                isURL ? "a pattern must be a path without scheme and host" : "a pattern must begin with `/`", at: 0)
        }
        if bytes.count == 1 { return }
        if bytes.last == UInt8(ascii: "/") {
            throw TextError("a pattern must not end with `/`", at: bytes.count - 1)
        }
        var start = 1
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
            try segment(TextReader(bytes, from: start, to: end))
            start = end + 1
        }
        if matchers.count > PatternParser.maxSegments {
            throw TextError(
                "the pattern has \(matchers.count) segments, the limit is \(PatternParser.maxSegments)", at: 0)
        }
    }

    private mutating func segment(_ whole: TextReader) throws(TextError) {
        var reader = whole
        if reader.isAtEnd {
            throw TextError("a pattern must not have empty segments", at: reader.at)
        }
        if terminal != nil {
            throw TextError(
                "a tail must be at the end of the pattern", at: reader.at, kind: .tailPosition,
                suggestion: "write `{name}` for one segment")
        }
        if optional {
            throw TextError(
                "only the last segment can be optional", at: reader.at,
                suggestion: "add the pattern without this segment as an alias")
        }
        let start = reader.at
        let prefix = try literal(&reader)
        var text = String(decoding: reader.bytes[start..<reader.end], as: UTF8.self)
        if reader.isAtEnd {
            try PatternParser.checkLiteral(reader.bytes[start..<reader.end], at: start)
            matchers.append(.literal(prefix))
        } else {
            try capture(&reader, prefix: prefix, start: start)
            if optional { text = String(text.dropLast(2)) + "}" }
        }
        texts.append(text)
    }

    /// Parses text up to a brace, and folds it if the table folds case.
    private func literal(_ reader: inout TextReader) throws(TextError) -> [UInt8] {
        let start = reader.at
        let bytes = reader.run { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }
        if reader.next == UInt8(ascii: "}") { throw TextError("there is a `}` without a `{`", at: reader.at) }
        try PatternParser.checkCharacters(bytes, at: start)
        return foldsCase ? bytes.map(lowerASCII) : bytes
    }

    private mutating func capture(_ reader: inout TextReader, prefix: [UInt8], start: Int) throws(TextError) {
        let brace = reader.at
        _ = reader.take("{")
        let nameStart = reader.at
        var rest = reader
        let inside = rest.text(until: "}", "/")
        let isLast = rest.at + 1 == reader.bytes.count
        if rest.next == UInt8(ascii: "}"), let mistake = CaptureMistake.find(in: inside, isLast: isLast) {
            throw TextError(mistake.rawValue, at: reader.at, hints: [.capture(inside, mistake)])
        }
        let name = try reader.captureName()
        if captures.contains(where: { $0.name == name }) {
            throw TextError("the capture `\(name)` occurs twice", at: nameStart, kind: .duplicate)
        }
        var type = CaptureType(matcher: .any)
        if reader.take(":") {
            type = try CaptureType.read(&reader, foldsCase: foldsCase)
        } else if reader.take("+") {
            type.matcher = .restPlus
        } else if reader.take("*") {
            type.matcher = .restStar
        }
        let isOptional = reader.take("?")
        guard reader.take("}") else {
            throw TextError(
                "expected `}` after the capture `\(name)`", at: reader.at,
                suggestion: "write `{\(name)}`, `{\(name):int}`, `{\(name)?}`, `{\(name)+}`, or `{\(name)*}`")
        }
        if reader.next == UInt8(ascii: "{") {
            throw TextError("a segment must have at most one capture", at: reader.at)
        }
        let suffix = try literal(&reader)
        if !reader.isAtEnd { throw TextError("a segment must have at most one capture", at: reader.at) }
        let isWhole = prefix.isEmpty && suffix.isEmpty
        if isOptional, !isWhole || type.matcher.isTerminal {
            throw TextError("only a capture of a whole segment can be optional", at: brace)
        }
        if type.matcher.isTerminal, !isWhole { throw TextError("a tail must be a whole segment", at: brace) }
        optional = isOptional
        add(name, type, prefix: prefix, suffix: suffix)
    }

    private mutating func add(_ name: String, _ type: CaptureType, prefix: [UInt8], suffix: [UInt8]) {
        let isTail = type.matcher.isTerminal
        captures.append(
            Capture(
                name: name, matcher: type.matcher, segment: matchers.count,
                extent: isTail ? .tail : .segment(prefix: prefix.count, suffix: suffix.count),
                spellings: type.spellings))
        if isTail {
            terminal = type.matcher
        } else if prefix.isEmpty && suffix.isEmpty {
            matchers.append(type.matcher)
        } else {
            matchers.append(.affix(prefix: prefix, inner: type.matcher, suffix: suffix))
        }
    }
}

/// An error in a pattern, a type, or another small text of the table, with its position in the text.
package struct TextError: Error, Sendable, Equatable {
    /// The kind of an error.
    package enum Kind: Sendable, Equatable {
        /// The text violates the grammar.
        case syntax
        /// A tail precedes the end of the pattern.
        case tailPosition
        /// A name violates the rules of names.
        case name
        /// A name is reserved.
        case reservedName
        /// A name occurs twice.
        case duplicate
    }

    /// The kind of the error.
    package var kind: Kind

    /// A description of what was found and what was expected.
    package var message: String

    /// A description of what to do, unless the message makes it clear.
    package var suggestion: String?

    /// The likely meanings of the author, the most specific hint first.
    package var hints: [TableHint]

    /// The byte offset in the text.
    package var offset: Int

    /// Creates an error at a byte of the text.
    package init(
        _ message: String, at offset: Int, kind: Kind = .syntax, suggestion: String? = nil, hints: [TableHint] = []
    ) {
        self.message = message
        self.offset = offset
        self.kind = kind
        self.suggestion = suggestion
        self.hints = hints
    }
}

/// Reads a small text of the table byte by byte: a pattern, type, template, or condition.
package struct TextReader {
    /// The whole text.
    package let bytes: [UInt8]

    /// The index of the next byte.
    package var at: Int

    /// The index after the last byte to read.
    package let end: Int

    /// Creates a reader of a text.
    package init(_ text: String) {
        bytes = Array(text.utf8)
        at = 0
        end = bytes.count
    }

    /// Creates a reader of a part of a text.
    package init(_ bytes: [UInt8], from start: Int, to end: Int) {
        self.bytes = bytes
        at = start
        self.end = end
    }

    /// The next byte, or nil at the end.
    package var next: UInt8? { at < end ? bytes[at] : nil }

    /// A Boolean value that indicates whether all bytes have been read.
    package var isAtEnd: Bool { at >= end }

    /// Skips `byte` if it is the next byte.
    ///
    /// Returns `false` if another byte is next.
    package mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        at += 1
        return true
    }

    /// Skips `word` if the remaining bytes begin with it.
    ///
    /// Returns `false` if they do not.
    package mutating func take(word: String) -> Bool {
        let expected = Array(word.utf8)
        guard at + expected.count <= end, bytes[at..<(at + expected.count)].elementsEqual(expected) else {
            return false
        }
        at += expected.count
        return true
    }

    /// Reads bytes as long as they satisfy the predicate.
    package mutating func run(while passes: (UInt8) -> Bool) -> [UInt8] {
        let start = at
        while let byte = next, passes(byte) { at += 1 }
        return Array(bytes[start..<at])
    }

    /// Reads text up to one of the stop bytes, which remains the next byte, or to the end.
    package mutating func text(until stops: Unicode.Scalar...) -> String {
        let ends = stops.map { UInt8(ascii: $0) }
        return String(decoding: run { !ends.contains($0) }, as: UTF8.self)
    }

    /// Reads the name of a capture.
    package mutating func captureName() throws(TextError) -> String {
        let start = at
        let name = String(decoding: run(while: NameRule.identifier.continues), as: UTF8.self)
        guard NameRule.identifier.matches(name) else {
            throw TextError("the name of a capture must be \(NameRule.identifier.text)", at: start, kind: .name)
        }
        if NameRule.isReserved(name) {
            throw TextError("the name `\(name)` is reserved", at: start, kind: .reservedName)
        }
        return name
    }

    /// Reads `(min..max)`, `(min..)`, or `(..max)` after the name of a type.
    ///
    /// Returns nil if no parenthesis follows.
    package mutating func bounds() throws(TextError) -> (min: Int64?, max: Int64?)? {
        let start = at
        guard take("(") else { return nil }
        let min = try boundsEnd(before: "..")
        guard take(word: "..") else {
            throw TextError("expected bounds such as `(1..99)`, `(1..)`, or `(..9)`", at: start)
        }
        let max = try boundsEnd(before: ")")
        guard take(")"), min != nil || max != nil else {
            throw TextError("expected bounds such as `(1..99)`, `(1..)`, or `(..9)`", at: start)
        }
        if let min, let max, min > max {
            throw TextError(
                "the lower bound \(min) is greater than the upper bound \(max)", at: start,
                suggestion: "write `(\(max)..\(min))`")
        }
        return (min, max)
    }

    private mutating func boundsEnd(before what: String) throws(TextError) -> Int64? {
        let start = at
        let digits = run { $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "0") < 10 }
        if digits.isEmpty { return nil }
        guard let value = digits.withUnsafeBufferPointer({ TextForms.integer(ByteView($0)) }) else {
            throw TextError(
                "expected a 64-bit number without leading zeros before `\(what)`", at: start,
                suggestion: "write bounds such as `(1..99)`, `(1..)`, or `(..9)`")
        }
        return value
    }

    /// Reads `(a|b|c)` after `enum`: nonempty and unique values in their order.
    package mutating func enumValues() throws(TextError) -> [[UInt8]] {
        guard take("(") else { throw TextError("expected values, such as `enum(a|b)`", at: at) }
        var values: [[UInt8]] = []
        repeat {
            let start = at
            let value = run { $0 != UInt8(ascii: "|") && $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: "}") }
            if value.isEmpty { throw TextError("a value of an enum must not be empty", at: start) }
            if values.contains(value) {
                throw TextError(
                    "the value `\(String(decoding: value, as: UTF8.self))` occurs twice in the enum", at: start,
                    kind: .duplicate)
            }
            values.append(value)
        } while take("|")
        guard take(")") else { throw TextError("expected `)` after the values of the enum", at: at) }
        return values
    }
}
