/// The indices of the names in a table.
///
/// If a name occurs twice, which is reported when the table is read, the first one is used.
package struct TableNames: Sendable {
    /// The index of each coordinator.
    package let coordinators: [String: Int]

    /// The index of each screen, by the index of its coordinator.
    package let screens: [[String: Int]]

    /// The nearest parent with an initial screen, for each coordinator.
    package let initialAbove: [Int?]

    /// The index of each route.
    package let routes: [String: Int]

    /// The index of each model.
    package let models: [String: Int]

    /// The index of each field, by the index of its model.
    package let fields: [[String: Int]]

    /// The index of each guard.
    package let guards: [String: Int]

    /// The index of each capability.
    package let capabilities: [String: Int]

    /// Collects the names of a table.
    package init(_ source: TableSource) {
        coordinators = Self.index(source.coordinators.map(\.name.value))
        screens = source.coordinators.map { Self.index($0.screens.map(\.name.value)) }
        let parents = source.coordinators.map { [coordinators] in $0.parent.flatMap { coordinators[$0.value] } }
        let hasInitial = zip(source.coordinators, screens).map { coordinator, screens in
            coordinator.initial.map { screens[$0.value] != nil } ?? false
        }
        initialAbove = Self.nearest(above: parents, where: hasInitial)
        routes = Self.index(source.routes.map(\.id.value))
        models = Self.index(source.models.map(\.name.value))
        fields = source.models.map { Self.index($0.fields.map(\.name.value)) }
        guards = Self.index(source.guards.map(\.name.value))
        capabilities = Self.index(source.capabilities.map(\.name.value))
    }

    /// Returns, for each index, the nearest parent that satisfies the condition, or nil if there is none, even if its
    /// parents form a cycle.
    private static func nearest(above parents: [Int?], where holds: [Bool]) -> [Int?] {
        var found: [Int?] = parents.map { _ in nil }
        var isDone = parents.map { _ in false }
        for start in parents.indices {
            var chain: [Int] = []
            var next = start
            var nearest: Int?
            while !isDone[next] {
                isDone[next] = true
                chain.append(next)
                guard let parent = parents[next] else { break }
                nearest = holds[parent] ? parent : found[parent]
                if nearest != nil { break }
                next = parent
            }
            // No element between those of the chain and its end satisfies the condition.
            for one in chain { found[one] = nearest }
        }
        return found
    }

    private static func index(_ names: [String]) -> [String: Int] {
        Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }
}
