/// A self-contained SVG drawing of a graph, legible on light and dark backgrounds, with all names escaped.
package enum GraphSVG {
    /// Returns the file.
    package static func text(_ graph: RouteGraph) -> String {
        let layout = GraphLayout(graph)
        let height = layout.size.height
        let legend = legend(y: height - 20, graph)
        let width = max(layout.size.width, legend.end)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" font-family=\"\(font)\" font-size=\"13\">",
            "<title>Routes of \(Markup.xml(graph.title))</title>",
            "<desc>\(graph.routes.count) boxes of routes, \(graph.coordinators.count) coordinators</desc>",
            GraphColors.darkStyleSheet, markers,
            "<rect class=\"ground\" width=\"\(width)\" height=\"\(height)\" fill=\"\(color("ground"))\"/>",
            "<text class=\"heading\" x=\"24\" y=\"32\" font-size=\"17\" font-weight=\"600\" fill=\"\(color("ink"))\">"
                + "\(Markup.xml(graph.title))</text>",
        ]
        lines += layout.lines.map(path)
        lines += (layout.routes + layout.coordinators + layout.others).map(box)
        lines += legend.lines
        return lines.joined(separator: "\n") + "\n</svg>\n"
    }

    private static let font =
        "ui-monospace, SF Mono, Menlo, Consolas, DejaVu Sans Mono, Liberation Mono, Courier New, monospace"

    private static func color(_ name: String) -> String { GraphColors.light[name] ?? "" }

    private static func line(_ styleClass: String, _ shape: String) -> String {
        "<path class=\"line \(styleClass)\" fill=\"none\" stroke=\"\(color(styleClass))\" stroke-width=\"1.5\""
            + "\(GraphColors.dashes(styleClass)) d=\"\(shape)\" marker-end=\"url(#to-\(styleClass))\"/>"
    }

    private static func note(_ text: String, x: Int, y: Int) -> String {
        "<text class=\"note\" x=\"\(x)\" y=\"\(y)\" fill=\"\(color("dim"))\">\(text)</text>"
    }

    private static func path(_ line: GraphLayout.Line) -> String {
        let (from, to) = (line.from, line.to)
        var shape = "M\(from.x) \(from.y)"
        if let lane = line.lane {
            shape += lanePath(from, to, lane)
        } else {
            let bend = max(60, (to.x - from.x) / 2)
            shape += " C\(from.x + bend) \(from.y) \(to.x - bend) \(to.y) \(to.x - 2) \(to.y)"
        }
        return Self.line(line.styleClass, shape)
    }

    /// Returns a path to the lane, along it, and back, with rounded corners.
    private static func lanePath(_ from: (x: Int, y: Int), _ to: (x: Int, y: Int), _ lane: Int) -> String {
        let side = lane > from.x ? 1 : -1
        let down = to.y > from.y ? 1 : -1
        let radius = min(6, abs(to.y - from.y) / 2)
        return " H\(lane - side * radius) Q\(lane) \(from.y) \(lane) \(from.y + down * radius)"
            + " V\(to.y - down * radius) Q\(lane) \(to.y) \(lane - side * radius) \(to.y) H\(to.x + side * 2)"
    }

    private static func box(_ box: GraphLayout.Box) -> String {
        let frame = box.frame
        let kind = box.styleClass.split(separator: " ").first.map(String.init) ?? box.styleClass
        let dashes = box.styleClass.hasSuffix("excluded") ? " stroke-dasharray=\"4 3\"" : ""
        var lines = [
            "<g class=\"\(box.styleClass)\">",
            "<rect class=\"box\" x=\"\(frame.x)\" y=\"\(frame.y)\" width=\"\(frame.width)\" height=\"\(frame.height)\" "
                + "rx=\"6\" fill=\"\(color(kind))\" stroke=\"\(color("edge"))\"\(dashes)/>",
        ]
        for (index, row) in box.rows.enumerated() {
            let y = box.middle(of: index) + 5
            let whole = Escaping.visible(row.text)
            let shown = DisplayWidth.cut(whole, to: GraphLayout.Metrics.textColumns)
            let tooltip = shown == whole ? "" : "<title>\(Markup.xml(whole))</title>"
            let isExit = row.role == .exit
            let x = isExit ? frame.x + frame.width - 12 : frame.x + 12
            let textColor = row.role == .title || row.role == .plain ? "ink" : "dim"
            lines.append(
                "<text class=\"\(row.role.rawValue)\" x=\"\(x)\" y=\"\(y)\" fill=\"\(color(textColor))\""
                    + (row.role == .title ? " font-weight=\"700\"" : "")
                    + (isExit ? " text-anchor=\"end\"" : "") + " xml:space=\"preserve\">"
                    + tooltip + Markup.xml(shown) + "</text>")
        }
        return (lines + ["</g>"]).joined(separator: "\n")
    }

    /// Returns a sample of each kind of line in the picture.
    private static func legend(y: Int, _ graph: RouteGraph) -> (lines: [String], end: Int) {
        var kinds: [(styleClass: String, text: String)] = []
        let used = Set(graph.routes.flatMap { $0.exits.filter { $0.target != nil }.map(\.kind) })
        for kind in RouteGraph.Kind.allCases where used.contains(kind) {
            switch kind {
            case .navigate: kinds.append((kind.rawValue, "leads to"))
            case .redirect: kinds.append((kind.rawValue, "redirects"))
            case .unsupported: kinds.append((kind.rawValue, "if unsupported"))
            case .notice: kinds.append((kind.rawValue, "shows a notice"))
            case .external, .excluded: continue
            }
        }
        if graph.coordinators.contains(where: { $0.parent != nil }) { kinds.append(("parent", "parent")) }
        if graph.coordinators.contains(where: { $0.guarding != nil }) { kinds.append(("guard", "guard leads to")) }
        var x = 24
        var lines: [String] = []
        for kind in kinds {
            lines.append(line(kind.styleClass, "M\(x) \(y) H\(x + 30)"))
            lines.append(note(kind.text, x: x + 38, y: y + 4))
            x += 38 + GraphLayout.Metrics.width(kind.text) + 24
        }
        if graph.coordinators.contains(where: { $0.initial != nil }) {
            lines.append(note("● initial screen", x: x, y: y + 4))
            x += GraphLayout.Metrics.width("● initial screen") + 24
        }
        if graph.routes.contains(where: { $0.exits.contains { $0.url != nil } }) {
            lines.append(note("↗ opens outside the app", x: x, y: y + 4))
            x += GraphLayout.Metrics.width("↗ opens outside the app") + 24
        }
        return (lines, x)
    }

    /// The style classes of lines.
    private static let styleClasses = ["navigate", "redirect", "unsupported", "notice", "parent", "guard"]

    private static let markers =
        "<defs>"
        + styleClasses.map {
            "<marker id=\"to-\($0)\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
                + "orient=\"auto-start-reverse\"><path class=\"head \($0)\" fill=\"\(GraphColors.light[$0] ?? "")\" "
                + "d=\"M0 0 L8 4 L0 8 Z\"/></marker>"
        }.joined() + "</defs>"
}

/// The colors of a picture.
///
/// Each element has its own colors, for programs without style sheets. A style sheet, which other programs can ignore,
/// has the colors for dark backgrounds.
enum GraphColors {
    /// The colors on a light background.
    static let light: [String: String] = [
        "ground": "#ffffff", "ink": "#1c2430", "dim": "#5b6675", "edge": "#aab4c2", "route": "#f3f6fb",
        "coordinator": "#eef8f1", "other": "#f7f4ec", "navigate": "#2563b8", "redirect": "#b4480f",
        "unsupported": "#8b3a8b", "notice": "#0f7285", "parent": "#2f7d4f", "guard": "#b3261e",
    ]

    private static let dark: [(name: String, color: String)] = [
        ("ground", "#14181f"), ("ink", "#e6ebf2"), ("dim", "#9aa7b8"), ("edge", "#46515f"), ("route", "#1d2531"),
        ("coordinator", "#1a2a22"), ("other", "#2a2618"), ("navigate", "#7db1ff"), ("redirect", "#ff9d66"),
        ("unsupported", "#dd9bdd"), ("notice", "#67c9dc"), ("parent", "#78cf9a"), ("guard", "#ff8a80"),
    ]

    /// Returns the dash attribute of a kind of line; lines to screens have none.
    static func dashes(_ styleClass: String) -> String {
        switch styleClass {
        case "redirect", "notice": " stroke-dasharray=\"2 3\""
        case "guard": " stroke-dasharray=\"5 3\""
        default: ""
        }
    }

    /// The style sheet, which contains only the colors for dark backgrounds.
    static let darkStyleSheet: String = {
        var rules: [String] = []
        for (name, color) in dark {
            switch name {
            case "ground": rules.append(".ground { fill: \(color); }")
            case "ink": rules.append("text { fill: \(color); }")
            case "dim": rules.append(".note, .exit { fill: \(color); }")
            case "edge": rules.append(".box { stroke: \(color); }")
            case "route", "coordinator", "other": rules.append(".\(name) .box { fill: \(color); }")
            default:
                rules.append(".line.\(name) { stroke: \(color); } .head.\(name) { fill: \(color); }")
            }
        }
        return "<style>\n@media (prefers-color-scheme: dark) {\n" + rules.joined(separator: "\n") + "\n}\n</style>"
    }()
}
