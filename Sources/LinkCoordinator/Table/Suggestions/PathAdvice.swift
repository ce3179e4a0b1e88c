internal import StrictJSON

extension PathText {
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
