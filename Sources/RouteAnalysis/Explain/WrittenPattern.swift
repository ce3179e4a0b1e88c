package import LinkCoordinator

/// A pattern's segments in the table's notation: classes keep their order, bounds, and spelling.
package struct WrittenPattern {
    private let segments: [Substring]

    /// Splits a pattern into its segments.
    package init(_ pattern: Pattern) {
        // Neither captures nor classes can contain a slash.
        segments = pattern.text.hasPrefix("/") ? pattern.text.dropFirst().split(separator: "/") : []
    }

    /// Returns a segment, such as `new`, `{id:uuid}` or `order-{id:int}`.
    package func segment(_ index: Int, _ matcher: Matcher) -> String {
        segments.indices.contains(index) ? String(segments[index]) : matcher.name
    }

    /// Returns the expected text: the class of a capture that is the whole segment, or the segment.
    func expectedText(_ index: Int, _ matcher: Matcher) -> String {
        let text = segment(index, matcher)
        if case .affix = matcher { return text }
        guard text.hasPrefix("{"), text.hasSuffix("}"), let colon = text.firstIndex(of: ":") else { return text }
        let type = text[text.index(after: colon)...].dropLast()
        return String(type.last == "?" ? type.dropLast() : type)
    }
}

extension Matcher {
    /// Returns the difference between a text and a matcher's type that it nearly matches, or nil if there is none to
    /// report.
    func hint(for text: [UInt8]) -> String? {
        let isNumber = !text.isEmpty && text.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
        switch self {
        case .int:
            if text.first == UInt8(ascii: "+") { return "remove the plus sign" }
            if isNumber, text.count > 1, text[0] == UInt8(ascii: "0") { return "remove the leading zeros" }
            if isNumber || (text.first == UInt8(ascii: "-") && text.dropFirst().allSatisfy { $0 &- 0x30 < 10 }) {
                return "out of range"
            }
            return nil
        case .uuid:
            let hasDash = String(decoding: text, as: UTF8.self).unicodeScalars.contains {
                (0x2010...0x2015).contains($0.value) || $0.value == 0x2212
            }
            if hasDash { return "it contains a dash other than `-`" }
            return text.count > 20 && text.count != 36 ? "\(text.count) characters, a UUID has 36" : nil
        case .date:
            return text.count == 10 && text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-")
                ? "not a calendar date" : nil
        case .characters(let set, let min, let max):
            if let bad = String(decoding: text, as: UTF8.self).unicodeScalars.first(where: {
                !$0.isASCII || !set.contains(UInt8($0.value))
            }) {
                return "`\(bad)` is not in the class"
            }
            if text.count < min || text.count > max {
                let limit = text.count < min ? "at least \(min)" : "at most \(max)"
                return "\(text.count) \(text.count == 1 ? "character" : "characters"), expected \(limit)"
            }
            return nil
        default: return nil
        }
    }
}
