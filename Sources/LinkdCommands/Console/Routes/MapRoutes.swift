internal import HTTPServer
internal import LinkCoordinator
internal import RouteTools
internal import SystemThreads

/// The endpoints `/api/map` and `/api/route`: a table as a map, and one of its routes.
struct MapRoutes {
    private let site: ConsoleSite
    private let traffic: RouteTraffic?
    /// The map that was requested last, with the hash of its table.
    private let last = Monitor<(hash: String, json: String)?>(nil)

    /// Adds the endpoints.
    ///
    /// - Parameters:
    ///   - router: The router to which they are added.
    ///   - site: The shared state.
    ///   - traffic: The recent decisions of routes, or nil without a broker.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite, traffic: RouteTraffic? = nil) {
        let routes = MapRoutes(site: site, traffic: traffic)
        router.get("/api/map") { request throws(ConsoleProblem) in try routes.map(request) }
        router.get("/api/route") { request throws(ConsoleProblem) in try routes.route(request) }
    }

    private func map(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let table = try site.table(request.queryValue("table")).table
        let text = last.withLock { last in
            if let last, last.hash == table.hash { return last.json }
            let json = TableMap.json(table)
            last = (table.hash, json)
            return json
        }
        return .json(text)
    }

    private func route(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let table = try site.table(request.queryValue("table")).table
        guard let id = request.queryValue("route") else {
            throw ConsoleProblem(
                code: "route", message: "the parameter `route` is missing", next: "pass the id of a route")
        }
        guard let json = RoutePage.json(id, in: table, taken: traffic?.taken(id, of: table.id)) else {
            throw ConsoleProblem(
                status: 404, code: "route", message: "the table \(table.identity) has no route with this id",
                next: "pass one of the ids in /api/map")
        }
        return .json(json)
    }
}

/// The recent decisions of each route, as a reader of the decision topic counts them.
struct RouteTraffic: Sendable {
    /// Returns the number of recent decisions of each route of a table, by the ids of the table and the route.
    ///
    /// The time is the beginning of the counted decisions. The result is nil as long as nothing was read.
    let counts: @Sendable (_ table: String) -> (routes: [String: Int64], sinceMilliseconds: Int64)?

    /// Returns the number of recent decisions of a route, or nil as long as nothing was read.
    func taken(_ route: String, of table: String) -> RoutePage.Taken? {
        counts(table).map { RoutePage.Taken(count: $0.routes[route] ?? 0, sinceMilliseconds: $0.sinceMilliseconds) }
    }
}
