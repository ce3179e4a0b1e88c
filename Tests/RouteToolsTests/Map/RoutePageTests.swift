import LinkCoordinator
import TableSupport
import TestSupport
import Testing

@testable import RouteTools

/// The page of a route as JSON.
@Suite struct RoutePageTests {
    @Test("Every route has a page, whose parts are those of the route", arguments: SampleTables.paths)
    func whole(path: String) throws {
        let table = try SampleTables.load(path)
        for route in table.source.routes {
            let page = try JSONObject(#require(RoutePage.json(route.id.value, in: table)))
            #expect(page.objects("patterns").count == route.patterns.count { !$0.omitsOptionalPart })
            #expect(page.objects("variants").count == route.variants.count)
            for pattern in page.objects("patterns") {
                #expect(pattern.objects("parts").allSatisfy { !($0.text("words") ?? "").isEmpty })
            }
            for example in page.objects("examples") {
                let decision = try #require(example.object("decision"))
                #expect(table.identity == decision.text("table"))
                let ids = [decision.text("route")] + decision.texts("via").map { $0 }
                #expect(ids.contains(route.id.value))
            }
            if let timeline = page.object("timeline") {
                for row in timeline.objects("platforms") {
                    let covered = row.objects("cells").flatMap { ($0.number("from") ?? 0)...($0.number("to") ?? -1) }
                    #expect(covered == Array(timeline.texts("versions").indices))
                }
            }
        }
        #expect(RoutePage.json("no-such-route", in: table) == nil)
    }

    /// A table whose route depends on versions, platforms, capabilities, and claims.
    private static let file = #"""
        { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
          "link": { "schemes": ["t"], "host": "segment" },
          "capabilities": { "ar": { "minApp": "5.0", "platforms": ["ios"] } },
          "coordinators": { "main": { "initial": "list", "screens":
            { "list": {}, "three": {}, "pay": { "since": "3.0" }, "gold": {} } } },
          "routes": [ { "id": "a", "match": "/a", "variants": [
            { "when": { "capability": ["ar"] }, "to": { "path": "/main/three" } },
            { "when": { "app": ">=4.0", "claim": ["gold"] }, "to": { "path": "/main/gold" } },
            { "when": { "platform": ["android"], "app": "<6.0" }, "to": { "path": "/main/pay" } },
            { "to": { "path": "/main/list" } } ] } ] }
        """#

    @Test("The timeline has the variants that the resolver chooses, for each platform and version")
    func timeline() throws {
        let table = try #require(RouteTable.unchecked(Array(Self.file.utf8)))
        let page = try JSONObject(#require(RoutePage.json("a", in: table)))
        let timeline = try #require(page.object("timeline"))
        #expect(
            timeline.texts("versions") == [
                "before 3.0", "3.0 to before 4.0", "4.0 to before 5.0", "5.0 to before 6.0", "6.0 and later",
            ])
        let samples = ["2.0", "3.5", "4.5", "5.5", "6.0"]
        #expect(timeline.objects("platforms").map { $0.text("platform") } == ["android", "ios", nil])
        for row in timeline.objects("platforms") {
            for cell in row.objects("cells") {
                for span in (cell.number("from") ?? 0)...(cell.number("to") ?? 0) {
                    let choices = cell.objects("choices")
                    for claims in [[], ["gold"]] {
                        let device = DeviceFacts(
                            platform: row.text("platform") ?? "windows", app: samples[span], claims: claims)
                        let chosen = table.resolve("t://a", device: device)
                        let expected = choices.first { $0.text("when") == nil || !claims.isEmpty }
                        #expect(chosen.variant == expected?.number("variant"), "\(device)")
                        #expect((chosen.reason == .unsupported) == (expected?.text("lacks") != nil))
                    }
                }
            }
        }
    }

    @Test("A page names what overlaps the route, what redirects to it, and how often it was taken")
    func relations() throws {
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "main": { "screens": { "x": {} } } },
              "routes": [
                { "id": "new", "match": "/p/new", "to": { "path": "/main/x" } },
                { "id": "any", "match": "/p/{any}", "to": { "path": "/main/x" } },
                { "id": "old", "match": "/q/new", "redirect": "/p/new" },
                { "id": "older", "match": "/r", "redirect": "new" } ] }
            """#
        let table = try RouteTable(json: Array(file.utf8))
        let taken = RoutePage.Taken(count: 7, sinceMilliseconds: 1000)
        let new = try JSONObject(#require(RoutePage.json("new", in: table, taken: taken)))
        #expect(new.object("redirects")?.texts("from") == ["old", "older"])
        #expect(new.object("taken")?.number("count") == 7)
        let overlap = try #require(new.object("overlaps")?.objects("routes").first)
        #expect(overlap.text("route") == "any" && overlap.text("relation") == "narrower")
        #expect(overlap.flag("isPreceded") == false && overlap.text("selected") == "new")
        let any = try JSONObject(#require(RoutePage.json("any", in: table)))
        #expect(any.object("overlaps")?.objects("routes").first?.text("relation") == "wider")
        #expect(any.object("taken") == nil)
    }
}
