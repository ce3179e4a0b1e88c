/// Finds the syntax of other routers in texts that are literal in a table, and suggests the correct form.
///
/// Express and similar routers use `:id`, `*`, and `(…)`, Go and ASP.NET `{id...}` and `{*id}`, Flask and Django
/// `<int:id>`, Next.js and Expo `[id]`, Remix and TanStack `$id`. Many routers use regular expressions.
package struct ForeignSyntax {
    /// The text that is treated as literal.
    package var piece: String

    /// A description of what to write instead.
    package var advice: String

    /// Returns the first finding in a pattern, a prefix, or a redirect, with the correct form of the whole text.
    ///
    /// A form is suggested only if it is valid and has no finding itself.
    package static func find(in path: PathText) -> ForeignSyntax? {
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
    package static func find(inURL text: String, names: Set<String>) -> ForeignSyntax? {
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
    package static func bare(_ text: Substring) -> String {
        let marks = " \"'"
        let start = text.drop { marks.contains($0) }
        return String(start.prefix(start.count - start.reversed().prefix { marks.contains($0) }.count))
    }
}
