/// Recognizes sources and pointers in the syntax of other tools.
enum LikelySource {
    /// Returns the JSON pointer that a text most likely means.
    ///
    /// For example, `data.link`, `$.data.link`, and `#/data/link` mean `/data/link`.
    static func pointer(_ text: String) -> String? {
        var own = text[...]
        if own.hasPrefix("#") { own = own.dropFirst() }
        if own.hasPrefix("$") { own = own.dropFirst() }
        let parts = own.contains("/") ? own.split(separator: "/") : own.split(separator: ".")
        let path = "/" + parts.joined(separator: "/")
        return parts.isEmpty || JSONPath(path) == nil ? nil : path
    }

    /// Returns a suggestion with the source that a text most likely means, or nil.
    static func source(_ text: String) -> String? {
        let words = [
            "path": "path", "params": "path", "param": "path", "capture": "path", "captures": "path", "route": "path",
            "query": "query", "queries": "query", "search": "query", "args": "query", "rewrite": "rewrite",
            "rewrites": "rewrite", "payload": "payload", "data": "payload",
        ]
        if ["hash", "anchor", "#"].contains(text) { return "write `fragment`" }
        let bare = text.drop { ":{$<".contains($0) }.prefix { !"}>".contains($0) }
        let halves = bare.split(maxSplits: 1) { ".:/[".contains($0) }
        guard let first = halves.first else { return nil }
        if halves.count == 1, NameRule.identifier.matches(String(first)) {
            return words[String(first)] == nil
                ? "write `path.\(first)` for a capture, or `query.\(first)` for a value of the query" : nil
        }
        guard halves.count == 2, let word = words[first.lowercased()] else { return nil }
        let rest = String(halves[1].drop { "/{:\"'".contains($0) }.prefix { !"}]\"'".contains($0) })
        if word == "payload" { return pointer(rest).map { "write `payload.\($0)`" } }
        return NameRule.identifier.matches(rest) ? "write `\(word).\(rest)`" : nil
    }
}
