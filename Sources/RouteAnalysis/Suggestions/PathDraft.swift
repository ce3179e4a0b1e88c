internal import LinkCoordinator
internal import StrictJSON

extension PathText {
    /// The noun for the path, for messages.
    var noun: String {
        switch role {
        case .pattern: "a pattern"
        case .prefix: "a prefix"
        case .redirect: "a redirect"
        }
    }

    /// A summary of the grammar, for messages that cannot suggest a corrected path.
    var grammar: String {
        switch role {
        case .pattern:
            "a pattern cannot have regular expressions or groups: use `{name}`, `{name:int}`, "
                + "`{name:enum(a|b)}`, or `{name:[a-z0-9]{1,16}}`, and `{rest*}` for the rest of a path"
        case .prefix: "a prefix is text with at most one capture, such as `{name}` or `{name:enum(a|b)}`"
        case .redirect: "a redirect is text, in which `{name}` is the capture `name` of the pattern"
        }
    }

    /// A Boolean value that indicates whether the path is valid in its role, uses only known names, and has no var
    /// `<name>`.
    var isValid: Bool {
        if Self.containsVar(text) { return false }
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

    /// Returns a Boolean value that indicates whether a text has a var `<name>`.
    static func containsVar(_ text: String) -> Bool {
        text.split(separator: "<", omittingEmptySubsequences: false).dropFirst().contains { piece in
            piece.firstIndex(of: ">").map { NameRule.identifier.matches(String(piece[..<$0])) } ?? false
        }
    }
}

/// A path in corrected form: without another router's syntax, without a query, and with one slash before each segment.
struct PathDraft {
    /// The first text that has a meaning in another router, or nil if there is none.
    private(set) var piece: String?

    /// The correct form of the path, which is valid and has no finding, or nil if there is none.
    private(set) var form: String?

    /// The steps that are required in addition to the corrected path.
    private(set) var more: [String] = []

    /// Creates the correct form of a path.
    init(_ path: PathText) {
        let form = rewrite(path)
        guard var corrected = form.map({ PathText(text: $0, role: path.role, foldsCase: path.foldsCase) }) else {
            return
        }
        corrected.text = nfc(corrected.text)
        guard corrected.isValid, !Self.isForeign(corrected) else { return }
        self.form = corrected.text
    }

    /// Records the first finding and the additional steps, and returns the path without the syntax of other routers.
    private mutating func rewrite(_ path: PathText) -> String? {
        var text = path.text
        if let cut = Self.outside(text, of: "#") {
            piece = String(text[cut...])
            text = String(text[..<cut])
            if case .pattern = path.role { more.append("bind the fragment with `fragment`") }
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

    /// Returns a Boolean value that indicates whether a part of the path has a meaning in other routers.
    private static func isForeign(_ path: PathText) -> Bool {
        var draft = PathDraft()
        _ = draft.rewrite(path)
        return draft.piece != nil
    }

    private init() {}

    /// Returns the start of a query: a `?` that does not mark an optional part.
    private static func queryStart(_ text: String) -> String.Index? {
        guard let mark = outside(text, of: "?") else { return nil }
        let rest = text[text.index(after: mark)...]
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix(")") || text[..<mark].hasSuffix("(") ? nil : mark
    }

    /// Returns the index of a character outside braces, or nil.
    private static func outside(_ text: String, of character: Character) -> String.Index? {
        var depth = 0
        return text.indices.first { index in
            if text[index] == "{" { depth += 1 }
            if text[index] == "}" { depth -= 1 }
            return depth == 0 && text[index] == character
        }
    }

    /// Returns a Boolean value that indicates whether a query text can be part of both a table and a link.
    private static func isAllowedText(_ text: String) -> Bool {
        !PathText.containsVar(text) && (try? PatternParser.checkCharacters(text.utf8, at: 0)) != nil
    }

    /// Returns the steps for the query of a pattern: constraints for fixed values, and bindings for other ones.
    private static func query(_ text: Substring) -> [String] {
        var seen: Set<String> = []
        var constraints: [String] = []
        var bound: [String] = []
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = SegmentRewriter.text(withoutEscapesIn: halves[0]), !name.isEmpty,
                !NameRule.isReserved(name), Self.isAllowedText(name), seen.insert(name).inserted
            else { continue }
            let value = halves.count > 1 ? String(halves[1]) : ""
            if value.isEmpty || "*:{<[$(".contains(value.first ?? " ") || ForeignName.isPlaceholder(value) {
                bound.append("`query.\(name)`")
            } else if let value = SegmentRewriter.text(withoutEscapesIn: value[...]),
                !ForeignName.isPlaceholder(value), Self.isAllowedText(value)
            {
                constraints.append("\(JSONValue(.string(name)).text): \(JSONValue(.string(value)).text)")
            }
        }
        let constraintSteps = constraints.isEmpty ? [] : ["add \"query\": { \(constraints.joined(separator: ", ")) }"]
        return constraintSteps + (bound.isEmpty ? [] : ["bind \(bound.joined(separator: ", "))"])
    }
}

extension PathText {
    /// A Boolean value that indicates whether the names in the path refer to captures of a pattern.
    var isTemplate: Bool { if case .redirect = role { true } else { false } }

    /// The suggestion for a malformed path, or nil.
    ///
    /// A suggested form is always valid.
    var advice: String? {
        if let mark = text.firstRange(of: "://") {
            return adviceOnURL(scheme: text[..<mark.lowerBound], rest: text[mark.upperBound...])
        }
        var path = text
        if !text.hasPrefix("/") {
            let start = text.drop { $0 == "^" }
            path = (start.hasPrefix("/") ? "" : "/") + (start.hasSuffix("$") ? start.dropLast() : start)
        }
        let draft = draft(of: path)
        guard let form = draft.form else { return nil }
        let hasTrailingSlash = path.hasSuffix("/") && form != "/" && !isTemplate
        let note = hasTrailingSlash ? "which matches links with and without a slash at the end" : nil
        return (["write `\(form)`"] + [note].compactMap { $0 } + draft.more).joined(separator: ", ")
    }

    private func draft(of path: some StringProtocol) -> PathDraft {
        PathDraft(PathText(text: String(path), role: role, foldsCase: foldsCase))
    }

    /// Returns a suggestion with the path of a URL and the way to specify scheme and host.
    private func adviceOnURL(scheme: Substring, rest: Substring) -> String? {
        let host = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(host.count)
        let own = draft(of: path.isEmpty ? "/" : path)
        guard let form = own.form else { return nil }
        var advice = "write `\(form)`"
        if ["http", "https"].contains(scheme) {
            if (try? HostRule.parse(String(host))) != nil {
                advice +=
                    ", or { \"scheme\": \"\(scheme)\", \"host\": \"\(host)\", \"path\": "
                    + "\(JSONValue(.string(form)).text) } for this host only"
            }
        } else if let whole = draft(of: "/\(host)\(path)").form {
            advice += ", or `\(whole)` if \"host\" of `link` is \"segment\""
        }
        return ([advice] + own.more).joined(separator: ", ")
    }
}

/// Finds the syntax of other routers in texts that are literal in a table, and suggests the correct form.
///
/// Express and similar routers use `:id`, `*`, and `(…)`, Go and ASP.NET `{id...}` and `{*id}`, Flask and Django
/// `<int:id>`, Next.js and Expo `[id]`, Remix and TanStack `$id`. Many routers use regular expressions.
struct ForeignSyntax {
    /// The text that is treated as literal.
    var piece: String

    /// A description of what to write instead.
    var advice: String

    /// Returns the first finding in a pattern, a prefix, or a redirect, with the correct form of the whole text.
    ///
    /// A form is suggested only if it is valid and has no finding itself.
    static func find(in path: PathText) -> ForeignSyntax? {
        let draft = PathDraft(path)
        guard let piece = draft.piece else { return nil }
        if let form = draft.form {
            return ForeignSyntax(piece: piece, advice: (["write `\(form)`"] + draft.more).joined(separator: ", "))
        }
        if piece.contains("%") {
            return ForeignSyntax(
                piece: piece,
                advice:
                    "write \(path.noun) without percent escapes; if links have an escaped `/`, `{`, or `}`, "
                    + "capture the segment")
        }
        return ForeignSyntax(piece: piece, advice: path.grammar)
    }

    /// Returns the first finding in the path of an external target, or nil.
    ///
    /// - Parameters:
    ///   - text: The URL of the target.
    ///   - names: The names that the route captures.
    static func find(inURL text: String, names: Set<String>) -> ForeignSyntax? {
        guard let scheme = text.firstRange(of: "://") else { return nil }
        for segment in text[scheme.upperBound...].split(separator: "/").dropFirst() {
            guard let name = ForeignName(after: ":", in: segment), name.end == segment.endIndex else { continue }
            return ForeignSyntax(
                piece: String(segment),
                advice: names.contains(name.text)
                    ? "write `{\(name.text)}`" : "write the capture `name` of a pattern as `{name}`")
        }
        return nil
    }

    /// Returns a text without surrounding spaces and quotation marks.
    static func bare(_ text: Substring) -> String {
        let marks = " \"'"
        let start = text.drop { marks.contains($0) }
        return String(start.prefix(start.count - start.reversed().prefix { marks.contains($0) }.count))
    }
}
