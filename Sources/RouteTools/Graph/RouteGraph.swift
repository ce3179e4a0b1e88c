package import LinkCoordinator

/// A graph of a table: the routes, the coordinators with their screens, and the edges between them.
package struct RouteGraph {
    /// A target of an edge.
    enum Node: Hashable {
        /// A whole coordinator, by index.
        case coordinator(Int)
        /// A screen, by the indices of its coordinator and of itself.
        case screen(Int, Int)
        /// A route, by index.
        case route(Int)
        /// A target without a screen, by index in `others`.
        case other(Int)
    }

    /// The meaning of an exit of a route.
    enum Kind: String, CaseIterable {
        case navigate, external, redirect, excluded, unsupported, notice
    }

    /// A possible result of a route.
    struct Exit {
        /// The condition or a description, or empty if there is none.
        var label: String
        /// The meaning of the exit.
        var kind: Kind
        /// The target in the app, or nil if there is none.
        var target: Node?
        /// The URL of an external target in the table's notation.
        var url: String?
    }

    /// A route with its patterns and exits.
    struct Route {
        var id: String
        var patterns: [String]
        var exits: [Exit]
    }

    /// A screen with its requirements.
    struct Screen {
        var name: String
        /// The presentation, data, and conditions as text.
        var notes: [String]
    }

    /// A coordinator with its relations to others.
    struct Coordinator {
        var name: String
        var screens: [Screen]
        /// The index of the coordinator's initial screen.
        var initial: Int?
        /// The index of the parent coordinator.
        var parent: Int?
        /// The guard as text, and the target for devices without the claim.
        var guarding: (label: String, target: Node)?
    }

    /// The table's name.
    var title: String
    /// The routes sorted by id; the fallback rules come last if they have targets.
    var routes: [Route] = []
    /// The coordinators, each after its parent.
    var coordinators: [Coordinator] = []
    /// The root, and captured paths.
    var others: [String] = []
}

/// A builder for the graph of a table.
package struct RouteGraphBuilder {
    private let table: RouteTable
    private let names: TableNames
    private var graph: RouteGraph
    /// The index in the graph for each index in the table.
    private var coordinatorIndex: [Int: Int] = [:]
    private let routeIndex: [String: Int]
    private let routes: [TableSource.Route]

    /// Returns the graph of a table.
    package static func graph(of table: RouteTable) -> RouteGraph {
        var builder = RouteGraphBuilder(table)
        builder.addCoordinators()
        builder.addRoutes()
        builder.sortOthers()
        return builder.graph
    }

    private init(_ table: RouteTable) {
        self.table = table
        names = TableNames(table.source)
        graph = RouteGraph(title: table.identity)
        routes = table.source.routes.sorted { $0.id.value < $1.id.value }
        routeIndex = Dictionary(
            zip(routes.map(\.id.value), routes.indices), uniquingKeysWith: { first, _ in first })
    }

    private mutating func addCoordinators() {
        let source = table.source
        for index in source.coordinatorsAfterParents(names) {
            coordinatorIndex[index] = graph.coordinators.count
            let coordinator = source.coordinators[index]
            graph.coordinators.append(
                RouteGraph.Coordinator(
                    name: coordinator.name.value + (coordinator.singleSlot ? " (single slot)" : ""),
                    screens: coordinator.screens.map(Self.screen),
                    initial: coordinator.initial.flatMap { names.screens[index][$0.value] },
                    parent: coordinator.parent.flatMap { names.coordinators[$0.value] }.flatMap { coordinatorIndex[$0] }
                ))
        }
        for coordinator in source.coordinators {
            guard let name = coordinator.guarding?.value, let at = names.guards[name] else { continue }
            let rule = source.guards[at]
            guard let index = names.coordinators[coordinator.name.value].flatMap({ coordinatorIndex[$0] }),
                let target = node(of: rule.otherwise)
            else { continue }
            graph.coordinators[index].guarding = ("guard \(name): claim \(rule.claim)", target)
        }
    }

    private static func screen(_ screen: TableSource.Screen) -> RouteGraph.Screen {
        var notes: [String] = []
        if screen.defaultPresentation != .push { notes.append(screen.defaultPresentation.rawValue) }
        if !screen.needs.isEmpty { notes.append("needs " + screen.needs.map(\.value).joined(separator: ", ")) }
        if let condition = ConditionText.text(of: screen) { notes.append(condition) }
        return RouteGraph.Screen(name: screen.name.value, notes: notes)
    }

    private mutating func addRoutes() {
        for route in routes {
            var patterns = RouteText.patterns(route)
            if patterns.isEmpty { patterns = ["by id only"] }
            for constraint in route.query { patterns.append("  where " + ConditionText.text(of: constraint)) }
            graph.routes.append(RouteGraph.Route(id: route.id.value, patterns: patterns, exits: exits(of: route)))
        }
        let rules = table.source.fallback.filter { $0.to != nil }
        if !rules.isEmpty {
            let exits = rules.compactMap { rule in
                rule.to.map { exit(rule.on?.map(\.value.rawValue).joined(separator: ", ") ?? "any reason", $0) }
            }
            graph.routes.append(RouteGraph.Route(id: "(fallback)", patterns: ["requests that fail with"], exits: exits))
        }
    }

    private mutating func exits(of route: TableSource.Route) -> [RouteGraph.Exit] {
        var exits: [RouteGraph.Exit] = []
        switch route.action {
        case .variants(let variants):
            for variant in variants {
                let label = variants.count == 1 && variant.when == nil ? "" : ConditionText.text(of: variant.when)
                exits.append(exit(label, variant.to))
            }
        case .redirect(.route(let id)):
            let target = routeIndex[id.value].map { RouteGraph.Node.route($0) }
            exits.append(RouteGraph.Exit(label: "redirect to \(id.value)", kind: .redirect, target: target))
        case .redirect(.template(let template)):
            let target = SampleLinks.redirectTarget(of: route, in: table).flatMap { routeIndex[$0] }
            exits.append(
                RouteGraph.Exit(
                    label: "redirect to \(template.value.text)", kind: .redirect, target: target.map { .route($0) }))
        case .exclude(let outcome):
            exits.append(RouteGraph.Exit(label: "excluded: \(outcome.rawValue)", kind: .excluded, target: nil))
        }
        if case .to(let target) = route.unsupported {
            var exit = exit("if unsupported", target)
            if exit.kind == .navigate { exit.kind = .unsupported }
            exits.append(exit)
        }
        return exits + notices(of: route)
    }

    /// Returns the notices of a route: one exit for each notice, with the variants that it belongs to.
    private mutating func notices(of route: TableSource.Route) -> [RouteGraph.Exit] {
        var paths: [[String]] = []
        for path in route.variants.compactMap({ $0.notice?.value }) + [route.notice?.value].compactMap({ $0 })
        where !paths.contains(path) {
            paths.append(path)
        }
        return paths.map { path in
            let own = route.variants.filter { $0.notice?.value == path }
            let label =
                own.count == route.variants.count || own.isEmpty
                ? "notice" : own.map { "notice: " + ConditionText.text(of: $0.when) }.joined(separator: "; ")
            return RouteGraph.Exit(label: label, kind: .notice, target: node(of: path))
        }
    }

    private mutating func exit(_ label: String, _ target: TableSource.Target) -> RouteGraph.Exit {
        if case .external(let template) = target.destination {
            return RouteGraph.Exit(label: label, kind: .external, url: template.text)
        }
        return RouteGraph.Exit(label: label, kind: .navigate, target: node(of: target))
    }

    /// Returns the last screen of a target, the root, or a captured path.
    private mutating func node(of target: TableSource.Target) -> RouteGraph.Node? {
        switch target.destination {
        case .path(let segments): return node(of: segments)
        case .captured(let name): return other("any coordinator path: {\(name.value)}")
        case .root: return other("root: the empty stack")
        case .external: return nil
        }
    }

    /// Returns the last screen of a coordinator path.
    private mutating func node(of path: [String]) -> RouteGraph.Node? {
        guard let stack = try? StaticStack.compose(path, in: table.source, names: names),
            let last = stack.entries.last
        else { return other("root: the empty stack") }
        return coordinatorIndex[last.coordinator].map { .screen($0, last.screen) }
    }

    /// Sorts the targets without screens by the first routes that lead to them.
    private mutating func sortOthers() {
        var keys = [Int](repeating: .max, count: graph.others.count)
        for route in graph.routes {
            let screens = route.exits.compactMap { exit -> Int? in
                if case .screen(let coordinator, let screen)? = exit.target { return coordinator * 1000 + screen }
                return nil
            }
            for exit in route.exits {
                guard case .other(let index)? = exit.target else { continue }
                keys[index] = min(keys[index], screens.min() ?? Int.max - 1)
            }
        }
        let order = graph.others.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
        let newIndices = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
        func moved(_ node: RouteGraph.Node?) -> RouteGraph.Node? {
            if case .other(let index)? = node { return .other(newIndices[index] ?? index) }
            return node
        }
        graph.others = order.map { graph.others[$0] }
        for route in graph.routes.indices {
            for exit in graph.routes[route].exits.indices {
                graph.routes[route].exits[exit].target = moved(graph.routes[route].exits[exit].target)
            }
        }
        for index in graph.coordinators.indices {
            guard let guarding = graph.coordinators[index].guarding, let target = moved(guarding.target) else {
                continue
            }
            graph.coordinators[index].guarding = (guarding.label, target)
        }
    }

    private mutating func other(_ text: String) -> RouteGraph.Node {
        if let index = graph.others.firstIndex(of: text) { return .other(index) }
        graph.others.append(text)
        return .other(graph.others.count - 1)
    }
}
