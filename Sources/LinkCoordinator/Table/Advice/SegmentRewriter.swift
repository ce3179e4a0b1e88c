/// Writes the segments of a path the way that patterns here have them.
struct SegmentRewriter {
    /// The first segment, or group of segments, that is written in another way.
    private(set) var piece: String?

    /// The path in the right form; nil where there is none, as for a regular expression.
    ///
    /// `piece` stays nil where the path is right as it stands.
    mutating func rewrite(_ path: String) -> String? {
        var path = path
        if let group = optionalGroup(path) {
            piece = String(path[group.whole])
            guard let name = Name(after: ":", in: group.inner), name.end == group.inner.endIndex else { return nil }
            path.replaceSubrange(group.whole, with: "/{\(name.text)?}")
        }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var written: [String] = []
        for (index, segment) in segments.enumerated() {
            guard Self.isForeign(segment) else {
                written.append(String(segment))
                continue
            }
            piece = piece ?? String(segment)
            guard let own = Self.rewrite(segment, isLast: index == segments.count - 1) else { return nil }
            written.append(own)
        }
        return "/" + written.joined(separator: "/")
    }

    /// The last `(/…)`, with or without a `?` behind it.
    private func optionalGroup(_ path: String) -> (whole: Range<String.Index>, inner: Substring)? {
        guard let start = path.firstRange(of: "(/"), let end = path.lastIndex(of: ")"), start.upperBound <= end else {
            return nil
        }
        let after = path[path.index(after: end)...]
        guard after.isEmpty || after == "?" else { return nil }
        return (start.lowerBound..<path.endIndex, path[start.upperBound..<end])
    }

    /// Whether other routers give a meaning to what stands in a segment outside braces.
    private static func isForeign(_ segment: Substring) -> Bool {
        let text = withoutCaptures(segment)
        if text.contains("*") || text.contains("\\") || text.contains("^") || text.contains("|") { return true }
        if text.hasSuffix("?") || text.hasSuffix("(") || isEscaped(text) || text.contains(".+") { return true }
        if text.hasPrefix("$") { return text.dropFirst().isEmpty || Name(after: "$", in: text)?.end == text.endIndex }
        if hasPair(text, "[", "]") || hasPair(text, "<", ">") || text.hasPrefix("(?") { return true }
        let isGroup = hasPair(text, "(", ")") && text.hasPrefix("(") && ")?+".contains(text.last ?? " ")
        return isGroup || captureMark(text) != nil
    }

    /// The segment with every `{…}` taken out.
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

    /// Whether a `%` with two hexadecimal digits stands in it.
    private static func isEscaped(_ text: Substring) -> Bool {
        text.indices.contains { text[$0] == "%" && text[$0...].dropFirst().prefix(2).count { $0.isHexDigit } == 2 }
    }

    /// Where a `:name` begins: at the start, or behind a character that parts words.
    private static func captureMark(_ text: Substring) -> Substring.Index? {
        text.indices.first { index in
            guard Name(after: ":", in: text[index...]) != nil else { return false }
            return index == text.startIndex || "-.(".contains(text[text.index(before: index)])
        }
    }

    private static func rewrite(_ segment: Substring, isLast: Bool) -> String? {
        if segment == "*" || segment == "$" { return isLast ? "{rest+}" : "{name}" }
        if segment == "**" { return isLast ? "{rest*}" : nil }
        if segment.first == "*", let name = Name(after: "*", in: segment), name.end == segment.endIndex, isLast {
            return "{\(name.text)*}"
        }
        if let name = Name(after: "$", in: segment), name.end == segment.endIndex { return "{\(name.text)}" }
        if isEscaped(segment) { return decoded(segment) }
        return bracketed(segment, isLast: isLast) ?? angled(segment, isLast: isLast)
            ?? marked(segment, isLast: isLast) ?? starred(segment) ?? grouped(segment, isLast: isLast)
    }

    /// `[id]`, `[[id]]`, `[...id]`, `[[...id]]`.
    private static func bracketed(_ segment: Substring, isLast: Bool) -> String? {
        guard segment.hasPrefix("["), segment.hasSuffix("]") else { return nil }
        var inner = segment.dropFirst().dropLast()
        let isOptional = inner.hasPrefix("[") && inner.hasSuffix("]")
        if isOptional { inner = inner.dropFirst().dropLast() }
        let isTail = inner.hasPrefix("...")
        if isTail { inner = inner.dropFirst(3) }
        guard let name = Name(inner), name.end == inner.endIndex, isLast || !isTail && !isOptional else { return nil }
        return "{\(name.text)\(isTail ? (isOptional ? "*" : "+") : isOptional ? "?" : "")}"
    }

    /// `<id>`, `<int:id>`, `<path:rest>`.
    private static func angled(_ segment: Substring, isLast: Bool) -> String? {
        guard let open = segment.firstIndex(of: "<"), let close = segment.lastIndex(of: ">"), open < close else {
            return nil
        }
        let halves = segment[segment.index(after: open)..<close].split(separator: ":", omittingEmptySubsequences: false)
        guard let last = halves.last, halves.count <= 2, let name = Name(last), name.end == last.endIndex else {
            return nil
        }
        let (before, after) = (segment[..<open], segment[segment.index(after: close)...])
        if before.contains("(") { return nil }
        let type = halves.count == 2 ? halves[0] : ""
        if type == "path" { return before.isEmpty && after.isEmpty && isLast ? "{\(name.text)+}" : nil }
        let known = ["int", "uuid", "bool", "date"].contains(type) ? ":\(type)" : ""
        return "\(before){\(name.text)\(known)}\(after)"
    }

    /// `:id`, `:id?`, `:id*`, `:id+`, `:id(\d+)`, `p-:id`.
    private static func marked(_ segment: Substring, isLast: Bool) -> String? {
        guard let mark = captureMark(segment), let name = Name(after: ":", in: segment[mark...]) else { return nil }
        let before = segment[..<mark]
        var after = segment[name.end...]
        var type = ""
        if after.hasPrefix("("), let close = after.lastIndex(of: ")") {
            guard let read = expression(after[after.index(after: after.startIndex)..<close]) else { return nil }
            type = read
            after = after[after.index(after: close)...]
        }
        if let sign = after.first, "?*+".contains(sign), after.dropFirst().isEmpty {
            return isLast && before.isEmpty && (sign == "?" || type.isEmpty) ? "{\(name.text)\(type)\(sign)}" : nil
        }
        if before.contains("(") || after.contains(where: { "()?*+[]:".contains($0) }) { return nil }
        return "\(before){\(name.text)\(type)}\(after)"
    }

    /// `*.html`, `img-*`.
    private static func starred(_ segment: Substring) -> String? {
        guard segment.count(where: { $0 == "*" }) == 1, !segment.contains(where: { "()[]\\^|{}?".contains($0) }),
            !segment.contains(".*")
        else { return nil }
        return String(segment.replacing("*", with: "{name}"))
    }

    /// `(\d+)`, `(a|b)`, `(.*)`.
    private static func grouped(_ segment: Substring, isLast: Bool) -> String? {
        var text = segment
        if text.hasPrefix("^") { text = text.dropFirst() }
        if text.hasSuffix("$") { text = text.dropLast() }
        if [".*", "(.*)"].contains(text) { return isLast ? "{rest*}" : "{name}" }
        if text == ".+" || text == "(.+)" { return isLast ? "{rest+}" : "{name}" }
        if text == "\\d+" { return "{name:int}" }
        if let type = expression(text), type.hasPrefix(":[") { return "{name\(type)}" }
        guard text.hasPrefix("("), text.hasSuffix(")") else { return nil }
        return expression(text.dropFirst().dropLast()).flatMap { $0.isEmpty ? nil : "{name\($0)}" }
    }

    /// The type of a capture for a regular expression: empty for any segment, nil for one that is not known.
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
            guard words.count > 1, words.allSatisfy({ Name($0)?.end == $0.endIndex }) else { return nil }
            return ":enum(\(text))"
        }
    }

    /// The segment without percent-escapes; nil where they stand for a `/`, for braces or for no text.
    private static func decoded(_ segment: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(segment.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.contains(where: { "/{}".contains($0) }) else {
            return nil
        }
        return text
    }
}
