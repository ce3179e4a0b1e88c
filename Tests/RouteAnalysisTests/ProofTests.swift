import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Proofs about patterns")
struct ProofTests {
    /// The properties of a table that all short links show.
    private struct Verdict: Equatable {
        var unreachable: [String] = []
        var overlaps: [[String]] = []
        var needless: [[String]] = []
    }

    private func bruteForce(_ world: SmallWorld, _ source: TableSource) -> Verdict {
        let links = world.links(for: source)
        let routes = source.routes
        let taken = routes.map { route in links.map { world.matches(route, $0) } }
        let keys = routes.map { $0.precedence(of: $0.patterns[0]) }
        var chosen = Set<Int>()
        for link in links.indices {
            let all = routes.indices.filter { taken[$0][link] }
            if let best = all.min(by: { Precedence.compare(keys[$0], keys[$1]) < 0 }) { chosen.insert(best) }
        }
        var verdict = Verdict()
        verdict.unreachable = routes.indices.filter { !chosen.contains($0) }.map { routes[$0].id.value }.sorted()
        for a in routes.indices {
            for b in routes.indices where a < b {
                let both = links.indices.contains { taken[a][$0] && taken[b][$0] }
                let names = [routes[a].id.value, routes[b].id.value].sorted()
                let isSaid =
                    routes[a].overlaps.contains { $0.value == names[1] || $0.value == names[0] }
                    || routes[b].overlaps.contains { $0.value == names[0] || $0.value == names[1] }
                if isSaid && !both { verdict.needless.append(names) }
                guard both, links.indices.contains(where: { taken[a][$0] && !taken[b][$0] }),
                    links.indices.contains(where: { !taken[a][$0] && taken[b][$0] })
                else { continue }
                var (x, y) = (keys[a], keys[b])
                x.route = ""
                y.route = ""
                let byIDOnly = x.path.matchers == y.path.matchers && sameSteps(x, y)
                if !isSaid || byIDOnly { verdict.overlaps.append(names) }
            }
        }
        verdict.overlaps.sort { $0.lexicographicallyPrecedes($1) }
        return verdict
    }

    private func sameSteps(_ a: Precedence, _ b: Precedence) -> Bool {
        a.scheme == b.scheme && HostRule.compare(a.host ?? .any, b.host ?? .any) == 0
            && a.constraints == b.constraints && a.valuedConstraints == b.valuedConstraints
            && a.priority == b.priority
    }

    private func proved(_ problems: [TableProblem]) -> Verdict {
        var verdict = Verdict()
        verdict.unreachable = problems.filter { $0.code == .unreachable }.map { $0.routes[0] }.sorted()
        verdict.overlaps = problems.filter { $0.code == .overlap }.map { $0.routes.sorted() }
            .sorted { $0.lexicographicallyPrecedes($1) }
        verdict.needless = problems.filter { $0.code == .noOverlap }.map { $0.routes.sorted() }
        return verdict
    }

    @Test(
        "The proofs agree with a brute-force search over short links, and each witness shows its problem",
        arguments: [
            (1, false, false, false), (2, true, false, false), (3, false, true, false), (4, true, true, false),
            (5, false, false, true), (6, false, true, true),
        ])
    func bruteForce(seed: UInt64, isWide: Bool, folds: Bool, flattens: Bool) throws {
        var world = SmallWorld(seed: seed &* 7_919, isWide: isWide, folds: folds, flattens: flattens)
        var found = (unreachable: 0, overlaps: 0, valid: 0)
        let tables = isWide || flattens ? 50 : 60
        for round in 0..<tables {
            let file = world.file(world.routes(upTo: 6))
            let (source, problems) = TableSource.inspect(file)
            let expected = bruteForce(world, try #require(source))
            let verdict = proved(problems)
            let text =
                "round \(round), seed \(world.patterns.generator.seed)\n"
                + String(decoding: file, as: UTF8.self) + problems.map { $0.text(file: "t") }.joined(separator: "\n")
            #expect(verdict == expected, "\(text)")
            #expect(!problems.contains { $0.code == .unproved }, "\(text)")
            try Self.checkWitnesses(problems, file)
            found.unreachable += expected.unreachable.count
            found.overlaps += expected.overlaps.count
            found.valid += expected == Verdict() ? 1 : 0
        }
        print("\(tables) tables: \(found), seed \(world.patterns.generator.seed)")
        #expect(found.unreachable > 5 && found.overlaps > 5, "\(found)")
    }

    /// Resolves the witness of every problem about patterns, which must show the problem.
    static func checkWitnesses(_ problems: [TableProblem], _ file: [UInt8]) throws {
        for problem in problems where problem.code == .overlap || problem.code == .unreachable {
            guard let link = problem.witness else {
                #expect(problem.code == .unreachable && problem.routes.count == 1, "\(problem)")
                continue
            }
            let table = try #require(RouteTable.unchecked(file))
            let explanation = table.explain(.link(link))
            let taking = explanation.candidates.map(\.route)
            #expect(taking.contains(problem.routes[0]), "\(link) \(problem)")
            if problem.code == .overlap {
                #expect(taking.contains(problem.routes[1]), "\(link) \(problem)")
            } else if problem.routes.count > 1 {
                #expect(explanation.candidates.first?.route != problem.routes[0], "\(link) \(problem)")
            } else {
                #expect(taking.count { $0 == problem.routes[0] } > 1, "\(link) \(problem)")
            }
        }
    }

    @Test("P7: in a valid table, a pattern that matches strictly fewer links precedes for all of them")
    func narrowerWins() throws {
        var world = SmallWorld(seed: 20_251_123, isWide: false)
        var cases = 0
        var tables = 0
        while cases < 100_000 {
            let wide = world.patterns.pick(["/{n}", "/{n}/{m}", "/{t*}", "/{t+}", "/{n}/{t*}", "/{n:[a-z]{1,2}}/{t*}"])
            let file = world.file([world.route(0), SmallWorld.Route(id: "r1", pattern: wide)])
            let (read, problems) = TableSource.inspect(file)
            guard let source = read, !problems.contains(where: { $0.severity == .error }) else { continue }
            tables += 1
            let links = world.links(for: source, each: 6)
            let taken = source.routes.map { route in links.map { world.matches(route, $0) } }
            let keys = source.routes.map { $0.precedence(of: $0.patterns[0]) }
            for a in keys.indices {
                for b in keys.indices where a != b && isStrictPart(taken[a], taken[b]) {
                    cases += taken[a].count { $0 }
                    #expect(
                        Precedence.compare(keys[a], keys[b]) < 0,
                        "\(String(decoding: file, as: UTF8.self)), seed \(world.patterns.generator.seed)")
                }
            }
        }
        print("P7: \(cases) links of \(tables) tables, seed \(world.patterns.generator.seed)")
    }

    private func isStrictPart(_ a: [Bool], _ b: [Bool]) -> Bool {
        a.contains(true) && !zip(a, b).contains { $0 && !$1 } && zip(a, b).contains { !$0 && $1 }
    }

    @Test("A proof that would take too much work is reported as unproved, with its route")
    func unproved() throws {
        // Each clause of a hard formula is a pattern. The goal is reachable exactly if the formula is satisfiable.
        var generator = SeededGenerator(seed: 43)
        let variables = 50
        let goal = "/{z:enum(c)}" + (0..<variables).map { "/{v\($0):enum(t|f)}" }.joined()
        let clauses = (0..<Int(4.26 * Double(variables))).map { _ in
            var segments = (0..<variables).map { "{v\($0)}" }
            for place in (0..<variables).shuffled(using: &generator).prefix(3) {
                segments[place] = Bool.random(using: &generator) ? "t" : "f"
            }
            return "\"/c/" + segments.joined(separator: "/") + "\""
        }
        let file = Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" },
              "routes": [
                { "id": "clauses", "match": "/c", "alias": [\(clauses.joined(separator: ","))],
                  "to": { "root": true } },
                { "id": "goal", "match": "\(goal)", "to": { "root": true } } ] }
            """.utf8)
        let source = try #require(TableSource.read(file).source)
        var problems = ProblemList()
        OverlapProof.run(source, budget: WorkBudget(perQuestion: 20_000, total: 4_000_000), into: &problems)
        let found = problems.located(in: file).filter { $0.code == .unproved }
        #expect(found.contains { $0.routes.first == "goal" })
        #expect(found.allSatisfy { $0.severity == .warning })
    }
}
