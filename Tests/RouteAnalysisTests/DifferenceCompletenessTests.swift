import RouteAnalysis
import LinkCoordinator
import Testing

@Suite("Everything that a difference does not compare is listed")
struct DifferenceCompletenessTests {
    /// Returns a table with some members.
    private static func table(_ members: String, limits: String = "") throws -> RouteTable {
        let file = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment"\(limits) }, \(members) }
            """
        return try #require(RouteTable.unchecked(Array(file.utf8)))
    }

    /// Returns a coordinator with screens that require 14 capabilities.
    private static func manyFacts() -> String {
        let names = (0..<14).map { "c\($0)" }
        let capabilities = names.map { #""\#($0)": { "listed": true }"# }.joined(separator: ", ")
        let requires = names.map { #""\#($0)""# }.joined(separator: ", ")
        return #"""
            "capabilities": { \#(capabilities) },
            "coordinators": { "main": { "screens": { "x": { "requires": [\#(requires)] }, "y": {} } } }
            """#
    }

    /// Members of a table whose requests of one form depend on too many facts.
    static let manyDevices = [
        (
            name: "invalid links",
            members: manyFacts()
                + #", "routes": [], "fallback": { "outcome": "navigate", "to": { "path": "/main/x" } }"#
        ),
        (name: "coordinator paths", members: manyFacts() + #", "routes": []"#),
        (
            name: "routes without a pattern",
            members: manyFacts() + #", "routes": [{ "id": "r", "to": { "path": "/main/x" } }]"#
        ),
    ]

    @Test("Requests other than links that depend on too many facts are sampled", arguments: manyDevices)
    func sampled(name: String, members: String) throws {
        let difference = try Self.table(members).difference(from: Self.table(members))
        #expect(difference.sampledSets.contains { $0.old == nil && $0.new == nil }, "\(name)")
    }

    @Test("Pairs of changed screens above the limit are reported as unproved, for links and for other requests")
    func manyScreens() throws {
        func table(_ present: String, _ count: Int) throws -> RouteTable {
            let screens = (0..<count).map { #""x\#($0)": { "present": ["\#(present)"] }"# }.joined(separator: ", ")
            return try Self.table(
                #"""
                "coordinators": { "main": { "screens": { \#(screens) } } },
                "routes": [{ "id": "go", "match": "/go/{p:coordinatorPath}", "to": { "path": "{p}" } }]
                """#)
        }
        let few = try table("sheet", 4).difference(from: table("push", 4))
        #expect(few.incompletelyComparedSets.isEmpty && !few.changes.isEmpty)
        let many = try table("sheet", 40).difference(from: table("push", 40))
        #expect(many.incompletelyComparedSets.contains { $0.old == nil && $0.new == nil })
        #expect(many.incompletelyComparedSets.contains { $0.old?.route == "go" && $0.new?.route == "go" })
    }

    @Test("A path at the limit of segments is tried for every screen")
    func longPaths() throws {
        // A path that repeats a sheet is refused by both tables, so only the last screen shows the difference.
        let sheets = (0..<16).map { #""s\#($0)": { "present": ["sheet"] }, "# }.joined()
        let members = #""coordinators": { "main": { "screens": { \#(sheets)"last": {} } } }, "routes": []"#
        let difference = try Self.table(members, limits: #", "limits": { "maxSegments": 10 }"#)
            .difference(from: Self.table(members))
        let lost = difference.changes.filter { $0.old.outcome == .navigate && $0.new.reason == "budget" }
        #expect(lost.contains { $0.request.text.hasPrefix("path ") }, "\(difference.changes.map(\.request.text))")
    }

    @Test("Bounds of long texts are compared up to the limit of a field", arguments: [(4_500, 4_600), (8_000, 8_100)])
    func longTexts(less: Int, more: Int) throws {
        func table(_ max: Int) throws -> RouteTable {
            try Self.table(
                #"""
                "models": { "M": { "t": "string(1..\#(max))" } },
                "coordinators": { "main": { "screens": { "x": { "needs": ["M"] } } } },
                "routes": [
                  { "id": "r", "match": "/r", "to": { "path": "/main/x" }, "bind": { "M": { "t": "query.t" } } } ]
                """#)
        }
        let difference = try table(less).difference(from: table(more))
        #expect(difference.changes.contains { $0.isBreaking && $0.new.reason == "param_invalid" })
        #expect(difference.incompletelyComparedSets.isEmpty && difference.sampledSets.isEmpty)
    }

    @Test("A difference is reported for its own links, even after many of the same kind for other links")
    func afterManyOthers() throws {
        let values = (10..<50).map { "a\($0)" }
        // A link with one of the last values selects a route that redirects to the route of the other links.
        let others = values.dropFirst(10).map {
            #"{ "id": "t-\#($0)", "match": "/r", "query": { "mode": "\#($0)" }, "redirect": "r" }"#
        }
        func table(_ type: String) throws -> RouteTable {
            try Self.table(
                #"""
                "models": { "M": { "mode": "\#(type)" } },
                "coordinators": { "main": { "screens": { "x": { "needs": ["M"] } } } },
                "routes": [ \#(others.joined(separator: ", ")),
                  { "id": "r", "match": "/r", "to": { "path": "/main/x" }, "bind": { "M": { "mode": "query.mode" } } } ]
                """#)
        }
        let difference = try table("enum(b)").difference(from: table("enum(\(values.joined(separator: "|"))|b)"))
        let own = difference.changes.filter { $0.oldChoice?.route == "r" && $0.newChoice?.route == "r" }
        #expect(own.contains { $0.isBreaking }, "\(own.map(\.request.text))")
        #expect(difference.incompletelyComparedSets.isEmpty && difference.sampledSets.isEmpty)
    }

    /// Pairs of patterns of a route, which accept different values of a capture.
    static let swapped = [
        ["/a/{x:int(1..5)}", "/b/{x:int(1..9)}"], ["/a/{x:enum(k|m)}", "/b/m-{x}"], ["/a/{x+}", "/b/{x*}"],
        ["/a/{x:coordinatorPath}", "/b/{x+}"], ["/a/{x:[a-f]{2,3}}", "/b/{x:[a-f]{1,3}}"],
    ]

    @Test("A route whose match and alias swap accepts other values by its id", arguments: swapped)
    func swappedPatterns(_ patterns: [String]) throws {
        func table(_ first: String, _ second: String) throws -> RouteTable {
            try Self.table(
                #"""
                "coordinators": { "main": { "screens": { "x": {} } } },
                "routes": [{ "id": "r", "match": "\#(first)", "alias": ["\#(second)"], "to": { "path": "/main/x" } }]
                """#)
        }
        let difference = try table(patterns[1], patterns[0]).difference(from: table(patterns[0], patterns[1]))
        let changes = difference.changes.filter { $0.old.outcome != $0.new.outcome }
        #expect(changes.contains { $0.request.text.hasPrefix("route r") }, "\(difference.changes.map(\.request.text))")
    }

    @Test("A route that no longer redirects by id ignores a parameter that its pattern does not capture")
    func uncapturedParameter() throws {
        func table(_ redirect: String) throws -> RouteTable {
            try Self.table(
                #"""
                "models": { "M": { "v": "int" } }, "coordinators": { "main": { "screens": { "x": {} } } },
                "routes": [ { "id": "old", "match": "/o/a", "redirect": "\#(redirect)" },
                  { "id": "r", "match": "/{x}", "to": { "path": "/main/x" }, "bind": { "M": { "v": "path.x" } },
                    "onInvalid": "drop" } ]
                """#)
        }
        let difference = try table("/7").difference(from: table("r"))
        #expect(difference.changes.contains { $0.old.reason == "param_invalid" && $0.new.outcome == .navigate })
    }

    @Test("Links whose query a condition of their route does not name are compared")
    func otherQuery() throws {
        func table(_ alias: String) throws -> RouteTable {
            try Self.table(
                #"""
                "coordinators": { "main": { "screens": { "x": {}, "y": {} } } },
                "routes": [ { "id": "mail", "match": "/m"\#(alias), "query": { "from": "mail" }, "redirect": "r" },
                  { "id": "r", "match": "/r", "variants": [
                    { "when": { "query": { "from": "app" } }, "to": { "path": "/main/x" } },
                    { "to": { "path": "/main/y" } } ] } ]
                """#)
        }
        let difference = try table(#", "alias": ["/k"]"#).difference(from: table(""))
        #expect(difference.changes.contains { $0.request.text == "s:///k?from=mail" })
    }

    @Test("At most as many sets of links changed as were compared, and changes of other requests are counted apart")
    func counts() throws {
        func table(_ match: String, _ screen: String) throws -> RouteTable {
            try Self.table(
                #"""
                "coordinators": { "main": { "screens": { "x": { "present": ["\#(screen)"] }, "y": {} } } },
                "routes": [
                  { "id": "r", "match": "\#(match)", "to": { "path": "/main/y" } },
                  { "id": "from", "match": "/from/{a}", "redirect": "/{a}" } ]
                """#)
        }
        // No link leads to the changed screen, only a requested path.
        let paths = try table("/r", "sheet").difference(from: table("/r", "push"))
        #expect(!paths.changes.isEmpty && paths.changedSets == 0)
        #expect(paths.otherChanges == paths.changes.count)
        let links = try table("/r2", "push").difference(from: table("/r", "push"))
        let changed = Set(links.changes.map { [$0.oldChoice, $0.newChoice] }).count
        #expect(links.changedSets == changed && links.changedSets <= links.comparedSetCount)
        #expect(links.otherChanges == 0)
    }
}
