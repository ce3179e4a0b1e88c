import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TableSupport
import Testing

@Suite("Coverage of a table by decisions") struct CoverageTests {
    static let links = [
        "shop:///p/new", "shop:///p/new", "shop:///o/12", "shop:///search?q=a", "shop:///nope", "shop:///",
        "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866",
        "https://shop.example/product/B121D5E7-EA65-49F8-8B33-B3C43FA93866",
    ]

    @Test("Routes, variants, redirects, and reasons are counted, and patterns for decisions with a trace")
    func counts() throws {
        let table = try TableFiles.anchor()
        let plain = table.coverage(of: Self.links.map { table.resolve($0) })
        let route = { (id: String, coverage: Coverage) in try #require(coverage.routes.first { $0.id == id }) }
        #expect(plain.decisions == Self.links.count)
        #expect(try route("new-items", plain).decisions == 2)
        #expect(try route("item", plain).variants == [0, 0, 2])
        #expect(try route("old-order", plain).redirected == 1)
        #expect(try route("old-order", plain).decisions == 0)
        #expect(try route("order", plain).decisions == 1)
        #expect(try route("legal", plain).isUnused)
        #expect(plain.reasons.map { "\($0.reason) \($0.decisions)" }.contains("no_route 1"))
        #expect(plain.withoutRoute == 1)
        #expect(plain.withTrace == 0)

        let traced = table.coverage(
            of: Self.links.compactMap { try? Decision(json: table.explain(.link($0)).decisionJSON) })
        #expect(traced.withTrace == Self.links.count - 1)
        #expect(
            try route("item", traced).patterns.map(\.decisions) == [1, 1],
            "one link matched the pattern, one the alias")
        #expect(traced.routes.map(\.decisions) == plain.routes.map(\.decisions))
    }

    @Test("Decisions of another table are distinguished from routes that the table does not have")
    func foreign() throws {
        let table = try TableFiles.anchor()
        let other = try RouteTable(json: TableFiles.shipped("seeds/easydev991"))
        let json = #"{"table":"shop@41+00000000","route":"gone","outcome":"navigate","stack":[]}"#
        let strange = try Decision(json: json.utf8)
        let coverage = table.coverage(of: [other.resolve("myapp://simple"), strange])
        #expect(coverage.ofOtherTables == 1)
        #expect(coverage.ofOtherVersions == 1)
        #expect(coverage.withUnknownRoute == 1)
        #expect(coverage.decisions == 1)
        #expect(coverage.routes.filter { !$0.isUnused }.isEmpty)
    }

    @Test("A variant counts for its version of the table, and a route for every version")
    func versions() throws {
        let table = try TableFiles.anchor()
        let own = table.resolve(Self.links[6])
        let identity = try #require(own.table)
        let older = try #require(
            try? Decision(json: [UInt8](own.value.text.replacing(identity, with: "shop@1+00000000").utf8)))
        let coverage = table.coverage(of: [own, older, older])
        let item = try #require(coverage.routes.first { $0.id == "item" })
        #expect(item.decisions == 3 && item.variants == [0, 0, 1])
        #expect(coverage.decisions == 3 && coverage.ofOtherVersions == 2 && coverage.withUnknownRoute == 0)
    }
}
