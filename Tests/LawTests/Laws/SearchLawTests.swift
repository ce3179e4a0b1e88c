import LinkCoordinator
import TableSupport
import TestSupport
import Testing

/// A route of a generated table with one pattern and optional scheme, host, and query constraints.
private struct GeneratedRoute {
    var id: String
    var pattern: String
    var scheme: String?
    var host: String?
    /// The constraints as JSON: a name and `"text"`, `"*"`, or `null`.
    var query: [(name: String, test: String)]
    var priority: Int

    var json: String {
        let rules = [scheme.map { "\"scheme\": \"\($0)\"" }, host.map { "\"host\": \"\($0)\"" }].compactMap { $0 }
        let match = (["\"path\": \"\(pattern)\""] + rules).joined(separator: ", ")
        let constraints = query.map { "\"\($0.name)\": \($0.test)" }.joined(separator: ", ")
        return """
            { "id": "\(id)", "match": { \(match) }, "query": { \(constraints) }, "priority": \(priority),
              "to": { "root": true } }
            """
    }
}

/// A link with its parts.
private struct SearchLink {
    var scheme: String
    var host: String
    var path: [[UInt8]]
    /// The query items: none, `q`, `q=1`, or `q=2`, and possibly `w`.
    var query: [String]

    var text: String {
        let path = path.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
        return "\(scheme)://\(host)\(path)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}

/// A link and the routes of its table, in parts.
private struct SearchCase: Shrinkable {
    var routes: [GeneratedRoute]
    var link: SearchLink

    static var parts: [RemovableParts<SearchCase>] {
        [RemovableParts(\.routes), RemovableParts(\.link.path), RemovableParts(\.link.query)]
    }
}

@Suite("The compiled search")
struct SearchLawTests {
    private static let hosts = ["a.example", "b.a.example", "c.b.a.example", "a.example:8080", "other", ""]

    private func route(_ index: Int, _ patterns: inout PatternGenerator) -> GeneratedRoute {
        var query: [(name: String, test: String)] = []
        if Int.random(in: 0..<3, using: &patterns.generator) == 0 {
            query.append(("q", patterns.pick(["\"1\"", "\"*\"", "null"])))
        }
        if Int.random(in: 0..<5, using: &patterns.generator) == 0 { query.append(("w", "\"*\"")) }
        return GeneratedRoute(
            id: "r\(index)", pattern: patterns.patternText(), scheme: patterns.pick([nil, nil, nil, "s", "t"]),
            host: patterns.pick([nil, nil, nil, "a.example", "a.example:8080", "*.a.example", "*.b.a.example", ""]),
            query: query, priority: patterns.pick([0, 0, 1]))
    }

    private func table(_ routes: [GeneratedRoute]) -> [UInt8] {
        Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s", "t"], "host": "authority", "hosts": ["*"] },
              "coordinators": { "home": { "screens": { "x": {} } } },
              "routes": [ \(routes.map(\.json).joined(separator: ",\n")) ] }
            """.utf8)
    }

    private func link(_ patterns: inout PatternGenerator) -> SearchLink {
        SearchLink(
            scheme: patterns.pick(["s", "t"]), host: patterns.pick(Self.hosts), path: patterns.path(),
            query: patterns.pick([[], [], ["q=1"], ["q=2"], ["q"], ["w"], ["w=5", "q=1"]]))
    }

    /// Returns the route by definition: the least of all matching patterns has it.
    private func expected(_ source: TableSource, _ link: SearchLink) -> String? {
        let parts = link.host.split(separator: ":", omittingEmptySubsequences: false)
        let host = Array((parts.first ?? "").utf8)
        let port = parts.count > 1 ? UInt16(parts[1]) : nil
        var best: Precedence?
        for route in source.routes where route.query.allSatisfy({ holds($0, link.query) }) {
            for pattern in route.patterns {
                guard pattern.scheme.map({ $0 == link.scheme }) ?? true,
                    pattern.host.map({ $0.matches(host: host, port: port) }) ?? true,
                    pattern.path.matches(link.path, foldsCase: false, isCoordinator: { $0.elementsEqual("home".utf8) })
                else { continue }
                let key = route.precedence(of: pattern)
                if best.map({ Precedence.compare(key, $0) < 0 }) ?? true { best = key }
            }
        }
        return best?.route
    }

    private func holds(_ constraint: TableSource.QueryConstraint, _ query: [String]) -> Bool {
        let name = constraint.name.value
        let item = query.first { $0 == name || $0.hasPrefix(name + "=") }
        switch constraint.test {
        case .absent: return item == nil
        case .present: return item != nil
        case .equals(let text): return item == "\(name)=\(text)"
        }
    }

    /// Returns the evidence that a search, in the order of the file or in another order, does not select the least
    /// pattern, or nil.
    private func wrong(_ one: SearchCase, _ seed: UInt64) -> String? {
        guard let source = TableSource.read(table(one.routes)).source else { return nil }
        let expected = expected(source, one.link)
        var random = SeededGenerator(seed: seed)
        for routes in [one.routes, one.routes.shuffled(using: &random)] {
            // Most of these tables overlap and would be refused. The search must agree in any case.
            guard let decision = RouteTable.unchecked(table(routes))?.resolve(one.link.text) else { return nil }
            if decision.route != expected || decision.reason != (expected == nil ? "no_route" : nil) {
                return "\(one.link.text): \(decision.route ?? "none"), by definition \(expected ?? "none")\n"
                    + routes.map(\.json).joined(separator: "\n")
            }
        }
        return nil
    }

    /// A case is a link of a table and of the same table with shuffled routes.
    @Test("The search selects the first matching pattern in the order of precedence, in any order of the file")
    func scanAll() throws {
        var patterns = PatternGenerator(seed: 2026_11_21)
        var (found, cases) = (0, 0)
        while cases < LawCases.count {
            var routes: [GeneratedRoute] = []
            var seen = Set<String>()
            for index in 0..<Int.random(in: 1...14, using: &patterns.generator) {
                let route = route(index, &patterns)
                if seen.insert(route.pattern).inserted { routes.append(route) }
            }
            let seed = patterns.generator.next()
            var random = SeededGenerator(seed: seed)
            let source = try #require(TableSource.read(table(routes)).source)
            let tables = try [routes, routes.shuffled(using: &random)].map {
                try #require(RouteTable.unchecked(table($0)))
            }
            for _ in 0..<60 {
                let link = link(&patterns)
                let expected = expected(source, link)
                cases += 1
                if expected != nil { found += 1 }
                let decisions = tables.map { $0.resolve(link.text) }
                if decisions.allSatisfy({ $0.route == expected && $0.reason == (expected == nil ? "no_route" : nil) }) {
                    continue
                }
                let smallest = shrunk(SearchCase(routes: routes, link: link)) { wrong($0, seed) != nil }.smallest
                Issue.record("seed \(patterns.generator.seed), case \(cases): \(wrong(smallest, seed) ?? "")")
                return
            }
        }
        #expect(found > cases / 18, "seed \(patterns.generator.seed)")
    }
}
