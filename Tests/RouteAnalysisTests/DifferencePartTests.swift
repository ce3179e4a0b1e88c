import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

/// Two tables that differ in a single part.
struct TablePair: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The text that replaces `PLACE` in the old and in the new table.
    var old: String
    var new: String
    /// The members of the file, with `PLACE` for the text that differs.
    var file: String
    /// A text that the request of the difference must contain.
    var shows = ""

    static func link(_ name: String, _ old: String, _ new: String, shows: String = "") -> TablePair {
        TablePair(
            testDescription: name, old: old, new: new,
            file: #"""
                "link": { "schemes": ["s"], "host": "authority", "hosts": ["a.example", ""], PLACE },
                "models": { "M": { "n": "int(1..9)?", "q": "string?" } },
                "coordinators": { "main": { "screens": { "item": { "needs": ["M"] } } } },
                "routes": [
                  { "id": "item", "match": "/item/{id}", "to": { "path": "/main/item" },
                    "bind": { "M": { "n": "query.n", "q": "rewrite.loc" } } },
                  { "id": "home", "match": "/", "to": { "root": true } } ]
                """#, shows: shows)
    }

    static func route(_ name: String, _ old: String, _ new: String, shows: String = "") -> TablePair {
        TablePair(
            testDescription: name, old: old, new: new,
            file: #"""
                "link": { "schemes": ["s"], "host": "segment",
                          "payload": { "link": ["/l", "/aps/l"], "route": "/r", "params": "/p" } },
                "models": { "Shop": { "id": "int(1..99)" }, "Item": { "n": "int(1..9)?", "t": "string(1..5)?" } },
                "capabilities": { "cap": { "minApp": "2.0" } },
                "guards": { "in": { "claim": "session", "else": { "to": { "root": true } } } },
                "coordinators": {
                  "shop": { "initial": "list", "screens": { "list": {}, "top": { "needs": ["Shop"] } } },
                  "things": { "screens": { "item": { "needs": ["Item"] }, "card": { "present": ["sheet"] } } } },
                "externals": { "hosts": ["e.example"] },
                "routes": [ PLACE,
                  { "id": "leaf", "match": "/leaf/{id:int}", "to": { "path": "/things/item", "parents": "route:above" },
                    "bind": { "Item": { "n": "query.n" } } } ]
                """#, shows: shows)
    }

    private static func above(_ bind: String) -> String {
        #"{ "id": "above", "to": { "path": "/shop/top" }, "bind": { "Shop": { "id": "\#(bind)" } } }"#
    }

    private static func aboveConstant(_ number: Int) -> String {
        #"""
        { "id": "above", "to": { "path": "/shop/top" }, "bind": { "Shop": { "id": { "const": \#(number) } } } }
        """#
    }

    private static let plainAbove = above("path.id") + ", "

    private static func item(_ members: String, _ pattern: String = "/x/{a}/{b}") -> String {
        plainAbove + #"{ "id": "x", "match": "\#(pattern)", \#(members) }"#
    }

    private static func bound(_ source: String) -> String {
        item(#""to": { "path": "/things/item" }, "bind": { "Item": { "t": "\#(source)" } }"#)
    }

    private static func constant(_ text: String) -> String {
        item(#""to": { "path": "/things/item" }, "bind": { "Item": { "t": { "const": "\#(text)" } } }"#)
    }

    private static func redirect(_ last: String) -> String {
        plainAbove + #"""
            { "id": "from", "match": "/from/{a}", "redirect": "/to/v-{a}" },
            { "id": "word", "match": "/to/v-new", "to": { "root": true } },
            { "id": "any", "match": "/to/{x}", "to": { "path": "/things/card" } },
            """# + last
    }

    private static func variants(_ second: String, _ to: String = #""path": "/things/card""#) -> String {
        item(
            #"""
            "variants": [
              { "when": { "query": { "mode": "a" } }, "to": { "root": true } },
              { "when": { \#(second) }, "to": { \#(to) } },
              { "to": { "path": "/things/item" } } ],
            "bind": { "Item": { "n": "query.n" } }
            """#)
    }

    /// Tables with different dialects of the query that the condition of a variant reads.
    private static func condition(
        _ name: String, _ dialect: String, _ test: String = #""1""#, shows: String
    ) -> TablePair {
        TablePair(
            testDescription: "\(name) in a condition", old: "", new: dialect,
            file: #"""
                "link": { "schemes": ["s"], "host": "segment", "query": { PLACE } },
                "coordinators": { "main": { "screens": { "x": {}, "y": {} } } },
                "routes": [
                  { "id": "r", "match": "/r",
                    "variants": [
                      { "when": { "claim": "c", "query": { "q": \#(test) } }, "to": { "path": "/main/x" } },
                      { "to": { "path": "/main/y" } } ] } ]
                """#, shows: shows)
    }

    /// Tables with a route whose optional field has any text, so that only a text that cannot be decoded is invalid.
    private static func text(_ name: String, _ old: String, _ new: String, shows: String) -> TablePair {
        TablePair(
            testDescription: name, old: old, new: new,
            file: #"""
                "link": { "schemes": ["s"], "host": "segment" }, "models": { "M": { "t": "string?" } },
                "coordinators": { "main": { "screens": { "x": { "needs": ["M"] } } } }, PLACE
                """#, shows: shows)
    }

    private static func textRoute(_ source: String, _ members: String = "", _ rest: String = "") -> String {
        #"""
        "routes": [ { "id": "r", "match": "/r", "to": { "path": "/main/x" },
                      "bind": { "M": { "t": "\#(source)" } }\#(members) } ]\#(rest)
        """#
    }

    /// Tables with different fallbacks for one reason.
    private static func fallback(_ reason: String, _ route: String, shows: String) -> TablePair {
        TablePair(
            testDescription: "the fallback for \(reason) with \(route)", old: "none", new: "reject",
            file: #"""
                "link": { "schemes": ["s"], "host": "segment" },
                "coordinators": { "main": { "screens": { "x": {}, "up": { "present": ["sheet"] } } } },
                "routes": [ { "id": "r", "match": \#(route) } ],
                "fallback": [ { "on": ["\#(reason)"], "outcome": "PLACE" } ]
                """#, shows: shows)
    }

    /// Tables with a route whose links have no `q`, although its requests by id can.
    private static func requested(_ bind: String) -> String {
        #"""
        "routes": [
          { "id": "r", "match": "/r", "query": { "q": null }, "bind": { \#(bind) },
            "variants": [ { "when": { "query": { "p": null } }, "to": { "root": true } },
                          { "to": { "path": "/main/x" } } ] } ]
        """#
    }

    static let all: [TablePair] = [
        // Spellings of the query.
        condition("names regardless of case", #""names": "insensitive""#, shows: "Q=1"),
        condition("the duplicate that is used", #""duplicates": "last""#, shows: "q=1&q=zz"),
        condition("duplicates that are rejected", #""duplicates": "reject""#, shows: "q=1&q=zz"),
        condition("a plus for a space", #""plus": "space""#, #""a b""#, shows: "q=a+b"),
        condition("values without decoding", #""decode": "none""#, shows: "q=%31"),
        condition("names without decoding", #""decode": "none""#, #""*""#, shows: "%71="),
        condition("values decoded twice", #""decode": "before""#, shows: "q=%2531"),
        condition("names decoded twice", #""decode": "before""#, #""*""#, shows: "%2571="),
        condition("names without a value", #""nulls": "erase""#, shows: "q&q=1"),
        condition("flat queries", #""flatten": true"#, shows: "zz=q&1"),
        condition("an absent name after a separator", #""pairSeparators": "&;""#, "null", shows: ";q="),
        TablePair(
            testDescription: "texts decoded twice", old: "", new: #""decode": "before""#,
            file: #"""
                "link": { "schemes": ["s"], "host": "segment", "query": { PLACE } },
                "models": { "M": { "t": "string?" } },
                "coordinators": { "main": { "screens": { "x": { "needs": ["M"] } } } },
                """# + textRoute("query.q"), shows: "%25"),
        // Values that cannot be decoded.
        text("invalid texts", textRoute("query.q"), textRoute("query.q", #", "onInvalid": "drop""#), shows: "q=%zz"),
        text("a text from the fragment", textRoute("query.q"), textRoute("fragment"), shows: "#%zz"),
        text(
            "the fallback for an invalid text",
            textRoute("query.q", "", #", "fallback": [{ "on": ["param_invalid"], "outcome": "none" }]"#),
            textRoute("query.q", "", #", "fallback": [{ "on": ["param_invalid"], "outcome": "reject" }]"#),
            shows: "q=%zz"),
        // Paths, and requests of routes by id.
        fallback(
            "presentation", #""/go/{p:coordinatorPath}", "to": { "path": "{p}" }"#, shows: "go/main/up/x"),
        fallback("presentation", #""/r", "to": { "root": true }"#, shows: "path /main/up/x"),
        fallback("param_missing", #""/r/{c:int}", "to": { "root": true }"#, shows: "route r with {}"),
        fallback("param_invalid", #""/r/{c:enum(a|b)}", "to": { "root": true }"#, shows: #"route r with {"c":""}"#),
        text(
            "a field that only requests by id have", requested(#""M": { "t": "query.q" }"#), requested(""),
            shows: #"route r with {"q":"","p":"1"}"#),
        // Reading of links.
        link("an added rewrite", #""rewrites": []"#, #""rewrites": [{ "stripPrefix": "/v1" }]"#, shows: "/v1"),
        link(
            "a rewrite's values", #""rewrites": [{ "stripPrefix": "/{loc:enum(en|ru)}" }]"#,
            #""rewrites": [{ "stripPrefix": "/{loc:enum(en|ru|de)}" }]"#, shows: "/de"),
        link(
            "the order of rewrites", #""rewrites": [{ "stripPrefix": "/v1" }, { "stripPrefix": "/{loc:enum(en)}" }]"#,
            #""rewrites": [{ "stripPrefix": "/{loc:enum(en)}" }, { "stripPrefix": "/v1" }]"#),
        link(
            "the name of a rewrite's capture", #""rewrites": [{ "stripPrefix": "/{loc:enum(en)}" }]"#,
            #""rewrites": [{ "stripPrefix": "/{loc:enum(en)}", "as": "lang" }]"#, shows: "/en"),
        link("case of paths", #""path": {}"#, #""path": { "case": "insensitive" }"#),
        link("case of schemes", #""schemeCase": "lower""#, #""schemeCase": "exact""#, shows: "S:"),
        link("empty segments", #""path": {}"#, #""path": { "emptySegments": "reject" }"#, shows: "//"),
        link("a pair separator", #""query": {}"#, #""query": { "pairSeparators": "&;" }"#),
        link("names regardless of case", #""query": {}"#, #""query": { "names": "insensitive" }"#, shows: "N="),
        link("the duplicate that is used", #""query": {}"#, #""query": { "duplicates": "last" }"#, shows: "&n="),
        link(
            "names without a value that remove earlier values", #""query": { "duplicates": "last" }"#,
            #""query": { "duplicates": "last", "nulls": "erase" }"#),
        link("decoding", #""query": {}"#, #""query": { "decode": "none" }"#, shows: "%"),
        link("flat queries", #""query": {}"#, #""query": { "flatten": true }"#),
        link("repairs", #""repair": false"#, #""repair": true"#, shows: "%20"),
        link("the maximum number of segments", #""limits": {}"#, #""limits": { "maxSegments": 63 }"#),
        link("the maximum length of a link", #""limits": {}"#, #""limits": { "maxBytes": 8000 }"#),
        // Payloads and fragments.
        TablePair(
            testDescription: "the order of link pointers", old: #"["/a", "/b"]"#, new: #"["/b", "/a"]"#,
            file: #"""
                "link": { "schemes": ["s"], "host": "segment", "payload": { "link": PLACE } },
                "routes": [ { "id": "home", "match": "/", "to": { "root": true } } ]
                """#, shows: "payload"),
        TablePair(
            testDescription: "a pointer for routes", old: "/r", new: "/x/r",
            file: #"""
                "link": { "schemes": ["s"], "host": "segment", "payload": { "route": "PLACE" } },
                "routes": [ { "id": "home", "match": "/", "to": { "root": true } } ]
                """#, shows: "payload"),
        TablePair(
            testDescription: "a pointer for parameters", old: "/p", new: "/q",
            file: #"""
                "link": { "schemes": ["s"], "host": "segment", "payload": { "route": "/r", "params": "PLACE" } },
                "models": { "M": { "n": "int" } },
                "coordinators": { "main": { "screens": { "item": { "needs": ["M"] } } } },
                "routes": [ { "id": "x", "match": "/x", "to": { "path": "/main/item" },
                              "bind": { "M": { "n": "query.n" } } } ]
                """#, shows: "payload"),
        route("a field from a pointer", bound("payload./x/a"), bound("payload./x/b"), shows: "payload"),
        route("a field from the fragment", bound("fragment"), bound("query.t"), shows: "#"),
        route("a field from a different name", bound("query.t"), bound("query.u")),
        route("a different constant", constant("a"), constant("b")),
        route("a constant instead of a name", bound("query.t"), constant("a")),
        route("a field from a different capture", bound("path.a"), bound("path.b")),
        // Parents.
        route("the source of a parent's field", above("query.id"), above("path.id")),
        route("a constant of a parent", above("path.id"), aboveConstant(7)),
        route("a different constant of a parent", aboveConstant(7), aboveConstant(8)),
        TablePair(
            testDescription: "the bounds of a parent's field", old: "int(1..99)", new: "int(1..98)",
            file: #"""
                "link": { "schemes": ["s"], "host": "segment" },
                "models": { "Shop": { "id": "PLACE" } },
                "coordinators": { "shop": { "screens": { "top": { "needs": ["Shop"] }, "leaf": {} } } },
                "routes": [
                  { "id": "above", "to": { "path": "/shop/top" }, "bind": { "Shop": { "id": "query.id" } } },
                  { "id": "leaf", "match": "/leaf", "to": { "path": "/shop/leaf", "parents": "route:above" } } ]
                """#, shows: "id=99"),
        // Redirects.
        route(
            "a path that only one redirect leads to",
            redirect(#"{ "id": "w", "match": "/w", "to": { "root": true } }"#),
            redirect(#"{ "id": "w", "match": "/to/v-old", "to": { "root": true } }"#), shows: "/from/old"),
        route(
            "a field of a route behind a redirect",
            plainAbove + #"""
                { "id": "from", "match": "/from/{a}", "redirect": "/to/{a}" },
                { "id": "to", "match": "/to/{n:int}", "to": { "path": "/things/item" },
                  "bind": { "Item": { "n": "path.n" } } },
                { "id": "other", "match": "/to/{t}", "to": { "root": true } }
                """#,
            plainAbove + #"""
                { "id": "from", "match": "/from/{a}", "redirect": "/to/{a}" },
                { "id": "to", "match": "/to/{n:int(1..8)}", "to": { "path": "/things/item" },
                  "bind": { "Item": { "n": "path.n" } } },
                { "id": "other", "match": "/to/{t}", "to": { "root": true } }
                """#, shows: "/from/"),
        route(
            "a changed template", item(#""redirect": "/leaf/{a}""#, "/x/{a:int}/{b:int}"),
            item(#""redirect": "/leaf/{b}""#, "/x/{a:int}/{b:int}")),
        route(
            "an external URL", item(#""to": { "external": "https://e.example/{a}" }"#),
            item(#""to": { "external": "https://e.example/{b}" }"#)),
        route(
            "a query name of an external URL", item(#""to": { "external": "https://e.example/?q={query.a}" }"#),
            item(#""to": { "external": "https://e.example/?q={query.b}" }"#)),
        // Conditions.
        route("a condition of a later variant", variants(#""app": ">=2""#), variants(#""app": ">=3""#), shows: ""),
        route(
            "a value of the query with a device", variants(#""app": ">=2", "query": { "mode": "b" }"#),
            variants(#""app": ">=2", "query": { "mode": "c" }"#), shows: "mode="),
        route(
            "a target for devices with many facts",
            variants(#""app": ">=2", "os": ">=3", "platform": "ios", "region": "GB", "locale": "en", "claim": "vip""#),
            variants(
                #""app": ">=2", "os": ">=3", "platform": "ios", "region": "GB", "locale": "en", "claim": "vip""#,
                #""root": true, "dismissModals": true"#)),
    ]

    func table(_ text: String) throws -> RouteTable {
        let file = #"{ "schemaVersion": 1, "table": { "id": "t", "version": "1" }, \#(self.file) }"#
        return try #require(RouteTable.unchecked(Array(file.replacing("PLACE", with: text).utf8)), "\(testDescription)")
    }
}

@Suite("Tables that differ in one part")
struct DifferencePartTests {
    @Test("The difference is found, with a request for which the decisions differ", arguments: TablePair.all)
    func found(pair: TablePair) throws {
        for (old, new) in [(pair.old, pair.new), (pair.new, pair.old)] {
            let (a, b) = (try pair.table(old), try pair.table(new))
            let difference = b.difference(from: a)
            #expect(!difference.changes.isEmpty, "\(pair)")
            #expect(
                difference.incompletelyComparedSets.isEmpty && difference.sampledSets.isEmpty,
                "\(difference.incompletelyComparedSets)")
            for change in difference.changes {
                let (x, y) = (
                    a.resolve(change.request, device: change.device), b.resolve(change.request, device: change.device)
                )
                #expect(x.comparable != y.comparable, "\(change.request.text)")
            }
            // One edit is one cause, reported once.
            #expect(difference.groups.count == 1, "\(difference.groups.map(\.causes))")
            #expect(difference.groups.flatMap(\.changes).count == difference.changes.count)
            let requests = difference.changes.map(\.request.text)
            #expect(requests.contains { $0.contains(pair.shows) }, "\(pair) \(requests)")
        }
    }

    /// A dialect with the test of a route's own query, and a query for which the dialect decides.
    private static let ownQueries = [
        (#""names": "insensitive""#, #""*""#, "Q="), (#""plus": "space""#, #""a b""#, "q=a+b"),
        (#""decode": "before""#, #""*""#, "%2571="), (#""flatten": true"#, #""*""#, "zz=q"),
        (#""names": "insensitive""#, "null", "Q="),
    ]

    @Test("A dialect that selects another route is a difference, but such links are not proved", arguments: ownQueries)
    func ownQuery(dialect: String, test: String, shows: String) throws {
        func table(_ dialect: String) throws -> RouteTable {
            let file = #"""
                { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
                  "link": { "schemes": ["s"], "host": "segment", "query": { \#(dialect) } },
                  "routes": [ { "id": "r", "match": "/r", "query": { "q": \#(test) }, "to": { "root": true } } ] }
                """#
            return try #require(RouteTable.unchecked(Array(file.utf8)))
        }
        let difference = try table(dialect).difference(from: table(""))
        #expect(difference.changes.contains { $0.request.text.contains(shows) }, "\(difference.changes)")
        #expect(!difference.incompletelyComparedSets.isEmpty)
    }

    @Test("A table does not differ from itself", arguments: TablePair.all)
    func same(pair: TablePair) throws {
        let difference = try pair.table(pair.old).difference(from: pair.table(pair.old))
        #expect(difference.changes.isEmpty && difference.comparedSetCount > 0)
    }
}
