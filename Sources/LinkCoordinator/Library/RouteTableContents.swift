extension RouteTable {
    /// A route that a table declares.
    public struct Route: Sendable, Hashable, Identifiable {
        /// The route's id, as decisions name it.
        public let id: String
        /// The paths of the route's patterns, or an empty array if the route is reached only by its id.
        public let patterns: [String]
    }

    /// A screen that a table declares.
    public struct Screen: Sendable, Hashable {
        /// The name of the coordinator.
        public let coordinator: String
        /// The name of the screen.
        public let name: String
        /// The name of the screen whose view displays this screen, or nil if the screen has its own view.
        public let view: String?
        /// The names of the models whose data the screen needs.
        public let models: [String]
    }

    /// The routes, in the order of the table.
    public var routes: [Route] {
        source.routes.map { route in
            Route(
                id: route.id.value,
                patterns: route.patterns.filter { !$0.omitsOptionalPart }.map { route.written($0) })
        }
    }

    /// The screens of all coordinators, in the order of the table.
    ///
    /// An app can check at launch that it has a view for each screen:
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
