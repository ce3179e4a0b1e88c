internal import RouteTools

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
