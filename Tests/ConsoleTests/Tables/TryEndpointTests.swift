import Foundation
import TestSupport
import Testing

/// The endpoints that resolve an input: `/api/resolve` and `/api/matrix`.
@Suite(.serialized) struct TryEndpointTests {
    let console: RunningConsole

    init() throws { console = try RunningConsole.offline.get() }

    /// Returns an event for the shipped table `shop`.
    private static func event(expires: String) -> JSON {
        .text(#"{"link":"https://shop.example/p/new","expires":"\#(expires)","device":{"id":"d-1","app":"9.0.0"}}"#)
    }

    private static func sentence(_ item: JSON) -> String {
        item["sentence"].elements.compactMap(\.["text"].text).joined()
    }

    @Test("An event that has expired opens nothing, and the answer has what it would open")
    func expired() throws {
        let over = try console.post("/api/resolve", .object(["input": Self.event(expires: "2020-01-01T00:00:00Z")]))
        let item = over["decisions"][0]
        #expect(Self.sentence(item) == "Opens nothing: the event has expired")
        #expect(item["decision"]["outcome"].text == "none" && item["decision"]["reason"].text == "expired")
        #expect(item["unexpired"]["decision"]["outcome"].text == "navigate")
        #expect(item["explain"] != .null)
        let later = try console.post("/api/resolve", .object(["input": Self.event(expires: "2999-01-01T00:00:00Z")]))
        #expect(later["decisions"][0]["unexpired"] == .null)
        #expect(Self.sentence(later["decisions"][0]) == Self.sentence(item["unexpired"]))
        let both = [later["decisions"][0]["decision"], item["unexpired"]["decision"]]
        #expect(both.map { $0["context"]["expires"].text } == ["2999-01-01T00:00:00Z", "2020-01-01T00:00:00Z"])
        let others = both.map { decision -> JSON in
            guard case .object(var members) = decision else { return .null }
            members["context"] = nil
            return .object(members)
        }
        #expect(others[0] == others[1] && others[0] != .null)
    }

    @Test(
        "The matrix has the common platforms, and that of the device once",
        arguments: [
            (nil, ["ios", "android"]), ("web", ["ios", "android", "web"]), ("iOS", ["ios", "android"]),
            ("", ["ios", "android"]), ("<b>", ["ios", "android", "<b>"]),
        ] as [(String?, [String])])
    func platforms(platform: String?, expected: [String]) throws {
        var body: [String: JSON] = ["input": "shop:///home", "table": "shop"]
        if let platform { body["device"] = .object(["platform": .text(platform)]) }
        let matrix = try console.post("/api/matrix", .object(body))
        #expect(matrix["platforms"].elements.compactMap(\.text) == expected)
        let versions = matrix["versions"].elements.count
        #expect(matrix["cells"].elements.map(\.elements.count) == Array(repeating: versions, count: expected.count))
        #expect(matrix["truncated"].bool == false)
    }

    @Test("The link of a screen is written, and drawn as a code")
    func links() throws {
        let body: JSON = .object([
            "table": "shop", "screen": "account/order", "data": .object(["OrderRef": .object(["order": .text("12")])]),
            "device": .object(["app": "6.1.0", "claims": .array(["session"])]),
        ])
        let refused = #expect(throws: DriverFailure.self) { try console.post("/api/link", body) }
        #expect("\(refused as Any)".contains("OrderRef.order: expected int"))
        let list = try console.post("/api/link", .object(["table": "shop", "screen": "catalog/list"]))
        let link = try #require(list["link"].text, "\(list)")
        #expect(list["route"].text == "new-items" && list["path"].text?.hasSuffix("/catalog/list") == true)
        let code = try console.post("/api/qr", .object(["text": .text(link)]))
        #expect(code["path"].text?.hasPrefix("M4 4h7v1h-7z") == true)
        #expect(throws: DriverFailure.self) {
            try console.post("/api/qr", .object(["text": .text(String(repeating: "a", count: 2954))]))
        }
        guard SchemaValidator.isAvailable else { return }
        for (answer, name) in [(list, "console/link"), (code, "console/qr")] {
            let text = String(decoding: try answer.bytes, as: UTF8.self)
            #expect(try SchemaValidator.errors(schema: name, in: [.init(name: name, text: text)]) == [:])
        }
    }

    @Test("The answers match their schemas")
    func schemas() throws {
        guard SchemaValidator.isAvailable else { return }
        for (path, name) in [("/api/resolve", "console/resolve"), ("/api/matrix", "console/matrix")] {
            var subjects: [SchemaValidator.Subject] = []
            let inputs: [JSON] = [
                "shop:///home", "shop:///nowhere", Self.event(expires: "2020-01-01T00:00:00Z"), "{", "{}", "no link",
                .text(#"{"aps":{},"ab_uri":"https://shop.example/p/new"}"#),
            ]
            for (index, input) in inputs.enumerated() {
                let body = String(decoding: try JSON.object(["input": input]).bytes, as: UTF8.self)
                let response = try console.send(
                    "POST \(path)",
                    headers: [console.bearer, "Content-Type: application/json", "X-Linkd-Console: 1"], body: body)
                #expect(response.status == 200, "\(response.text)")
                subjects.append(SchemaValidator.Subject(name: "\(index)", text: response.text))
            }
            #expect(try SchemaValidator.errors(schema: name, in: subjects) == [:])
        }
    }
}
