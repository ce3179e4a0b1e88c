import RouteAnalysis
import LinkCoordinator
import StrictJSON

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

    /// Loads the table.
    ///
    /// While it is refused, routes with problems declare their overlap or are removed.
    ///
    /// The result does not depend on whether loading proves that routes are reachable and disjoint.
    ///
    /// - Returns: The table, or nil if a problem concerns no route or no route is left.
    mutating func settle() -> RouteTable? {
        for _ in 0..<(routes.count * 3 + 1) {
            let (table, problems) = RouteTable.check(json)
            if let table { return table }
            if !mend(problems.filter { $0.severity == .error }) { return nil }
        }
        return nil
    }

    private mutating func mend(_ errors: [TableProblem]) -> Bool {
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
