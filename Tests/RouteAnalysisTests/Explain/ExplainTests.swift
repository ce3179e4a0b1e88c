import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TableSupport
import Testing

@Suite("Traces of decisions") struct ExplainTests {
    private static let uuid = "B121D5E7-EA65-49F8-8B33-B3C43FA93866"

    static func anchor() throws -> RouteTable {
        try TableFiles.anchor()
    }

    @Test("The trace has the candidates, the reasons why others do not match, and the variants up to the selected one")
    func anchorTrace() throws {
        let trace = try Self.anchor().explain(
            .link("https://shop.example/ru/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?COUNT=3"),
            device: DeviceFacts(app: "6.1.0"))
        #expect(trace.candidates.map(\.route) == ["item"])
        #expect(trace.candidates.map(\.pattern) == ["/p/{id:uuid}"])
        #expect(trace.candidates.map(\.isChosen) == [true])
        #expect(
            trace.rejected.contains {
                $0.route == "new-items" && $0.firstMismatchedSegment == 1 && $0.expected == "new"
            })
        #expect(trace.variants.map(\.because) == ["no capability ar", "app 6.1.0 >= 4.0.0"])
        #expect(trace.variants.map(\.holds) == [false, true])
        #expect(trace.decision.variant == 1)
        #expect(trace.link?.segments == ["p", "B121D5E7-EA65-49F8-8B33-B3C43FA93866"])
        let json = try JSONValue.parse(trace.decisionJSON)
        #expect(json["explain"]?["candidates"]?.array?.first?["chosen"] != nil)
        #expect(json.object?.last?.name == "explain")
    }

    @Test(
        "Every request has a trace with the same decision as without a trace",
        arguments: [
            LinkRequest.link(""), .link("%"), .link("shop:///nope"), .link("shop:///o/12"), .path("/home/feed"),
            .path("x/y"), .route("order", params: .json(#"{"order":12}"#)), .route("nope"),
            .payload(.json(#"{"aps":{"link":"shop:///p/new"}}"#)), .payload(.json("{}")),
        ])
    func anyRequest(request: LinkRequest) throws {
        let table = try Self.anchor()
        let trace = table.explain(request)
        #expect(trace.decision.json == table.resolve(request).json)
        #expect(!trace.text.isEmpty)
        let members = try #require(try JSONValue.parse(trace.json).object?.map(\.name))
        #expect(members.prefix(3) == ["candidates", "rejected", "variants"])
        #expect(Set(members).isSuperset(of: ["redirects", "captures", "compose", "bind", "guards"]))
    }

    @Test("The first candidate is the selected route, apart from redirects")
    func candidateIsChosen() throws {
        let table = try Self.anchor()
        for link in ["shop:///p/new", "shop:///search?q=a", "shop:///legal/a/b", "shop:///", "shop:///orders/7"] {
            let trace = table.explain(.link(link))
            #expect(trace.candidates.first?.route == trace.decision.route, "\(link)")
        }
    }

    static let item = "https://shop.example/ru/p/b121d5e7-ea65-49f8-8b33-b3c43fa93866?COUNT=3&x=1"

    @Test("The text marks the parts of the link and describes every phase")
    func text() throws {
        let trace = try Self.anchor().explain(.link(Self.item), device: DeviceFacts(app: "6.1.0"))
        let expected = #"""
            decision   navigate  by item
                       https://shop.example/ru/p/b121d5e7-ea65-49f8-8b33-b3c43fa93866?COUNT=3&x=1
                       ^^^^^   ^^^^^^^^^^^^ ^^ ^ ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ ^^^^^^^ ^^^
                       scheme  host         |  | {id}                                 |       unused
                                            |  literal                                Product.count
                                            rewrite
            normalize  scheme https · host shop.example · path /p / b121d5e7-ea65-49f8-8b33-b3c43fa93866
                       the host must be listed, query split at `&`, percent-decoded once, query names case-insensitive
                       query COUNT = 3
                       query x = 1
                       rewrite removes locale=ru
                       note: rewrite:locale=ru
            select     item       /p/{id:uuid}        chosen
                       new-items  /p/new              no: segment 1 is not `new`
                       item       /product/{id:uuid}  no: segment 0 is not `product`
                       and 5 more that do not match
            """#
        #expect(trace.text.hasPrefix(expected), "\(trace.text)")
        let end = #"""
                       {id} = B121D5E7-EA65-49F8-8B33-B3C43FA93866
            variant    0 no   no capability ar
                       1 yes  app 6.1.0 >= 4.0.0
            compose    home.feed     push, parent
                       catalog.list  push, parent
                       catalog.item  push
            bind       Product.id     path.id      \#(Self.uuid)  bound "\#(Self.uuid)"
                       Product.count  query.count  3  bound 3
            stack      /home/feed/catalog/list/item
            """#
        #expect(trace.text.hasSuffix(end), "\(trace.text)")
    }

    @Test("A redirect has the path that was searched again, and a guard has the missing claim")
    func redirects() throws {
        let trace = try Self.anchor().explain(.link("shop:///o/12"), device: DeviceFacts(app: "6.0.0"))
        #expect(trace.candidates.first { $0.isChosen }?.route == "old-order")
        #expect(
            trace.redirects.map { [$0.route, $0.to, $0.segments?.joined(separator: "/"), $0.leadsTo] }
                == [["old-order", "/orders/{order}", "orders/12", "order"]])
        #expect(trace.guards.map(\.claim) == ["session"])
        #expect(trace.guards.map(\.holds) == [false])
        #expect(trace.text.contains("guard      signedIn of account  claim session  does not hold"))
        #expect(trace.decision.guard == "signedIn")
    }

    @Test("A failure has its phase, its reason, and the applied fallback rule")
    func failures() throws {
        let anchor = try Self.anchor()
        let cases: [(String, Explanation.Phase, Decision.Reason, String, Int?)] = [
            ("shop:///%zz", .normalize, "bad_encoding", "segment 0", nil), ("shop:///nope", .select, "no_route", "", 0),
            ("shop:///search", .bind, "param_missing", "Search.q", nil),
            ("https://shop.example/p/\(Self.uuid)?count=x", .bind, "param_invalid", "Product.count", nil),
        ]
        for (link, phase, reason, detail, rule) in cases {
            let trace = anchor.explain(.link(link), device: DeviceFacts(app: "6.0"))
            let failure = try #require(trace.failure, "\(link): \(trace.text)")
            #expect(failure.phase == phase && failure.reason == reason && failure.rule == rule, "\(link): \(failure)")
            #expect(failure.detail == detail)
        }
        let demo = try RouteTable(json: TableFiles.shipped("seeds/coordinator-demo"))
        let failure = try #require(demo.explain(.link("coordinator://auth/a/nowhere")).failure)
        #expect(failure.phase == .compose && failure.reason == "unknown_screen" && failure.detail == "nowhere")
    }

    @Test("Each bound field has its source, its original text, and its result")
    func bindings() throws {
        let trace = try Self.anchor().explain(.link("shop:///search?q=%41b&tag=x&tag=%C3%A9"))
        #expect(trace.bindings.map(\.field) == ["Search.q", "Search.tags"])
        #expect(trace.bindings.map(\.raw) == [["%41b"], ["x", "%C3%A9"]])
        #expect(trace.bindings.map(\.value) == ["Ab", ["x", "é"]])
        let demo = try RouteTable(json: TableFiles.shipped("seeds/coordinator-demo"))
        let invalid = demo.explain(.link("coordinator://product?id=x&count=7"))
        #expect(invalid.bindings.map(\.result) == [.invalid, .bound])
        #expect(invalid.parts.map(\.use) == [nil, "literal", "Product.id", "Product.count"])
    }
}
