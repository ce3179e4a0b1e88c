/// What the names of a table stand for: indices into its lists.
///
/// Of names that stand twice (which reading complains of) the first counts.
package struct TableNames: Sendable {
    /// Index of each coordinator.
    package let coordinators: [String: Int]

    /// Index of each screen, by the index of its coordinator.
    package let screens: [[String: Int]]

    /// For each coordinator the nearest above it that has an initial screen.
    package let initialAbove: [Int?]

    /// Index of each route.
    package let routes: [String: Int]

    /// Index of each model.
    package let models: [String: Int]

    /// Index of each field, by the index of its model.
    package let fields: [[String: Int]]

    /// Index of each guard.
    package let guards: [String: Int]

    /// Index of each capability.
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

    /// For each place the nearest above it of which something holds; nil too where its line goes in a circle of others.
    private static func nearest(above parents: [Int?], where holds: [Bool]) -> [Int?] {
        var found: [Int?] = parents.map { _ in nil }
        var isDone = parents.map { _ in false }
        for start in parents.indices {
            var line: [Int] = []
            var next = start
            var nearest: Int?
            while !isDone[next] {
                isDone[next] = true
                line.append(next)
                guard let parent = parents[next] else { break }
                nearest = holds[parent] ? parent : found[parent]
                if nearest != nil { break }
                next = parent
            }
            // None between the places of a line and its end is one of which it holds.
            for one in line { found[one] = nearest }
        }
        return found
    }

    private static func index(_ names: [String]) -> [String: Int] {
        Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }
}
