import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

/// A generated table that was loaded, in the forms that the laws use.
struct LawTable {
    var generated: GeneratedTable
    let table: RouteTable
    /// The table with a fixed hash, so that decisions of its variants can be compared byte for byte.
    let compiled: CompiledTable

    /// Returns the next table of a generator.
    static func next(_ generator: inout TableGenerator) throws -> LawTable {
        let seed = generator.patterns.generator.seed
        let found = generator.settledTable()
        let made = try #require(found, "no table of seed \(seed) loads")
        return LawTable(
            generated: made.generated, table: made.table, compiled: CompiledTable(made.table.source, hash: "0"))
    }
}

/// The number of links per table, which is large enough that a debug build loads few tables.
let linksPerTable = 500

/// Prints the counts of a law for the record of a test run.
func report(_ law: String, seed: UInt64, _ counts: KeyValuePairs<String, Int>) {
    print("law \(law): seed \(seed), " + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
}

/// Records that a law does not hold, with the evidence: links, decisions, and the table.
func broken(_ texts: [UInt8]..., sourceLocation: SourceLocation = #_sourceLocation) {
    let lines = texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    Issue.record("\(lines)", sourceLocation: sourceLocation)
}

@Suite("Laws of selection") struct SelectionLawTests {
    @Test("P4: the search selects the least of all matching patterns")
    func scan() throws {
        var tables = TableGenerator(seed: 4_2026_11)
        var runner = LawRunner()
        let devices = LawDevices(LawDevices.all)
        var (cases, found, several, none, early, constrained) = (0, 0, 0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            let reference = ReferenceSearch(law.table.source)
            var links = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            for _ in 0..<linksPerTable {
                let link = links.link()
                let json = runner.decide(Array(link.text.utf8), devices.facts[2], law.compiled)
                let start = DecisionStart(json)
                let wanted = reference.normalized(link).flatMap { reference.select($0) }
                if start.firstRoute == nil {
                    let reason = (try? Decision(json: json))?.reason
                    if reason != "no_route" && reason != "redirect_limit" {
                        early += 1
                        continue
                    }
                    none += 1
                } else {
                    found += 1
                    constrained += wanted.map { $0.route.query.isEmpty ? 0 : 1 } ?? 0
                    if cases % 16 == 0, let parts = reference.normalized(link), reference.candidates(parts) > 1 {
                        several += 1
                    }
                }
                cases += 1
                if start.firstRoute != wanted?.route.id.value {
                    let definition = wanted?.route.id.value ?? "none"
                    broken(Array(link.text.utf8), json, Array(definition.utf8), law.generated.json)
                    return
                }
            }
        }
        report(
            "P4", seed: tables.patterns.generator.seed,
            [
                "cases": cases, "with a route": found, "by constraints": constrained, "no route": none,
                "one in 16 counted, several candidates": several, "ended before select": early,
            ])
        #expect(found > cases / 3 && constrained > cases / 100 && several > cases / 200)
    }

    @Test("P5: shuffling the routes of a file changes nothing")
    func shuffle() throws {
        var tables = TableGenerator(seed: 5_2026_11)
        var runner = LawRunner()
        let devices = LawDevices(LawDevices.all)
        var (cases, stacks, all) = (0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            all += 1
            var other = law.generated
            other.routes.shuffle(using: &tables.patterns.generator)
            let source = try #require(RouteTable.check(other.json).table).source
            let shuffled = CompiledTable(source, hash: "0")
            var links = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            for _ in 0..<linksPerTable {
                let link = links.link()
                let facts = devices.facts[cases % devices.facts.count]
                let json = runner.decide(Array(link.text.utf8), facts, law.compiled)
                cases += 1
                if json.count > 300 { stacks += 1 }
                if runner.decide(Array(link.text.utf8), facts, shuffled) != json {
                    broken(Array(link.text.utf8), json, other.json)
                    return
                }
            }
        }
        report(
            "P5", seed: tables.patterns.generator.seed, ["cases": cases, "tables": all, "with a longer stack": stacks])
        #expect(stacks > cases / 100)
    }

    @Test("P6: adding a route changes only links that the new route matches, before or after redirects")
    func adding() throws {
        var tables = TableGenerator(seed: 6_2026_11)
        var runner = LawRunner()
        let devices = LawDevices(LawDevices.all)
        var (cases, changed, redirected, refused) = (0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            guard law.generated.routes.count > 1 else { continue }
            var fewer = law.generated
            let added = fewer.routes.remove(
                at: Int.random(in: 0..<fewer.routes.count, using: &tables.patterns.generator))
            // Other routes may depend on it. In that case, the route is not a possible addition.
            guard let before = RouteTable.check(fewer.json).table else {
                refused += 1
                continue
            }
            let old = CompiledTable(before.source, hash: "0")
            let reference = ReferenceSearch(law.table.source)
            var links = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            for _ in 0..<linksPerTable {
                let link = links.link()
                let bytes = Array(link.text.utf8)
                let facts = devices.facts[cases % devices.facts.count]
                let json = runner.decide(bytes, facts, law.compiled)
                cases += 1
                if runner.decide(bytes, facts, old) == json { continue }
                changed += 1
                let start = DecisionStart(json)
                if start.firstRoute != added.id { redirected += 1 }
                let isOwn =
                    start.via.contains(added.id) || start.route == added.id
                    || (try? Decision(json: json))?.detail == added.id
                let taken =
                    start.firstRoute == added.id
                    ? reference.normalized(link).flatMap { reference.select($0) }?.route.id.value == added.id : true
                if !isOwn || !taken {
                    broken(bytes, json, Array(added.id.utf8), law.generated.json)
                    return
                }
            }
        }
        report(
            "P6", seed: tables.patterns.generator.seed,
            ["cases": cases, "changed": changed, "after a redirect": redirected, "additions refused": refused])
        #expect(changed > cases / 100 && (redirected > 0 || cases < 100_000))
    }

    @Test("P11: redirects end, with at most five redirects and one for each route")
    func redirects() throws {
        var options = TableGenerator.Options()
        options.redirectsMore = true
        var tables = TableGenerator(seed: 11_2026_11, options: options)
        var runner = LawRunner()
        let devices = LawDevices(LawDevices.all)
        var (cases, redirected, twice, limited) = (0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            var links = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            for _ in 0..<linksPerTable {
                let link = links.link()
                let json = runner.decide(
                    Array(link.text.utf8), devices.facts[cases % devices.facts.count], law.compiled)
                let start = DecisionStart(json)
                cases += 1
                redirected += start.via.isEmpty ? 0 : 1
                twice += start.via.count > 1 ? 1 : 0
                limited += start.route == nil && !start.via.isEmpty ? 1 : 0
                if start.via.count > 5 || Set(start.via).count != start.via.count || start.outcome.isEmpty {
                    broken(Array(link.text.utf8), json)
                    return
                }
            }
        }
        report(
            "P11", seed: tables.patterns.generator.seed,
            ["cases": cases, "redirected": redirected, "more than once": twice, "led to no route": limited])
        #expect(redirected > cases / 10 && twice > cases / 1000 && limited > cases / 1000)
    }
}
