import LinkCoordinator
import ByteStorage
import TestSupport

/// Generates random tables over so few texts that all short links can be tried.
struct SmallTableGenerator {
    /// A route of such a table, with one pattern.
    struct Route {
        var id: String
        var pattern: String
        var scheme: String?
        var host: String?
        /// The names and the JSON of their tests.
        var query: [(name: String, test: String)] = []
        var priority = 0
        var overlaps: [String] = []
        /// The action for a link, as JSON members.
        var action = "\"to\": { \"root\": true }"

        var json: String {
            let rules = [scheme.map { "\"scheme\": \"\($0)\"" }, host.map { "\"host\": \"\($0)\"" }].compactMap { $0 }
            let path = pattern.hasPrefix("/") ? "\"path\": \"\(pattern)\"" : "\"anySegment\": \"\(pattern)\""
            let constraints = query.map { "\"\($0.name)\": \($0.test)" }.joined(separator: ", ")
            let names = overlaps.map { "\"\($0)\"" }.joined(separator: ", ")
            return """
                { "id": "\(id)", "match": { \(([path] + rules).joined(separator: ", ")) },
                  "query": { \(constraints) }, "priority": \(priority), "overlaps": [\(names)], \(action) }
                """
        }
    }

    /// A link in parts.
    struct Link {
        var scheme: String
        var host: String
        var path: [[UInt8]]
        var query: [String]
        /// The separator of the query.
        var separator = "&"

        var text: String {
            let path = path.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
            return "\(scheme)://\(host)\(path)" + (query.isEmpty ? "" : "?" + query.joined(separator: separator))
        }
    }

    var patterns: PatternGenerator
    /// A Boolean value that indicates whether patterns have schemes and hosts, and routes have query constraints.
    let isWide: Bool
    let folds: Bool
    /// A Boolean value that indicates whether the query is a flat list, and routes have constraints.
    let flattens: Bool

    init(seed: UInt64, isWide: Bool, folds: Bool = false, flattens: Bool = false) {
        patterns = PatternGenerator(seed: seed)
        self.isWide = isWide
        self.folds = folds
        self.flattens = flattens
    }

    private static let segments = [
        "a", "b", "ab", "7", "17", "A", "true", "{NAME:enum(a|b)}", "{NAME:enum(a|7|ab)}", "a{NAME}", "{NAME}b",
        "a{NAME}b", "{NAME:int(1..9)}", "{NAME:int(5..17)}", "{NAME:int}", "1{NAME}", "a{NAME:int}", "{NAME:bool}",
        "{NAME:[ab]{1,2}}", "{NAME:[a-z]{1,1}}", "{NAME:[a-b1-9]{2,3}}", "{NAME:[A-Z]{1,2}}", "{NAME:uuid}", "{NAME}",
        "{NAME}",
    ]

    mutating func route(_ number: Int) -> Route {
        var text = ""
        let tail = patterns.pick(["", "", "", "", "/{tail+}", "/{tail*}", "/{tail:coordinatorPath}"])
        // The pattern is short enough that three segments show all differences.
        for index in 0..<Int.random(in: 0...(tail.isEmpty ? 2 : 1), using: &patterns.generator) {
            text += "/" + patterns.pick(Self.segments).replacing("NAME", with: "n\(index)")
        }
        text += tail
        if text.isEmpty { text = "/" }
        if Int.random(in: 0..<12, using: &patterns.generator) == 0 { text = patterns.pick(["a", "7"]) }
        var route = Route(id: "r\(number)", pattern: text)
        route.priority = patterns.pick([0, 0, 0, 1])
        if flattens {
            route.pattern = patterns.pick([
                "/a", "/{n}", "/a{n}", "/{n}b", "/a{n}b", "/{n:enum(a|7)}", "/{n}/{m*}", "/",
            ])
            route.query = flatConstraints()
        }
        guard isWide else { return route }
        route.pattern = patterns.pick(["/a", "/{n}", "/{n}/{m*}", "/{n:enum(a|7)}", "/{n:[a-z]{1,2}}", "/{r+}", "/"])
        route.scheme = patterns.pick([nil, nil, nil, "s", "t"])
        route.host = patterns.pick([
            nil, nil, nil, nil, nil, "a.example", "a.example:81", "*.example", "*.a.example", "", "*",
        ])
        if Bool.random(using: &patterns.generator) {
            route.query.append(("q", patterns.pick(["\"1\"", "\"2\"", "\"*\"", "null"])))
        }
        if Int.random(in: 0..<4, using: &patterns.generator) == 0 {
            route.query.append(("w", patterns.pick(["\"*\"", "null"])))
        }
        return route
    }

    /// Returns constraints on names that are also values of each other.
    private mutating func flatConstraints() -> [(name: String, test: String)] {
        let tests = ["\"1\"", "\"2\"", "\"w\"", "\"q\"", "\"*\"", "null"]
        var constraints: [(name: String, test: String)] = []
        constraints.append(("q", patterns.pick(tests)))
        if Bool.random(using: &patterns.generator) { constraints.append(("w", patterns.pick(tests))) }
        if Int.random(in: 0..<3, using: &patterns.generator) == 0 { constraints.removeFirst() }
        return constraints
    }

    mutating func routes(upTo count: Int) -> [Route] {
        var routes = (0..<Int.random(in: 2...count, using: &patterns.generator)).map { route($0) }
        if Bool.random(using: &patterns.generator) { routes[0].overlaps = [routes[1].id] }
        if isWide, Bool.random(using: &patterns.generator) {
            // The same pattern for each scheme leaves no link to the pattern without a scheme.
            for scheme in ["s", "t"] {
                var copy = routes[0]
                copy.id += scheme
                copy.scheme = scheme
                copy.overlaps = []
                routes.append(copy)
            }
        }
        return routes
    }

    func file(_ routes: [Route], version: String = "1", rest: String = "") -> [UInt8] {
        Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "\(version)" },
              "link": { "schemes": ["s", "t"], "host": "authority", "hosts": ["*"],
                        "path": { "case": "\(folds ? "insensitive" : "sensitive")" },
                        "query": { "flatten": \(flattens), "pairSeparators": "\(flattens ? "," : "&")" } },
              "coordinators": { "a": { "screens": { "x": {} } }, "home": { "screens": { "y": {} } } },
              \(rest)
              "routes": [ \(routes.map(\.json).joined(separator: ",\n")) ] }
            """.utf8)
    }

    /// Segments of up to three characters of a small set, and a few longer ones.
    private static let texts: [[UInt8]] = {
        let symbols = ["a", "b", "x", "1", "7", "0", "-", "A", "!"]
        let two = symbols + symbols.flatMap { a in symbols.map { a + $0 } }
        let three = two + symbols.flatMap { a in two.map { a + $0 } }
        let uuids = ["a", "A", "b", "1", "7", "c"].flatMap { first in
            ["a", "b", "c"].map { "\(first)121d5e7-ea65-49f8-8b33-b3c43fa9386\($0)" }
        }
        // The uppercase forms of the literals, which classes of uppercase letters match.
        let longer = uuids + ["true", "TRUE", "false", "home", "Home", "zz", "B", "AB", "Ab", "aB", "A7"]
        return (three + longer).map { Array($0.utf8) }
    }()

    /// Returns segments, with a limited number for each set of matchers that match them.
    private func texts(for source: TableSource, each count: Int) -> [[UInt8]] {
        var matchers = Set(source.routes.flatMap { $0.patterns.flatMap(\.path.matchers) })
        for case .anySegment(let text) in matchers { matchers.insert(.literal(text)) }
        let list = Array(matchers)
        var seen: [[Bool]: Int] = [:]
        return Self.texts.filter { text in
            let matched = text.withUnsafeBufferPointer { bytes in
                list.map { $0.matches(ByteView(bytes), foldsCase: folds) }
            }
            let key = matched + [text.elementsEqual("home".utf8), text.elementsEqual("a".utf8)]
            seen[key, default: 0] += 1
            return seen[key, default: 0] <= count
        }
    }

    /// Returns all short links that the table's patterns can distinguish.
    func links(for source: TableSource, each count: Int = 1) -> [Link] {
        let texts = texts(for: source, each: count)
        var paths: [[[UInt8]]] = [[]]
        var last = paths
        for _ in 0..<3 {
            last = last.flatMap { path in texts.map { path + [$0] } }
            paths += last
            if last.count * texts.count > 20_000 { break }
        }
        if flattens {
            return paths.filter { $0.count < 3 }.flatMap { path in
                Self.flatQueries.map { Link(scheme: "s", host: "", path: path, query: $0, separator: ",") }
            }
        }
        guard isWide else { return paths.map { Link(scheme: "s", host: "", path: $0, query: []) } }
        paths.removeAll { $0.count > 2 }
        let hosts = ["", "a.example", "a.example:81", "b.example", "x.a.example", "other"]
        let queries: [[String]] = [[], ["q"], ["q=1"], ["q=2"], ["w"], ["q", "w"], ["q=1", "w"], ["q=2", "w"]]
        return paths.flatMap { path in
            ["s", "t"].flatMap { scheme in
                hosts.flatMap { host in
                    queries.map { Link(scheme: scheme, host: host, path: path, query: $0) }
                }
            }
        }
    }

    /// All lists of up to four items from two names, two values, and another text, which are enough to test both names.
    private static let flatQueries: [[String]] = {
        var all: [[String]] = [[]]
        var last = all
        for _ in 0..<4 {
            last = last.flatMap { list in ["q", "w", "1", "2", "x"].map { list + [$0] } }
            all += last
        }
        return all
    }()

    /// Returns a Boolean value that indicates whether a route's pattern matches a link, by definition.
    func matches(_ route: TableSource.Route, _ link: Link) -> Bool {
        let pattern = route.patterns[0]
        let parts = link.host.split(separator: ":", omittingEmptySubsequences: false)
        let host = Array((parts.first ?? "").utf8)
        let port = parts.count > 1 ? UInt16(parts[1]) : nil
        return (pattern.scheme.map { $0 == link.scheme } ?? true)
            && (pattern.host.map { $0.matches(host: host, port: port) } ?? true)
            && route.query.allSatisfy { holds($0, link.query) }
            && pattern.path.matches(link.path, foldsCase: folds) {
                $0.elementsEqual("home".utf8) || $0.elementsEqual("a".utf8)
            }
    }

    private func holds(_ constraint: TableSource.QueryConstraint, _ query: [String]) -> Bool {
        let name = constraint.name.value
        if flattens {
            let index = query.firstIndex(of: name)
            switch constraint.test {
            case .absent: return index == nil
            case .present: return index != nil
            case .equals(let text): return index.map { $0 + 1 < query.count && query[$0 + 1] == text } ?? false
            }
        }
        let item = query.first { $0 == name || $0.hasPrefix(name + "=") }
        switch constraint.test {
        case .absent: return item == nil
        case .present: return item != nil
        case .equals(let text): return item == "\(name)=\(text)"
        }
    }
}
