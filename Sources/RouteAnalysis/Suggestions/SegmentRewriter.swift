internal import LinkCoordinator

/// Converts the segments of a path to the syntax of patterns.
struct SegmentRewriter {
    /// The first segment, or group of segments, that is converted.
    private(set) var piece: String?

    /// The names for captures.
    private var names: CaptureNames

    /// Creates a rewriter that uses the given names.
    init(_ names: CaptureNames) { self.names = names }

    /// Returns the path in corrected form, or nil if there is none, as for a regular expression.
    ///
    /// `piece` stays nil if no part of the path has a meaning in other routers. The form may be invalid, which
    /// `PathText` checks.
    mutating func rewrite(_ path: String) -> String? {
        var path = path
        if let group = optionalGroup(path) {
            piece = String(path[group.whole])
            guard group.inner.first == ":", !group.inner.contains("/"), !"?*+".contains(group.inner.last ?? "?") else {
                return nil
            }
            path.replaceSubrange(group.whole, with: "/\(group.inner)?")
        }
        let segments = path.split(separator: "/")
        var written = ""
        for (index, segment) in segments.enumerated() {
            guard Self.isForeign(segment) else {
                written += "/" + segment
                continue
            }
            piece = piece ?? String(segment)
            guard let own = Self.rewrite(segment, isLast: index == segments.count - 1) else { return nil }
            switch own {
            case .nothing: continue
            case .text(let text): written += "/" + text
            case .capture(let capture): written += "/" + names.text(of: capture)
            }
        }
        return written.isEmpty ? "/" : written
    }

    /// Returns the last `(/…)`, with an optional `?` after it.
    private func optionalGroup(_ path: String) -> (whole: Range<String.Index>, inner: Substring)? {
        guard let start = path.firstRange(of: "(/"), let end = path.lastIndex(of: ")"), start.upperBound <= end else {
            return nil
        }
        let after = path[path.index(after: end)...]
        guard after.isEmpty || after == "?" else { return nil }
        return (start.lowerBound..<path.endIndex, path[start.upperBound..<end])
    }

    /// Returns a Boolean value that indicates whether the part of a segment outside braces has a meaning in other
    /// routers.
    private static func isForeign(_ segment: Substring) -> Bool {
        let text = withoutCaptures(segment)
        if text.contains("*") || text.contains("\\") || text.contains("^") || text.contains("|") { return true }
        if text.hasSuffix("?") || text.hasSuffix("(") || isEscaped(text) || text.contains(".+") { return true }
        if text.hasPrefix("$") {
            return text.dropFirst().isEmpty || ForeignName(after: "$", in: text)?.end == text.endIndex
        }
        if hasPair(text, "[", "]") || hasPair(text, "<", ">") || text.hasPrefix("(?") { return true }
        let isGroup = hasPair(text, "(", ")") && text.hasPrefix("(") && ")?+".contains(text.last ?? " ")
        return isGroup || captureMark(text) != nil
    }

    /// Returns the segment without any `{…}`.
    private static func withoutCaptures(_ segment: Substring) -> Substring {
        var out = ""
        var depth = 0
        for character in segment {
            if character == "{" { depth += 1 }
            if depth == 0 { out.append(character) }
            if character == "}" { depth -= 1 }
        }
        return out[...]
    }

    private static func hasPair(_ text: Substring, _ open: Character, _ close: Character) -> Bool {
        guard let first = text.firstIndex(of: open), let last = text.lastIndex(of: close) else { return false }
        return first < last
    }

    /// Returns a Boolean value that indicates whether the text has a `%` with two hexadecimal digits.
    private static func isEscaped(_ text: Substring) -> Bool {
        text.indices.contains { text[$0] == "%" && text[$0...].dropFirst().prefix(2).count { $0.isHexDigit } == 2 }
    }

    /// Returns the start of a `:name`: at the beginning, or after a character that separates words.
    private static func captureMark(_ text: Substring) -> Substring.Index? {
        text.indices.first { index in
            guard ForeignName(after: ":", in: text[index...]) != nil else { return false }
            return index == text.startIndex || "-.(".contains(text[text.index(before: index)])
        }
    }

    private static func rewrite(_ segment: Substring, isLast: Bool) -> ConvertedSegment? {
        if segment == "*" || segment == "$" {
            return isLast ? .capture("rest", "+") : .capture("name")
        }
        if segment == "**" { return isLast ? .capture("rest", "*") : nil }
        if segment == "?" { return isLast ? .nothing : nil }
        if segment.first == "*", let name = ForeignName(after: "*", in: segment), name.end == segment.endIndex {
            return isLast ? .capture(name.text, "*") : nil
        }
        if let name = ForeignName(after: "$", in: segment), name.end == segment.endIndex { return .capture(name.text) }
        if isEscaped(segment) { return decoded(segment).map { .text($0) } }
        if segment.hasPrefix("{"), segment.hasSuffix("}?") || segment.hasSuffix("}*") {
            return isLast ? .text(segment.dropLast(2) + String(segment.suffix(1)) + "}") : nil
        }
        if captureMark(segment) != nil { return marked(segment, isLast: isLast) }
        return bracketed(segment, isLast: isLast) ?? angled(segment, isLast: isLast) ?? starred(segment)
            ?? grouped(segment, isLast: isLast)
    }

    /// Converts `[id]`, `[[id]]`, `[...id]`, and `[[...id]]`.
    private static func bracketed(_ segment: Substring, isLast: Bool) -> ConvertedSegment? {
        guard segment.hasPrefix("["), segment.hasSuffix("]") else { return nil }
        var inner = segment.dropFirst().dropLast()
        let isOptional = inner.hasPrefix("[") && inner.hasSuffix("]")
        if isOptional { inner = inner.dropFirst().dropLast() }
        let isTail = inner.hasPrefix("...")
        if isTail { inner = inner.dropFirst(3) }
        guard let name = ForeignName(inner), name.end == inner.endIndex, isLast || !isTail && !isOptional else {
            return nil
        }
        return .capture(name.text, isTail ? (isOptional ? "*" : "+") : isOptional ? "?" : "")
    }

    /// For each type of Flask, Django, and Bottle, the type of a capture.
    ///
    /// `+` is the rest of the path.
    private static let types = [
        "int": ":int", "uuid": ":uuid", "bool": ":bool", "date": ":date", "path": "+", "str": "", "string": "",
        "slug": "", "float": "", "any": "",
    ]

    /// Converts `<id>`, `<int:id>`, and `<path:rest>`, and `<id:int>` and `<id:re:[a-z]+>` of Bottle.
    private static func angled(_ segment: Substring, isLast: Bool) -> ConvertedSegment? {
        guard let open = segment.firstIndex(of: "<"), let close = segment.lastIndex(of: ">"), open < close else {
            return nil
        }
        let inner = segment[segment.index(after: open)..<close]
        let parts = inner.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        let isBottle = parts.count > 1 && types[String(parts[0])] == nil && types[String(parts[1])] != nil
        let isExpression = parts.count == 3 && parts[1] == "re"
        guard parts.count < 3 || isExpression else { return nil }
        let own = isBottle || isExpression ? parts[0] : parts[parts.count - 1]
        guard let name = ForeignName(own), name.end == own.endIndex else { return nil }
        var type = parts.count == 2 ? types[String(isBottle ? parts[1] : parts[0])] ?? "" : ""
        if isExpression {
            guard let read = expression(parts[2]) else { return nil }
            type = read
        }
        let (before, after) = (segment[..<open], segment[segment.index(after: close)...])
        if before.contains("(") { return nil }
        if type == "+" && !(before.isEmpty && after.isEmpty && isLast) { return nil }
        return .capture(name.text, type, before: before, after: after)
    }

    /// Converts `:id`, `:id?`, `:id*`, `:id+`, `:id(\d+)`, `:id{[0-9]+}`, `p-:id`, and `(:id)`.
    private static func marked(_ segment: Substring, isLast: Bool) -> ConvertedSegment? {
        guard let mark = captureMark(segment), let name = ForeignName(after: ":", in: segment[mark...]) else {
            return nil
        }
        let before = segment[..<mark]
        var after = segment[name.end...]
        if before == "(", after == ")" || after == ")?" { return isLast ? .capture(name.text, "?") : nil }
        var type = ""
        for (open, end) in [("(", ")"), ("{", "}")] as [(Character, Character)] {
            guard after.first == open, let close = after.lastIndex(of: end) else { continue }
            guard let read = expression(after[after.index(after: after.startIndex)..<close]) else { return nil }
            type = read
            after = after[after.index(after: close)...]
        }
        if let sign = after.first, "?*+".contains(sign), after.dropFirst().isEmpty {
            guard isLast && before.isEmpty && (sign == "?" || type.isEmpty) else { return nil }
            return .capture(name.text, "\(type)\(sign)")
        }
        if before.contains("(") || after.contains(where: { "()?*+[]:".contains($0) }) { return nil }
        return .capture(name.text, type, before: before, after: after)
    }

    /// Converts `*.html` and `img-*`.
    private static func starred(_ segment: Substring) -> ConvertedSegment? {
        guard let star = segment.firstIndex(of: "*"), segment.count(where: { $0 == "*" }) == 1,
            !segment.contains(where: { "()[]\\^|{}?<>".contains($0) }), !segment.contains(".*")
        else { return nil }
        return .capture("name", before: segment[..<star], after: segment[segment.index(after: star)...])
    }

    /// Converts `(\d+)`, `(a|b)`, and `(.*)`.
    private static func grouped(_ segment: Substring, isLast: Bool) -> ConvertedSegment? {
        var text = segment
        if text.hasPrefix("^") { text = text.dropFirst() }
        if text.hasSuffix("$") { text = text.dropLast() }
        if [".*", "(.*)"].contains(text) { return isLast ? .capture("rest", "*") : .capture("name") }
        if text == ".+" || text == "(.+)" { return isLast ? .capture("rest", "+") : .capture("name") }
        if text == "\\d+" || text == "[0-9]+" { return .capture("name", ":int") }
        if let type = expression(text), type.hasPrefix(":[") { return .capture("name", type) }
        guard text.hasPrefix("("), text.hasSuffix(")") else { return nil }
        return expression(text.dropFirst().dropLast()).flatMap { $0.isEmpty ? nil : .capture("name", $0) }
    }

    /// Returns the type of a capture for a regular expression: empty for any segment, or nil for an unknown expression.
    private static func expression(_ text: Substring) -> String? {
        switch text {
        case "\\d+", "[0-9]+": return ":int"
        case "[^/]+", ".*", ".+", "\\w+": return ""
        default:
            if text.hasPrefix("["), text.hasSuffix("]+"),
                !text.dropFirst().dropLast(2).contains(where: { "[]^\\".contains($0) })
            {
                return ":\(text.dropLast()){1,64}"
            }
            let words = text.split(separator: "|", omittingEmptySubsequences: false)
            guard words.count > 1, words.allSatisfy({ ForeignName($0)?.end == $0.endIndex }) else { return nil }
            return ":enum(\(text))"
        }
    }

    /// Returns the segment with percent escapes decoded, or nil if the result has a `/` or braces, or is not text.
    private static func decoded(_ segment: Substring) -> String? {
        text(withoutEscapesIn: segment).flatMap { $0.contains { "/{}".contains($0) } ? nil : $0 }
    }

    /// Returns a text with percent escapes decoded, or nil if the result is not UTF-8.
    static func text(withoutEscapesIn text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A segment of another router's path, converted to the syntax of patterns.
enum ConvertedSegment {
    /// A capture with the text around it.
    struct Capture {
        /// The name in the other router's path.
        var name: String
        /// The sign or type after the name: `?`, `*`, `:int`.
        var type: String
        /// The text before the braces.
        var before: Substring
        /// The text after the braces.
        var after: Substring
    }

    /// The segment is left out.
    case nothing
    /// Text, or a capture that is already correct.
    case text(String)
    /// A capture.
    case capture(Capture)

    /// Returns the segment of a capture.
    static func capture(
        _ name: String, _ type: String = "", before: Substring = "", after: Substring = ""
    ) -> ConvertedSegment {
        .capture(Capture(name: name, type: type, before: before, after: after))
    }
}

/// The names for captures.
///
/// A pattern uses each name once and no reserved name. A template repeats the names of patterns.
struct CaptureNames {
    private let isTemplate: Bool
    private var usedNames: Set<String> = []

    /// Creates names for a path that differ from the names that it already has in braces.
    init(for path: String, isTemplate: Bool) {
        self.isTemplate = isTemplate
        for piece in path.split(separator: "{").dropFirst() {
            usedNames.insert(String(piece.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }))
        }
    }

    /// Returns the segment of a capture with an unused name.
    mutating func text(of capture: ConvertedSegment.Capture) -> String {
        let inside = isTemplate ? capture.name : free(capture.name) + capture.type
        return "\(capture.before){\(inside)}\(capture.after)"
    }

    /// Returns the name, or a modified one if it is reserved, too long, or already used.
    private mutating func free(_ name: String) -> String {
        let own = Self.allowed(name)
        var result = own
        var number = 2
        while !usedNames.insert(result).inserted {
            result = own + String(number)
            number += 1
        }
        return result
    }

    /// Returns the name, or a modified one if it is reserved or too long.
    static func allowed(_ name: String) -> String {
        if NameRule.isReserved(name) { return "\(name.drop { $0 == "_" })Name" }
        return name.utf8.count > NameRule.maxBytes ? String(name.prefix(NameRule.maxBytes - 4)) : name
    }
}

/// The name of a capture in another router's syntax.
struct ForeignName {
    /// The name.
    var text: String
    /// The index after the name.
    var end: Substring.Index

    /// Reads a name at the beginning of a text: a letter, followed by letters, digits, and `_`.
    init?(_ text: Substring) {
        let name = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard let first = name.first, first.isLetter else { return nil }
        self.text = String(name)
        end = name.endIndex
    }

    /// Reads a name after a mark.
    init?(after mark: Character, in text: Substring) {
        guard text.first == mark else { return nil }
        self.init(text.dropFirst())
    }

    /// Returns a Boolean value that indicates whether the value of a query constraint looks like a capture or a
    /// wildcard.
    static func isPlaceholder(_ text: String) -> Bool {
        let inner = text.dropFirst().dropLast()
        if text.hasPrefix("{") && text.hasSuffix("}") || text.hasPrefix("<") && text.hasSuffix(">") {
            return ForeignName(inner)?.end == inner.endIndex
        }
        return [".*", ".+", "**", "%"].contains(text) || ForeignName(after: ":", in: text[...])?.end == text.endIndex
    }
}
