/// The layout of a graph: two layers of boxes, curves between the layers, and lanes for lines within a layer.
///
/// Routes are on the left, coordinators and other targets on the right, and each route is near its targets, so that few
/// curves cross. Redirects run in lanes left of the routes, parents and guards in lanes right of the coordinators. No
/// line crosses a box, and no two lines overlap in a lane. All measures are whole pixels.
struct GraphLayout {
    /// A line of text in a box.
    struct Row {
        /// The whole text.
        var text: String
        /// The role of the text, which determines its style.
        var role: Role
    }

    /// The role of a line of text in a box.
    enum Role: String { case title, plain, note, exit }

    /// A box with rows.
    struct Box {
        var frame: Frame
        /// The style class.
        var styleClass: String
        var rows: [Row]

        /// Returns the vertical center of a row.
        func middle(of row: Int) -> Int { frame.y + Metrics.padding + Metrics.row * row + Metrics.row / 2 }
    }

    /// A position and a size.
    struct Frame {
        var x = 0
        var y = 0
        var width = 0
        var height = 0
    }

    /// A line from one box to another.
    struct Line {
        /// The style class.
        var styleClass: String
        var from: (x: Int, y: Int)
        var to: (x: Int, y: Int)
        /// The position of the lane in which the line turns, or nil for a curve.
        var lane: Int?
    }

    /// Measures of boxes.
    enum Metrics {
        /// The width of a text column in tenths of a pixel, at 13 px in a monospaced font.
        static let column = 79
        static let row = 20
        static let padding = 6
        static let gap = 16
        static let lane = 12
        static let margin = 24
        static let heading = 44
        /// The number of columns after which a text is cut; a tooltip has the whole text.
        static let textColumns = 60
        /// The width between the layers.
        static let channel = 200

        /// Returns the width of a text in pixels.
        static func width(_ text: String) -> Int { (min(DisplayWidth.width(of: text), textColumns) * column + 9) / 10 }
    }

    private(set) var routes: [Box] = []
    private(set) var coordinators: [Box] = []
    private(set) var others: [Box] = []
    private(set) var lines: [Line] = []
    private(set) var size = Frame()

    private let graph: RouteGraph
    /// The first row of each coordinator's screens.
    private var firstScreenRow: [Int] = []

    /// Lays out a graph.
    init(_ graph: RouteGraph) {
        self.graph = graph
        makeBoxes()
        let order = routeOrder()
        assignPositions(inOrder: order)
        connect(order)
    }
}

// MARK: - Boxes

extension GraphLayout {
    private mutating func makeBoxes() {
        for route in graph.routes {
            var rows = [Row(text: route.id, role: .title)]
            rows += route.patterns.map { Row(text: $0, role: .plain) }
            rows += route.exits.compactMap(Self.exitText).map { Row(text: $0, role: .exit) }
            let isExcluded = route.exits.contains { $0.kind == .excluded }
            routes.append(Self.box(rows, styleClass: isExcluded ? "route excluded" : "route"))
        }
        for coordinator in graph.coordinators {
            var rows = [Row(text: coordinator.name, role: .title)]
            if let parent = coordinator.parent {
                rows.append(Row(text: "parent: \(graph.coordinators[parent].name)", role: .note))
            }
            if let guarding = coordinator.guarding { rows.append(Row(text: guarding.label, role: .note)) }
            firstScreenRow.append(rows.count)
            for (index, screen) in coordinator.screens.enumerated() {
                let mark = index == coordinator.initial ? "● " : "○ "
                let notes = screen.notes.isEmpty ? "" : "  " + screen.notes.joined(separator: "; ")
                rows.append(Row(text: mark + screen.name + notes, role: .plain))
            }
            coordinators.append(Self.box(rows, styleClass: "coordinator"))
        }
        others = graph.others.map { Self.box([Row(text: $0, role: .plain)], styleClass: "other") }
    }

    /// Returns the row of an exit: its condition and the URL that it opens, or nil for none.
    private static func exitText(_ exit: RouteGraph.Exit) -> String? {
        let parts = [exit.label, exit.url.map { "↗ " + $0 } ?? ""].filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: "  ")
    }

    private static func box(_ rows: [Row], styleClass: String) -> Box {
        let width = rows.map { Metrics.width($0.text) + ($0.role == .exit ? 12 : 0) }.max() ?? 0
        return Box(
            frame: Frame(width: width + 24, height: rows.count * Metrics.row + 2 * Metrics.padding),
            styleClass: styleClass,
            rows: rows)
    }
}

// MARK: - Positions

extension GraphLayout {
    /// Returns the routes sorted by the median position of their targets (Sugiyama's method), with redirects beside
    /// their target.
    private func routeOrder() -> [Int] {
        var keys = [(key: Int, depth: Int)](repeating: (.max, 0), count: graph.routes.count)
        for (index, route) in graph.routes.enumerated() {
            // A notice is not a target, so it does not affect the position of a route.
            let ranks = route.exits.filter { $0.kind != .notice }.compactMap { $0.target.flatMap(rank) }.sorted()
            if !ranks.isEmpty { keys[index].key = ranks[(ranks.count - 1) / 2] }
        }
        // A redirect gets the position of its target; chains have at most five steps.
        for _ in 0..<5 {
            for (index, route) in graph.routes.enumerated() where keys[index].key == .max {
                for exit in route.exits {
                    guard case .route(let target)? = exit.target, keys[target].key != .max else { continue }
                    keys[index] = (keys[target].key, keys[target].depth + 1)
                }
            }
        }
        return graph.routes.indices.sorted { a, b in
            (keys[a].key, keys[a].depth, a) < (keys[b].key, keys[b].depth, b)
        }
    }

    /// Returns the position of a target among all targets, from the top.
    private func rank(_ node: RouteGraph.Node) -> Int? {
        switch node {
        case .coordinator(let index): index * 1000
        case .screen(let coordinator, let screen): coordinator * 1000 + min(screen, 998) + 1
        case .other(let index): (graph.coordinators.count + index) * 1000
        case .route: nil
        }
    }

    private mutating func assignPositions(inOrder order: [Int]) {
        let redirects = redirectSpans(order)
        let leftLanes = (redirects.map(\.lane).max() ?? -1) + 1
        let spans = coordinatorSpans()
        let rightLanes = (spans.map(\.lane).max() ?? -1) + 1
        let left = Metrics.margin + (leftLanes > 0 ? leftLanes * Metrics.lane + Metrics.gap : 0)
        let routeWidth = routes.map(\.frame.width).max() ?? 0
        let targetWidth = (coordinators + others).map(\.frame.width).max() ?? 0
        let right = left + routeWidth + Metrics.channel
        for index in routes.indices {
            routes[index].frame.width = routeWidth
            routes[index].frame.x = left
        }
        for index in coordinators.indices { coordinators[index].frame = frame(coordinators[index], right, targetWidth) }
        for index in others.indices { others[index].frame = frame(others[index], right, targetWidth) }
        var y = Metrics.heading + Metrics.margin
        for index in order {
            routes[index].frame.y = y
            y += routes[index].frame.height + Metrics.gap
        }
        let targets = assignTargetPositions(routesEnd: y)
        size = Frame(
            width: right + targetWidth + (rightLanes > 0 ? rightLanes * Metrics.lane + Metrics.gap : 0)
                + Metrics.margin,
            height: max(y, targets) + Metrics.margin + 28)
    }

    private func frame(_ box: Box, _ x: Int, _ width: Int) -> Frame {
        Frame(x: x, y: 0, width: width, height: box.frame.height)
    }

    /// Stacks the boxes on the right, each as close as possible to the center of the routes that lead to it.
    private mutating func assignTargetPositions(routesEnd: Int) -> Int {
        let heights = (coordinators + others).map(\.frame.height)
        var preferredTops: [Int] = []
        for index in heights.indices {
            let sources = graph.routes.indices.filter { route in
                graph.routes[route].exits.contains { $0.target.map { leads($0, to: index) } ?? false }
            }
            let middles = sources.map { routes[$0].frame.y + routes[$0].frame.height / 2 }
            preferredTops.append(middles.isEmpty ? 0 : middles.reduce(0, +) / middles.count - heights[index] / 2)
        }
        let start = Metrics.heading + Metrics.margin
        var tops: [Int] = []
        var y = start
        for index in heights.indices {
            tops.append(max(y, preferredTops[index]))
            y = tops[index] + heights[index] + 2 * Metrics.gap
        }
        // Boxes that were pushed too far down move up as far as those above allow.
        let excess = max(0, y - max(routesEnd, start + heights.reduce(0, { $0 + $1 + 2 * Metrics.gap })))
        var slack = excess
        for index in tops.indices.reversed() where slack > 0 {
            let above = index == 0 ? start : tops[index - 1] + heights[index - 1] + 2 * Metrics.gap
            let free = min(slack, tops[index] - above)
            for moved in tops[index...].indices { tops[moved] -= free }
            slack -= free
        }
        for index in coordinators.indices { coordinators[index].frame.y = tops[index] }
        for index in others.indices { others[index].frame.y = tops[coordinators.count + index] }
        return y - excess
    }

    private func leads(_ node: RouteGraph.Node, to box: Int) -> Bool {
        switch node {
        case .coordinator(let index), .screen(let index, _): index == box
        case .other(let index): graph.coordinators.count + index == box
        case .route: false
        }
    }
}

// MARK: - Lines

extension GraphLayout {
    /// A line within a layer, from a row of one box to a row of another.
    ///
    /// The boxes are identified by their indices.
    private struct Span {
        var from: Int
        var row: Int
        var to: Int
        var toRow: Int
        var lane = 0
        var styleClass: String
    }

    /// Returns the redirects between routes, with positions in the order of the routes.
    private func redirectSpans(_ order: [Int]) -> [Span] {
        let positions = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
        var spans: [Span] = []
        for (index, route) in graph.routes.enumerated() {
            var row = 1 + route.patterns.count
            for exit in route.exits {
                if case .route(let target)? = exit.target {
                    spans.append(Span(from: index, row: row, to: target, toRow: 0, styleClass: "redirect"))
                }
                if Self.exitText(exit) != nil { row += 1 }
            }
        }
        return Self.lanes(spans) { (positions[$0.from] ?? 0, positions[$0.to] ?? 0) }
    }

    /// Returns the parents and guards between coordinators.
    private func coordinatorSpans() -> [Span] {
        var spans: [Span] = []
        for (index, coordinator) in graph.coordinators.enumerated() {
            var row = 1
            if let parent = coordinator.parent {
                spans.append(Span(from: index, row: row, to: parent, toRow: 0, styleClass: "parent"))
                row += 1
            }
            guard let target = coordinator.guarding?.target else { continue }
            switch target {
            case .coordinator(let other):
                spans.append(Span(from: index, row: row, to: other, toRow: 0, styleClass: "guard"))
            case .screen(let other, let screen):
                let toRow = firstScreenRow[other] + screen
                spans.append(Span(from: index, row: row, to: other, toRow: toRow, styleClass: "guard"))
            case .other(let other):
                let box = graph.coordinators.count + other
                spans.append(Span(from: index, row: row, to: box, toRow: 0, styleClass: "guard"))
            case .route: continue
            }
        }
        return Self.lanes(spans) { ($0.from, $0.to) }
    }

    /// Assigns the innermost lane without overlaps to each span, the short ones first.
    private static func lanes(_ spans: [Span], _ ends: (Span) -> (Int, Int)) -> [Span] {
        func range(_ span: Span) -> ClosedRange<Int> {
            let (a, b) = ends(span)
            return min(a, b)...max(a, b)
        }
        var spans = spans
        var occupied: [[ClosedRange<Int>]] = []
        let order = spans.indices.sorted { (range(spans[$0]).count, $0) < (range(spans[$1]).count, $1) }
        for index in order {
            let own = range(spans[index])
            var lane = 0
            while lane < occupied.count, occupied[lane].contains(where: { $0.overlaps(own) }) { lane += 1 }
            if lane == occupied.count { occupied.append([]) }
            occupied[lane].append(own)
            spans[index].lane = lane
        }
        return spans
    }

    private mutating func connect(_ order: [Int]) {
        for (index, route) in graph.routes.enumerated() {
            let box = routes[index]
            var row = 1 + route.patterns.count
            for exit in route.exits {
                let start = Self.exitText(exit) == nil ? 0 : row
                if Self.exitText(exit) != nil { row += 1 }
                guard let target = exit.target, let end = leftPort(of: target) else { continue }
                let from = (x: box.frame.x + box.frame.width, y: box.middle(of: start))
                lines.append(Line(styleClass: exit.kind.rawValue, from: from, to: end, lane: nil))
            }
        }
        for span in redirectSpans(order) {
            let from = routes[span.from]
            let to = routes[span.to]
            let lane = from.frame.x - Metrics.gap - span.lane * Metrics.lane
            lines.append(
                Line(
                    styleClass: span.styleClass, from: (from.frame.x, from.middle(of: span.row)),
                    to: (to.frame.x, to.middle(of: span.toRow)), lane: lane))
        }
        let targets = coordinators + others
        for span in coordinatorSpans() {
            let from = targets[span.from]
            let to = targets[span.to]
            let edge = from.frame.x + from.frame.width
            lines.append(
                Line(
                    styleClass: span.styleClass, from: (edge, from.middle(of: span.row)),
                    to: (edge, to.middle(of: span.toRow)),
                    lane: edge + Metrics.gap + span.lane * Metrics.lane))
        }
    }

    private func leftPort(of node: RouteGraph.Node) -> (x: Int, y: Int)? {
        switch node {
        case .coordinator(let index): (coordinators[index].frame.x, coordinators[index].middle(of: 0))
        case .screen(let index, let screen):
            (coordinators[index].frame.x, coordinators[index].middle(of: firstScreenRow[index] + screen))
        case .other(let index): (others[index].frame.x, others[index].middle(of: 0))
        case .route: nil
        }
    }
}
