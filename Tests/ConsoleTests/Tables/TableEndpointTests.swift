import Foundation
import TestSupport
import Testing

/// The endpoints about tables: `/api/map`, `/api/route`, and `/api/compare`.
@Suite(.serialized) struct TableEndpointTests {
    let console: RunningConsole

    init() throws { console = try RunningConsole.offline.get() }

    /// Returns the text of the shipped table `shop` with replacements.
    private static func shop(_ edits: [(String, String)] = []) throws -> String {
        let path = Checkout.root.appending(path: "config/routes/shop.json")
        return edits.reduce(try String(contentsOf: path, encoding: .utf8)) { $0.replacing($1.0, with: $1.1) }
    }

    private func compare(_ candidate: String, traffic: String? = nil) throws -> JSON {
        var body: [String: JSON] = ["table": "shop", "candidate": .text(candidate)]
        if let traffic { body["traffic"] = .text(traffic) }
        let response = try send(.object(body))
        try #require(response.status == 200, "\(response.text)")
        return try JSON.parse(response.text)
    }

    /// Sends a comparison.
    ///
    /// The tests of views use the same console, which refuses a second comparison while it makes one.
    private func send(_ body: JSON) throws -> RawClient.Response {
        var response: RawClient.Response?
        _ = try becomesTrue(withinSeconds: 60) {
            response = try console.send(
                "POST /api/compare", headers: [console.bearer, "Content-Type: application/json", "X-Linkd-Console: 1"],
                body: String(decoding: body.bytes, as: UTF8.self))
            return response?.status != 429
        }
        return try #require(response)
    }

    @Test("The map and the pages of all routes of the shipped table match their schemas")
    func schemas() throws {
        let map = try console.send("GET /api/map?table=shop", headers: [console.bearer]).text
        var pages: [SchemaValidator.Subject] = []
        for route in try JSON.parse(map)["routes"].elements {
            let id = try #require(route["id"].text)
            let page = try console.send("GET /api/route?table=shop&route=\(id)", headers: [console.bearer])
            #expect(page.status == 200)
            pages.append(SchemaValidator.Subject(name: id, text: page.text))
        }
        #expect(pages.count == 7)
        guard SchemaValidator.isAvailable else { return }
        let subject = SchemaValidator.Subject(name: "map", text: map)
        #expect(try SchemaValidator.errors(schema: "console/map", in: [subject]) == [:])
        #expect(try SchemaValidator.errors(schema: "console/route", in: pages) == [:])
        let empty = SchemaValidator.Subject(name: "empty", text: "{}")
        for name in ["map", "route", "compare"] {
            #expect(try SchemaValidator.errors(schema: "console/\(name)", in: [empty])["empty"] != nil)
        }
    }

    @Test(
        "A table or route that does not exist is named in the error",
        arguments: [
            ("/api/map?table=none", 404, "table"), ("/api/route?table=shop", 400, "route"),
            ("/api/route?table=shop&route=none", 404, "route"), ("/api/route?table=none&route=item", 404, "table"),
            ("/api/route?table=shop&route=%3Cscript%3E", 404, "route"),
        ])
    func missing(path: String, status: Int, code: String) throws {
        let response = try console.send("GET \(path)", headers: [console.bearer])
        #expect(response.status == status)
        #expect(try JSON.parse(response.text)["error"]["code"].text == code)
        #expect(!response.text.contains("<script>"))
    }

    @Test("A candidate that moves a version has one breaking cause, with both decisions and a link that shows it")
    func breaking() throws {
        let candidate = try Self.shop([(">=4.0.0", ">=5.0.0"), ("\"app\": \"4.0.0\"", "\"app\": \"5.0.0\"")])
        let result = try compare(candidate, traffic: "shop:///p/new\t3\nhttps://shop.example/o/12\nnothing at all")
        #expect(result["ok"].bool == true)
        let group = result["difference"]["groups"][0]
        #expect(group["breaking"].bool == true)
        #expect(group["causes"][0]["place"].text == "routes.item")
        let effect = group["effects"][0]
        #expect(effect["device"]["app"].text == "4.0.0")
        #expect(effect["old"]["decision"]["outcome"].text == "navigate")
        #expect(effect["new"]["decision"]["outcome"].text == "external")
        #expect(result["traffic"]["decisions"].number == 4)
        #expect(result["traffic"]["same"].number == 4)
        #expect(result["traffic"]["unreadable"].number == 1)
        let again = try console.post(
            "/api/resolve",
            .object(["table": "shop", "input": effect["link"], "device": effect["device"]]))
        #expect(again["decisions"][0]["decision"]["path"].text == effect["old"]["decision"]["path"].text)
    }

    @Test("The answers of comparisons match their schema")
    func compareSchema() throws {
        guard SchemaValidator.isAvailable else { return }
        let candidates = [
            try Self.shop(), try Self.shop([("/catalog/list", "/catalog/lost")]), "{", "[]", "null",
            try Self.shop([("/legal/{rest+}", "/{any}/new"), ("legal/{rest}", "legal/x")]),
            try Self.shop([("\"/search\"", "\"/find\""), ("shop.example/search", "shop.example/find")]),
        ]
        var subjects: [SchemaValidator.Subject] = []
        for (index, candidate) in candidates.enumerated() {
            let response = try send(
                .object(["table": "shop", "candidate": .text(candidate), "traffic": "shop:///o/1\t4"]))
            #expect(response.status == 200, "\(response.text)")
            subjects.append(SchemaValidator.Subject(name: "\(index)", text: response.text))
        }
        #expect(try SchemaValidator.errors(schema: "console/compare", in: subjects) == [:])
    }

    @Test("A refused candidate has each problem at its line, with the decision about the link that shows it")
    func refused() throws {
        let result = try compare(try Self.shop([("int(1..99)=1", "int(1..6)=1")]))
        #expect(result["ok"].bool == false)
        let problem = result["problems"][0]
        #expect(problem["code"].text == "example")
        #expect((problem["line"].number ?? 0) > 40)
        #expect(problem["link"].text?.contains("COUNT=7") == true)
        #expect(problem["device"]["app"].text == "4.0.0")
        #expect(problem["decision"]["reason"].text == "param_invalid")
        let broken = try compare(try Self.shop([("\"path\": \"/catalog/list\"", "\"path\": \"/catalog/lst\"")]))
        #expect(broken["problems"][0]["code"].text == "unknown_screen")
        #expect(broken["problems"][0]["line"].number == 28)
    }

    @Test("Texts of a hostile candidate stay texts")
    func hostile() throws {
        let text = "<img src=x onerror=alert(1)>\u{202E}"
        let result = try compare(try Self.shop([("\"version\": \"1\"", "\"version\": \"\(text)\"")]))
        #expect(result["new"].text?.contains(text) == true)
        let raw = try send(.object(["table": "shop", "candidate": .text(text)]))
        #expect(raw.status == 200 && !raw.text.unicodeScalars.contains("\u{202E}"))
    }

    @Test(
        "A comparison without a candidate, of another table, or of too large a text is refused",
        arguments: [
            (["table": "shop"], 400), (["table": "none", "candidate": "{}"], 404),
            (["table": "shop", "candidate": .text(String(repeating: " ", count: 4_194_305))], 400),
            (["table": "shop", "candidate": "{}", "traffic": .text(String(repeating: " ", count: 1_048_577))], 400),
            (["table": "shop", "candidate": "{}", "other": 1], 400), (["table": "shop", "candidate": 7], 400),
        ] as [([String: JSON], Int)])
    func refusals(body: [String: JSON], status: Int) throws {
        let response = try send(.object(body))
        #expect(response.status == status, "\(response.text)")
        #expect(try JSON.parse(response.text)["error"]["next"].text?.isEmpty == false)
    }
}
