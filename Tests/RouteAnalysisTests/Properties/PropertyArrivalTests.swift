import LinkCoordinator
import RouteAnalysis
import TableSupport
import Testing

/// Ways to a route other than its own pattern.
///
/// Each link breaks its property, so a proof is false.
@Suite("Properties of routes that are reached in several ways")
struct PropertyArrivalTests {
    /// A table, the property, and a link that breaks it.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var routes: String
        var property: String
        var link: String
        var block = #""schemes": ["s"], "host": "authority", "hosts": [""]"#
        /// A Boolean value that indicates whether the search finds a link too.
        var isFound = true
        var testDescription: String { name }
    }

    private static let screen = #"{ "id": "x", "match": "/acc/{v}", "to": { "path": "/m/x" } }"#
    private static let number = #"""
        { "id": "n", "match": "/n/{n:int(1..9)}", "bind": { "N": { "n": "path.n" } },
          "to": { "path": "/m/number" } }
        """#
    private static let text =
        #"{ "id": "t", "match": "/t/{s}", "bind": { "S": { "s": "path.s" } }, "to": { "path": "/m/text" } }"#

    static let cases = [
        Case(
            name: "by id from a pattern with a wider capture",
            routes: number + #", { "id": "a", "match": "/a/{n}", "redirect": "n" }"#,
            property: #""links": "/a/{n}", "never": { "screens": "bad.value" }"#, link: "s:///a/foo"),
        Case(
            name: "by id from a pattern without the capture",
            routes: number + #", { "id": "b", "match": "/b", "redirect": "n" }"#,
            property: #""links": "/b", "never": { "screens": "bad.value" }"#, link: "s:///b"),
        Case(
            name: "by id from a pattern whose capture can be two periods",
            routes: ##"""
                { "id": "k", "match": "/k/{x}", "to": { "external": "https://h.example/{x}" } },
                { "id": "b", "match": "/b/x-{x}", "redirect": "k" }
                """##,
            property: #""links": "/b/{x}", "never": { "screens": "bad.dots" }"#, link: "s:///b/x-..", isFound: false),
        Case(
            name: "by id to a redirect from a pattern whose capture can be two periods",
            routes: screen + ##"""
                , { "id": "k", "match": "/k/{x}", "redirect": "/acc/{x}" },
                { "id": "b", "match": "/b/x-{x}", "redirect": "k" }
                """##,
            property: #""links": "/b/{x}", "never": { "screens": "bad.dots" }"#, link: "s:///b/x-..", isFound: false),
        Case(
            name: "a capture that is absent beside a period",
            routes: #"{ "id": "g", "match": "/g/{x?}", "to": { "external": "https://h.example/{x}." } }"#,
            property: #""links": "/g/{x?}", "never": { "screens": "bad.dots" }"#, link: "s:///g"),
        Case(
            name: "a capture that is absent beside an encoded period",
            routes: #"{ "id": "g", "match": "/g/{x?}", "to": { "external": "https://h.example/{x}%2e" } }"#,
            property: #""links": "/g/{x?}", "never": { "screens": "bad.dots" }"#, link: "s:///g"),
        Case(
            name: "a text of a template that a second redirect captures",
            routes: screen + ##"""
                , { "id": "a", "match": "/a", "redirect": "/b/acc" },
                { "id": "b", "match": "/b/{z}", "redirect": "/{z}/1" },
                { "id": "one", "match": "/1", "to": { "root": true } }
                """##,
            property: #""links": "/a", "never": { "screens": "m.x" }"#, link: "s:///a"),
        Case(
            name: "a tail after a text of a template that a second redirect captures",
            routes: screen + ##"""
                , { "id": "a", "match": "/a/{t+}", "redirect": "/b/acc/{t}" },
                { "id": "b", "match": "/b/{r+}", "redirect": "/{r}" },
                { "id": "root", "match": "/", "to": { "root": true } }
                """##,
            property: #""links": "/a/{t+}", "never": { "screens": "m.x" }"#, link: "s:///a/q"),
        Case(
            name: "two captures in one segment that a second redirect captures",
            routes: screen + ##"""
                , { "id": "a", "match": "/a/{x}/{y}", "redirect": "/b/{x}{y}" },
                { "id": "b", "match": "/b/{z}", "redirect": "/{z}/1" }
                """##,
            property: #""links": "/a/{x}/{y}", "never": { "screens": "m.x" }"#, link: "s:///a/ac/c", isFound: false),
        Case(
            name: "a text that a redirect writes twice",
            routes: text + #", { "id": "a", "match": "/a/{s}", "redirect": "/t/{s}{s}" }"#,
            property: #""links": "/a/{s}", "never": { "screens": "bad.value" }"#,
            link: "s:///a/" + String(repeating: "f", count: 5000), isFound: false),
        Case(
            name: "a text whose normal form is longer",
            routes: text, property: #""links": "/t/{s}", "never": { "screens": "bad.value" }"#,
            link: "s:///t/" + String(repeating: "\u{1D160}", count: 1900), isFound: false),
        Case(
            name: "a host that is a segment of the path",
            routes: #"{ "id": "out", "match": "/{a}/out", "exclude": { "outcome": "external" } }"#,
            property: #""never": { "external": "h.example" }"#, link: "s://h.example/out",
            block: #""schemes": ["s"], "host": "segment""#, isFound: false),
    ]

    @Test("No property is proved that a link breaks", arguments: cases)
    func ways(_ one: Case) throws {
        let file = ##"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" }, "link": { \##(one.block) },
              "models": { "N": { "n": "int(1..9)" }, "S": { "s": "string(1..)" } },
              "coordinators": {
                "m": { "screens": { "x": {}, "number": { "needs": ["N"] }, "text": { "needs": ["S"] } } },
                "bad": { "screens": { "value": {}, "dots": {} } } },
              "externals": { "hosts": ["*"], "schemes": ["https", "s"] },
              "routes": [ \##(one.routes) ],
              "fallback": [
                { "on": ["param_invalid", "param_missing"], "outcome": "navigate", "to": { "path": "/bad/value" } },
                { "on": ["dot_segment"], "outcome": "navigate", "to": { "path": "/bad/dots" } },
                { "outcome": "none" } ] }
            """##
        let table = try RouteTable(json: file.utf8)
        switch try verdict(of: one.property, about: table) {
        case .proved: Issue.record("proved, but \(one.link.prefix(40)) breaks it")
        case .unproved(let gap): #expect(!one.isFound, "\(gap)")
        case .refuted(let witness): #expect(table.resolve(witness.request, device: witness.device) == witness.decision)
        }
        let decision = table.resolve(.link(one.link), device: DeviceFacts())
        let isExternal = one.property.contains("external")
        #expect(isExternal ? decision.url == one.link : decision.stack.contains { one.property.contains($0.screen) })
    }
}
