import LinkCoordinator
import StrictJSON
import Testing

@Suite("The trace of a decision") struct ExplainTests {
    static func anchor() throws -> Table {
        try Table.load(TableFiles.fixture("anchor-features.json"))
    }

    @Test("the trace names candidates, what the others wanted, and the variants up to the one taken")
    func anchorTrace() throws {
        let trace = try Self.anchor().explain(
            .link("https://shop.example/ru/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?COUNT=3"),
            device: Device(app: "6.1.0"))
        #expect(trace.candidates.map(\.route) == ["item"])
        #expect(trace.candidates.map(\.pattern) == ["/p/{id:uuid}"])
        #expect(trace.candidates.map(\.chosen) == [true])
        #expect(trace.rejected.contains { $0.route == "new-items" && $0.at == 1 && $0.want == "new" })
        #expect(trace.trials.map(\.because) == ["no capability ar", "app 6.1.0 >= 4.0.0"])
        #expect(trace.trials.map(\.holds) == [false, true])
        #expect(trace.decision.variant == 1)
        #expect(trace.link?.segments == ["p", "B121D5E7-EA65-49F8-8B33-B3C43FA93866"])
        let json = try JSONValue.parse(trace.decisionJSON)
        #expect(json["explain"]?["candidates"]?.array?.first?["chosen"] != nil)
        #expect(json.object?.last?.name == "explain")
    }

    @Test(
        "every request has a trace and the same decision as without one",
        arguments: [
            Request.link(""), .link("%"), .link("shop:///nope"), .link("shop:///o/12"), .path("/home/feed"),
            .path("x/y"), .route("order", params: #"{"order":12}"#), .route("nope"),
            .payload(#"{"aps":{"link":"shop:///p/new"}}"#), .payload("{}"),
        ])
    func anyRequest(request: Request) throws {
        let table = try Self.anchor()
        let trace = table.explain(request)
        #expect(trace.decision.json == table.resolve(request).json)
        #expect(!trace.text.isEmpty)
        #expect(try JSONValue.parse(trace.json).object?.map(\.name) == ["candidates", "rejected", "variants"])
    }

    @Test("the first candidate is the route that the resolver chose, redirects aside")
    func candidateIsChosen() throws {
        let table = try Self.anchor()
        for link in ["shop:///p/new", "shop:///search?q=a", "shop:///legal/a/b", "shop:///", "shop:///orders/7"] {
            let trace = table.explain(.link(link))
            #expect(trace.candidates.first?.route == trace.decision.route, "\(link)")
        }
    }
}
