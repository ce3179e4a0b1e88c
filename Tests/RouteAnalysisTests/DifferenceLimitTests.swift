import RouteAnalysis
import LinkCoordinator
import Testing

/// A route, reduced limits, and a link that only the larger limits accept.
struct LimitChange: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Members of the link block and the routes of both tables.
    var block = #""schemes": ["s"], "host": "segment""#
    var routes: String
    /// The limits of the new table.
    ///
    /// The old one has the default limits.
    var limits: String
    /// A part of a pattern whose links are lost, or nil if no link is lost.
    var lost: String?

    init(_ name: String, block: String? = nil, _ routes: String, _ limits: String, lost: String?) {
        testDescription = name
        if let block { self.block = block }
        self.routes = routes
        self.limits = limits
        self.lost = lost
    }

    func tables() throws -> (old: RouteTable, new: RouteTable) { (try table(nil), try table(limits)) }

    private func table(_ limits: String?) throws -> RouteTable {
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { \#(block)\#(limits.map { #", "limits": { \#($0) }"# } ?? "") },
              "models": { "M": { "f": "string(1..3)?", "l": "list<string>(0..20)" } },
              "coordinators": { "main": { "initial": "x", "screens": { "x": {}, "f": { "needs": ["M"] } } } },
              "externals": { "schemes": ["s"], "hosts": ["e.example"] },
              "fallback": { "outcome": "reject" }, "routes": [ \#(routes) ] }
            """#
        return try #require(RouteTable.unchecked(Array(file.utf8)), "\(testDescription)")
    }
}

@Suite("Differences of limits")
struct DifferenceLimitTests {
    private static let web = #""schemes": ["s"], "host": "authority", "hosts": ["e.example"]"#
    private static let root = #""to": { "root": true }"#

    private static func bound(_ pattern: String, _ source: String) -> String {
        #"""
        { "id": "r", "match": "\#(pattern)", "to": { "path": "/main/f" }, "bind": { "M": { \#(source) } } }
        """#
    }

    private static let tail = #"{ "id": "r", "match": "/legal/{rest+}", "exclude": { "outcome": "external" } }"#
    private static let bounded = #"{ "id": "r", "match": "/a/{x}", \#(root) }"#
    private static let wild = #"{ "id": "r", "match": { "anySegment": "end" }, \#(root) }"#
    private static let paths =
        #"{ "id": "r", "match": "/go/{p:coordinatorPath}", "to": { "path": "{p}" } }"#
    private static let growing = #"""
        { "id": "r", "match": "/o/{rest*}", "redirect": "/q/1/2/3/{rest}" },
        { "id": "q", "match": "/q/{rest*}", \#(root) }
        """#

    static let changes = [
        LimitChange("a tail", block: web, tail, #""maxSegments": 10"#, lost: "/legal"),
        LimitChange(
            "a tail that is bound to a list", bound("/t/{l*}", #""l": "path.l""#), #""maxSegments": 9"#, lost: "/t"),
        LimitChange(
            "a list that is shorter than the limit", bound("/t/{l*}", #""l": "path.l""#), #""maxSegments": 30"#,
            lost: nil),
        LimitChange("a pattern without a tail", bounded, #""maxSegments": 10"#, lost: nil),
        LimitChange("a segment at any position", wild, #""maxSegments": 10"#, lost: "end"),
        LimitChange("coordinator paths", paths, #""maxSegments": 10"#, lost: "/go"),
        LimitChange("a redirect that adds segments", growing, #""maxSegments": 10"#, lost: "/o"),
        LimitChange("the bytes of a path", bounded, #""maxBytes": 4000"#, lost: "/a"),
        LimitChange("the bytes of a link with a host", block: web, tail, #""maxBytes": 4000"#, lost: "/legal"),
        LimitChange(
            "the bytes of a link with a bound fragment", bound("/f", #""f": "fragment""#), #""maxBytes": 300"#,
            lost: "/f"),
        LimitChange("query items", bounded, #""maxQueryItems": 5"#, lost: "/a"),
        LimitChange(
            "query items with a bound name", bound("/f", #""f": "query.f""#), #""maxQueryItems": 5"#, lost: "/f"),
        LimitChange(
            "items of a flat query",
            block: #""schemes": ["s"], "host": "segment", "query": { "flatten": true, "pairSeparators": ",;" }"#,
            bound("/f", #""f": "query.f""#), #""maxQueryItems": 5"#, lost: "/f"),
    ]

    @Test(
        "Links that only the larger limits accept are lost, and every reported difference is real", arguments: changes)
    func lost(change: LimitChange) throws {
        let (old, new) = try change.tables()
        let difference = new.difference(from: old)
        #expect(difference.incompletelyComparedSets.isEmpty && difference.sampledSets.isEmpty)
        #expect(difference.groups.map { $0.causes.map(\.location) } == [["link.limits"]], "\(difference.groups)")
        for one in difference.changes {
            #expect(old.resolve(one.request, device: one.device).json == one.old.json)
            #expect(new.resolve(one.request, device: one.device).json == one.new.json)
            #expect(one.new.reason == "budget", "\(one.request.text)")
        }
        // A route by its id and a coordinator path are not links.
        let lost = difference.changes.filter { change in
            if case .link = change.request { change.isBreaking } else { false }
        }
        if let pattern = change.lost {
            #expect(lost.contains { $0.oldChoice?.pattern.contains(pattern) == true }, "\(lost)")
        } else {
            #expect(lost.isEmpty, "\(lost)")
        }
        // Larger limits lose no links.
        let back = old.difference(from: new)
        #expect(!back.changes.isEmpty && !back.groups.contains(where: \.isBreaking))
    }

    @Test("A longer redirect loses the longest links, even with equal limits")
    func longerRedirect() throws {
        func table(_ template: String) throws -> RouteTable {
            let change = LimitChange("", Self.growing.replacing("/q/1/2/3/{rest}", with: template), "", lost: nil)
            return try change.tables().old
        }
        let difference = try table("/q/1/2/3/{rest}").difference(from: table("/q/{rest}"))
        let lost = try #require(difference.changes.first { $0.isBreaking })
        #expect(
            lost.old.outcome == .navigate && lost.new.reason == "budget" && difference.incompletelyComparedSets.isEmpty)
    }

    @Test("Links that cannot be made long enough are reported as unproved")
    func unproved() throws {
        // Every longer query has a name that the route requires to be absent.
        let route = Self.bound("/f", #""f": "fragment""#).replacing(
            #""match": "/f""#, with: #""match": "/f", "query": { "zz": null }"#)
        let (old, new) = try LimitChange("", route, #""maxBytes": 300"#, lost: nil).tables()
        #expect(new.difference(from: old).incompletelyComparedSets.contains { $0.old?.pattern == "/f" })
    }

    @Test("Requests other than links are tried up to the limits too")
    func others() throws {
        let (old, new) = try LimitChange("", Self.tail, #""maxSegments": 10"#, lost: nil).tables()
        let forms = new.difference(from: old).changes.filter { $0.new.reason == "budget" }.map(\.request)
        #expect(forms.contains { if case .path = $0 { true } else { false } })
        #expect(forms.contains { if case .route = $0 { true } else { false } })
    }
}
