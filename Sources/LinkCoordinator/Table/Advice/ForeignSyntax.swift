/// Finds syntax of other routers in texts that are plain text here, and says how it is written here.
///
/// Express and its kin write `:id`, `*` and `(…)`, Go and ASP.NET `{id...}` and `{*id}`, Flask and Django `<int:id>`,
/// Next.js and Expo `[id]`, Remix and TanStack `$id`; regular expressions stand in many.
struct ForeignSyntax {
    /// The text that is taken as it stands.
    var piece: String

    /// What to write instead.
    var advice: String

    /// The first finding in a pattern or a path template, with the right form of the whole.
    static func find(inPath text: String) -> ForeignSyntax? {
        var path = text
        var more: [String] = []
        var piece: String?
        if let cut = outside(path, of: "#") {
            piece = String(path[cut...])
            path = String(path[..<cut])
            more.append("bind the fragment with 'fragment'")
        }
        if let cut = queryStart(path) {
            piece = String(path[cut...])
            more.append(query(path[path.index(after: cut)...]))
            path = String(path[..<cut])
        }
        if path.isEmpty { path = "/" }
        var rewriter = SegmentRewriter()
        let rewritten = rewriter.rewrite(path)
        piece = rewriter.piece ?? piece
        guard let piece else { return nil }
        if rewritten == nil, piece.contains("%") {
            return ForeignSyntax(
                piece: piece,
                advice: "a pattern is written decoded; where links have '/', '{' or '}' in escapes, capture the segment"
            )
        }
        if rewritten == nil {
            return ForeignSyntax(
                piece: piece,
                advice: "a pattern has no regular expressions and no groups: capture with '{name}', '{name:int}', "
                    + "'{name:enum(a|b)}' or '{name:[a-z0-9]{1,16}}', the rest of a path with '{rest*}' at the end")
        }
        return ForeignSyntax(piece: piece, advice: (["write '\(rewritten ?? path)'"] + more).joined(separator: ", "))
    }

    /// The first finding in the path of an external target.
    static func find(inURL text: String) -> ForeignSyntax? {
        guard let scheme = text.firstRange(of: "://") else { return nil }
        for segment in text[scheme.upperBound...].split(separator: "/").dropFirst() {
            guard let name = Name(after: ":", in: segment), name.end == segment.endIndex else { continue }
            return ForeignSyntax(piece: String(segment), advice: "write '{\(name.text)}'")
        }
        return nil
    }

    /// A text without blanks and quotes around it.
    static func bare(_ text: Substring) -> String {
        let marks = " \"'"
        let start = text.drop { marks.contains($0) }
        return String(start.prefix(start.count - start.reversed().prefix { marks.contains($0) }.count))
    }

    /// A Boolean value that indicates whether the value of a query constraint looks like a capture or a wildcard.
    static func isPlaceholder(_ text: String) -> Bool {
        let inner = text.dropFirst().dropLast()
        if text.hasPrefix("{") && text.hasSuffix("}") || text.hasPrefix("<") && text.hasSuffix(">") {
            return Name(inner)?.end == inner.endIndex
        }
        return [".*", ".+", "**", "%"].contains(text) || Name(after: ":", in: text[...])?.end == text.endIndex
    }

    /// Where a query begins: at a `?` that marks nothing as optional.
    private static func queryStart(_ text: String) -> String.Index? {
        guard let mark = outside(text, of: "?") else { return nil }
        let rest = text[text.index(after: mark)...]
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix(")") || text[..<mark].hasSuffix("(") ? nil : mark
    }

    /// The place of a character outside braces.
    private static func outside(_ text: String, of character: Character) -> String.Index? {
        var depth = 0
        return text.indices.first { index in
            if text[index] == "{" { depth += 1 }
            if text[index] == "}" { depth -= 1 }
            return depth == 0 && text[index] == character
        }
    }

    /// What to do for the query of a pattern: constraints for values that are said, binds for the others.
    private static func query(_ text: Substring) -> String {
        var constraints: [String] = []
        var bound: [String] = []
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (String(halves[0]), halves.count > 1 ? String(halves[1]) : "")
            if value.isEmpty || value == "*" || value.hasPrefix(":") || value.hasPrefix("{") || isPlaceholder(value) {
                bound.append("'query.\(name)'")
            } else {
                constraints.append("\"\(name)\": \"\(value)\"")
            }
        }
        let wanted = constraints.isEmpty ? [] : ["add \"query\": { \(constraints.joined(separator: ", ")) }"]
        return (wanted + (bound.isEmpty ? [] : ["bind \(bound.joined(separator: ", "))"])).joined(separator: ", ")
    }
}

/// The name of a capture in another router's syntax.
struct Name {
    /// The name.
    var text: String
    /// Where it ends.
    var end: Substring.Index

    /// Reads a name at the beginning of a text: a letter, then letters, digits and `_`.
    init?(_ text: Substring) {
        let name = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard let first = name.first, first.isLetter else { return nil }
        self.text = String(name)
        end = name.endIndex
    }

    /// Reads a name behind a mark.
    init?(after mark: Character, in text: Substring) {
        guard text.first == mark else { return nil }
        self.init(text.dropFirst())
    }
}
