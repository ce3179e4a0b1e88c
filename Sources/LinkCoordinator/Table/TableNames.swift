/// What the names of a table stand for: indices into its lists.
///
/// Of names that stand twice (which reading complains of) the first counts.
package struct TableNames: Sendable {
    /// Index of each coordinator.
    package let coordinators: [String: Int]

    /// Index of each screen, by the index of its coordinator.
    package let screens: [[String: Int]]

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
        routes = Self.index(source.routes.map(\.id.value))
        models = Self.index(source.models.map(\.name.value))
        fields = source.models.map { Self.index($0.fields.map(\.name.value)) }
        guards = Self.index(source.guards.map(\.name.value))
        capabilities = Self.index(source.capabilities.map(\.name.value))
    }

    private static func index(_ names: [String]) -> [String: Int] {
        Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }
}
