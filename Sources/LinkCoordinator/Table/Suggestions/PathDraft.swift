internal import StrictJSON

/// A text of a table that is a path, with the rules that it is read by.
package struct PathText {
    /// The place of the path in a table.
    package enum Role {
        /// `match`, or an alias.
        case pattern
        /// `stripPrefix` of a rewrite.
        case prefix
        /// `redirect`, with the names that stand for something in it.
        case redirect(names: Set<String>)
    }

    /// The path.
    package var text: String

    /// Its place.
    var role: Role

    /// A Boolean value that indicates whether the table folds the case of paths.
    var foldsCase: Bool

    /// Makes a text with its place.
    package init(text: String, role: Role, foldsCase: Bool) {
        self.text = text
        self.role = role
        self.foldsCase = foldsCase
    }

    /// The path, for messages.
    var noun: String {
        switch role {
        case .pattern: "a pattern"
        case .prefix: "a prefix"
        case .redirect: "a redirect"
        }
    }

    /// The grammar in short, where there is no right form.
    var grammar: String {
        switch role {
        case .pattern:
            "a pattern has no regular expressions and no groups: capture with '{name}', '{name:int}', "
                + "'{name:enum(a|b)}' or '{name:[a-z0-9]{1,16}}', the rest of a path with '{rest*}' at the end"
        case .prefix: "a prefix is text with one capture at most, such as '{name}' or '{name:enum(a|b)}'"
        case .redirect: "a redirect is text with what the pattern captures as 'name' in the form '{name}'"
        }
    }

    /// A Boolean value that indicates whether the path reads in its place, each `{name}` stands for something, and it
    /// holds no `<name>`, which would be a var.
    var isRight: Bool {
        if Self.holdsVar(text) { return false }
        do throws(TextError) {
            switch role {
            case .pattern: _ = try PatternParser.parse(text, foldsCase: foldsCase)
            case .prefix: _ = try PatternParser.parsePrefix(text, foldsCase: foldsCase)
            case .redirect(let names):
                let template = try TemplateParser.path(text) { $0 }
                return template.segments.joined().allSatisfy { part in
                    if case .name(let name) = part { names.contains(name.value) } else { true }
                }
            }
            return true
        } catch {
            return false
        }
    }

    /// Returns whether a text holds a `<name>`, for which a table puts a var in.
    static func holdsVar(_ text: String) -> Bool {
        text.split(separator: "<", omittingEmptySubsequences: false).dropFirst().contains { piece in
            piece.firstIndex(of: ">").map { NameRule.identifier.takes(String(piece[..<$0])) } ?? false
        }
    }
}

/// A path written anew: without another router's syntax, without a query and with one slash before each segment.
package struct PathDraft {
    /// The first text that another router gives a meaning; nil where the path has none.
    private(set) var piece: String?

    /// The path in the right form, which reads and has no finding; nil where there is none.
    package private(set) var form: String?

    /// Steps to take beside it.
    private(set) var more: [String] = []

    /// Drafts the right form of a path.
    package init(_ path: PathText) {
        let form = rewrite(path)
        guard var right = form.map({ PathText(text: $0, role: path.role, foldsCase: path.foldsCase) }) else { return }
        right.text = nfc(right.text)
        guard right.isRight, !Self.isForeign(right) else { return }
        self.form = right.text
    }

    /// Notes the first finding and the further steps, and returns the path without other syntax.
    private mutating func rewrite(_ path: PathText) -> String? {
        var text = path.text
        if let cut = Self.outside(text, of: "#") {
            piece = String(text[cut...])
            text = String(text[..<cut])
            if case .pattern = path.role { more.append("bind the fragment with 'fragment'") }
        }
        if let cut = Self.queryStart(text) {
            piece = String(text[cut...])
            switch path.role {
            case .pattern: more += Self.query(text[text.index(after: cut)...])
            case .redirect: more.append("a redirect keeps the query of the link")
            case .prefix: break
            }
            text = String(text[..<cut])
        }
        var rewriter = SegmentRewriter(CaptureNames(for: text, isTemplate: path.isTemplate))
        let form = rewriter.rewrite(text)
        piece = rewriter.piece ?? piece
        return form
    }

    /// A Boolean value that indicates whether other routers give a meaning to a part of the path.
    private static func isForeign(_ path: PathText) -> Bool {
        var draft = PathDraft()
        _ = draft.rewrite(path)
        return draft.piece != nil
    }

    private init() {}

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

    /// Returns whether a table may say a text of a query, and a link may have it.
    private static func isSayable(_ text: String) -> Bool {
        !PathText.holdsVar(text) && (try? PatternParser.checkCharacters(text.utf8, at: 0)) != nil
    }

    /// Returns what to do for the query of a pattern: constraints for values that are said, binds for the others.
    private static func query(_ text: Substring) -> [String] {
        var seen: Set<String> = []
        var constraints: [String] = []
        var bound: [String] = []
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = SegmentRewriter.text(withoutEscapesIn: halves[0]), !name.isEmpty,
                !NameRule.isReserved(name), Self.isSayable(name), seen.insert(name).inserted
            else { continue }
            let value = halves.count > 1 ? String(halves[1]) : ""
            if value.isEmpty || "*:{<[$(".contains(value.first ?? " ") || ForeignSyntax.isPlaceholder(value) {
                bound.append("'query.\(name)'")
            } else if let value = SegmentRewriter.text(withoutEscapesIn: value[...]),
                !ForeignSyntax.isPlaceholder(value), Self.isSayable(value)
            {
                constraints.append("\(JSONValue(.string(name)).text): \(JSONValue(.string(value)).text)")
            }
        }
        let wanted = constraints.isEmpty ? [] : ["add \"query\": { \(constraints.joined(separator: ", ")) }"]
        return wanted + (bound.isEmpty ? [] : ["bind \(bound.joined(separator: ", "))"])
    }
}

extension PathText {
    /// A Boolean value that indicates whether names in the path repeat those of a pattern.
    var isTemplate: Bool { if case .redirect = role { true } else { false } }
}
