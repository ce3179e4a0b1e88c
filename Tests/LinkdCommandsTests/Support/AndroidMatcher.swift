internal import Foundation

/// An evaluator of intent filters with Android's rules: the `<data>` elements of a filter combine, and patterns match
/// without backtracking.
///
/// The rules are those of `android.content.IntentFilter` and `android.os.PatternMatcher`. The evaluator shares no code
/// with the export.
struct AndroidMatcher {
    struct Filter {
        var schemes: [String] = []
        var hosts: [(name: String, port: String?)] = []
        var paths: [(attribute: String, value: String, comment: String)] = []
    }

    let filters: [Filter]

    init(_ xml: String) {
        var filters: [Filter] = []
        for line in xml.split(separator: "\n") {
            if line.contains("<intent-filter") { filters.append(Filter()) }
            guard let data = line.firstMatch(of: #/<data ((?:android:[A-Za-z]+="[^"<]*" )+)\/>(?: <!-- (.*) -->)?/#)
            else {
                continue
            }
            var attributes: [String: String] = [:]
            for match in data.1.matches(of: #/android:([A-Za-z]+)="([^"]*)"/#) {
                attributes[String(match.1)] = Self.unescaped(String(match.2))
            }
            let last = filters.count - 1
            if let scheme = attributes["scheme"] { filters[last].schemes.append(scheme) }
            if let host = attributes["host"] { filters[last].hosts.append((host, attributes["port"])) }
            for name in ["path", "pathPrefix", "pathAdvancedPattern"] {
                if let value = attributes[name] { filters[last].paths.append((name, value, String(data.2 ?? ""))) }
            }
        }
        self.filters = filters
    }

    /// Resolves XML entities, then the escapes of the manifest.
    private static func unescaped(_ text: String) -> String {
        let plain = text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
        var result = ""
        var isEscaped = false
        for character in plain {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            isEscaped = false
            result.append(character)
        }
        return result
    }

    /// Returns the comment of the path that matches the link, or nil if no filter matches.
    func decide(_ link: String) -> String? {
        guard let colon = link.firstIndex(of: ":") else { return nil }
        let scheme = String(link[..<colon])
        let rest = link[link.index(after: colon)...].prefix { $0 != "?" && $0 != "#" }
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { $0 != "/" }
        let path = String(rest.dropFirst(2 + authority.count)).removingPercentEncoding ?? ""
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let host = parts.first.map(String.init)?.removingPercentEncoding ?? ""
        for filter in filters where filter.schemes.contains(scheme) {
            let isHost = filter.hosts.contains { rule in
                let fits =
                    rule.name.hasPrefix("*")
                    ? host.lowercased().hasSuffix(rule.name.dropFirst().lowercased())
                    : host.lowercased() == rule.name.lowercased()
                return fits && (rule.port == nil || (parts.count > 1 && parts[1] == rule.port ?? ""))
            }
            guard isHost || filter.hosts.isEmpty else { continue }
            for rule in filter.paths where Self.matches(rule.attribute, rule.value, path) {
                return rule.comment
            }
        }
        return nil
    }

    private static func matches(_ attribute: String, _ pattern: String, _ path: String) -> Bool {
        switch attribute {
        case "path": path == pattern
        case "pathPrefix": path.hasPrefix(pattern)
        default: advanced(Array(pattern.utf16), Array(path.utf16))
        }
    }

    /// A token of a pattern: its characters, and the allowed number of repetitions.
    private struct Token {
        var matches: (UInt16) -> Bool
        var minCount = 1
        var maxCount = 1
    }

    private static func advanced(_ pattern: [UInt16], _ text: [UInt16]) -> Bool {
        var at = 0
        for token in tokens(pattern) {
            var count = 0
            while count < token.maxCount, at < text.count, token.matches(text[at]) {
                count += 1
                at += 1
            }
            if count < token.minCount { return false }
        }
        return at == text.count
    }

    private static func tokens(_ pattern: [UInt16]) -> [Token] {
        var tokens: [Token] = []
        var rest = pattern[...]
        func code(_ character: Unicode.Scalar) -> UInt16 { UInt16(character.value) }
        while let unit = rest.popFirst() {
            switch unit {
            case code("."): tokens.append(Token { _ in true })
            case code("["):
                let isInverse = rest.first == code("^")
                if isInverse { rest = rest.dropFirst() }
                var ranges: [ClosedRange<UInt16>] = []
                while var low = rest.popFirst(), low != code("]") {
                    if low == code("\\") { low = rest.popFirst() ?? 0 }
                    if rest.first == code("-"), let high = rest.dropFirst().first, high != code("]") {
                        rest = rest.dropFirst(2)
                        ranges.append(low...high)
                    } else {
                        ranges.append(low...low)
                    }
                }
                let own = ranges
                tokens.append(Token { unit in own.contains { $0.contains(unit) } != isInverse })
            case code("*"): (tokens[tokens.count - 1].minCount, tokens[tokens.count - 1].maxCount) = (0, .max)
            case code("+"): tokens[tokens.count - 1].maxCount = .max
            case code("{"):
                let text = String(decoding: rest.prefix { $0 != code("}") }, as: UTF16.self)
                rest = rest.dropFirst(text.utf16.count + 1)
                let bounds = text.split(separator: ",").compactMap { Int($0) }
                (tokens[tokens.count - 1].minCount, tokens[tokens.count - 1].maxCount) = (
                    bounds[0], bounds[bounds.count - 1]
                )
            case code("\\"):
                let escaped = rest.popFirst() ?? 0
                tokens.append(Token { $0 == escaped })
            default: tokens.append(Token { $0 == unit })
            }
        }
        return tokens
    }
}
