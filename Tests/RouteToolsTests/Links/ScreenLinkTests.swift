internal import Foundation
internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON
internal import TableSupport
internal import TestSupport
internal import Testing

/// Links that open a screen of the shop.
@Suite struct ScreenLinkTests {
    private static let id = "B121D5E7-EA65-49F8-8B33-B3C43FA93866"
    private static let device = #"{"app":"6.1.0","platform":"ios","claims":["session"]}"#

    private static func table() throws -> RouteTable {
        try SampleTables.load(Checkout.root.appending(path: "config/routes/shop.json").path)
    }

    private func link(
        _ screen: String?, _ data: String = "{}", route: String? = nil, host: String? = nil, device: String = device
    ) throws -> ScreenLink {
        try ScreenLink(
            to: screen, route: route, data: JSONValue.parse(Array(data.utf8)), host: host,
            device: DeviceFacts(JSONValue.parse(Array(device.utf8))), in: Self.table())
    }

    @Test("A link opens its screen with its data when it is resolved again")
    func opens() throws {
        for (screen, data, host) in [
            ("catalog/item", #"{"Product":{"id":"\#(Self.id)"}}"#, "shop.example"),
            ("home/search", #"{"Search":{"q":"ü &"}}"#, nil),
            ("account.order", #"{"OrderRef":{"order":7}}"#, nil), ("/catalog/list", "{}", "shop.example"),
        ] as [(String, String, String?)] {
            let found = try link(screen, data, host: host)
            let decision = try Self.table().resolve(
                found.link, device: DeviceFacts(JSONValue.parse(Array(Self.device.utf8))))
            #expect(decision.json == found.decision.json && decision.outcome == .navigate)
            let names = screen.split { "/.".contains($0) }.map(String.init)
            #expect([decision.stack.last?.coordinator, decision.stack.last?.screen] == names)
            #expect(host.map { found.link.hasPrefix("https://\($0)/") } ?? true, "\(found.link)")
        }
    }

    @Test("A link has the items of the query that a variant of its route requires")
    func variant() throws {
        let table = try RouteTable(
            json: #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["app"],"host":"segment"},
                 "coordinators":{"m":{"screens":{"list":{},"map":{}}}},
                 "routes":[{"id":"shops","match":"/shops","variants":[
                   {"when":{"query":{"view":"a b","on":"*"}},"to":{"path":"/m/map"}},{"to":{"path":"/m/list"}}]}]}
                """#.utf8)
        let found = try ScreenLink(to: "map", data: JSONValue.parse(Array("{}".utf8)), in: table)
        #expect(found.link == "app://shops?view=a%20b&on" && found.route == "shops")
        #expect(try ScreenLink(to: "list", data: JSONValue.parse(Array("{}".utf8)), in: table).link == "app://shops")
    }

    @Test("No link has an item for a variant from which a field gets its value")
    func boundVariant() throws {
        let table = try RouteTable(
            json: #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["app"],"host":"segment"},
                 "models":{"S":{"sort":"string(1..9)=price"}},
                 "coordinators":{"m":{"screens":{"list":{},"map":{}}}},
                 "routes":[{"id":"shops","match":"/shops","bind":{"S":{"sort":"query.sort"}},"variants":[
                   {"when":{"query":{"sort":"map"}},"to":{"path":"/m/map"}},{"to":{"path":"/m/list"}}]}]}
                """#.utf8)
        let failure = #expect(throws: ScreenLink.Failure.self) {
            try ScreenLink(to: "map", data: JSONValue.parse(Array(#"{"S":{"sort":"price"}}"#.utf8)), in: table)
        }
        #expect(failure?.kind == .unreachable)
    }

    @Test(
        "Without a link, the failure says what to pass, without values",
        arguments: [
            ("nowhere", "{}", nil, device, "no such screen", "home/feed"),
            ("itm", "{}", nil, device, "no such screen", "`item`"),
            ("item", "{}", nil, device, "path.id", "Product"),
            ("item", #"{"Product":{"id":"secret"}}"#, nil, device, "Product.id: expected uuid", "Product"),
            ("item", "7", nil, device, "not a JSON object", "Product"),
            ("item", #"{"Product":{"id":"\#(id)"}}"#, nil, #"{"app":"3.0.0"}"#, "outcome external", "--device"),
            (nil, "{}", "nope", device, "no route with this id", "routes list"),
        ] as [(String?, String, String?, String, String, String)])
    func failures(
        screen: String?, data: String, route: String?, device: String, message: String, advice: String
    ) {
        let failure = #expect(throws: ScreenLink.Failure.self) { try link(screen, data, route: route, device: device) }
        #expect(
            failure?.message.contains(message) == true && failure?.advice.contains(advice) == true, "\(failure as Any)")
        #expect(failure?.message.contains("secret") == false)
    }
}
