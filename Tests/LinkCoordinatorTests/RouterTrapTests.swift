import LinkCoordinator
import TestSupport
import Testing

/// A link that another router loses or misroutes, with its routes and the correct result.
struct RouterTrap: Sendable, CustomTestStringConvertible {
    /// The router and its result for the link.
    let router: String
    /// The ids and patterns of the routes, in the order for the other router.
    let routes: [(id: String, pattern: String)]
    /// The declared overlaps, by id.
    var overlaps: [String: String] = [:]
    let path: String
    /// The route that matches.
    let route: String
    /// The values of the route's captures, by name.
    var captures: [String: String] = [:]

    var testDescription: String { "\(router): \(path)" }

    /// Returns a table whose screens show the captures of the route.
    func table(_ order: [(id: String, pattern: String)]) throws -> RouteTable {
        let names = Set(order.flatMap { Self.names($0.pattern) }).sorted()
        let fields = names.map { "\"\($0)\": \"string?\"" }.joined(separator: ", ")
        let routes = order.map { id, pattern in
            let binds = Self.names(pattern).map { "\"\($0)\": \"path.\($0)\"" }.joined(separator: ", ")
            let declared = overlaps[id].map { #", "overlaps": ["\#($0)"]"# } ?? ""
            return """
                { "id": "\(id)", "match": "\(pattern)"\(declared), "to": { "path": "/app/page" },
                  "bind": { "Captures": { \(binds) } } }
                """
        }
        let text = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "authority", "hosts": ["*"] },
              "models": { "Captures": { \(fields) } },
              "coordinators": { "app": { "screens": { "page": { "needs": ["Captures"] } } } },
              "routes": [ \(routes.joined(separator: ",\n")) ] }
            """
        return try RouteTable(json: [UInt8](text.utf8))
    }

    private static func names(_ pattern: String) -> [String] {
        (try? PatternParser.parse(pattern, foldsCase: false))?.first?.captures.map(\.name) ?? []
    }
}

private let traps: [RouterTrap] = [
    RouterTrap(
        router: "routing-kit: the search does not leave the dead end users/me",
        routes: [("me", "/users/me"), ("posts", "/users/{id}/posts")], path: "/users/me/posts", route: "posts",
        captures: ["id": "me"]),
    RouterTrap(
        router: "routing-kit: a capture of the abandoned branch remains",
        routes: [("a", "/{x}/b/{y}/c"), ("d", "/{x}/{z}/d/e")], overlaps: ["a": "d"], path: "/1/b/d/e", route: "d",
        captures: ["x": "1", "z": "b"]),
    RouterTrap(
        router: "Hummingbird: the literal branch is a dead end",
        routes: [("settings", "/{u}/settings"), ("posts", "/users/{id}/posts")], path: "/users/settings",
        route: "settings", captures: ["u": "users"]),
    RouterTrap(
        router: "Hummingbird: the first capture's branch is a dead end",
        routes: [("one", "/{a}/x/one"), ("two", "/{b}/{c}/two")], path: "/7/x/two", route: "two",
        captures: ["b": "7", "c": "x"]),
    RouterTrap(
        router: "DeepLinkDispatch: the overlap is not reported",
        routes: [("ax", "/{a}/x"), ("yb", "/y/{b}")], overlaps: ["ax": "yb"], path: "/y/x", route: "yb",
        captures: ["b": "x"]),
    RouterTrap(
        router: "Navigation 3: the route with more captures, or the first, is picked",
        routes: [("tab", "/users/{id}/{tab}"), ("profile", "/users/{id}/profile")], path: "/users/7/profile",
        route: "profile", captures: ["id": "7"]),
    RouterTrap(
        router: "go_router and others: the capture matches the literal segment",
        routes: [("id", "/p/{id:uuid}"), ("new", "/p/new")], path: "/p/new", route: "new"),
    RouterTrap(
        router: "flutter#159002: the capture that comes first in the file wins",
        routes: [("id", "/product/{id:enum(create|edit)}"), ("create", "/product/create")], path: "/product/create",
        route: "create"),
    RouterTrap(
        router: "URLNavigator: of two patterns with one literal each, either may win",
        routes: [("any", "/{kind}/list"), ("shop", "/shop/{page}")], overlaps: ["any": "shop"], path: "/shop/list",
        route: "shop", captures: ["page": "list"]),
]

@Suite("Traps of other routers") struct RouterTrapTests {
    @Test(
        "A link that another router loses or misroutes resolves correctly in any order of routes", arguments: traps)
    func trap(_ trap: RouterTrap) throws {
        for order in [trap.routes, trap.routes.reversed()] {
            let decision = try trap.table(order).resolve("t://" + trap.path)
            #expect(decision.route == trap.route)
            let all = Set(
                trap.routes.flatMap { $0.pattern.split(separator: "/") }.compactMap { part in
                    part.hasPrefix("{") ? String(part.dropFirst().prefix { $0 != "}" && $0 != ":" }) : nil
                })
            for name in all { #expect(decision.field("Captures", name) == trap.captures[name], "\(name)") }
        }
    }
}
