internal import LinkCoordinator

/// A path as one attribute of a `<data>` element in an Android manifest.
///
/// Android matches the decoded path from left to right without backtracking (`android.os.PatternMatcher`). A set
/// matches as many characters as possible, so the set must not contain the character that follows it in the pattern.
struct AndroidPath: Hashable {
    /// The name of the attribute, without its namespace.
    enum Attribute: String {
        case path, pathPrefix, pathAdvancedPattern
    }

    /// The attribute.
    var attribute: Attribute
    /// Its value for Android's parser, without the escapes of the manifest.
    var value: String
}

/// The paths of a manifest for a shape.
struct AndroidPattern {
    /// The paths; a link must match any of them.
    var paths: [AndroidPath] = []
    /// A description of the additional links that the paths match, or nil if there are none.
    var additionalMatches: String?

    /// The maximum number of paths for one shape.
    static let maxPaths = 64

    private let coordinators: [String]
    private let foldsCase: Bool

    /// Creates the paths for the matchers of whole segments and the terminal matcher.
    init(_ segments: ArraySlice<Matcher>, _ terminal: Matcher, coordinators: [String], foldsCase: Bool) {
        self.coordinators = coordinators
        self.foldsCase = foldsCase
        if case .anySegment(let text) = terminal {
            paths = [AndroidPath(attribute: .pathPrefix, value: "/")]
            additionalMatches = "paths without the segment \(String(decoding: text, as: UTF8.self))"
            return
        }
        var choices: [[Piece]] = [[]]
        for segment in segments {
            var next = pieces(segment)
            if choices.count * next.count > Self.maxPaths {
                next = [Piece(pattern: "[^/]+", additionalMatches: "values that are not listed")]
            }
            choices = choices.flatMap { choice in next.map { choice + [$0] } }
        }
        for choice in choices { add(choice, terminal) }
        additionalMatches = additionalMatches ?? choices.joined().compactMap(\.additionalMatches).first
    }

    /// A segment.
    private struct Piece {
        /// The text of a segment without captures, or nil for others.
        var literal: String?
        /// The segment as an advanced pattern.
        var pattern: String
        var additionalMatches: String?
    }

    private mutating func add(_ pieces: [Piece], _ terminal: Matcher) {
        let literals = pieces.compactMap(\.literal)
        let text = literals.count == pieces.count ? literals.map { "/" + $0 }.joined() : nil
        let pattern = pieces.map { "/" + $0.pattern }.joined()
        func add(_ attribute: AndroidPath.Attribute, _ value: String) {
            paths.append(AndroidPath(attribute: attribute, value: value))
        }
        switch terminal {
        case .restPlus: add(.pathAdvancedPattern, pattern + "/.+")
        case .restStar:
            if pieces.isEmpty { return add(.pathPrefix, "/") }
            if let text {
                add(.path, text)
                add(.pathPrefix, text + "/")
            } else {
                add(.pathAdvancedPattern, pattern)
                add(.pathAdvancedPattern, pattern + "/.*")
            }
        case .coordinatorPath:
            for name in coordinators {
                let last = Piece(literal: foldsCase ? nil : name, pattern: escaped(Array(name.utf8), folds: false))
                self.add(pieces + [last], .restStar)
            }
        default:
            if pieces.isEmpty { return add(.path, "/") }
            if let text { add(.path, text) } else { add(.pathAdvancedPattern, pattern) }
        }
    }

    private func pieces(_ matcher: Matcher) -> [Piece] {
        switch matcher {
        case .literal(let text): return [literal(text)]
        case .enumeration(let values): return values.map(literal)
        case .bool: return Matcher.boolTexts.map { literal($0) }
        case .affix(let prefix, let inner, let suffix): return [affix(prefix, inner, suffix)]
        default:
            let set = Self.set(matcher)
            return [Piece(pattern: set.pattern, additionalMatches: set.additionalMatches)]
        }
    }

    private func literal(_ text: [UInt8]) -> Piece {
        Piece(
            literal: foldsCase && text.contains { ($0 | 0x20) &- UInt8(ascii: "a") < 26 }
                ? nil : String(decoding: text, as: UTF8.self), pattern: escaped(text, folds: foldsCase))
    }

    private func affix(_ prefix: [UInt8], _ inner: Matcher, _ suffix: [UInt8]) -> Piece {
        let start = escaped(prefix, folds: foldsCase)
        if case .enumeration = inner {
            return Piece(pattern: start + "[^/]+", additionalMatches: "values that are not listed")
        }
        let set = Self.set(inner)
        guard let first = suffix.first else {
            return Piece(pattern: start + set.pattern, additionalMatches: set.additionalMatches)
        }
        let isEnded = set.stops(first) && !(foldsCase && (set.stops(first ^ 0x20) == false))
        if isEnded {
            return Piece(
                pattern: start + set.pattern + escaped(suffix, folds: foldsCase),
                additionalMatches: set.additionalMatches)
        }
        return Piece(
            pattern: start + "[^/]+",
            additionalMatches: "segments without \(String(decoding: suffix, as: UTF8.self)) at their end")
    }

    /// Returns a set that matches all texts of a matcher, and a closure that indicates whether a byte ends it.
    private static func set(
        _ matcher: Matcher
    ) -> (pattern: String, additionalMatches: String?, stops: (UInt8) -> Bool) {
        let isDigit: (UInt8) -> Bool = { $0 &- UInt8(ascii: "0") < 10 }
        switch matcher {
        case .int(let min, let max):
            let digits = Swift.max(String(max).count, min < 0 ? String(min).count - 1 : 1)
            let additionalMatches = "numbers out of range or with leading zeros"
            guard min >= 1 else {
                return ((min < 0 ? "-{0,1}" : "") + "[0-9]{1,\(digits)}", additionalMatches, { !isDigit($0) })
            }
            let isWhole = min == 1 && String(max).allSatisfy { $0 == "9" }
            let more = digits > 1 ? "[0-9]{0,\(digits - 1)}" : ""
            return ("[1-9]" + more, isWhole ? nil : additionalMatches, { !isDigit($0) || digits == 1 })
        case .uuid:
            let groups = [8, 4, 4, 4, 12].map { "[0-9A-Fa-f]{\($0)}" }
            return (groups.joined(separator: "-"), nil, { _ in true })
        case .date: return ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "invalid dates", { _ in true })
        case .characters(let set, let min, let max):
            return ("[\(members(set))]{\(min),\(max)}", nil, { !set.contains($0) || min == max })
        default: return ("[^/]+", nil, { _ in false })
        }
    }

    /// Returns the characters of a class inside brackets; a hyphen comes last, where it is not a range.
    private static func members(_ set: CharacterClass) -> String {
        var text = ""
        var run: [UInt8] = []
        func flush() {
            guard let first = run.first, let last = run.last else { return }
            let shown = run.count > 2 ? [first, UInt8(ascii: "-"), last] : run
            text += String(decoding: shown, as: UTF8.self)
            run = []
        }
        for byte in set.characters where byte != UInt8(ascii: "-") {
            if let last = run.last, byte != last + 1 || !isAlphanumeric(byte) || !isAlphanumeric(last) { flush() }
            run.append(byte)
        }
        flush()
        return text + (set.contains(UInt8(ascii: "-")) ? "-" : "")
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    /// Returns text in an advanced pattern; with folding, a letter becomes a set of both cases.
    private func escaped(_ text: [UInt8], folds: Bool) -> String {
        var result = ""
        for character in String(decoding: text, as: UTF8.self) {
            if folds, character.isASCII, character.isLetter {
                result += "[\(character.lowercased())\(character.uppercased())]"
            } else if "[]{}*+.\\^".contains(character) {
                result += "\\" + String(character)
            } else {
                result.append(character)
            }
        }
        return result
    }
}
