import LinkCoordinator
import RouteAnalysis
import StrictJSON
import TableSupport
import TestSupport
import Testing

/// P4: the search selects the least of all matching patterns.
private struct LeastPattern: TableLaw {
    static let name = "P4"
    static let seed: UInt64 = 4_2026_11

    private(set) var (found, several, none, early, constrained) = (0, 0, 0, 0, 0)

    func prepare(_ table: LawTable, seed: UInt64) -> ReferenceSearch? { ReferenceSearch(table.table.source) }

    mutating func check(
        _ input: LawInput, _ reference: ReferenceSearch, _ resolver: inout ReusedResolver
    ) -> LawResult {
        let json = resolver.decide(input.bytes, input.device, input.compiled)
        let selected = DecisionStart(json).firstRoute
        let expected = reference.normalized(input.link).flatMap { reference.select($0) }
        if selected == nil {
            let reason = (try? Decision(json: json))?.reason
            if reason != "no_route" && reason != "redirect_limit" {
                early += 1
                return .holds(0)
            }
            none += 1
        } else {
            found += 1
            constrained += expected.map { $0.route.query.isEmpty ? 0 : 1 } ?? 0
            if input.seed % 16 == 0, let parts = reference.normalized(input.link), reference.candidates(parts) > 1 {
                several += 1
            }
        }
        if selected == expected?.route.id.value { return .holds(1) }
        return .broken([json, Array("by definition: \(expected?.route.id.value ?? "none")".utf8)])
    }

    var counts: KeyValuePairs<String, Int> {
        [
            "with a route": found, "by constraints": constrained, "no route": none,
            "one in 16 counted, several candidates": several, "ended before select": early,
        ]
    }
}

/// P5: shuffling the routes of a file changes nothing.
private struct AnyOrder: TableLaw {
    static let name = "P5"
    static let seed: UInt64 = 5_2026_11

    private(set) var (stacks, tables) = (0, 0)

    mutating func prepare(_ table: LawTable, seed: UInt64) throws -> CompiledTable? {
        tables += 1
        var other = table.generated
        other.routes = other.routes(drawnBy: seed)
        return CompiledTable(try #require(RouteTable.check(other.json).table).source, hash: "0")
    }

    mutating func check(
        _ input: LawInput, _ shuffled: CompiledTable, _ resolver: inout ReusedResolver
    ) -> LawResult {
        let json = resolver.decide(input.bytes, input.device, input.compiled)
        if json.count > 300 { stacks += 1 }
        let other = resolver.decide(input.bytes, input.device, shuffled)
        return json == other ? .holds(1) : .broken([json, other])
    }

    var counts: KeyValuePairs<String, Int> { ["tables": tables, "with a longer stack": stacks] }
}

/// P6: adding a route changes only links that the new route matches, before or after redirects.
private struct AddedRoute: TableLaw {
    static let name = "P6"
    static let seed: UInt64 = 6_2026_11

    struct Context {
        let added: String
        /// The table without the added route.
        let before: CompiledTable
        let reference: ReferenceSearch
    }

    private(set) var (changed, redirected, refused) = (0, 0, 0)

    mutating func prepare(_ table: LawTable, seed: UInt64) -> Context? {
        guard table.generated.routes.count > 1 else { return nil }
        let added = table.generated.routes(drawnBy: seed)[0].id
        var fewer = table.generated
        fewer.routes.removeAll { $0.id == added }
        // Other routes may depend on it. In that case, the route is not a possible addition.
        guard let before = RouteTable.check(fewer.json).table else {
            refused += 1
            return nil
        }
        return Context(
            added: added, before: CompiledTable(before.source, hash: "0"),
            reference: ReferenceSearch(table.table.source))
    }

    mutating func check(_ input: LawInput, _ context: Context, _ resolver: inout ReusedResolver) -> LawResult {
        let json = resolver.decide(input.bytes, input.device, input.compiled)
        let before = resolver.decide(input.bytes, input.device, context.before)
        if before == json { return .holds(1) }
        changed += 1
        let (start, added) = (DecisionStart(json), context.added)
        if start.firstRoute != added { redirected += 1 }
        let isOwn =
            start.via.contains(added) || start.route == added || (try? Decision(json: json))?.detail == added
        let isSelected =
            start.firstRoute != added
            || context.reference.normalized(input.link).flatMap { context.reference.select($0) }?.route.id.value
                == added
        return isOwn && isSelected ? .holds(1) : .broken([before, json, Array("added: \(added)".utf8)])
    }

    var counts: KeyValuePairs<String, Int> {
        ["changed": changed, "after a redirect": redirected, "additions refused": refused]
    }
}

/// P11: redirects end, with at most five redirects and one for each route.
private struct FewRedirects: TableLaw {
    static let name = "P11"
    static let seed: UInt64 = 11_2026_11
    static var options: TableGenerator.Options { TableGenerator.Options(redirectsMore: true) }

    private(set) var (redirected, twice, limited) = (0, 0, 0)

    func prepare(_ table: LawTable, seed: UInt64) -> Void? { () }

    mutating func check(_ input: LawInput, _: Void, _ resolver: inout ReusedResolver) -> LawResult {
        let json = resolver.decide(input.bytes, input.device, input.compiled)
        let start = DecisionStart(json)
        redirected += start.via.isEmpty ? 0 : 1
        twice += start.via.count > 1 ? 1 : 0
        limited += start.route == nil && !start.via.isEmpty ? 1 : 0
        let holds = start.via.count <= 5 && Set(start.via).count == start.via.count && !start.outcome.isEmpty
        return holds ? .holds(1) : .broken([json])
    }

    var counts: KeyValuePairs<String, Int> {
        ["redirected": redirected, "more than once": twice, "led to no route": limited]
    }
}

@Suite("Laws of selection") struct SelectionLawTests {
    @Test("P4: the search selects the least of all matching patterns")
    func scan() throws {
        var law = LeastPattern()
        guard let cases = try law.run() else { return }
        #expect(law.found > cases / 3 && law.constrained > cases / 100 && law.several > cases / 200)
    }

    @Test("P5: shuffling the routes of a file changes nothing")
    func shuffle() throws {
        var law = AnyOrder()
        guard let cases = try law.run() else { return }
        #expect(law.stacks > cases / 100)
    }

    @Test("P6: adding a route changes only links that the new route matches, before or after redirects")
    func adding() throws {
        var law = AddedRoute()
        guard let cases = try law.run() else { return }
        #expect(law.changed > cases / 100 && (law.redirected > 0 || !LawCases.hasRareCases))
    }

    @Test("P11: redirects end, with at most five redirects and one for each route")
    func redirects() throws {
        var law = FewRedirects()
        guard let cases = try law.run() else { return }
        #expect(law.redirected > cases / 10 && law.twice > cases / 1000 && law.limited > cases / 1000)
    }
}
