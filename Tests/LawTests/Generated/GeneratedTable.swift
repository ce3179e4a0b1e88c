import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport

/// A random table in parts, so that its routes can be shuffled, added, and removed.
struct GeneratedTable: Sendable {
    /// A route as JSON members.
    struct Route: Sendable {
        var id: String
        /// The members after `id`, each as `"name": value`.
        var members: [String]
        /// The ids in `overlaps`.
        var overlaps: [String] = []

        var json: String {
            var all = ["\"id\": \"\(id)\""] + members
            if !overlaps.isEmpty {
                all.append("\"overlaps\": [" + overlaps.map { "\"\($0)\"" }.joined(separator: ", ") + "]")
            }
            return "{ " + all.joined(separator: ", ") + " }"
        }
    }

    /// The members of the file other than `routes`, each as `"name": value`.
    var parts: [String]
    var routes: [Route]

    /// The bytes of the file.
    var json: [UInt8] {
        let routes = self.routes.map { "  " + $0.json }.joined(separator: ",\n")
        return Array(("{ " + parts.joined(separator: ",\n") + ",\n\"routes\": [\n\(routes)\n] }").utf8)
    }

    /// Returns the routes in an order that the seed determines.
    ///
    /// The order of two routes does not depend on the others, so that a case remains similar without some of them.
    func routes(drawnBy seed: UInt64) -> [Route] {
        let ranked = routes.map { route in
            (rank: route.id.utf8.reduce(seed) { SeededGenerator.mixed($0 ^ UInt64($1)) }, route)
        }
        return ranked.sorted { $0.rank < $1.rank }.map(\.1)
    }

    /// Loads the table.
    ///
    /// While it is refused, routes with problems declare their overlap or are removed.
    ///
    /// The result does not depend on whether loading proves that routes are reachable and disjoint.
    ///
    /// - Returns: The table, or nil if a problem concerns no route or no route is left.
    mutating func makeLoadable() -> RouteTable? {
        for _ in 0..<(routes.count * 3 + 1) {
            let (table, problems, _) = RouteTable.check(json)
            if let table { return table }
            if !fix(problems.filter { $0.severity == .error }) { return nil }
        }
        return nil
    }

    private mutating func fix(_ errors: [TableProblem]) -> Bool {
        var dropped = Set<String>()
        var changed = false
        for error in errors where !error.routes.contains(where: dropped.contains) {
            if error.code == .overlap, acknowledge(error.routes) {
                changed = true
                continue
            }
            guard let id = error.routes.last(where: { id in routes.contains { $0.id == id } }) else { continue }
            dropped.insert(id)
        }
        routes.removeAll { dropped.contains($0.id) }
        return (changed || !dropped.isEmpty) && !routes.isEmpty
    }

    /// Declares that the first of two routes overlaps the other one, and returns `false` if it already did.
    private mutating func acknowledge(_ ids: [String]) -> Bool {
        guard ids.count >= 2, let index = routes.firstIndex(where: { $0.id == ids[0] }),
            !routes[index].overlaps.contains(ids[1])
        else { return false }
        routes[index].overlaps.append(ids[1])
        return true
    }
}
