import LinkCoordinator
import StrictJSON
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

@Suite("The compiled search")
struct SearchTests {
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

    /// A link with its parts.
    private struct Link {
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

    private func link(_ patterns: inout PatternGenerator) -> Link {
        Link(
            scheme: patterns.pick(["s", "t"]), host: patterns.pick(Self.hosts), path: patterns.path(),
            query: patterns.pick([[], [], ["q=1"], ["q=2"], ["q"], ["w"], ["w=5", "q=1"]]))
    }

    /// Returns the route by definition: that of the least of all matching patterns.
    private func expected(_ source: TableSource, _ link: Link) -> String? {
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

    @Test("The search selects the least of all matching patterns, in any order of the file")
    func scanAll() throws {
        var patterns = PatternGenerator(seed: 2026_11_21)
        var found = 0
        for round in 0..<150 {
            var routes: [GeneratedRoute] = []
            var seen = Set<String>()
            for index in 0..<Int.random(in: 1...14, using: &patterns.generator) {
                let route = route(index, &patterns)
                if seen.insert(route.pattern).inserted { routes.append(route) }
            }
            let source = try #require(TableSource.read(table(routes)).source)
            // Most of these tables overlap and would be refused. The search must agree in any case.
            let compiled = try #require(RouteTable.unchecked(table(routes)))
            let shuffled = try #require(RouteTable.unchecked(table(routes.shuffled(using: &patterns.generator))))
            for _ in 0..<60 {
                let link = link(&patterns)
                let wanted = expected(source, link)
                if wanted != nil { found += 1 }
                for table in [compiled, shuffled] {
                    let decision = table.resolve(link.text)
                    #expect(
                        decision.route == wanted,
                        "\(link.text) round \(round) seed \(patterns.generator.seed)\n\(routes.map(\.json))")
                    #expect(decision.reason == (wanted == nil ? "no_route" : nil), "\(link.text)")
                }
            }
        }
        #expect(found > 1_000, "seed \(patterns.generator.seed)")
    }
}
