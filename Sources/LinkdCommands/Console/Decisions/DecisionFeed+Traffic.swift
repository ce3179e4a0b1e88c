internal import DecisionIndex

extension DecisionFeed {
    /// The decisions of each route since the oldest one in the index.
    var routeTraffic: RouteTraffic {
        RouteTraffic { [self] table in
            read { state in
                guard let oldest = state.index.oldest else { return nil }
                var filter = RowFilter()
                filter.tableID = table
                filter.kind = .decision
                var counts: [String: Int64] = [:]
                for (group, rows) in state.index.values(filter, of: .route, top: 65_536) {
                    if case .value(let route) = group, !route.isEmpty { counts[route] = Int64(rows) }
                }
                return (counts, oldest.time)
            }
        }
    }
}
