import LinkCoordinator
import RouteAnalysis
import StrictJSON
import TableSupport
import Testing

/// Returns the verdict on the members of a property.
func verdict(of property: String, about table: RouteTable) throws -> PropertyVerdict {
    let file = #"{ "schemaVersion": 1, "table": "t", "properties": [ { "id": "p", \#(property) } ] }"#
    let read = PropertyFile.read(Array(file.utf8), about: table)
    var search = PropertySearch(table, try #require(read.file, "\(read.problems)").properties)
    return try #require(search.run().first)
}

/// Tables in which a request breaks a property in a way that a proof can overlook.
@Suite struct PropertySoundnessTests {
    /// A table with the screens `a.ok`, `a.bad`, and `a.new`, a property, and a request that breaks it.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var routes: String
        var property = #""requests": "link", "never": { "screens": "a.bad" }"#
        var request: LinkRequest
        var device = DeviceFacts()
        var link = ""
        var members = ""
        /// A Boolean value that indicates whether the search finds a request too.
        var isFound = true
        var testDescription: String { name }
    }

    private static let (ok, bad) = (#""to": { "path": "/a/ok" }"#, #""to": { "path": "/a/bad" }"#)
    private static let insensitive = #", "path": { "case": "insensitive" }"#

    /// Returns routes: a redirect, a route that opens `a.bad`, and routes that open `a.ok`.
    private static func routes(_ redirects: [(String, String)], bad pattern: String, ok others: [String]) -> String {
        let all =
            redirects.enumerated().map {
                #"{ "id": "r\#($0.offset)", "match": "\#($0.element.0)", "redirect": "\#($0.element.1)" }"#
            } + [#"{ "id": "s", "match": "\#(pattern)", \#(bad) }"#]
            + others.enumerated().map { #"{ "id": "d\#($0.offset)", "match": "\#($0.element)", \#(ok) }"# }
        return all.joined(separator: ",\n")
    }

    private static func versions(_ first: String, _ second: String, _ last: String) -> String {
        #"{ "id": "r", "match": "/r", "variants": [ \#(first), \#(second) { \#(last) } ] }"#
    }

    static let cases = [
        Case(
            name: "the target for a device without a screen has the data of the route",
            routes: #"""
                { "id": "d", "match": "/f/{x}", "to": { "path": "/a/new" },
                  "unsupported": { "to": { "path": "/n/need" } }, "bind": { "M": { "v": "path.x" } } }
                """#,
            property: #""requests": "link", "never": { "screens": "n.need" }"#, request: .link("t:///f/1"),
            device: DeviceFacts(app: "1")),
        Case(
            name: "a capital letter in a template before a capture, in a table that ignores case",
            routes: routes([("/old/{x}", "/A{x}")], bad: "/Abc", ok: ["/{any}"]),
            property: #""links": "/old/{x}", "never": { "screens": "a.bad" }"#, request: .link("t:///old/BC"),
            link: insensitive),
        Case(
            name: "a capital letter in a template before a capture with text around it",
            routes: routes([("/old/{x}", "/A{x}")], bad: "/a{y}c", ok: ["/{any}"]),
            property: #""links": "/old/{x}", "never": { "screens": "a.bad" }"#, request: .link("t:///old/1c"),
            link: insensitive, isFound: false),
        Case(
            name: "the canonical text of a Boolean value after two redirects",
            routes: routes([("/a/{f:bool}", "/b/{f}"), ("/b/{x}", "/c/{x}")], bad: "/c/true", ok: ["/c/{any}"]),
            property: #""links": "/a/1", "never": { "screens": "a.bad" }"#, request: .link("t:///a/1")),
        Case(
            name: "the canonical text of a UUID after two redirects",
            routes: routes(
                [("/a/{f:uuid}", "/b/{f}"), ("/b/{x}", "/c/{x}")], bad: "/c/B121D5E7-EA65-49F8-8B33-B3C43FA93866",
                ok: ["/c/{any}"]),
            property: #""links": "/a/{z:[a-f0-9-]{36,36}}", "never": { "screens": "a.bad" }"#,
            request: .link("t:///a/b121d5e7-ea65-49f8-8b33-b3c43fa93866"), isFound: false),
        Case(
            name: "a letter of a template that composes with a captured accent",
            routes: routes([("/old/{x}", "/e{x}")], bad: "/é", ok: ["/{y}"]),
            property: #""links": "/old/{x}", "never": { "screens": "a.bad" }"#, request: .link("t:///old/%CC%81"),
            isFound: false),
        Case(
            name: "versions above a version with build metadata",
            routes: versions(
                #"{ "when": { "app": ">=4.0.0" }, \#(ok) }"#,
                #"{ "when": { "app": "<=4.0.0-beta+7" }, \#(ok) },"#, bad),
            request: .link("t:///r"), device: DeviceFacts(app: "4.0.0-rc.1")),
        Case(
            name: "versions above a number of nine digits",
            routes: versions(#"{ "when": { "app": ">1.999999999" }, \#(bad) }"#, "", ok), request: .link("t:///r"),
            device: DeviceFacts(app: "2")),
        Case(
            name: "a segment of more than 66 characters",
            routes: #"{ "id": "d", "match": "/file/{x}", \#(bad) }"#,
            property: #""links": "/file/sha256-{h:[a-f0-9]{64,64}}", "never": { "screens": "a.bad" }"#,
            request: .link("t:///file/sha256-" + String(repeating: "a", count: 64))),
        Case(
            name: "an empty segment in a parameter of a route request",
            routes: #"{ "id": "d", "match": "/f/{x+}", \#(ok) }"#,
            property: #""requests": "route", "never": { "screens": "a.bad" }"#,
            request: .route("d", params: ["x": "a//b"]), link: #", "path": { "emptySegments": "reject" }"#,
            members: #", "fallback": [ { "on": ["empty_segment"], "outcome": "navigate", \#(bad) } ]"#),
        Case(
            name: "a request by id without its capture", routes: #"{ "id": "d", "match": "/p/{c:enum(a|b)}", \#(ok) }"#,
            property: #""requests": "route", "never": { "screens": "a.bad" }"#,
            request: .route("d"),
            members: #", "fallback": [ { "on": ["param_missing"], "outcome": "navigate", \#(bad) } ]"#),
        Case(
            name: "a request by id with an invalid capture",
            routes: #"{ "id": "d", "match": "/p/{c:enum(a|b)}", \#(ok) }"#,
            property: #""requests": "route", "never": { "screens": "a.bad" }"#,
            request: .route("d", params: ["c": "zz"]),
            members: #", "fallback": [ { "on": ["param_invalid"], "outcome": "navigate", \#(bad) } ]"#),
        Case(
            name: "two periods in a parameter", routes: #"{ "id": "d", "match": "/f/{x+}", \#(ok) }"#,
            property: #""requests": "route", "never": { "screens": "a.bad" }"#,
            request: .route("d", params: ["x": "a/.."]),
            members: #", "fallback": [ { "on": ["dot_segment"], "outcome": "navigate", \#(bad) } ]"#),
        Case(
            name: "a broken escape in a parameter", routes: #"{ "id": "d", "match": "/f/{x+}", \#(ok) }"#,
            property: #""requests": "route", "never": { "screens": "a.bad" }"#,
            request: .route("d", params: ["x": "%zz"]),
            members: #", "fallback": [ { "on": ["bad_encoding"], "outcome": "navigate", \#(bad) } ]"#),
    ]

    private static func file(_ one: Case) -> String {
        ##"""
        { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
          "link": { "schemes": ["t"], "host": "authority", "hosts": ["x.example", ""]\##(one.link) },
          "models": { "M": { "v": "string" } },
          "coordinators": {
            "a": { "screens": { "ok": {}, "bad": {}, "new": { "since": "2.0" } } },
            "n": { "screens": { "need": { "needs": ["M"] } } } },
          "routes": [ \##(one.routes) ]\##(one.members) }
        """##
    }

    @Test("No property is proved that a request breaks", arguments: cases)
    func breaks(_ one: Case) throws {
        let table = try RouteTable(json: Self.file(one).utf8)
        let decision = table.resolve(one.request, device: one.device)
        #expect(decision.stack.contains { ["bad", "need"].contains($0.screen) }, "\(decision)")
        switch try verdict(of: one.property, about: table) {
        case .proved: Issue.record("proved, but \(one.request) breaks it")
        case .unproved(let gap): #expect(!one.isFound, "\(gap)")
        case .refuted(let witness): #expect(table.resolve(witness.request, device: witness.device) == witness.decision)
        }
    }

    @Test("No property is proved that a link of the fixture breaks")
    func fixture() throws {
        let lines = try TableFiles.fixture("unsound-proofs.jsonl", of: "RouteAnalysisTests").split(
            separator: UInt8(ascii: "\n"))
        #expect(lines.count == 51)
        for line in lines {
            let one = try JSONValue.parse(Array(line))
            func text(_ name: String) throws -> String { try #require(one[name]?.string) }
            let (name, link) = (try text("name"), try text("link"))
            let table = try RouteTable(json: text("table").utf8)
            let device = DeviceFacts(
                app: one["app"]?.string, locale: one["locale"]?.string, region: one["region"]?.string,
                attributes: one["x"]?.string.map { text in ["x": text] })
            let decision = table.resolve(.link(link), device: device)
            let isBroken =
                one["outcome"].map { $0.string == decision.outcome.rawValue }
                ?? decision.stack.contains { ["bad", "b"].contains($0.screen) }
            #expect(isBroken, "\(name): \(decision)")
            switch try verdict(of: text("property"), about: table) {
            case .proved: Issue.record("\(name): proved, but \(link) breaks it")
            case .unproved(let gap): #expect(one["isFound"] == nil, "\(name): \(gap)")
            case .refuted: break
            }
        }
    }

    /// Properties of URLs that a link breaks.
    static let brokenURLs = [
        #""links": "/none/{x*}", "always": { "outcome": "external" }"#,
        #""links": "/none/{x*}", "never": { "outcome": "reject" }"#,
        #""links": "/new", "always": { "external": "https://a.example" }"#,
        #""links": "/new", "never": { "outcome": "none" }"#,
        #""links": "/web", "never": { "external": "https://a.example:443" }"#,
        #""links": "/web", "never": { "external": "a.example:443" }"#,
        #""links": "/as-it-is", "never": { "otherExternal": "https://a.example:443" }"#,
        #""links": "/as-it-is", "never": { "otherExternal": ["a.example:443", "a.example:8080"] }"#,
        #""links": "/as-it-is", "always": { "external": "a.example:443" }"#,
    ]

    @Test(
        "A URL with a segment `..` is never opened, and a default port is that of a URL without one",
        arguments: brokenURLs)
    func urls(property: String) throws {
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["https"], "host": "authority", "hosts": ["a.example"] },
              "coordinators": { "a": { "screens": { "new": { "since": "4" } } } },
              "routes": [
                { "id": "new", "match": "/new", "to": { "path": "/a/new" },
                  "unsupported": { "to": { "external": "https://a.example/old/.." } } },
                { "id": "web", "match": "/web", "to": { "external": "https://a.example/x" } },
                { "id": "as", "match": "/as-it-is", "exclude": { "outcome": "external" } } ],
              "externals": { "schemes": ["https"], "hosts": ["a.example"] },
              "fallback": [
                { "on": ["no_route"], "outcome": "external", "to": { "external": "https://a.example/." } },
                { "on": ["dot_segment"], "outcome": "none" }, { "outcome": "reject" } ] }
            """#
        let table = try RouteTable(json: file.utf8)
        guard case .refuted(let witness) = try verdict(of: property, about: table) else {
            Issue.record("expected that it is refuted")
            return
        }
        #expect(table.resolve(witness.request, device: witness.device) == witness.decision)
    }

    @Test("Redirects whose ends multiply leave a property unproved or prove it with few steps")
    func multiplyingRedirects() throws {
        let redirects = (0..<60).map { ("/s\($0)/{x}/{y}", "/{x}/{y}/{x}") }
        let one = Case(
            name: "", routes: Self.routes(redirects, bad: "/b/{x*}", ok: ["/c/{x*}"]), request: .link("t:///b"))
        let table = try RouteTable(json: Self.file(one).utf8)
        guard case .refuted = try verdict(of: one.property, about: table) else {
            Issue.record("expected that a link shows it")
            return
        }
        let other = #""requests": "link", "never": { "screens": "a.new" }"#
        if case .refuted(let witness) = try verdict(of: other, about: table) { Issue.record("\(witness)") }
        let changed = try RouteTable(json: Self.file(one).replacing("/c/{x*}", with: "/d/{x*}").utf8)
        #expect(!changed.difference(from: table).changes.isEmpty)
    }

    @Test("Variants of routes that are parents of each other leave a property unproved, not the search endless")
    func multiplyingParents() throws {
        let routes = ["r0", "r1", "r2"].enumerated().map { index, id in
            let parent = index < 2 ? #", "parents": "route:r\#(index + 1)""# : ""
            let variants = (0..<7).map { number in
                let claims = #""\#(id)-\#(2 * number)", "\#(id)-\#(2 * number + 1)""#
                return #"{ "when": { "claim": [\#(claims)] }, "to": { "path": "/a/ok"\#(parent) } }"#
            }
            let all = variants + [#"{ "to": { "path": "/a/ok"\#(parent) } }"#]
            return #"{ "id": "\#(id)", "match": "/\#(id)", "variants": [ \#(all.joined(separator: ", ")) ] }"#
        }
        let one = Case(name: "", routes: routes.joined(separator: ",\n"), request: .link("t:///r0"))
        let table = try RouteTable(json: Self.file(one).utf8)
        guard case .unproved(let gap) = try verdict(of: one.property, about: table) else {
            Issue.record("expected that it is unproved")
            return
        }
        #expect(gap.contains("too many kinds of devices"))
    }

    /// Patterns that a check once reported although links match them.
    static let patterns = [
        ["/file/sha256-{h:[a-f0-9]{64,64}}", "/file/{any}"],
        ["/" + String(repeating: "k", count: 75) + "{h:[a-z]{1,3}}", "/{any}"],
    ]

    @Test("Patterns of long segments are matched by links", arguments: patterns)
    func longSegments(_ patterns: [String]) throws {
        let routes = patterns.enumerated().map {
            #"{ "id": "r\#($0.offset)", "match": "\#($0.element)", \#(Self.ok) }"#
        }
        let one = Case(name: "", routes: routes.joined(separator: ",\n"), request: .link("t:///"))
        let problems = RouteTable.problems(in: Array(Self.file(one).utf8))
        #expect(problems.filter { $0.severity == .error }.map(\.code) == [])
    }

    @Test("Two patterns with long text around their captures overlap")
    func longOverlap() throws {
        let long = [String(repeating: "p", count: 40) + "{x:[a-z]{1,64}}", "{x}" + String(repeating: "s", count: 30)]
        let routes = long.enumerated().map { #"{ "id": "r\#($0.offset)", "match": "/\#($0.element)", \#(Self.ok) }"# }
        let one = Case(name: "", routes: routes.joined(separator: ",\n"), request: .link("t:///"))
        let problems = RouteTable.problems(in: Array(Self.file(one).utf8))
        #expect(problems.contains { $0.code == .overlap })
    }
}
