extension RouteTable {
    /// A route that a table declares.
    public struct Route: Sendable, Hashable, Identifiable {
        /// The route's id, as decisions name it.
        public let id: String
        /// The paths of its patterns, as the table writes them; empty for a route that is reached by its id only.
        public let patterns: [String]
    }

    /// A screen that a table declares.
    public struct Screen: Sendable, Hashable {
        /// The coordinator.
        public let coordinator: String
        /// The screen's name.
        public let name: String
        /// The screen whose view draws this one, if it is another.
        public let view: String?
        /// The names of the models whose data the screen needs.
        public let models: [String]
    }

    /// The routes, in the order of the table.
    public var routes: [Route] {
        source.routes.map { route in
            Route(
                id: route.id.value,
                patterns: route.patterns.filter { !$0.leavesOptionalOut }.map { route.written($0) })
        }
    }

    /// The screens of all coordinators, in the order of the table.
    ///
    /// An app can check at its start that it has a view for each:
    ///
    /// ```swift
    /// for screen in table.screens { assert(AppScreen(rawValue: screen.view ?? screen.name) != nil) }
    /// ```
    public var screens: [Screen] {
        source.coordinators.flatMap { coordinator in
            coordinator.screens.map { screen in
                Screen(
                    coordinator: coordinator.name.value, name: screen.name.value, view: screen.view?.value,
                    models: screen.needs.map(\.value))
            }
        }
    }
}
