import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TableSupport
import Testing

/// An edge case: a table, a request, and the expected decision.
struct EdgeCase: Sendable, CustomTestStringConvertible {
    enum Source: Sendable {
        /// A shipped table, or the fixture `anchor`.
        case named(String)
        /// The ids and patterns of the routes of a small table with the scheme `t`, in order.
        case routes([String: String], overlaps: [String: String] = [:])
    }

    let source: Source
    let request: LinkRequest
    var device = DeviceFacts()
    /// The expected members of the decision, with nil for an absent member.
    let expected: [String: String?]

    var testDescription: String { "\(request)" }

    init(
        _ source: Source, _ link: String, device: DeviceFacts = DeviceFacts(), _ expected: [String: String?]
    ) {
        self.init(source, .link(link), device: device, expected)
    }

    init(
        _ source: Source, _ request: LinkRequest, device: DeviceFacts = DeviceFacts(),
        _ expected: [String: String?]
    ) {
        self.source = source
        self.request = request
        self.device = device
        self.expected = expected
    }

    func table() throws -> RouteTable {
        switch source {
        case .named("anchor"): return try RouteTable(json: TableFiles.fixture("anchor-features.json"))
        case .named(let name): return try RouteTable(json: TableFiles.shipped("seeds/\(name)"))
        case .routes(let routes, let overlaps):
            let list = routes.sorted { $0.key < $1.key }.map { id, pattern in
                let declared = overlaps[id].map { #","overlaps":["\#($0)"]"# } ?? ""
                return #"{"id":"\#(id)","match":"\#(pattern)"\#(declared),"to":{"root":true}}"#
            }
            let text = """
                {"schemaVersion":1,"table":{"id":"t","version":"1"},
                 "link":{"schemes":["t"],"host":"authority","hosts":["*"]},"routes":[\(list.joined(separator: ","))]}
                """
            return try RouteTable(json: [UInt8](text.utf8))
        }
    }
}

private let demo = EdgeCase.Source.named("coordinator-demo")
private let easy = EdgeCase.Source.named("easydev991")
private let trips = EdgeCase.Source.named("trips-calendar")
private let anchor = EdgeCase.Source.named("anchor")
private let uuid = "80674450-AAEC-4704-9D0F-63C7B2068FF1"
private let other = "B121D5E7-EA65-49F8-8B33-B3C43FA93866"

private func reject(_ reason: String, _ detail: String? = nil) -> [String: String?] {
    ["outcome": "reject", "reason": reason, "detail": detail]
}

private let edgeCases: [EdgeCase] = [
    EdgeCase(demo, "coordinator:///", ["outcome": "navigate", "route": "root", "path": "/"]),
    EdgeCase(demo, "coordinator://", ["outcome": "navigate", "route": "root", "path": "/"]),
    EdgeCase(demo, "coordinator://product?id=\(uuid)&count=5", ["path": "/products/product"]),
    EdgeCase(demo, "coordinator://Product?id=\(uuid)&count=5", reject("no_route")),
    EdgeCase(demo, "coordinator://auth/a//b", ["path": "/auth/a/b", "notes": #"["empty segments collapsed"]"#]),
    EdgeCase(demo, "coordinator://auth/a/", ["path": "/auth/a", "notes": nil]),
    EdgeCase(demo, "coordinator://auth/a%2Fb", reject("unknown_screen", "a/b")),
    EdgeCase(demo, "coordinator://auth/%61", ["path": "/auth/a"]),
    EdgeCase(demo, "coordinator://auth/%2561", reject("unknown_screen", "%61")),
    EdgeCase(demo, "coordinator://auth/a/../b", reject("dot_segment", "segment 2")),
    EdgeCase(demo, "coordinator://auth/a/%2e%2E/b", reject("dot_segment", "segment 2")),
    EdgeCase(demo, "coordinator://auth", ["outcome": "navigate", "path": "/"]),
    EdgeCase(.named("content-flow"), .path("/content"), ["outcome": "navigate", "path": "/content/root"]),
    EdgeCase(demo, "coordinator://auth/a/auth/b", ["path": "/auth/a/b"]),
    EdgeCase(
        demo, "coordinator://products/merch?id=\(uuid)&id=\(other)&count=7",
        ["data": #"{"Product":{"id":"\#(uuid)","count":7}}"#]),
    EdgeCase(
        demo, "coordinator://products/merch?id=80674450-AAEC-4704–9D0F-63C7B2068FF1&count=7",
        reject("param_invalid", "Product.id")),
    EdgeCase(demo, "coordinator://products/merch?id=\(uuid)&count=07", reject("param_invalid", "Product.count")),
    EdgeCase(demo, "coordinator://products/merch?id=\(uuid)&count=+7", reject("param_invalid", "Product.count")),
    EdgeCase(demo, "coordinator://products/merch?id=\(uuid)&count=7.0", reject("param_invalid", "Product.count")),
    EdgeCase(
        demo, "coordinator://products/merch?id=\(uuid)&count=99999999999999999999",
        reject("param_invalid", "Product.count")),
    EdgeCase(easy, "myapp://complex?ID=1", ["data": #"{"Complex":{"id":"1"}}"#]),
    EdgeCase(easy, "myapp://complex?id", reject("param_missing", "Complex.id")),
    EdgeCase(easy, "myapp://complex?id=", reject("param_invalid", "Complex.id")),
    EdgeCase(easy, "myapp://simple?junk=1", ["route": "simple"]),
    EdgeCase(easy, "myapp://simple/extra", reject("no_route")),
    EdgeCase(
        trips, "tcal://h/details?reference=1&x=2",
        ["route": "details", "data": #"{"TripRef":{"reference":"1&x=2"}}"#]),
    EdgeCase(trips, "tcal://details?reference=1", ["route": "home"]),
    EdgeCase(trips, "tcal://h/x/details/y?reference=9", ["route": "details"]),
    EdgeCase(
        .routes(["posts": "/users/{id}/posts", "me": "/users/me"]), "t:///users/me/posts", ["route": "posts"]),
    EdgeCase(
        .routes(["settings": "/{u}/settings", "posts": "/users/{id}/posts"]), "t:///users/settings",
        ["route": "settings"]),
    EdgeCase(.routes(["one": "/{a}/x/one", "two": "/{b}/{c}/two"]), "t:///7/x/two", ["route": "two"]),
    EdgeCase(
        .routes(["ax": "/{a}/x", "yb": "/y/{b}"], overlaps: ["ax": "yb"]), "t:///y/x", ["route": "yb"]),
    EdgeCase(
        .routes(["tab": "/users/{id}/{tab}", "profile": "/users/{id}/profile"]), "t:///users/7/profile",
        ["route": "profile"]),
    EdgeCase(.routes(["id": "/p/{id:uuid}", "new": "/p/new"]), "t:///p/new", ["route": "new"]),
    EdgeCase(
        .routes(["a": "/product/{id:enum(create|edit)}", "b": "/product/create"]), "t:///product/create",
        ["route": "b"]),
    EdgeCase(demo, "coordinator://auth/%", reject("bad_encoding", "segment 1")),
    EdgeCase(demo, "coordinator://auth/%zz", reject("bad_encoding", "segment 1")),
    EdgeCase(easy, "myapp://simple?x=%zz", ["route": "simple"]),
    EdgeCase(demo, "coordinator:auth/c", ["path": "/auth/c", "mode": "append"]),
    EdgeCase(demo, "coordinator:/auth/c", ["path": "/auth/c", "mode": "replace"]),
    EdgeCase(easy, "myapp://simple?" + String(repeating: "a", count: 8192), reject("budget", "bytes")),
    EdgeCase(easy, "myapp://" + String(repeating: "a/", count: 65), reject("budget", "segments")),
    EdgeCase(easy, "myapp://simple?" + String(repeating: "&", count: 128), reject("budget", "query items")),
    EdgeCase(easy, "myapp://simple?" + String(repeating: "&", count: 127), ["route": "simple"]),
    EdgeCase(
        anchor, .payload(.json(#"{"data":{"deep_link":"shop:///p/new"},"aps":{"link":"shop:///"}}"#)),
        ["route": "home"]),
    EdgeCase(
        anchor, "https://shop.example/p/\(other)", device: DeviceFacts(app: "x"),
        ["outcome": "external", "notes": #"["device.app unknown"]"#]),
    EdgeCase(demo, "coordinator://auth/a/profile/a", ["path": "/auth/a/profile/a"]),
    EdgeCase(demo, .path("auth/c"), ["path": "/auth/c", "mode": "append"]),
    EdgeCase(demo, .path("c"), reject("unknown_screen", "c")),
    EdgeCase(demo, .path("c"), device: DeviceFacts(coordinator: "auth"), ["path": "/auth/c", "mode": "append"]),
    EdgeCase(easy, "myapp://simple#x", ["route": "simple"]),
]

@Suite("Edge cases of links") struct EdgeCaseTests {
    @Test("Each edge case has the expected decision", arguments: edgeCases)
    func expectedDecision(edge: EdgeCase) throws {
        let decision = try edge.table().resolve(edge.request, device: edge.device)
        for (member, expected) in edge.expected {
            let actual: String? =
                switch member {
                case "data": decision.value["stack"]?.array?.last?["data"]?.text
                case "notes": decision.value["notes"]?.text
                default: decision.text(member)
                }
            #expect(actual == expected, "\(member) of \(String(decoding: decision.json, as: UTF8.self))")
        }
    }

    @Test("The same link results in the same decision, byte for byte")
    func again() throws {
        let table = try RouteTable(json: TableFiles.fixture("anchor-features.json"))
        let first = table.resolve("shop:///p/new")
        for _ in 0..<3 { #expect(table.resolve("shop:///p/new").json == first.json) }
    }

    private static func redirectCycle(_ a: String, _ b: String, _ c: String, _ d: String) -> [UInt8] {
        let text = """
            {"schemaVersion":1,"table":{"id":"t","version":"1"},
             "link":{"schemes":["t"],"host":"authority","hosts":["*"]},
             "routes":[{"id":"a","match":"\(a)","redirect":"\(b)"},{"id":"b","match":"\(c)","redirect":"\(d)"}]}
            """
        return [UInt8](text.utf8)
    }

    @Test("A literal redirect cycle is a table error, and a cycle with captures ends at run time")
    func redirectCycles() throws {
        let (table, problems, _) = RouteTable.check(Self.redirectCycle("/a", "/b", "/b", "/a"))
        #expect(table == nil)
        #expect(problems.map(\.code) == [.redirectCycle])
        let decision = try RouteTable(json: Self.redirectCycle("/a/{x}", "/b/{x}", "/b/{x}", "/a/{x}")).resolve(
            "t:///a/1")
        #expect(decision.reason == "redirect_limit")
        #expect(decision.via == ["a", "b"])
    }
}
