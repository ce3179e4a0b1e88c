internal import ByteStorage
internal import LinkCoordinator

/// A segment of a table's pattern.
enum PatternPiece: Hashable {
    /// A literal segment, decoded.
    case literal(String)
    /// A capture of a segment, with literal texts around it and a type, or nil for any text.
    ///
    /// A capture without a name is numbered.
    case capture(prefix: String = "", type: String? = nil, suffix: String = "", name: String? = nil)
    /// The rest of the path, of at least one segment or of any number.
    case tail(isRequired: Bool, name: String? = nil)

    /// A capture of any segment.
    static let any = capture()

    /// The piece without the name of its capture.
    var withoutName: PatternPiece {
        switch self {
        case .literal: self
        case .capture(let prefix, let type, let suffix, _): .capture(prefix: prefix, type: type, suffix: suffix)
        case .tail(let isRequired, _): .tail(isRequired: isRequired)
        }
    }

    /// A Boolean value that indicates whether the piece is a tail.
    var isTail: Bool { if case .tail = self { true } else { false } }
}

extension [PatternPiece] {
    /// The pattern as a table writes it, or nil if a table cannot have it.
    var pattern: String? {
        var number = 0
        func next(_ name: String?, _ base: String) -> String {
            if let name { return name }
            number += 1
            return "\(base)\(number)"
        }
        let segments = map { piece in
            switch piece {
            case .literal(let text): text
            case .capture(let prefix, let type, let suffix, let name):
                "\(prefix){\(next(name, "part"))\(type.map { ":" + $0 } ?? "")}\(suffix)"
            case .tail(let isRequired, let name): "{\(name ?? "rest")\(isRequired ? "+" : "*")}"
            }
        }
        // A brace or a slash of a literal would be read as something else.
        for piece in self {
            switch piece {
            case .literal(let text): if text.isEmpty || text.contains(where: { "{}/".contains($0) }) { return nil }
            case .capture(let prefix, _, let suffix, _):
                if (prefix + suffix).contains(where: { "{}/".contains($0) }) { return nil }
            case .tail: continue
            }
        }
        let text = "/" + segments.joined(separator: "/")
        return (try? PatternParser.parse(text, foldsCase: false)) == nil ? nil : text
    }

    /// Returns the paths that both patterns match, or nil if there are none, or if a pattern cannot express them.
    func intersection(_ other: [PatternPiece], foldsCase: Bool) -> [PatternPiece]? {
        guard let one = first else {
            return other.isEmpty || other == [.tail(isRequired: false)] ? [] : nil
        }
        guard let two = other.first else { return other.intersection(self, foldsCase: foldsCase) }
        if case .tail(let isRequired, _) = one {
            if case .tail(let isOtherRequired, _) = two { return [.tail(isRequired: isRequired || isOtherRequired)] }
            return other
        }
        if two.isTail { return self }
        guard let first = one.intersection(two, foldsCase: foldsCase),
            let rest = Array(dropFirst()).intersection(Array(other.dropFirst()), foldsCase: foldsCase)
        else { return nil }
        return [first] + rest
    }
}

extension PatternPiece {
    fileprivate func intersection(_ other: PatternPiece, foldsCase: Bool) -> PatternPiece? {
        if self == other || other == .any { return self }
        if self == .any { return other }
        guard case .literal(let text) = self else {
            if case .literal = other { return other.intersection(self, foldsCase: foldsCase) }
            return nil
        }
        guard let pattern = [other].pattern,
            let matcher = (try? PatternParser.parse(pattern, foldsCase: foldsCase))?.first?.matchers.first
        else { return nil }
        let isMatch = Array(text.utf8).withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: foldsCase) }
        return isMatch ? self : nil
    }
}

/// The path pattern of another system, in which a wildcard can match slashes.
struct WildPath {
    /// A part of the pattern.
    enum Part: Hashable {
        /// A character.
        case literal(Unicode.Scalar)
        /// Any one character.
        case one
        /// From `least` to `most` characters of a set of ASCII characters.
        case set(String, least: Int, most: Int)
        /// One of several texts.
        case choice([String])
        /// Any number of characters, but not the given one.
        case star(without: Unicode.Scalar?)
        /// Something that no pattern of a table expresses.
        case other
    }

    /// The patterns of a table for a path.
    struct Reading {
        var patterns: [[PatternPiece]] = []
        /// A description of the links for which the patterns and the path differ, or nil if they are equal.
        var difference: String?
    }

    /// The number of segments for which a wildcard in the middle of a path stands.
    static let maxWild = 3
    /// The maximum number of patterns for a path.
    static let maxPatterns = 64

    /// The parts in order.
    var parts: [Part]
    /// A Boolean value that indicates whether `/*` at the end also matches the path before it.
    var tailIsOptional = true
    /// A Boolean value that indicates whether literals are percent-encoded.
    var isEncoded = false
    /// A Boolean value that indicates whether the path ignores the case of letters, but the table does not.
    var foldsAlone = false

    /// Returns patterns that match only paths that this one matches.
    var narrow: Reading { reading(isWide: false) }

    /// Returns patterns that match all paths that this one matches.
    var wide: Reading { reading(isWide: true) }

    private func reading(isWide: Bool) -> Reading {
        var result = Reading(patterns: [[]])
        var segments = parts.split(separator: .literal("/"), omittingEmptySubsequences: false).map(Array.init)
        if segments.first == [] { segments.removeFirst() }
        if segments.last == [] { segments.removeLast() }
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            let (found, difference) = self.pieces(segment, isFirst: index == 0, isLast: isLast)
            if isWide, difference != nil {
                result.difference = "every path that begins like it"
                result.patterns = result.patterns.map { $0 + [.tail(isRequired: false)] }
                return result
            }
            result.difference = result.difference ?? difference
            result.patterns = result.patterns.flatMap { start in found.map { start + $0 } }
            if result.patterns.count > Self.maxPatterns {
                result.patterns.removeLast(result.patterns.count - Self.maxPatterns)
                result.difference = result.difference ?? "more than \(Self.maxPatterns) patterns"
            }
        }
        let known = result.patterns.filter { $0.pattern != nil }
        if known.count < result.patterns.count {
            if isWide { return Reading(patterns: [[.tail(isRequired: false)]], difference: "every path") }
            result.difference = result.difference ?? "characters that no pattern of a table has"
        }
        result.patterns = known
        return result
    }

    // MARK: Segments

    private typealias Pieces = (found: [[PatternPiece]], difference: String?)

    /// Returns the forms of a segment, each as pieces of a pattern, and how the forms and the segment differ.
    private func pieces(_ segment: [Part], isFirst: Bool, isLast: Bool) -> Pieces {
        let unknown: Pieces = ([], "all of them, because a table has no pattern for them")
        let start = segment.prefix { $0.isLiteral }
        let end = Array(segment.dropFirst(start.count).reversed().prefix { $0.isLiteral }.reversed())
        let core = Array(segment.dropFirst(start.count).dropLast(end.count))
        guard let prefix = text(start), let suffix = text(end) else { return unknown }
        let hasLetters = segment.contains { part in
            switch part {
            case .literal(let scalar): scalar.properties.isAlphabetic
            case .choice: true
            default: false
            }
        }
        let folding = foldsAlone && hasLetters ? "other cases of letters" : nil
        guard let first = core.first else { return segment.isEmpty ? unknown : ([[.literal(prefix)]], folding) }
        func whole(_ type: String?, _ difference: String? = nil) -> Pieces {
            ([[.capture(prefix: prefix, type: type, suffix: suffix)]], difference ?? folding)
        }
        switch first {
        case .star(let without) where core.count == 1:
            return star(prefix, suffix, without: without, isFirst: isFirst, isLast: isLast, folding)
        case .one where core == [.one, .star(without: nil)]:
            if isLast, suffix.isEmpty {
                return ([[.capture(prefix: prefix), .tail(isRequired: false)]], folding)
            }
            return whole(nil, "slashes in place of `*`")
        case .one where core.allSatisfy({ $0 == .one }) && core.count <= 64:
            return whole("[\(Self.characters)]{\(core.count),\(core.count)}", "other characters in place of a wildcard")
        case .set(let own, _, _):
            return set(own, core).map { whole($0.type, $0.difference) } ?? unknown
        case .choice(let values) where core.count == 1:
            let known = values.filter { !$0.isEmpty && !$0.contains { "*?/|(){},".contains($0) } && !$0.contains("%") }
            var seen = Set<String>()
            let list = known.filter { seen.insert($0).inserted }
            if list.isEmpty { return unknown }
            return whole(
                "enum(\(list.joined(separator: "|")))",
                known.count < values.count ? "values with wildcards or special characters" : folding)
        default: return unknown
        }
    }

    private func star(
        _ prefix: String, _ suffix: String, without: Unicode.Scalar?, isFirst: Bool, isLast: Bool, _ folding: String?
    ) -> Pieces {
        let own = PatternPiece.capture(prefix: prefix, suffix: suffix)
        // Nothing before a suffix such as `.pdf` would be a hidden file.
        let bare = (prefix + suffix).hasPrefix(".") ? "" : prefix + suffix
        let empty: [[PatternPiece]] = bare.isEmpty ? [] : [[.literal(bare)]]
        if without == "/" { return (empty + [[own]], folding) }
        if let without {
            let characters = Self.expanded.filter { $0 != Character(without) }
            let type = "[\(Self.ranges(characters))]{1,64}"
            return (
                empty + [[.capture(prefix: prefix, type: type, suffix: suffix)]],
                "other characters in place of a wildcard"
            )
        }
        if isLast, suffix.isEmpty {
            if prefix.isEmpty { return ([[.tail(isRequired: !tailIsOptional && !isFirst)]], folding) }
            return ([[.literal(prefix), .tail(isRequired: false)], [own, .tail(isRequired: false)]], folding)
        }
        var found = empty + [[own]]
        let firsts: [PatternPiece] = prefix.isEmpty ? [.any] : [.literal(prefix), .capture(prefix: prefix)]
        let lasts: [PatternPiece] =
            suffix.isEmpty
            ? [.any]
            : suffix.hasPrefix(".") ? [.capture(suffix: suffix)] : [.literal(suffix), .capture(suffix: suffix)]
        for count in 0...(Self.maxWild - 2) {
            let middle = Array(repeating: PatternPiece.any, count: count)
            for start in firsts { found += lasts.map { [start] + middle + [$0] } }
        }
        return (found, "more than \(Self.maxWild) segments in place of `*`")
    }

    private func set(_ own: String, _ core: [Part]) -> (type: String, difference: String?)? {
        var (least, most) = (0, 0)
        for part in core {
            guard case .set(own, let low, let high) = part, least < 1000 else { return nil }
            least += low
            most = most >= 1000 || high >= 1000 ? 1000 : most + high
        }
        let known = own.filter { Self.expanded.contains($0) }
        guard !known.isEmpty, least <= 64, most > 0 else { return nil }
        let isCut = known.count < own.count
        let difference =
            isCut
            ? "other characters in place of a set"
            : most > 64 ? "more than 64 characters in place of a set" : least == 0 ? "no characters" : nil
        return ("[\(Self.ranges(known))]{\(max(least, 1)),\(min(most, 64))}", difference)
    }

    /// Returns the text of literals without escapes, or nil if the escapes are not those of a text.
    private func text(_ parts: some Sequence<Part>) -> String? {
        var scalars = String.UnicodeScalarView()
        for case .literal(let scalar) in parts { scalars.append(scalar) }
        let text = String(scalars)
        guard isEncoded, text.contains("%") else { return text }
        let decoded = LinkPieces.decoded(text)
        // The decoding of malformed escapes leaves them, and damaged text contains the replacement character.
        return decoded.contains("%") || decoded.contains("\u{FFFD}") ? nil : decoded
    }

    // MARK: Characters

    /// The characters of a class that stands for any of them.
    private static let characters = "A-Za-z0-9._~-"
    private static let expanded: Set<Character> = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-")

    /// Returns characters as the inside of a class, with ranges for letters and digits.
    static func ranges(_ characters: some Sequence<Character>) -> String {
        let bytes = Set(characters.compactMap(\.asciiValue)).sorted()
        var text = ""
        var at = 0
        while at < bytes.count {
            var end = at
            while end + 1 < bytes.count, bytes[end + 1] == bytes[end] + 1, isAlphanumeric(bytes[end + 1]),
                isAlphanumeric(bytes[end])
            {
                end += 1
            }
            let (low, high) = (Character(Unicode.Scalar(bytes[at])), Character(Unicode.Scalar(bytes[end])))
            // A hyphen stands last, so that it begins no range.
            if low != "-" {
                text += end - at > 1 ? "\(low)-\(high)" : String(bytes[at...end].map { Character(Unicode.Scalar($0)) })
            }
            at = end + 1
        }
        return text + (bytes.contains(UInt8(ascii: "-")) ? "-" : "")
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        lowerASCII(byte) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
    }
}

extension WildPath.Part {
    fileprivate var isLiteral: Bool { if case .literal = self { true } else { false } }
}
