import RouteAnalysis
import LinkCoordinator
import Testing

@Suite("Differences of tables with many conditions on devices")
struct DifferenceScaleTests {
    private func table(_ routes: [String]) throws -> RouteTable {
        let file = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" },
              "coordinators": { "main": { "screens": { "x": {}, "y": {} } } },
              "routes": [ \(routes.joined(separator: ",\n")) ] }
            """
        return try #require(RouteTable.unchecked(Array(file.utf8)))
    }

    private func route(_ id: String, _ conditions: [String], last: String = "y") -> String {
        let variants = conditions.map { #"{ "when": { \#($0) }, "to": { "path": "/main/x" } }"# }
        return #"""
            { "id": "\#(id)", "match": "/\#(id)",
              "variants": [ \#(variants.joined(separator: ", ")), { "to": { "path": "/main/\#(last)" } } ] }
            """#
    }

    @Test("Devices vary by the affected routes, regardless of the number of facts in the tables")
    func perRoute() throws {
        // There are eighty facts, so not all combinations can be tried.
        let routes = (0..<40).map { route("r\($0)", [#""claim": "c\#($0)", "attributes": { "a\#($0)": "v" }"#]) }
        var others = routes
        others[17] = route("r17", [#""claim": "c17", "attributes": { "a17": "w" }"#])
        let difference = try table(others).difference(from: table(routes))
        #expect(difference.sampledSets.isEmpty && difference.incompletelyComparedSets.isEmpty)
        #expect(Set(difference.changes.map { $0.newChoice?.route }) == ["r17"])
        for change in difference.changes {
            #expect(change.device.claims == ["c17"] && change.device.attributes?["a17"] != nil)
        }
    }

    @Test("Five facts of one condition are tried together")
    func together() throws {
        let all = #""app": ">=2", "os": "<3", "platform": "ios", "region": "GB", "claim": "vip""#
        let difference = try table([route("r", [all])]).difference(
            from: table([route("r", [all + #", "locale": "en""#])]))
        #expect(difference.sampledSets.isEmpty)
        let change = try #require(difference.changes.first { $0.device.claims == ["vip"] })
        #expect(change.device.region == "GB" && change.device.platform == "ios" && change.device.app != nil)
    }

    @Test("Too many devices are reported as sampled, and every two facts are tried together")
    func sampled() throws {
        let conditions = (0..<14).map { #""claim": "c\#($0)""# } + [#""claim": ["a", "b"]"#]
        let old = try table([route("r", conditions)])
        let new = try table([route("r", conditions.dropLast() + [#""claim": ["a", "c0"]"#])])
        let difference = new.difference(from: old)
        #expect(difference.sampledSets.map { $0.new?.route } == ["r"])
        #expect(difference.changes.contains { $0.device.claims == ["a", "b"] })
    }
}
