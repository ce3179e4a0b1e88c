internal import LinkCoordinator

/// A shape as a pattern of Apple's `components`: `?` is any character, `*` any number of them, `$(name)` one of a list.
///
/// `*` goes beyond a slash, so a captured segment takes more than it should; `guards` are patterns of what is too much.
struct ApplePattern {
    /// The pattern of the path.
    var path: String
    /// Patterns, to be excluded before `path`, of links that `path` takes and the shape does not: with more segments.
    var guards: [String] = []
    /// Why the pattern takes more than the shape, even with the guards; nil if it does not.
    var wider: String?

    /// Longest list of a variable: more values are left to `*`.
    static let maxValues = 128
}

/// Makes patterns, and collects the variables that they name.
struct ApplePatternMaker {
    private let coordinators: [String]
    /// Variables of the file by name, in order.
    private(set) var variables: [(name: String, values: [String])] = []

    /// Makes patterns for a table with these coordinators.
    init(coordinators: [String]) { self.coordinators = coordinators }

    /// The patterns of a shape: one, or two where its end may be left out.
    mutating func patterns(_ shape: LinkShape) -> [ApplePattern] {
        if case .anySegment(let text) = shape.terminal {
            let segment = literal(text)
            return ["*/\(segment.text)", "*/\(segment.text)/*"].map { ApplePattern(path: $0, wider: segment.wider) }
        }
        let parts = shape.segments.map { part($0) }
        switch shape.terminal {
        case .restPlus: return [pattern(parts, tail: "/?*")]
        case .restStar:
            return [pattern(parts, tail: parts.isEmpty ? "/*" : "")]
                + (parts.isEmpty ? [] : [pattern(parts, tail: "/*")])
        case .coordinatorPath:
            let name = variable(coordinators)
            return [pattern(parts + [name], tail: ""), pattern(parts + [name], tail: "/*")]
        default: return [pattern(parts, tail: parts.isEmpty ? "/" : "")]
        }
    }

    private func pattern(_ parts: [Part], tail: String) -> ApplePattern {
        var pattern = ApplePattern(path: parts.map { "/" + $0.text }.joined() + tail)
        pattern.wider = parts.compactMap(\.wider).first
        guard !parts.isEmpty else { return pattern }
        for (index, part) in parts.enumerated() where part.swallows {
            // Behind an open tail more segments are no harm, so nothing can be excluded there.
            if tail.hasSuffix("*") {
                pattern.wider = pattern.wider ?? "more segments in the place of a capture"
                continue
            }
            for longer in part.longer {
                var texts = parts.map(\.text)
                texts[index] = longer
                pattern.guards.append(texts.map { "/" + $0 }.joined() + tail)
            }
        }
        return pattern
    }

    /// A constraint as a pattern of one item of the query; nil where there is none that takes at least as much.
    mutating func query(_ constraint: TableSource.QueryConstraint) -> (name: String, value: String, wider: Bool)? {
        let name = constraint.name.value
        guard name.utf8.allSatisfy(PercentText.isUnreserved) else { return nil }
        switch constraint.test {
        case .equals(let value): return (name, literal(Array(value.utf8)).text, false)
        // A name without a value and a name that is not there are the same to Apple: the empty text.
        case .present: return nil
        case .absent: return (name, "", true)
        }
    }

    private struct Part {
        var text: String
        /// Why it takes more than its segment should, other than more segments.
        var wider: String?
        /// Whether it takes slashes too.
        var swallows: Bool { text.contains("*") }

        /// What it takes that is more than one segment; a slash at the end makes no segment more.
        var longer: [String] {
            guard text.hasSuffix("*") else {
                return [text.replacing(text.contains("?*") ? "?*" : "*", with: "*/*")]
            }
            guard text.contains("?*"), !text.hasPrefix("?") else { return [text + "/?*"] }
            let start = text.replacing("?*", with: "")
            return [start + "*/?*", start + "/"]
        }
    }

    private mutating func part(_ matcher: Matcher) -> Part {
        switch matcher {
        case .literal(let text): return literal(text)
        case .enumeration(let values):
            return variable(values.map { literal($0).text })
        case .bool: return variable(["true", "false", "1", "0"])
        case .int(let min, let max):
            if max.subtractingReportingOverflow(min).overflow || max - min >= Int64(ApplePattern.maxValues) {
                return Part(text: "?*", wider: "segments that are no number")
            }
            return variable((min...max).map { String($0) })
        case .uuid:
            let groups = [8, 4, 4, 4, 12].map { String(repeating: "$(xdigit)", count: $0) }
            return Part(text: groups.joined(separator: "-"))
        case .date:
            let groups = [4, 2, 2].map { String(repeating: "$(digit)", count: $0) }
            return Part(text: groups.joined(separator: "-"), wider: "dates that are in no calendar")
        case .characters(let set, let min, let max): return characters(set, min, max)
        case .affix(let prefix, let inner, let suffix):
            let between = part(inner)
            return Part(
                text: literal(prefix).text + between.text + literal(suffix).text,
                wider: between.wider ?? literal(prefix).wider ?? literal(suffix).wider)
        default: return Part(text: "?*")
        }
    }

    /// Text as it stands, in both spellings where RFC 3986 has two: `(` and `%28`.
    ///
    /// A character that means something to Apple becomes `?`, which takes any.
    private mutating func literal(_ text: [UInt8]) -> Part {
        var part = Part(text: "")
        for character in PercentText.literal(text).unicodeScalars {
            let byte = UInt8(ascii: character)
            if PercentText.isUnreserved(byte) || character == "%" || Self.hexFollows(part.text) {
                part.text.unicodeScalars.append(character)
                continue
            }
            let isWildcard = character == "*" || character == "$"
            let plain = isWildcard ? "?" : String(character)
            part.text += variable([plain, "%" + String(byte, radix: 16, uppercase: true)]).text
            if isWildcard { part.wider = "any character in the place of \(character)" }
        }
        return part
    }

    /// Whether an escape has begun and wants more digits.
    private static func hexFollows(_ text: String) -> Bool { text.suffix(2).contains("%") }

    private mutating func characters(_ set: CharacterClass, _ min: Int, _ max: Int) -> Part {
        let one = Self.predefined(set) ?? "?"
        let wider = one == "?" || min != max ? "other characters or lengths than the class has" : nil
        if min == max { return Part(text: String(repeating: one, count: min), wider: wider) }
        return Part(text: String(repeating: one, count: min) + "*", wider: wider)
    }

    /// Apple's name for a class of characters, if it has one.
    private static func predefined(_ set: CharacterClass) -> String? {
        let digits = "0123456789"
        let lower = "abcdefghijklmnopqrstuvwxyz"
        let named = [
            ("digit", digits), ("lower", lower), ("upper", lower.uppercased()), ("alpha", lower.uppercased() + lower),
            ("alnum", digits + lower.uppercased() + lower), ("xdigit", digits + "ABCDEFabcdef"),
        ]
        return named.first { Array($0.1.utf8).sorted() == set.characters }.map { "$(\($0.0))" }
    }

    /// A variable with these values, the same for the same values.
    private mutating func variable(_ values: [String]) -> Part {
        if values.count == 1, let only = values.first { return Part(text: only) }
        guard values.count <= ApplePattern.maxValues else {
            return Part(text: "?*", wider: "values that are not listed")
        }
        if let known = variables.first(where: { $0.values == values }) { return Part(text: "$(\(known.name))") }
        let name = "values-\(variables.count + 1)"
        variables.append((name, values))
        return Part(text: "$(\(name))")
    }
}
