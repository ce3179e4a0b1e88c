import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TableSupport
import Testing

/// A failing link with the expected explanation.
struct FailingLink: Sendable, CustomTestStringConvertible {
    var link: String
    /// The route of the nearest pattern, and the only reason why it does not match, or nil if no pattern is near.
    var route: String?
    var mismatch: String?
    /// The first suggestion.
    var meant: String?
    /// The marked text of the link and its fault, with `""` for the position of a missing part.
    var marked: String
    var fault: String

    var testDescription: String { link }

    init(
        _ link: String, _ route: String?, _ mismatch: String?, meant: String? = nil, marked: String, _ fault: String
    ) {
        self.link = link
        self.route = route
        self.mismatch = mismatch
        self.meant = meant
        self.marked = marked
        self.fault = fault
    }
}

@Suite("Nearest patterns of failing links") struct NearestPatternTests {
    static let new = "https://shop.example/p/new"

    static let links = [
        // Scheme and host.
        FailingLink(
            "http://shop.example/p/new", "new-items", "the scheme `http` is not listed", meant: new, marked: "http",
            "not listed"),
        FailingLink(
            "shopp:///p/new", "new-items", "the scheme `shopp` is not listed", meant: "shop:///p/new", marked: "shopp",
            "not listed"),
        FailingLink(
            "shop.example/p/new", "new-items", "the link has no scheme", meant: new, marked: "", "no scheme"),
        FailingLink(
            " https://shop.example/p/new", "new-items", "the link has no scheme", meant: new, marked: "", "no scheme"),
        FailingLink(
            "https://shop.exmaple/p/new", "new-items", "the host `shop.exmaple` is not listed", meant: new,
            marked: "shop.exmaple", "not listed"),
        FailingLink(
            "https://m.shop.exmaple/ru/p/new", "new-items", "the host `m.shop.exmaple` is not listed",
            meant: "https://m.shop.example/ru/p/new", marked: "m.shop.exmaple", "not listed"),
        FailingLink(
            "https://shop.example.com/p/new", "new-items", "the host `shop.example.com` is not listed", meant: new,
            marked: "shop.example.com", "not listed"),
        FailingLink(
            "https://other.test/p/new", "new-items", "the host `other.test` is not listed", marked: "other.test",
            "not listed"),
        FailingLink(
            "shop://p/new", "new-items", "the host `p` is not listed", meant: "shop:///p/new", marked: "p",
            "not listed"),
        FailingLink(
            "https://user@shop.example/p/new", "new-items", "an http or https link must not contain a user name",
            meant: new,
            marked: "user", "not allowed here"),
        FailingLink(
            "https://shop.example:99999/p/new", "new-items", "the port is not a number from 0 to 65535", meant: new,
            marked: "99999", "not a port number"),
        FailingLink(
            "https://shop.exmaple/p/nwe", "new-items", nil, meant: new, marked: "shop.exmaple", "not listed"),
        // Path.
        FailingLink(
            "https://shop.example/p/nwe", "new-items", "segment 1 is not `new`", meant: new, marked: "nwe",
            "not `new`"),
        FailingLink(
            "https://shop.example/p/New", "new-items", "segment 1 is not `new` (the case differs)", meant: new,
            marked: "New", "not `new` (the case differs)"),
        FailingLink(
            "https://shop.example/ru/p/nwe", "new-items", "segment 1 is not `new`",
            meant: "https://shop.example/ru/p/new", marked: "nwe", "not `new`"),
        FailingLink(
            "https://shop.example/fr/p/new", "new-items",
            "segment 0 is unexpected; the path can begin with the prefix `/{locale:enum(en|ru|de)}`", meant: new,
            marked: "fr",
            "unexpected"),
        FailingLink(
            "https://shop.example/p/new/x", "new-items", "segment 2 is unexpected", meant: new, marked: "x",
            "unexpected"),
        FailingLink(
            "https://shop.example/orders/x", "order", "segment 1 is not `int(1..)`", marked: "x", "not `int(1..)`"),
        FailingLink(
            "https://shop.example/orders/012?a=b", "order",
            "segment 1 is not `int(1..)` (remove the leading zeros)",
            meant: "https://shop.example/orders/12?a=b", marked: "012",
            "not `int(1..)` (remove the leading zeros)"),
        FailingLink(
            "https://shop.example/orders", "order", "segment 1 is missing: `{order:int(1..)}`", marked: "",
            "`{order:int(1..)}` is missing"),
        FailingLink(
            "https://shop.example/legal", "legal", "segment 1 is missing: `{rest+}`", marked: "",
            "`{rest+}` is missing"),
        FailingLink(
            "https://shop.example/zzzz", nil, nil, marked: "zzzz", "no route matches this path"),
        // Other phases.
        FailingLink(
            "https://shop.example/p/%zz", nil, nil, marked: "%zz",
            "`%` is not followed by two hexadecimal digits; write `%25`"),
        FailingLink("https://shop.example/p\\new", "new-items", nil, meant: new, marked: "\\", "a backslash"),
        FailingLink("https://shop.example/p/../new", nil, nil, marked: "..", "only dots"),
        FailingLink("https://shop.example/search", nil, nil, marked: "", "`q` is missing"),
        FailingLink(
            "https://shop.example/search?qq=a", nil, nil, meant: "https://shop.example/search?q=a", marked: "qq=a",
            "did you mean `q`?"),
        FailingLink("https://shop.example/search?q=", nil, nil, marked: "q=", "not `string(1..80)`"),
        FailingLink("https://shop.example/search?q", nil, nil, marked: "q", "no value"),
    ]

    private static func shop() throws -> RouteTable { try RouteTable(json: TableFiles.shipped("shop")) }

    @Test("The nearest pattern has the only mismatch, a suggested link, and the marked part", arguments: links)
    func nearestPattern(one: FailingLink) throws {
        let table = try Self.shop()
        let trace = table.explain(.link(one.link), device: DeviceFacts(app: "6.0"))
        #expect(trace.failure != nil)
        if let route = one.route {
            let nearest = try #require(trace.rejected.first)
            #expect(nearest.route == route && nearest.isNear, "\(trace.text)")
            if let mismatch = one.mismatch { #expect(nearest.mismatches.map(\.text) == [mismatch], "\(trace.text)") }
            let line = try #require(trace.text.split(separator: "\n").first { $0.hasPrefix("nearest") })
            #expect(line.contains(route) && line.contains(one.mismatch ?? ""))
        } else {
            #expect(!trace.text.contains("\nnearest"), "\(trace.text)")
        }
        #expect(trace.suggestions.first?.text == one.meant, "\(trace.text)")
        if let meant = one.meant {
            #expect(trace.text.contains("did you mean \(meant) ("), "\(trace.text)")
            #expect(table.resolve(meant, device: DeviceFacts(app: "6.0")).reason == nil)
        }
        let bytes = Array(one.link.utf8)
        let faults = trace.parts.filter { $0.fault != nil && $0.fault != "" }
        #expect(faults.map(\.fault) == [one.fault], "\(trace.text)")
        let texts = faults.map { String(decoding: bytes[$0.offset..<($0.offset + $0.count)], as: UTF8.self) }
        #expect(texts == [one.marked])
        let drawing = try #require(trace.text.split(separator: "\n").first { $0.contains("^") || $0.contains("!") })
        #expect(drawing.contains("!"), "\(trace.text)")
        #expect(trace.text.contains(one.fault))
    }

    @Test("An unlisted host or scheme is reported with the listed ones")
    func listed() throws {
        let table = try Self.shop()
        let host = table.explain(.link("https://shop.exmaple/x"))
        #expect(host.listed == ["shop.example", "*.shop.example", ""])
        #expect(host.text.contains("\nlisted     shop.example, *.shop.example, (no host)"), "\(host.text)")
        #expect(table.explain(.link("ftp://shop.example/")).listed == ["shop", "https"])
        let json = try JSONValue.parse(host.json)
        #expect(json["listed"]?.array?.count == 3)
        #expect(json["link"]?["parts"]?.array?.contains { $0["fault"]?.string == "not listed" } == true)
    }

    @Test("A web link without a host is reported as needing one, regardless of the list", arguments: ["http", "https"])
    func missingHost(scheme: String) throws {
        let file = """
            {"schemaVersion": 1, "table": {"id": "t", "version": "1"},
             "link": {"schemes": ["app", "http", "https"], "host": "authority", "hosts": ["", "a.example", "*"]},
             "routes": [{"id": "a", "match": "/p/new", "to": {"root": true}}]}
            """
        let trace = try RouteTable(json: Array(file.utf8)).explain(.link("\(scheme):///p/new"))
        #expect(trace.decision.reason == "host")
        #expect(
            trace.text.contains(
                "because    http and https links must have a host, even if the table lists links without one"),
            "\(trace.text)")
        #expect(trace.listed == ["a.example", "*"])
        #expect(!trace.text.contains("(no host)"), "\(trace.text)")
    }

    @Test("The text of a request begins no line of an explanation")
    func lines() throws {
        let text = try Self.shop().explain(.route("x\r\nstack      /forged\n\u{61C}url")).text
        #expect(text.contains(#"there is no route `x\r\nstack      /forged\n\u{61c}url`"#), "\(text)")
        #expect(!text.contains("\nstack") && !text.contains("\u{61C}"), "\(text)")
    }

    @Test("The segments that a rewrite removes are its prefix, regardless of the rest")
    func prefixes() throws {
        let trace = try Self.shop().explain(.link("https://shop.example/ru/zzzz"))
        #expect(trace.parts.filter { $0.kind == .segment }.map(\.use) == ["rewrite", nil])
    }

    @Test("Only the result of a fallback rule is called a fallback")
    func fallbacks() throws {
        let anchor = try TableFiles.anchor()
        let failed = anchor.explain(.link("shop:///zzzz"))
        #expect(failed.decision.isFallback && failed.text.hasPrefix("decision   navigate by fallback  no_route\n"))
        let matched = anchor.explain(.link("shop:///p/new"))
        #expect(!matched.decision.isFallback && matched.text.hasPrefix("decision   navigate  by new-items\n"))
        let excluded = anchor.explain(.link("https://shop.example/legal/a"))
        #expect(!excluded.decision.isFallback && excluded.text.hasPrefix("decision   external  by legal\n"))
        let shop = try Self.shop()
        #expect(!shop.resolve("shop:///zzzz").isFallback)
        #expect(!shop.explain(.payload(.json("{}"))).decision.isFallback)
    }

    @Test("Classes are written as in the table, with order, bounds, and spelling")
    func classes() throws {
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "authority", "hosts": [""], "path": { "case": "insensitive" } },
              "routes": [
                { "id": "e", "match": "/kind/{k:enum(New|Best|Old)}", "to": { "root": true } },
                { "id": "c", "match": "/code/{c:[z-za-fA-C]{2,4}}", "to": { "root": true } },
                { "id": "a", "match": "/file/v{n:int(1..9)}.PDF", "to": { "root": true } } ] }
            """#
        let table = try #require(RouteTable.unchecked(Array(file.utf8)))
        for (link, expected) in [
            ("t:///kind/x", "enum(New|Best|Old)"), ("t:///code/0", "[z-za-fA-C]{2,4}"),
            ("t:///file/v10.pdf", "v{n:int(1..9)}.PDF"),
        ] {
            let nearest = try #require(table.explain(.link(link)).rejected.first)
            #expect(nearest.expected == expected && nearest.mismatches.map(\.expected) == [expected], "\(nearest)")
        }
    }

    @Test("Requests other than links have suggestions too")
    func others() throws {
        let table = try Self.shop()
        #expect(table.explain(.route("ordr")).suggestions.map(\.text) == ["order"])
        #expect(table.explain(.path("/home/fed")).suggestions.map(\.text) == ["feed"])
        let params = table.explain(.route("order", params: .json(#"{"ordr":1}"#)))
        #expect(params.suggestions.map(\.text) == ["order"] && params.text.contains("given: `ordr`"))
        let payload = table.explain(.payload(.json(#"{"aps":{}}"#)))
        #expect(payload.listed == ["/aps/link", "/data/deep_link", "/data/route"])
        #expect(payload.text.contains("neither a link nor a route at the table's pointers"))
    }

    @Test(
        "The marked segment is the one that is not a screen, even if another one has the same text",
        arguments: [("t://go/a/x/b/x", 9), ("t://go/b/x/a/x", 13), ("t://x/a/x/b/x", 8)])
    func repeatedScreen(link: String, offset: Int) throws {
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "a": { "screens": { "y": {} } }, "b": { "screens": { "x": {} } } },
              "routes": [ { "id": "go", "match": "/go/{p:coordinatorPath}", "alias": ["/x/{p:coordinatorPath}"],
                            "to": { "path": "{p}" } } ] }
            """#
        let table = try #require(RouteTable.unchecked(Array(file.utf8)))
        let trace = table.explain(.link(link))
        #expect(trace.decision.reason == "unknown_screen", "\(trace.text)")
        #expect(trace.parts.filter { $0.fault != nil }.map(\.offset) == [offset], "\(trace.text)")
    }

    @Test(
        "The nearest pattern of a segment with one character too many or too few is that of the segment",
        arguments: [
            ("cx/AUTUMN", "/c/{code}", "c/AUTUMN"), ("xc/AUTUMN", "/c/{code}", "c/AUTUMN"),
            ("order/7", "/orders/{id:int}", "orders/7"), ("q/7", "/qa/{id:int}", "qa/7"),
        ])
    func shortSegments(path: String, pattern: String, meant: String) throws {
        let matches = ["/p/new", "/a/{x}", "/c/{code}", "/d/{x}", "/orders/{id:int}", "/qa/{id:int}", "/{x}/about"]
        let routes = matches.enumerated().map {
            #"{ "id": "r\#($0.offset)", "match": "\#($0.element)", "to": { "root": true } }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["https"], "host": "authority", "hosts": ["shop.example"] },
              "routes": [ \#(routes.joined(separator: ", ")) ] }
            """#
        let trace = try RouteTable(json: Array(file.utf8)).explain(.link("https://shop.example/" + path))
        #expect(trace.rejected.first?.pattern == pattern && trace.rejected.first?.isNear == true, "\(trace.text)")
        #expect(trace.suggestions.map(\.text) == ["https://shop.example/" + meant], "\(trace.text)")
    }

    @Test("A pattern that a route has twice counts as one of the rejected patterns")
    func repeatedPatterns() throws {
        let routes = (0..<40).map {
            #"{ "id": "r\#($0)", "match": "/r\#($0)", "alias": ["/r\#($0)"], "to": { "root": true } }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" }, "routes": [ \#(routes.joined(separator: ", ")) ] }
            """#
        let trace = try #require(RouteTable.unchecked(Array(file.utf8))).explain(.link("t://none/at/all"))
        #expect(trace.rejectedCount == 40 && trace.rejected.count == Explanation.maxRejected)
    }

    @Test("A pattern has no mismatch exactly if it matches the link")
    func agreement() throws {
        for table in try [Self.shop(), TableFiles.anchor()] {
            for link in Self.links.map(\.link) + ["shop:///", "shop:///o/7", "https://shop.example/legal/a/b"] {
                let trace = table.explain(.link(link))
                guard trace.link != nil else { continue }
                let matching = trace.candidates.map(\.pattern)
                #expect(
                    trace.rejected.allSatisfy { !$0.mismatches.isEmpty && !matching.contains($0.pattern) }, "\(link)")
                #expect(trace.candidates.isEmpty == (trace.failure?.reason == "no_route"), "\(link)")
            }
        }
    }

    @Test("A link of 64 segments is explained in a table of 500 routes")
    func large() throws {
        let routes = (0..<500).map {
            #"{ "id": "r\#($0)", "match": "/section-\#($0)/{id:int}/x", "to": { "root": true } }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "authority", "hosts": [""] },
              "routes": [ \#(routes.joined(separator: ",")) ] }
            """#
        let table = try #require(RouteTable.unchecked(Array(file.utf8)))
        let trace = table.explain(.link("t://" + String(repeating: "/section-7x", count: 64)))
        #expect(trace.rejectedCount == 500 && trace.rejected.count == Explanation.maxRejected)
        let typo = table.explain(.link("t:///secton-321/5/x"))
        #expect(typo.suggestions.first?.text == "t:///section-321/5/x")
    }
}
