internal import LinkCoordinator

/// Descriptions of matchers for people who do not know the notation of a table.
enum MatcherWords {
    /// Returns the texts that a matcher accepts, such as `a whole number from 1 to 99`.
    static func text(_ matcher: Matcher) -> String {
        switch matcher {
        case .literal(let text): "the text \(string(text))"
        case .enumeration(let values): "one of \(list(values))"
        case .affix(let prefix, let inner, let suffix):
            [
                prefix.isEmpty ? nil : "\(string(prefix)), then", text(inner),
                suffix.isEmpty ? nil : "then \(string(suffix))",
            ].compactMap { $0 }.joined(separator: " ")
        case .int(let min, let max): integer(min, max)
        case .bool: "true, false, 1, or 0"
        case .date: "a date, YYYY-MM-DD"
        case .uuid: "a UUID"
        case .characters(let set, let min, let max):
            "\(min == max ? "" : "\(min) to ")\(max) \(max == 1 ? "character" : "characters") of \(ranges(set))"
        case .any: "any text"
        case .coordinatorPath: "a coordinator path: the name of a coordinator, then screens"
        case .anySegment(let text): "any path that contains the segment \(string(text))"
        case .restPlus: "one or more segments"
        case .end: "the end of the path"
        case .restStar: "any number of segments, or none"
        }
    }

    private static func integer(_ min: Int64, _ max: Int64) -> String {
        switch (min == .min, max == .max) {
        case (true, true): "a whole number"
        case (false, true): "a whole number from \(min)"
        case (true, false): "a whole number up to \(max)"
        case (false, false): "a whole number from \(min) to \(max)"
        }
    }

    private static func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func list(_ values: [[UInt8]]) -> String { values.map(string).joined(separator: ", ") }

    /// Returns the characters of a class as ranges, such as `a-z 0-9 _`.
    private static func ranges(_ set: CharacterClass) -> String {
        var parts: [String] = []
        var all = set.characters[...]
        while let first = all.first {
            var last = first
            all = all.dropFirst()
            while let next = all.first, next == last + 1, kind(next) == kind(first), kind(first) != 0 {
                last = next
                all = all.dropFirst()
            }
            let (a, b) = (String(UnicodeScalar(first)), String(UnicodeScalar(last)))
            parts.append(first == last ? a : last == first + 1 ? "\(a) \(b)" : "\(a)-\(b)")
        }
        return parts.joined(separator: " ")
    }

    /// Returns 1 for a digit, 2 for an uppercase letter, 3 for a lowercase letter, and 0 for all other bytes.
    private static func kind(_ byte: UInt8) -> Int {
        if byte &- UInt8(ascii: "0") < 10 { return 1 }
        if byte &- UInt8(ascii: "A") < 26 { return 2 }
        return byte &- UInt8(ascii: "a") < 26 ? 3 : 0
    }
}
