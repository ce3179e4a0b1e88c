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
        var isDashed: Bool
        /// The clusters at whose borders the edge ends, for Graphviz.
        var tail: String?
        var head: String?
    }

    /// Returns all edges of the graph.
    ///
    /// - Parameter clusters: A Boolean value that indicates whether edges of a coordinator connect to one of its
    ///   screens and end at its border, which Graphviz requires; Mermaid supports edges of subgraphs.
    private static func edges(_ graph: RouteGraph, clusters: Bool = false) -> [Edge] {
        var edges: [Edge] = []
        for (index, route) in graph.routes.enumerated() {
            for (number, exit) in route.exits.enumerated() {
                guard let to = exit.target.map(name) ?? exit.url.map({ _ in "r\(index)u\(number)" }) else { continue }
                edges.append(Edge(from: "r\(index)", to: to, label: exit.label, isDashed: exit.kind != .navigate))
            }
        }
        for (index, coordinator) in graph.coordinators.enumerated() where !coordinator.screens.isEmpty {
            let own = clusters ? "c\(index)s0" : "c\(index)"
            let tail = clusters ? "cluster_\(index)" : nil
            if let parent = coordinator.parent, !graph.coordinators[parent].screens.isEmpty {
                let to = clusters ? "c\(parent)s\(graph.coordinators[parent].initial ?? 0)" : "c\(parent)"
                let head = clusters ? "cluster_\(parent)" : nil
                edges.append(Edge(from: own, to: to, label: "parent", isDashed: true, tail: tail, head: head))
            }
            if let guarding = coordinator.guarding {
                edges.append(
                    Edge(from: own, to: name(guarding.target), label: guarding.label, isDashed: true, tail: tail))
            }
        }
        return edges
    }

    /// Returns the URLs of external targets, each with the indices of its route and exit.
    private static func urls(_ graph: RouteGraph) -> [(route: Int, exit: Int, url: String)] {
        graph.routes.enumerated().flatMap { index, route in
            route.exits.enumerated().compactMap { number, exit in exit.url.map { (index, number, $0) } }
        }
    }

    private static func name(_ node: RouteGraph.Node) -> String {
        switch node {
        case .coordinator(let index): "c\(index)"
        case .screen(let coordinator, let screen): "c\(coordinator)s\(screen)"
        case .route(let index): "r\(index)"
        case .other(let index): "o\(index)"
        }
    }
}
