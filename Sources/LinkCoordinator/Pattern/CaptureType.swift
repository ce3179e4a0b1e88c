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
            let likely = LikelyCapture.type(name, text.hasSuffix("}") ? String(text.dropLast()) : text)
            let nearest = likely == nil ? NearestName.of(name, among: names) : nil
            throw TextError(
                name.isEmpty
                    ? "a regular expression is not allowed in a capture" : "`\(name)` is not a type of a capture",
                at: start,
                suggestion: likely ?? nearest.map { "did you mean `\($0)`?" }
                    ?? "use `int`, `int(1..99)`, `bool`, `date`, `uuid`, `string`, `enum(a|b)`, or `[a-z0-9]{2,8}`")
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
            suggestion: LikelyCapture.lengths(rest.text(until: "/"), of: written))
    }

    /// Parses one character, or a range of digits, uppercase letters, or lowercase letters.
    private static func range(_ reader: inout TextReader, into set: inout CharacterClass) throws(TextError) {
        let start = reader.at
        let first = reader.bytes[start]
        guard CharacterClass.allows(first) else {
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
        guard first <= last, kind(first) != 0, kind(first) == kind(last) else {
            throw TextError(
                "a range must ascend within `A-Z`, `a-z`, or `0-9`; write a literal `-` first or last", at: start)
        }
        reader.at += 2
        for byte in first...last { set.insert(byte) }
    }

    /// Returns 1 for a digit, 2 for an uppercase letter, 3 for a lowercase letter, and 0 for all other bytes.
    private static func kind(_ byte: UInt8) -> Int {
        if byte &- UInt8(ascii: "0") < 10 { return 1 }
        if byte &- UInt8(ascii: "A") < 26 { return 2 }
        return byte &- UInt8(ascii: "a") < 26 ? 3 : 0
    }

    private static func number(_ reader: inout TextReader) -> Int? {
        let digits = reader.run { $0 &- UInt8(ascii: "0") < 10 }
        return digits.count <= 2 ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }
}
