internal import LinkCoordinator

/// A pattern of Apple's `components` for a shape.
///
/// `?` matches any character, `*` any number of characters, and `$(name)` one of a list. `*` also matches slashes, so a
/// captured segment also matches several segments; `exclusions` are the patterns of those links.
struct ApplePattern {
    /// The pattern of the path.
    var path: String
    /// The patterns to exclude before `path`: they match links with more segments than the shape.
    var exclusions: [String] = []
    /// A description of the additional links that the pattern matches despite the exclusions, or nil for none.
    var additionalMatches: String?

    /// The maximum number of values in a variable; longer lists become `*`.
    static let maxValues = 128
}

/// A builder for patterns that collects their variables.
struct ApplePatternMaker {
    private let coordinators: [String]
    /// The variables of the file by name, in order.
    private(set) var variables: [(name: String, values: [String])] = []

    /// Creates a builder for a table with these coordinators.
    init(coordinators: [String]) { self.coordinators = coordinators }

    /// Returns the patterns of a shape: one, or two if its end is optional.
    mutating func patterns(_ shape: LinkShape) -> [ApplePattern] {
        if case .anySegment(let text) = shape.terminal {
            let segment = literal(text)
            return ["*/\(segment.text)", "*/\(segment.text)/*"].map {
                ApplePattern(path: $0, additionalMatches: segment.additionalMatches)
            }
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
        pattern.additionalMatches = parts.compactMap(\.additionalMatches).first
        guard !parts.isEmpty else { return pattern }
        for (index, part) in parts.enumerated() where part.matchesSlashes {
            // A pattern with an open tail matches any number of segments, so no link can be excluded by its segments.
            if tail.hasSuffix("*") {
                pattern.additionalMatches = pattern.additionalMatches ?? "more segments in place of a capture"
                continue
            }
            for longer in part.longer {
                var texts = parts.map(\.text)
                texts[index] = longer
                pattern.exclusions.append(texts.map { "/" + $0 }.joined() + tail)
            }
        }
        return pattern
    }

    /// Returns a pattern of one query item for a constraint.
    ///
    /// Returns nil if no such pattern matches at least the same links.
    mutating func query(_ constraint: TableSource.QueryConstraint) -> (
        name: String, value: String, alsoMatchesEmpty: Bool
    )? {
        let name = constraint.name.value
        guard name.utf8.allSatisfy(PercentDecoding.isUnreserved) else { return nil }
        switch constraint.test {
        case .equals(let value): return (name, literal(Array(value.utf8)).text, false)
        // Apple treats a name without a value and an absent name alike, as an empty text.
        case .present: return nil
        case .absent: return (name, "", true)
        }
    }

    private struct Part {
        var text: String
        /// A description of the additional texts that the part matches, other than several segments; nil for none.
        var additionalMatches: String?
        /// A Boolean value that indicates whether the part matches slashes too.
        var matchesSlashes: Bool { text.contains("*") }

        /// The patterns of texts that the part matches and that are more than one segment.
        ///
        /// A trailing slash does not add a segment.
        var longer: [String] {
            guard text.hasSuffix("*") else {
                return [text.replacing(text.contains("?*") ? "?*" : "*", with: "*/*")]
            }
            guard text.contains("?*"), !text.hasPrefix("?") else { return [text + "/?*"] }
            let start = text.replacing("?*", with: "")
            return [start + "*/?*"]
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
                return Part(text: "?*", additionalMatches: "segments that are not numbers")
            }
            return variable((min...max).map { String($0) })
        case .uuid:
            let groups = [8, 4, 4, 4, 12].map { String(repeating: "$(xdigit)", count: $0) }
            return Part(text: groups.joined(separator: "-"))
        case .date:
            let groups = [4, 2, 2].map { String(repeating: "$(digit)", count: $0) }
            return Part(text: groups.joined(separator: "-"), additionalMatches: "invalid dates")
        case .characters(let set, let min, let max): return characters(set, min, max)
        case .affix(let prefix, let inner, let suffix):
            let between = part(inner)
            return Part(
                text: literal(prefix).text + between.text + literal(suffix).text,
                additionalMatches: between.additionalMatches ?? literal(prefix).additionalMatches
                    ?? literal(suffix).additionalMatches)
        default: return Part(text: "?*")
        }
    }

    /// Returns literal text, in both spellings if RFC 3986 allows two: `(` and `%28`.
    ///
    /// A character with a meaning in Apple's patterns becomes `?`, which matches any character.
    private mutating func literal(_ text: [UInt8]) -> Part {
        var part = Part(text: "")
        for character in PercentText.literal(text).unicodeScalars {
            let byte = UInt8(ascii: character)
            if PercentDecoding.isUnreserved(byte) || character == "%" || Self.hexFollows(part.text) {
                part.text.unicodeScalars.append(character)
                continue
            }
            let isWildcard = character == "*" || character == "$"
            let plain = isWildcard ? "?" : String(character)
            part.text += variable([plain, "%" + String(byte, radix: 16, uppercase: true)]).text
            if isWildcard { part.additionalMatches = "any character in place of \(character)" }
        }
        return part
    }

    /// Returns a Boolean value that indicates whether the text ends with an incomplete escape.
    private static func hexFollows(_ text: String) -> Bool { text.suffix(2).contains("%") }

    private mutating func characters(_ set: CharacterClass, _ min: Int, _ max: Int) -> Part {
        let one = Self.predefined(set) ?? "?"
        let additionalMatches = one == "?" || min != max ? "other characters or lengths than those of the class" : nil
        if min == max { return Part(text: String(repeating: one, count: min), additionalMatches: additionalMatches) }
        return Part(text: String(repeating: one, count: min) + "*", additionalMatches: additionalMatches)
    }

    /// Returns Apple's name of a class of characters, or nil if there is none.
    private static func predefined(_ set: CharacterClass) -> String? {
        let digits = "0123456789"
        let lower = "abcdefghijklmnopqrstuvwxyz"
        let named = [
            ("digit", digits), ("lower", lower), ("upper", lower.uppercased()), ("alpha", lower.uppercased() + lower),
            ("alnum", digits + lower.uppercased() + lower), ("xdigit", digits + "ABCDEFabcdef"),
        ]
        return named.first { Array($0.1.utf8).sorted() == set.characters }.map { "$(\($0.0))" }
    }

    /// Returns a variable for these values; equal lists share a variable.
    private mutating func variable(_ values: [String]) -> Part {
        if values.count == 1, let only = values.first { return Part(text: only) }
        guard values.count <= ApplePattern.maxValues else {
            return Part(text: "?*", additionalMatches: "values that are not listed")
        }
        if let known = variables.first(where: { $0.values == values }) { return Part(text: "$(\(known.name))") }
        let name = "values-\(variables.count + 1)"
        variables.append((name, values))
        return Part(text: "$(\(name))")
    }
}
