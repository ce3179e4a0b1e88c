import LinkCoordinator
import TableSupport
import Testing

@testable import RouteAnalysis

/// The patterns of other routes that match links of a route.
@Suite struct RouteOverlapsTests {
    private func table(_ patterns: [String]) throws -> RouteTable {
        let routes = patterns.enumerated().map {
            #"{ "id": "r\#($0)", "match": "\#($1)", "to": { "path": "/main/x" } }"#
        }
        let text = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "main": { "screens": { "x": {} } } }, "routes": [\#(routes.joined(separator: ","))] }
            """#
        return try #require(RouteTable.unchecked(Array(text.utf8)))
    }

    @Test(
        "Two patterns that share links have a relation and a link that both match",
        arguments: [
            ("/a/{x}", "/a/b", RouteOverlaps.Relation.wider), ("/a/b", "/a/{x}", .narrower),
            ("/a/{x}/c", "/a/b/{y}", .crossing), ("/a/{x}", "/a/{y}", .same), ("/a/{x:int}", "/a/{y+}", .narrower),
            ("/a/{x:int(1..9)}", "/a/{y:int(5..20)}", .crossing), ("/a/{x}", "/b/{x}", nil), ("/a", "/a/b", nil),
        ] as [(String, String, RouteOverlaps.Relation?)])
    func relation(one: String, two: String, relation: RouteOverlaps.Relation?) throws {
        let table = try table([one, two])
        let found = RouteOverlaps(ofRoute: 0, in: table)
        #expect(found.isComplete)
        #expect(found.overlaps.map(\.relation) == [relation].compactMap { $0 })
        for overlap in found.overlaps {
            #expect(overlap.other == "r1" && overlap.otherPattern == two && overlap.pattern == one)
            let candidates = table.explain(.link(overlap.link)).candidates.map(\.route)
            #expect(Set(candidates) == ["r0", "r1"], "\(overlap.link)")
            #expect(overlap.selected == candidates.first)
            #expect(overlap.isPreceded == (overlap.selected == "r1"))
        }
    }

    @Test("A list with more overlaps than its limit says that it is not complete")
    func limit() throws {
        let table = try table(["/{rest*}"] + (0..<100).map { "/p\($0)" })
        let found = RouteOverlaps(ofRoute: 0, in: table)
        #expect(found.overlaps.count == RouteOverlaps.limit && !found.isComplete)
    }

    @Test("A search without a budget says that it is not complete")
    func budget() throws {
        let table = try table(["/{x}/c", "/b/{y}"])
        let found = RouteOverlaps(ofRoute: 0, in: table, budget: WorkBudget(perSearch: 1, total: 1))
        #expect(found.overlaps.isEmpty && !found.isComplete)
    }

    @Test("A difference that is ended early says so, and has the changes found so far")
    func cut() throws {
        let patterns = (0..<40).map { "/p\($0)" }
        let (old, new) = (try table(patterns), try table(patterns.map { $0 + "x" }))
        var total = 0
        let whole = new.difference(from: old) {
            total += 1
            return false
        }
        #expect(!whole.isCut && whole.changes.count >= 80)
        var calls = 0
        let part = new.difference(from: old) {
            calls += 1
            return calls > total / 2
        }
        #expect(part.isCut)
        #expect(!part.changes.isEmpty && part.changes.count < whole.changes.count)
        #expect(new.difference(from: old) { true }.isCut)
    }
}
