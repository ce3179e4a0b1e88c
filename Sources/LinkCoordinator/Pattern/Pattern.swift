package import ByteStorage

/// A path pattern without optional parts: the matchers of segments, followed by a terminal matcher.
package struct Pattern: Sendable, Hashable {
    /// The matchers.
    ///
    /// The last one, and only the last one, is terminal (`Matcher.isTerminal`).
    package let matchers: [Matcher]

    /// The captures in the order of their segments, with unique names.
    package let captures: [Capture]

    /// The decoded text of the pattern with the names of captures.
    ///
    /// Different texts may have equal matchers.
    package let text: String

    /// Creates a pattern.
    ///
    /// The parser enforces the rules.
    package init(matchers: [Matcher], captures: [Capture], text: String) {
        self.matchers = matchers
        self.captures = captures
        self.text = text
    }

    /// Returns the capture with the given name, or nil.
    package func capture(named name: String) -> Capture? { captures.first { $0.name == name } }

    /// The number of segments before the terminal matcher.
    package var segmentCount: Int { matchers.count - 1 }
}

/// A named part of a path.
package struct Capture: Sendable, Hashable {
    /// The extent of a capture.
    package enum Extent: Sendable, Hashable {
        /// A part of one segment, without the given number of bytes at its start and end.
        case segment(prefix: Int, suffix: Int)
        /// All segments from this one on (`{rest+}`, `{rest*}`, `{p:coordinatorPath}`).
        case tail
    }

    /// The name, for `path.name` and `{name}`.
    package let name: String

    /// The matcher of the captured text without affixes, or the terminal matcher of a tail.
    package let matcher: Matcher

    /// The index of the segment, starting at 0.
    ///
    /// For a tail, it is the index of the tail's first segment.
    package let segment: Int

    /// The part of the segment that is captured.
    package let extent: Extent

    /// The spellings of the values of an enumeration, in the order of the matcher's values.
    package var spellings: [[UInt8]] = []

    /// A Boolean value that indicates whether the capture contains all segments to the end of the path.
    package var isTail: Bool { extent == .tail }
}

/// A matcher of one segment of a path, or of the end of a path.
///
/// Matchers are normalized: the values of an enumeration are sorted, and if the table folds case, literals, affixes,
/// and enumeration values are lowercase. Equal matchers match the same texts, regardless of the names of captures.
///
/// See RouteTableReference, "Patterns".
package indirect enum Matcher: Sendable, Hashable {
    /// Exactly this segment.
    case literal([UInt8])

    /// One of these segments, sorted by bytes.
    case enumeration([[UInt8]])

    /// `inner` between literal texts. At least one of them is not empty.
    case affix(prefix: [UInt8], inner: Matcher, suffix: [UInt8])

    /// A 64-bit integer in canonical form, within the bounds.
    case int(min: Int64, max: Int64)

    /// `true`, `false`, `1`, or `0`.
    case bool

    /// A calendar date, `YYYY-MM-DD`.
    case date

    /// 32 hexadecimal digits of either case, grouped 8-4-4-4-12.
    case uuid

    /// From `min` to `max` characters of a class.
    case characters(CharacterClass, min: Int, max: Int)

    /// Any segment.
    ///
    /// Segments are never empty.
    case any

    /// A tail whose first segment is the name of a coordinator.
    ///
    /// It ends a pattern.
    case coordinatorPath

    /// Any path that contains this segment.
    ///
    /// It is the only matcher of its pattern.
    case anySegment([UInt8])

    /// One or more segments.
    ///
    /// It ends a pattern.
    case restPlus

    /// No further segments.
    ///
    /// It ends a pattern.
    case end

    /// Any number of segments.
    ///
    /// It ends a pattern.
    case restStar

    /// A Boolean value that indicates whether no matcher can follow this one in a pattern.
    package var isTerminal: Bool {
        switch self {
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: true
        default: false
        }
    }

    /// The rank in the precedence of matchers, from 0 (the most specific) to 9.
    package var rank: Int {
        switch self {
        case .literal: 0
        case .enumeration: 1
        case .affix: 2
        case .int, .bool, .date, .uuid, .characters: 3
        case .any: 4
        case .coordinatorPath: 5
        case .anySegment: 6
        case .restPlus: 7
        case .end: 8
        case .restStar: 9
        }
    }
}

/// A set of the ASCII characters that a class can have: `A-Z a-z 0-9 - . _ ~`.
package struct CharacterClass: Sendable, Hashable {
    /// Bit n represents the byte n.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Creates an empty class.
    package init() {}

    /// Returns a Boolean value that indicates whether the class contains the byte.
    package func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte &- 64) & 1 == 1
        default: false
        }
    }

    /// Adds a byte.
    ///
    /// A byte above 127 is ignored, because no class can contain it.
    package mutating func insert(_ byte: UInt8) {
        switch byte {
        case 0..<64: low |= 1 << UInt64(byte)
        case 64..<128: high |= 1 << UInt64(byte &- 64)
        default: break
        }
    }

    /// The number of characters in the class.
    package var count: Int { low.nonzeroBitCount + high.nonzeroBitCount }

    /// The characters, sorted.
    package var characters: [UInt8] { (0..<128).filter(contains) }

    /// The class as bits: byte n is bit n of `low`, and byte 64 + n is bit n of `high`.
    package var bits: (low: UInt64, high: UInt64) { (low, high) }

    /// Returns 1 for a digit, 2 for an uppercase letter, 3 for a lowercase letter, and 0 for all other bytes.
    package static func kind(_ byte: UInt8) -> Int {
        if byte &- UInt8(ascii: "0") < 10 { return 1 }
        if byte &- UInt8(ascii: "A") < 26 { return 2 }
        return byte &- UInt8(ascii: "a") < 26 ? 3 : 0
    }
}

extension Matcher {
    /// The texts that `bool` matches.
    package static let boolTexts: [[UInt8]] = ["true", "false", "1", "0"].map { Array($0.utf8) }

    /// All texts of a matcher with few texts, or nil for others.
    package var finiteTexts: [[UInt8]]? {
        switch self {
        case .literal(let text): [text]
        case .enumeration(let values): values
        case .bool: Self.boolTexts
        default: nil
        }
    }
}

/// Parses the type of a capture: the text after the colon in `{name:type}`.
struct CaptureType {
    /// The matcher of the captured text.
    var matcher: Matcher
    /// The spellings of the values of an enumeration, in the order of the matcher's values.
    var spellings: [[UInt8]] = []

    /// The names of the types, for suggestions.
    static let names = ["int", "bool", "date", "uuid", "string", "enum", "coordinatorPath"]

    /// Parses a type up to `}` or `?`, which remains the next byte.
    static func read(_ reader: inout TextReader, foldsCase: Bool) throws(TextError) -> CaptureType {
        let start = reader.at
        if reader.next == UInt8(ascii: "[") { return CaptureType(matcher: try characters(&reader)) }
        let name = String(decoding: reader.run { ($0 | 0x20) &- UInt8(ascii: "a") < 26 }, as: UTF8.self)
        switch name {
        case "int":
            let bounds = try reader.bounds()
            return CaptureType(matcher: .int(min: bounds?.min ?? .min, max: bounds?.max ?? .max))
        case "bool": return CaptureType(matcher: .bool)
        case "date": return CaptureType(matcher: .date)
        case "uuid": return CaptureType(matcher: .uuid)
        case "string": return CaptureType(matcher: .any)
        case "coordinatorPath": return CaptureType(matcher: .coordinatorPath)
        case "enum": return try enumeration(&reader, foldsCase: foldsCase)
        default:
            var rest = reader
            rest.at = start
            let text = rest.text(until: "/")
            throw TextError(
                name.isEmpty
                    ? "a regular expression is not allowed in a capture" : "`\(name)` is not a type of a capture",
                at: start,
                suggestion:
                    "use `int`, `int(1..99)`, `bool`, `date`, `uuid`, `string`, `enum(a|b)`, or `[a-z0-9]{2,8}`",
                hints: [.captureType(name: name, text: text), .word(name, known: names)])
        }
    }

    private static func enumeration(_ reader: inout TextReader, foldsCase: Bool) throws(TextError) -> CaptureType {
        let start = reader.at
        let spelled = try reader.enumValues()
        let pairs = spelled.map { (value: foldsCase ? $0.map(lowerASCII) : $0, spelling: $0) }
            .sorted { compareBytes($0.value, $1.value) < 0 }
        for (a, b) in zip(pairs, pairs.dropFirst()) where a.value == b.value {
            throw TextError(
                "two values of the enum differ only in case, which this table ignores in paths", at: start,
                kind: .duplicate)
        }
        return CaptureType(matcher: .enumeration(pairs.map(\.value)), spellings: pairs.map(\.spelling))
    }

    /// Parses `[a-z0-9]{2,8}`.
    private static func characters(_ reader: inout TextReader) throws(TextError) -> Matcher {
        let start = reader.at
        _ = reader.take("[")
        var set = CharacterClass()
        while let first = reader.next, first != UInt8(ascii: "]") {
            try range(&reader, into: &set)
        }
        guard reader.take("]"), set.count > 0 else {
            throw TextError("expected a class such as `[a-z0-9]{2,8}`", at: start)
        }
        let lengths = reader.at
        if reader.take("{"), let min = number(&reader), reader.take(","), let max = number(&reader), reader.take("}"),
            1 <= min, min <= max, max <= 64
        {
            return .characters(set, min: min, max: max)
        }
        var rest = reader
        rest.at = lengths
        let written = String(decoding: reader.bytes[start..<lengths], as: UTF8.self)
        throw TextError(
            "expected `{m,n}` with 1 <= m <= n <= 64 after the class", at: lengths,
            hints: [.captureLengths(rest.text(until: "/"), characters: written)])
    }

    /// Parses one character, or a range of digits, uppercase letters, or lowercase letters.
    private static func range(_ reader: inout TextReader, into set: inout CharacterClass) throws(TextError) {
        let start = reader.at
        let first = reader.bytes[start]
        guard PercentDecoding.isUnreserved(first) else {
            throw TextError(
                "a class can only have the characters `A-Z`, `a-z`, `0-9`, `-`, `.`, `_`, and `~`", at: start)
        }
        reader.at += 1
        guard reader.next == UInt8(ascii: "-"), reader.at + 1 < reader.end,
            reader.bytes[reader.at + 1] != UInt8(ascii: "]")
        else {
            set.insert(first)
            return
        }
        let last = reader.bytes[reader.at + 1]
        guard first <= last, CharacterClass.kind(first) != 0, CharacterClass.kind(first) == CharacterClass.kind(last)
        else {
            throw TextError(
                "a range must ascend within `A-Z`, `a-z`, or `0-9`; write a literal `-` first or last", at: start)
        }
        reader.at += 2
        for byte in first...last { set.insert(byte) }
    }

    private static func number(_ reader: inout TextReader) -> Int? {
        let digits = reader.run { $0 &- UInt8(ascii: "0") < 10 }
        return digits.count <= 2 ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }
}

extension Matcher {
    /// The text that the matcher matches, as written in a table or described in words.
    package var name: String {
        switch self {
        case .literal(let text): String(decoding: text, as: UTF8.self)
        case .enumeration(let values):
            "enum(" + values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|") + ")"
        case .affix(let prefix, let inner, let suffix):
            String(decoding: prefix, as: UTF8.self) + "{" + inner.name + "}" + String(decoding: suffix, as: UTF8.self)
        case .int(let min, let max):
            min == .min && max == .max
                ? "int" : "int(\(min == .min ? "" : "\(min)")..\(max == .max ? "" : "\(max)"))"
        case .bool: "bool"
        case .date: "date"
        case .uuid: "uuid"
        case .characters(let set, let min, let max):
            "[" + String(decoding: set.characters, as: UTF8.self) + "]{\(min),\(max)}"
        case .any: "any segment"
        case .coordinatorPath: "a coordinator's name"
        case .anySegment(let text): "a segment \(String(decoding: text, as: UTF8.self))"
        case .restPlus: "one or more segments"
        case .end: "the end of the path"
        case .restStar: "any number of segments"
        }
    }

    /// Returns a Boolean value that indicates whether the matcher matches a nonempty segment.
    ///
    /// Terminal matchers match tails instead of segments, so the result is `false` for them.
    package func matches(_ segment: ByteView, foldsCase: Bool) -> Bool {
        switch self {
        case .literal(let own): return Self.equal(segment, own, foldsCase: foldsCase)
        case .enumeration(let values):
            return values.contains { Self.equal(segment, $0, foldsCase: foldsCase) }
        case .affix(let prefix, let inner, let suffix):
            guard segment.count > prefix.count + suffix.count else { return false }
            let end = segment.count - suffix.count
            return Self.equal(segment.slice(0, prefix.count), prefix, foldsCase: foldsCase)
                && Self.equal(segment.slice(end, segment.count), suffix, foldsCase: foldsCase)
                && inner.matches(segment.slice(prefix.count, end), foldsCase: foldsCase)
        case .int(let min, let max):
            guard let value = TextForms.integer(segment) else { return false }
            return value >= min && value <= max
        case .bool: return TextForms.boolean(segment) != nil
        case .date: return TextForms.isDate(segment)
        case .uuid: return TextForms.isUUID(segment)
        case .characters(let allowed, let min, let max):
            return segment.count >= min && segment.count <= max && segment.buffer.allSatisfy(allowed.contains)
        case .any: return true
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return false
        }
    }

    /// Returns a Boolean value that indicates whether the text equals the matcher's text, ignoring case if the table
    /// folds case.
    private static func equal(_ text: ByteView, _ own: [UInt8], foldsCase: Bool) -> Bool {
        guard text.count == own.count else { return false }
        for index in 0..<own.count {
            let byte = foldsCase ? lowerASCII(text[index]) : text[index]
            if byte != own[index] { return false }
        }
        return true
    }

    /// Returns a Boolean value that indicates whether a terminal matcher matches all segments from `index` on.
    ///
    /// - Parameters:
    ///   - segments: The segments of the path.
    ///   - index: The index of the first segment of the tail.
    ///   - foldsCase: A Boolean value that indicates whether the table folds the case of paths.
    ///   - isCoordinator: A closure that returns whether a segment is the name of a coordinator.
    package func matchesTail(
        _ segments: [[UInt8]], from index: Int, foldsCase: Bool, isCoordinator: ([UInt8]) -> Bool
    ) -> Bool {
        switch self {
        case .end: return index == segments.count
        case .restStar: return true
        case .restPlus: return index < segments.count
        case .coordinatorPath: return index < segments.count && isCoordinator(segments[index])
        case .anySegment(let own):
            return segments[index...].contains { segment in
                segment.withUnsafeBufferPointer { Self.equal(ByteView($0), own, foldsCase: foldsCase) }
            }
        default: return false
        }
    }
}

extension Pattern {
    /// Returns a Boolean value that indicates whether the pattern matches a path, segment by segment and then the tail.
    ///
    /// This is the definition that the compiled search must agree with. Links are matched by that search.
    package func matches(_ segments: [[UInt8]], foldsCase: Bool, isCoordinator: ([UInt8]) -> Bool) -> Bool {
        guard segments.count >= segmentCount else { return false }
        for index in 0..<segmentCount {
            let isMatch = segments[index].withUnsafeBufferPointer {
                matchers[index].matches(ByteView($0), foldsCase: foldsCase)
            }
            if !isMatch { return false }
        }
        return matchers[segmentCount].matchesTail(
            segments, from: segmentCount, foldsCase: foldsCase, isCoordinator: isCoordinator)
    }
}

extension Capture {
    /// Returns the canonical form of a captured text, or nil if the text is not of the capture's type.
    ///
    /// A UUID is uppercase, a Boolean value is `true` or `false`, an enumeration value has the table's spelling, and
    /// other texts are unchanged.
    ///
    /// See RouteTableReference, "Canonical forms".
    package func canonicalText(_ text: [UInt8], foldsCase: Bool) -> [UInt8]? {
        text.withUnsafeBufferPointer { buffer -> [UInt8]? in
            let view = ByteView(buffer)
            if !isTail, text.isEmpty || !matcher.matches(view, foldsCase: foldsCase) { return nil }
            switch matcher {
            case .uuid: return text.map { $0 &- UInt8(ascii: "a") < 26 ? $0 & 0xDF : $0 }
            case .bool: return TextForms.boolean(view).map { [UInt8](($0 ? "true" : "false").utf8) }
            case .enumeration(let values):
                let folded = foldsCase ? text.map(lowerASCII) : text
                return values.firstIndex(of: folded).map { spellings[$0] }
            default: return text
            }
        }
    }
}
