internal import LinkCoordinator
internal import StrictJSON

/// An evaluator of apple-app-site-association files with the rules of Apple's documentation: the first matching
/// component decides.
///
/// It is written from the documentation alone and shares no code with the export.
struct AppleMatcher {
    let variables: [String: [String]]
    let caseSensitive: Bool
    let components: [JSONValue]

    init(_ text: String) throws {
        let links = try JSONValue.parse(Array(text.utf8))["applinks"]
        let details = links?["details"]?.array?.first
        variables = Dictionary(
            uniqueKeysWithValues: (links?["substitutionVariables"]?.object ?? []).map {
                ($0.name, $0.value.array?.compactMap(\.string) ?? [])
            })
        caseSensitive = details?["defaults"]?["caseSensitive"] == nil
        components = details?["components"]?.array ?? []
    }

    /// Returns a Boolean value that indicates whether the app opens the link, with the comment of the component that
    /// decides, or nil if no component matches.
    func decide(_ link: String) -> (opens: Bool, comment: String)? {
        let noFragment = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let parts = noFragment.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let afterScheme = parts[0].drop { $0 != ":" }.dropFirst(3)
        let path = String(afterScheme.drop { $0 != "/" })
        let items = parts.count > 1 ? parts[1].split(separator: "&") : []
        for component in components where matches(component, path.isEmpty ? "/" : path, items) {
            return (component["exclude"] == nil, component["comment"]?.string ?? "")
        }
        return nil
    }

    private func matches(_ component: JSONValue, _ path: String, _ items: [Substring]) -> Bool {
        guard matchesPath(component["/"]?.string ?? "*", path) else { return false }
        for constraint in component["?"]?.object ?? [] {
            // All items with the name must match. A missing item counts as empty text.
            var values: [String] = []
            for item in items {
                let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if pair[0] == constraint.name { values.append(pair.count > 1 ? String(pair[1]) : "") }
            }
            let pattern = Array(constraint.value.string ?? "*")
            guard (values.isEmpty ? [""] : values).allSatisfy({ matches(pattern, Array($0)) }) else { return false }
        }
        return true
    }

    /// Slashes at the end of a pattern and of a path do not count, and `/buy/*` also matches `/buy`.
    private func matchesPath(_ pattern: String, _ path: String) -> Bool {
        func cut(_ text: String) -> String { String(text.reversed().drop { $0 == "/" }.reversed()) }
        let (own, link) = (cut(pattern), cut(path))
        if matches(Array(own), Array(link)) { return true }
        return own.hasSuffix("/*") && matches(Array(cut(String(own.dropLast(2)))), Array(link))
    }

    private func matches(_ pattern: [Character], _ text: [Character]) -> Bool {
        var memory: [[Int]: Bool] = [:]
        return matches(pattern, 0, text, 0, &memory)
    }

    private func matches(
        _ pattern: [Character], _ p: Int, _ text: [Character], _ t: Int, _ memory: inout [[Int]: Bool]
    ) -> Bool {
        if let known = memory[[p, t]] { return known }
        let result: Bool
        if p == pattern.count {
            result = t == text.count
        } else if pattern[p] == "*" {
            result =
                matches(pattern, p + 1, text, t, &memory)
                || (t < text.count && matches(pattern, p, text, t + 1, &memory))
        } else if pattern[p] == "$", p + 1 < pattern.count, pattern[p + 1] == "(",
            let close = pattern[p...].firstIndex(of: ")")
        {
            result = alternatives(String(pattern[(p + 2)..<close])).contains { value in
                let end = t + value.count
                return end <= text.count && zip(value, text[t..<end]).allSatisfy(equal)
                    && matches(pattern, close + 1, text, end, &memory)
            }
        } else {
            result =
                t < text.count && (pattern[p] == "?" || equal(pattern[p], text[t]))
                && matches(pattern, p + 1, text, t + 1, &memory)
        }
        memory[[p, t]] = result
        return result
    }

    private func equal(_ expected: Character, _ found: Character) -> Bool {
        expected == "?" || expected == found || (!caseSensitive && expected.lowercased() == found.lowercased())
    }

    private func alternatives(_ name: String) -> [[Character]] {
        if let values = variables[name] { return values.map(Array.init) }
        let lower = "abcdefghijklmnopqrstuvwxyz"
        let digit = "0123456789"
        let characters =
            switch name {
            case "lower": lower
            case "upper": lower.uppercased()
            case "alpha": lower + lower.uppercased()
            case "digit": digit
            case "xdigit": digit + "abcdefABCDEF"
            case "alnum": digit + lower + lower.uppercased()
            default: ""
            }
        return characters.map { [$0] }
    }
}
