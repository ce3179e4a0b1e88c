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
        for piece in self {
            switch piece {
            case .literal(let text): if text.isEmpty || TableDraft.has(text, anyOf: "{}/<") { return nil }
            case .capture(let prefix, _, let suffix, _):
                if TableDraft.has(prefix + suffix, anyOf: "{}/<") { return nil }
            case .tail: continue
            }
        }
        let text = "/" + segments.joined(separator: "/")
        return (try? PatternParser.parse(text, foldsCase: false)) == nil ? nil : text
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
    /// A Boolean value that indicates whether the path ignores the case of letters.
    var folds = false
    /// A Boolean value that indicates whether the path ignores the case of letters, but the table does not.
    var foldsAlone = false

    /// Returns patterns that match only paths that this one matches.
    var narrow: Reading { reading(isWide: false) }

    /// Returns patterns that match all paths that this one matches.
    var wide: Reading { reading(isWide: true) }

    private func reading(isWide: Bool) -> Reading {
        var result = Reading(patterns: [[]])
        // Patterns of paths that differ from here on.
        var ended: [[PatternPiece]] = []
        var segments = parts.split(separator: .literal("/"), omittingEmptySubsequences: false).map(Array.init)
        if segments.first == [] { segments.removeFirst() }
        if segments.last == [] { segments.removeLast() }
        for (index, segment) in segments.enumerated() {
            var own = forms(segment, isFirst: index == 0, isLast: index == segments.count - 1, isWide: isWide)
            if isWide, own.difference != nil {
                if own.rest.isEmpty { (own.found, own.rest) = ([], beginnings(segment)) }
                ended += result.patterns.flatMap { start in own.rest.map { start + $0 } }
                own.difference = "every path that begins like it"
            }
            result.difference = result.difference ?? own.difference
            let found = result.patterns.flatMap { start in own.found.map { start + $0 } }
            if found.count > Self.maxPatterns, isWide {
                ended += result.patterns.map { $0 + [.tail(isRequired: false)] }
                result = Reading(difference: "every path that begins like it")
                break
            }
            result.patterns = Array(found.prefix(Self.maxPatterns))
            if found.count > Self.maxPatterns {
                result.difference = result.difference ?? "more than \(Self.maxPatterns) patterns"
            }
        }
        result.patterns += ended
        let known = result.patterns.filter { $0.pattern != nil }
        if known.count < result.patterns.count || known.count > Self.maxPatterns {
            if isWide { return Reading(patterns: [[.tail(isRequired: false)]], difference: "every path") }
            result.difference = result.difference ?? "characters that no pattern of a table has"
        }
        result.patterns = known
        return result
    }

    // MARK: Segments

    /// The forms of a segment.
    private struct Forms {
        /// The forms, each as pieces of a pattern.
        var found: [[PatternPiece]] = []
        /// The difference between the forms and the segment, or nil if they are equal.
        var difference: String?
        /// Pieces with a tail for what the forms leave out, or none if they do not help to match all of it.
        var rest: [[PatternPiece]] = []
    }

    /// Returns the pieces of all paths that begin with the literals of a segment.
    private func beginnings(_ segment: [Part]) -> [[PatternPiece]] {
        let start = segment.prefix { $0.isLiteral }
        let tail = PatternPiece.tail(isRequired: false)
        guard let prefix = text(start, isWide: true), !prefix.isEmpty, folding(Array(start)) == nil else {
            return [[tail]]
        }
        return [[.literal(prefix), tail], [.capture(prefix: prefix), tail]]
    }

    /// Returns how the table reads the case of letters in a segment differently, or nil if it does not.
    private func folding(_ segment: [Part]) -> String? {
        let differs = segment.contains { part in
            switch part {
            case .literal(let scalar): foldsAlone && scalar.properties.isAlphabetic || folds && !scalar.isASCII
            case .choice(let values): foldsAlone || folds && !values.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
            default: false
            }
        }
        return differs ? "other cases of letters" : nil
    }

    private func forms(_ segment: [Part], isFirst: Bool, isLast: Bool, isWide: Bool) -> Forms {
        let unknown = Forms(difference: "all of them, because a table has no pattern for them")
        let start = segment.prefix { $0.isLiteral }
        let end = Array(segment.dropFirst(start.count).reversed().prefix { $0.isLiteral }.reversed())
        let core = Array(segment.dropFirst(start.count).dropLast(end.count))
        guard let prefix = text(start, isWide: isWide), let suffix = text(end, isWide: isWide) else { return unknown }
        let folding = folding(segment)
        guard let first = core.first else {
            return segment.isEmpty ? unknown : Forms(found: [[.literal(prefix)]], difference: folding)
        }
        func whole(_ type: String?, _ difference: String? = nil) -> Forms {
            Forms(found: [[.capture(prefix: prefix, type: type, suffix: suffix)]], difference: difference ?? folding)
        }
        switch first {
        case .star(let without) where core.count == 1:
            // `*` can also end within an escape, such as `%5B` for `*B`.
            let isCut = isEncoded && suffix.utf8.first.map { isDigit($0) } ?? false
            if isWide, folding != nil || isCut { return unknown }
            var own = star(prefix, suffix, without: without, isFirst: isFirst, isLast: isLast, isWide: isWide)
            own.difference = own.difference ?? folding
            return own
        case .one where core == [.one, .star(without: nil)]:
            if isLast, suffix.isEmpty {
                let difference = prefix.isEmpty ? nil : "a slash in place of `?`"
                return Forms(
                    found: [[.capture(prefix: prefix), .tail(isRequired: false)]], difference: difference ?? folding)
            }
            return whole(nil, "slashes in place of `*`")
        case .one where core.allSatisfy({ $0 == .one }) && core.count <= 64:
            return whole("[\(Self.characters)]{\(core.count),\(core.count)}", "other characters in place of a wildcard")
        case .set(let own, _, _):
            return set(own, core).map { whole($0.type, $0.difference) } ?? unknown
        case .choice(let values) where core.count == 1:
            let known = values.filter { value in
                !value.isEmpty && !TableDraft.has(value, anyOf: "*?/|(){},%<")
                    && (!isEncoded || LinkPieces.isUsual(value))
            }
            var seen = Set<String>()
            let list = known.filter { seen.insert(folds ? $0.lowercased() : $0).inserted }
            if list.isEmpty { return unknown }
            return whole(
                "enum(\(list.joined(separator: "|")))",
                known.count < values.count ? "values with wildcards or special characters" : folding)
        default: return unknown
        }
    }

    private func star(
        _ prefix: String, _ suffix: String, without: Unicode.Scalar?, isFirst: Bool, isLast: Bool, isWide: Bool
    ) -> Forms {
        let own = PatternPiece.capture(prefix: prefix, suffix: suffix)
        // Nothing before a suffix such as `.pdf` would be a hidden file. No link has the segments `.` and `..`.
        let isHidden = [".", ".."].contains(prefix + suffix) || !isWide && (prefix + suffix).hasPrefix(".")
        let bare = isHidden ? "" : prefix + suffix
        let empty: [[PatternPiece]] = bare.isEmpty ? [] : [[.literal(bare)]]
        if without == "/" { return Forms(found: empty + [[own]]) }
        if let without {
            let characters = Self.expanded.filter { $0 != Character(without) }
            let type = "[\(Self.ranges(characters))]{1,64}"
            return Forms(
                found: empty + [[.capture(prefix: prefix, type: type, suffix: suffix)]],
                difference: "other characters in place of a wildcard")
        }
        if isLast, suffix.isEmpty {
            if prefix.isEmpty { return Forms(found: [[.tail(isRequired: !tailIsOptional && !isFirst)]]) }
            return Forms(found: [[.literal(prefix), .tail(isRequired: false)], [own, .tail(isRequired: false)]])
        }
        var found = empty + [[own]]
        let firsts: [[PatternPiece]] = prefix.isEmpty ? [[.any]] : [[.literal(prefix)], [.capture(prefix: prefix)]]
        let hasBare = !suffix.isEmpty && (isWide ? ![".", ".."].contains(suffix) : !suffix.hasPrefix("."))
        let lasts = (hasBare ? [.literal(suffix)] : []) + [PatternPiece.capture(suffix: suffix)]
        for count in 0...(Self.maxWild - 2) {
            let middle = Array(repeating: PatternPiece.any, count: count)
            for start in firsts { found += lasts.map { start + middle + [$0] } }
        }
        let more = Array(repeating: PatternPiece.any, count: Self.maxWild - 1) + [.tail(isRequired: true)]
        return Forms(
            found: found, difference: "more than \(Self.maxWild) segments in place of `*`",
            rest: firsts.map { $0 + more })
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

    private func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (folds ? byte & ~0x20 : byte) &- UInt8(ascii: "A") < 6
    }

    /// Returns the text of literals without escapes.
    ///
    /// It is nil if no link in the usual spelling has the literals as written, or for a wide reading, if a link can
    /// have them with other texts.
    private func text(_ parts: some Sequence<Part>, isWide: Bool) -> String? {
        var scalars = String.UnicodeScalarView()
        for case .literal(let scalar) in parts { scalars.append(scalar) }
        let text = String(scalars)
        let decoded = isEncoded ? LinkPieces.decoded(text) : text
        if isWide { return TableDraft.has(decoded, anyOf: isEncoded ? "{}/<%" : "{}/<") ? nil : decoded }
        guard isEncoded else { return text }
        // Damaged text contains the replacement character.
        return LinkPieces.isUsual(text, foldsCase: folds) && !decoded.contains("\u{FFFD}") ? decoded : nil
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
