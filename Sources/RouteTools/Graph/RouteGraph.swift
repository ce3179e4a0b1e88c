package import LinkCoordinator

/// A graph of a table: the routes, the coordinators with their screens, and the edges between them.
package struct RouteGraph {
    /// A target of an edge.
    enum Node: Equatable {
        /// A screen, by the indices of its coordinator and of itself.
        case screen(Int, Int)
        /// A route, by index.
        case route(Int)
        /// The root, or captured paths.
        case other(String)
        /// An external URL in the table's notation.
        case url(String)
    }

    /// A possible result of a route, or the target of a guard for devices without the claim.
    struct Exit {
        /// The condition or a description, or empty if there is none.
        var label: String
        var target: Node?
        /// A Boolean value that indicates whether the exit is not the regular way into the app.
        var isDashed = true
    }

    /// A route with its patterns and exits.
    struct Route {
        var id: String
        var patterns: [String]
        var exits: [Exit]
    }

    /// A coordinator with its relations to others.
    struct Coordinator {
        var name: String
        /// The screens with their presentation, data, and conditions as text.
        var screens: [(name: String, notes: [String])]
        /// The index of the coordinator's initial screen.
        var initial: Int?
        /// The index of the parent coordinator.
        var parent: Int?
        var guarding: Exit?
    }

    /// The table's name.
    let title: String
    /// The routes sorted by id, followed by the fallback rules if they have targets.
    private(set) var routes: [Route] = []
    /// The coordinators, each after its parent.
    private(set) var coordinators: [Coordinator] = []
    /// The root, and captured paths.
    private(set) var others: [String] = []

    private let source: TableSource
    private let names: TableNames
    /// The index in the graph for each coordinator's index in the table.
    private let positions: [Int: Int]

    /// Creates the graph of a table.
    package init(_ table: RouteTable) {
        title = table.identity
        source = table.source
        names = TableNames(source)
        let order = source.coordinatorsAfterParents(names)
        positions = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
        addCoordinators(order)
        addRoutes(table)
        sortOthers()
    }

    private mutating func addCoordinators(_ order: [Int]) {
        for index in order {
            let coordinator = source.coordinators[index]
            coordinators.append(
                Coordinator(
                    name: coordinator.name.value + (coordinator.singleSlot ? " (single slot)" : ""),
                    screens: coordinator.screens.map { ($0.name.value, Self.notes($0)) },
                    initial: coordinator.initial.flatMap { names.screens[index][$0.value] },
                    parent: coordinator.parent.flatMap { names.coordinators[$0.value] }.flatMap { positions[$0] }))
        }
        for (index, coordinator) in source.coordinators.enumerated() {
            guard let name = coordinator.guarding?.value, let rule = names.guards[name].map({ source.guards[$0] }),
                let position = positions[index], let target = node(of: rule.otherwise)
            else { continue }
            coordinators[position].guarding = Exit(label: "guard \(name): claim \(rule.claim)", target: target)
        }
    }

    private static func notes(_ screen: TableSource.Screen) -> [String] {
        var notes: [String] = []
        if screen.defaultPresentation != .push { notes.append(screen.defaultPresentation.rawValue) }
        if !screen.needs.isEmpty { notes.append("needs " + screen.needs.map(\.value).joined(separator: ", ")) }
        if let condition = ConditionText.text(of: screen) { notes.append(condition) }
        return notes
    }

    private mutating func addRoutes(_ table: RouteTable) {
        let sorted = source.routes.sorted { $0.id.value < $1.id.value }
        let indices = Dictionary(zip(sorted.map(\.id.value), sorted.indices), uniquingKeysWith: { first, _ in first })
        // No text shows versions.
        let results = RouteExits(table, names, VersionSpans([]))
        for route in sorted {
            var patterns = RouteText.patterns(route)
            if patterns.isEmpty { patterns = ["by id only"] }
            for constraint in route.query { patterns.append("  where " + ConditionText.text(of: constraint)) }
            let exits = results.exits(of: route).map { exit(of: $0, indices) } + notices(of: route)
            routes.append(Route(id: route.id.value, patterns: patterns, exits: exits))
        }
        let exits = source.fallback.compactMap { rule in
            rule.to.map { exit(rule.on?.map(\.value.rawValue).joined(separator: ", ") ?? "any reason", $0) }
        }
        if !exits.isEmpty {
            routes.append(Route(id: "(fallback)", patterns: ["requests that fail with"], exits: exits))
        }
    }

    private mutating func exit(of result: RouteExits.Exit, _ indices: [String: Int]) -> Exit {
        if let target = result.target {
            return result.isUnsupported
                ? exit("if unsupported", target, isDashed: true) : exit(result.condition ?? "", target)
        }
        guard result.kind == .redirect else { return Exit(label: "", target: nil) }
        return Exit(
            label: "redirect to \(result.template ?? result.route ?? "")",
            target: result.route.flatMap { indices[$0] }.map { .route($0) })
    }

    /// Returns the notices of a route: one exit for each notice, with the variants that it belongs to.
    private mutating func notices(of route: TableSource.Route) -> [Exit] {
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
            return Exit(label: label, target: node(of: path))
        }
    }

    private mutating func exit(_ label: String, _ target: TableSource.Target, isDashed: Bool = false) -> Exit {
        let isExternal = if case .external = target.destination { true } else { false }
        return Exit(label: label, target: node(of: target), isDashed: isDashed || isExternal)
    }

    /// Returns the last screen of a target, the root, a captured path, or a URL.
    private mutating func node(of target: TableSource.Target) -> Node? {
        switch target.destination {
        case .path(let segments): node(of: segments)
        case .captured(let name): other("any coordinator path: {\(name.value)}")
        case .root: other("root: the empty stack")
        case .external(let template): .url(template.text)
        }
    }

    /// Returns the last screen of a coordinator path.
    private mutating func node(of path: [String]) -> Node? {
        guard let last = StaticStack.entries(of: path, in: source, names: names).last else {
            return other("root: the empty stack")
        }
        return positions[last.coordinator].map { .screen($0, last.screen) }
    }

    private mutating func other(_ text: String) -> Node {
        if !others.contains(text) { others.append(text) }
        return .other(text)
    }

    /// Sorts the targets without screens by the first routes that lead to them.
    private mutating func sortOthers() {
        var keys = [Int](repeating: .max, count: others.count)
        for route in routes {
            let screens = route.exits.compactMap { exit -> Int? in
                if case .screen(let coordinator, let screen)? = exit.target { return coordinator * 1000 + screen }
                return nil
            }
            for (index, text) in others.enumerated() where route.exits.contains(where: { $0.target == .other(text) }) {
                keys[index] = min(keys[index], screens.min() ?? Int.max - 1)
            }
        }
        others = others.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { others[$0] }
    }
}

/// A graph in the languages of other tools: Mermaid and Graphviz.
package enum GraphText {
    /// Returns a Mermaid flowchart with a subgraph for each coordinator.
    package static func mermaid(_ graph: RouteGraph) -> String {
        var lines = ["---", "title: \"\(Markup.dot(graph.title))\"", "---", "flowchart LR"]
        for (index, route) in graph.routes.enumerated() {
            let label = ([route.id] + route.patterns).map(Markup.mermaid).joined(separator: "<br/>")
            lines.append("  r\(index)[\"\(label)\"]")
        }
        for (index, coordinator) in graph.coordinators.enumerated() {
            lines.append("  subgraph c\(index)[\"\(Markup.mermaid(coordinator.name))\"]")
            for (number, screen) in coordinator.screens.enumerated() {
                let label = ([screen.name] + screen.notes).map(Markup.mermaid).joined(separator: "<br/>")
                lines.append(
                    number == coordinator.initial
                        ? "    c\(index)s\(number)([\"\(label)\"])" : "    c\(index)s\(number)[\"\(label)\"]")
            }
            lines.append("  end")
        }
        for (index, other) in graph.others.enumerated() {
            lines.append("  o\(index)>\"\(Markup.mermaid(other))\"]")
        }
        for (index, number, url) in urls(graph) {
            lines.append("  r\(index)u\(number)>\"\(Markup.mermaid(url))\"]")
        }
        for edge in edges(graph) {
            let label = edge.label.isEmpty ? "" : "|\"\(Markup.mermaid(edge.label))\"|"
            lines.append("  \(edge.from) \(edge.isDashed ? "-.->" : "-->")\(label) \(edge.to)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a directed Graphviz graph with a cluster for each coordinator.
    package static func dot(_ graph: RouteGraph) -> String {
        var lines = [
            "digraph routes {",
            "  graph [rankdir=LR, compound=true, labelloc=t, label=\"\(Markup.dot(graph.title))\"];",
            "  node [shape=box, fontname=\"monospace\"];", "  edge [fontname=\"monospace\"];",
        ]
        for (index, route) in graph.routes.enumerated() {
            let label = ([route.id] + route.patterns).map(Markup.dot).joined(separator: "\\n")
            lines.append("  r\(index) [label=\"\(label)\"];")
        }
        for (index, coordinator) in graph.coordinators.enumerated() {
            lines.append("  subgraph cluster_\(index) {")
            lines.append("    label=\"\(Markup.dot(coordinator.name))\"; style=rounded;")
            for (number, screen) in coordinator.screens.enumerated() {
                let label = ([screen.name] + screen.notes).map(Markup.dot).joined(separator: "\\n")
                let style = number == coordinator.initial ? ", style=bold" : ""
                lines.append("    c\(index)s\(number) [label=\"\(label)\"\(style)];")
            }
            lines.append("  }")
        }
        for (index, other) in graph.others.enumerated() {
            lines.append("  o\(index) [label=\"\(Markup.dot(other))\", shape=note];")
        }
        for (index, number, url) in urls(graph) {
            lines.append("  r\(index)u\(number) [label=\"\(Markup.dot(url))\", shape=note];")
        }
        for edge in edges(graph, clusters: true) {
            var attributes = ["label=\"\(Markup.dot(edge.label))\""]
            if edge.isDashed { attributes.append("style=dashed") }
            if let tail = edge.tail { attributes.append("ltail=\(tail)") }
            if let head = edge.head { attributes.append("lhead=\(head)") }
            lines.append("  \(edge.from) -> \(edge.to) [\(attributes.joined(separator: ", "))];")
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private struct Edge {
        var from: String
        var to: String
        var label: String
        var isDashed = true
        /// The clusters at whose borders the edge ends, for Graphviz.
        var tail: String?
        var head: String?
    }

    /// Returns all edges of the graph.
    ///
    /// - Parameter clusters: A Boolean value that indicates whether edges of a coordinator connect to one of its
    ///   screens and end at its border. Graphviz requires it, and Mermaid supports edges of subgraphs.
    private static func edges(_ graph: RouteGraph, clusters: Bool = false) -> [Edge] {
        var edges: [Edge] = []
        for (index, route) in graph.routes.enumerated() {
            for (number, exit) in route.exits.enumerated() {
                guard let target = exit.target else { continue }
                let to = name(target, graph, url: "r\(index)u\(number)")
                edges.append(Edge(from: "r\(index)", to: to, label: exit.label, isDashed: exit.isDashed))
            }
        }
        for (index, coordinator) in graph.coordinators.enumerated() where !coordinator.screens.isEmpty {
            let own = clusters ? "c\(index)s0" : "c\(index)"
            let tail = clusters ? "cluster_\(index)" : nil
            if let parent = coordinator.parent, !graph.coordinators[parent].screens.isEmpty {
                let to = clusters ? "c\(parent)s\(graph.coordinators[parent].initial ?? 0)" : "c\(parent)"
                let head = clusters ? "cluster_\(parent)" : nil
                edges.append(Edge(from: own, to: to, label: "parent", tail: tail, head: head))
            }
            if let guarding = coordinator.guarding, let target = guarding.target {
                edges.append(Edge(from: own, to: name(target, graph), label: guarding.label, tail: tail))
            }
        }
        return edges
    }

    /// Returns the URLs of external targets, each with the indices of its route and exit.
    private static func urls(_ graph: RouteGraph) -> [(route: Int, exit: Int, url: String)] {
        graph.routes.enumerated().flatMap { index, route in
            route.exits.enumerated().compactMap { number, exit in
                if case .url(let url)? = exit.target { (index, number, url) } else { nil }
            }
        }
    }

    private static func name(_ node: RouteGraph.Node, _ graph: RouteGraph, url: String = "") -> String {
        switch node {
        case .screen(let coordinator, let screen): "c\(coordinator)s\(screen)"
        case .route(let index): "r\(index)"
        case .other(let text): "o\(graph.others.firstIndex(of: text) ?? 0)"
        case .url: url
        }
    }
}
