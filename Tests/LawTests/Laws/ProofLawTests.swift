import LinkCoordinator
import RouteAnalysis
import TableSupport
import TestSupport
import Testing

@Suite("Laws of proofs about patterns")
struct ProofLawTests {
    /// The properties of a table that all short links show.
    private struct Verdict: Equatable {
        var unreachable: [String] = []
        var overlaps: [[String]] = []
        var needless: [[String]] = []
    }

    private func bruteForce(_ tableGenerator: SmallTableGenerator, _ source: TableSource) -> Verdict {
        let links = tableGenerator.links(for: source)
        let routes = source.routes
        let matches = routes.map { route in links.map { tableGenerator.matches(route, $0) } }
        let keys = routes.map { $0.precedence(of: $0.patterns[0]) }
        var chosen = Set<Int>()
        for link in links.indices {
            let all = routes.indices.filter { matches[$0][link] }
            if let best = all.min(by: { Precedence.compare(keys[$0], keys[$1]) < 0 }) { chosen.insert(best) }
        }
        var verdict = Verdict()
        verdict.unreachable = routes.indices.filter { !chosen.contains($0) }.map { routes[$0].id.value }.sorted()
        for a in routes.indices {
            for b in routes.indices where a < b {
                let both = links.indices.contains { matches[a][$0] && matches[b][$0] }
                let names = [routes[a].id.value, routes[b].id.value].sorted()
                let isDeclared =
                    routes[a].overlaps.contains { $0.value == names[1] || $0.value == names[0] }
                    || routes[b].overlaps.contains { $0.value == names[0] || $0.value == names[1] }
                if isDeclared && !both { verdict.needless.append(names) }
                guard both, links.indices.contains(where: { matches[a][$0] && !matches[b][$0] }),
                    links.indices.contains(where: { !matches[a][$0] && matches[b][$0] })
                else { continue }
                var (x, y) = (keys[a], keys[b])
                x.route = ""
                y.route = ""
                let byIDOnly = x.path.matchers == y.path.matchers && sameSteps(x, y)
                if !isDeclared || byIDOnly { verdict.overlaps.append(names) }
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

    /// Returns the evidence that the proofs about a table are wrong, or nil.
    private func wrong(_ routes: [SmallTableGenerator.Route], _ tableGenerator: SmallTableGenerator) -> String? {
        let file = tableGenerator.file(routes)
        let (source, problems) = TableSource.inspect(file)
        guard let source else { return nil }
        let (expected, found) = (bruteForce(tableGenerator, source), proved(problems))
        var evidence = ProblemWitnesses.wrong(problems, file)
        if found != expected { evidence.append("\(expected) is expected, \(found) was found") }
        if problems.contains(where: { $0.code == .unproved }) { evidence.append("unproved") }
        if evidence.isEmpty { return nil }
        return (evidence + [String(decoding: file, as: UTF8.self)] + problems.map { $0.text(file: "t") })
            .joined(separator: "\n")
    }

    /// A case is a table of up to six routes.
    ///
    /// It counts as 200 cases, because all short links are tried with all pairs
    /// of its routes.
    @Test(
        "The proofs agree with a brute-force search over short links, and each witness shows its problem",
        arguments: [
            (1, false, false, false), (2, true, false, false), (3, false, true, false), (4, true, true, false),
            (5, false, false, true), (6, false, true, true),
        ])
    func bruteForce(seed: UInt64, isWide: Bool, folds: Bool, flattens: Bool) throws {
        var tableGenerator = SmallTableGenerator(seed: seed &* 7_919, isWide: isWide, folds: folds, flattens: flattens)
        var found = (unreachable: 0, overlaps: 0, valid: 0)
        let tables = max(1, LawCases.count / 200)
        for number in 0..<tables {
            let routes = tableGenerator.routes(upTo: 6)
            if wrong(routes, tableGenerator) != nil {
                let smallest = shrunk(routes) { wrong($0, tableGenerator) != nil }.smallest
                let seed = tableGenerator.patterns.generator.seed
                Issue.record("seed \(seed), table \(number): \(wrong(smallest, tableGenerator) ?? "")")
                return
            }
            let verdict = proved(TableSource.inspect(tableGenerator.file(routes)).problems)
            found.unreachable += verdict.unreachable.count
            found.overlaps += verdict.overlaps.count
            found.valid += verdict == Verdict() ? 1 : 0
        }
        print("\(tables) tables: \(found), seed \(tableGenerator.patterns.generator.seed)")
        #expect(found.unreachable > tables / 10 && found.overlaps > tables / 10, "\(found)")
    }

    /// A case is a link that the narrower of two patterns matches.
    @Test("P7: in a valid table, a pattern that matches strictly fewer links precedes for all of them")
    func narrowerWins() throws {
        var tableGenerator = SmallTableGenerator(seed: 20_251_123, isWide: false)
        var cases = 0
        var tables = 0
        while cases < LawCases.count {
            let wide = tableGenerator.patterns.pick([
                "/{n}", "/{n}/{m}", "/{t*}", "/{t+}", "/{n}/{t*}", "/{n:[a-z]{1,2}}/{t*}",
            ])
            let file = tableGenerator.file([
                tableGenerator.route(0), SmallTableGenerator.Route(id: "r1", pattern: wide),
            ])
            let (read, problems) = TableSource.inspect(file)
            guard let source = read, !problems.contains(where: { $0.severity == .error }) else { continue }
            tables += 1
            let links = tableGenerator.links(for: source, each: 6)
            let matches = source.routes.map { route in links.map { tableGenerator.matches(route, $0) } }
            let keys = source.routes.map { $0.precedence(of: $0.patterns[0]) }
            for a in keys.indices {
                for b in keys.indices where a != b && isStrictPart(matches[a], matches[b]) {
                    cases += matches[a].count { $0 }
                    #expect(
                        Precedence.compare(keys[a], keys[b]) < 0,
                        "\(String(decoding: file, as: UTF8.self)), seed \(tableGenerator.patterns.generator.seed)")
                }
            }
        }
        print("P7: \(cases) links of \(tables) tables, seed \(tableGenerator.patterns.generator.seed)")
    }

    private func isStrictPart(_ a: [Bool], _ b: [Bool]) -> Bool {
        a.contains(true) && !zip(a, b).contains { $0 && !$1 } && zip(a, b).contains { !$0 && $1 }
    }
}
