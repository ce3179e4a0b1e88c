import LinkCoordinator
import TableSupport
import Testing

@testable import RouteTools

@Suite struct GraphTests {
    @Test("No elements of a graph overlap", arguments: SampleTables.paths)
    func shipped(path: String) throws { try expectLegible(SampleTables.load(path)) }

    @Test("No elements overlap in the graphs of 100 random tables")
    func random() throws {
        for seed in 1...100 as ClosedRange<UInt64> {
            try expectLegible(SampleTables.random(seed: seed), "seed \(seed)")
        }
    }

    /// Checks that boxes do not overlap, texts are inside their boxes, lines connect edges, and lanes are outside the
    /// boxes.
    private func expectLegible(_ table: RouteTable, _ comment: Comment? = nil) throws {
        let layout = GraphLayout(RouteGraphBuilder.graph(of: table))
        let boxes = layout.routes + layout.coordinators + layout.others
        let rows = boxes.map { $0.frame.x..<($0.frame.x + $0.frame.width) }
        let columns = boxes.map { $0.frame.y..<($0.frame.y + $0.frame.height) }
        for a in boxes.indices {
            #expect(columns[a].lowerBound >= 44 && columns[a].upperBound <= layout.size.height - 28, comment)
            #expect(rows[a].upperBound < layout.size.width, comment)
            for b in boxes.indices where b > a {
                #expect(!(rows[a].overlaps(rows[b]) && columns[a].overlaps(columns[b])), comment)
            }
            for row in boxes[a].rows.indices {
                let text = DisplayWidth.cut(Escaping.visible(boxes[a].rows[row].text), to: 60)
                #expect(DisplayWidth.width(of: text) * 79 / 10 + 12 <= boxes[a].frame.width, comment)
                #expect(columns[a].contains(boxes[a].middle(of: row)), comment)
            }
        }
        var lanes: [Int: [ClosedRange<Int>]] = [:]
        for line in layout.lines {
            guard let lane = line.lane else {
                #expect(line.from.x < line.to.x, comment)
                #expect(!rows.contains { $0.contains(line.from.x + 1) && $0.contains(line.to.x - 1) }, comment)
                continue
            }
            #expect(lane > 0 && lane < layout.size.width && !rows.contains { $0.contains(lane) }, comment)
            let own = min(line.from.y, line.to.y)...max(line.from.y, line.to.y)
            // Lines with the same destination can meet there.
            #expect(!lanes[lane, default: []].contains { $0.clamped(to: own).count > 1 && $0.overlaps(own) }, comment)
            lanes[lane, default: []].append(own)
        }
    }

    @Test("A graph is XML with escaped names")
    func escaped() throws {
        let svg = GraphSVG.text(RouteGraphBuilder.graph(of: try SampleTables.load(SampleTables.path("odd"))))
        var open: [Substring] = []
        for match in svg.matches(of: #/<(/?)([a-z]+)((?: [A-Za-z:-]+="[^"<&]*(?:&[a-z0-9#]+;[^"<&]*)*")*) ?(/?)>/#) {
            if !match.1.isEmpty { #expect(open.popLast() == match.2) } else if match.4.isEmpty { open.append(match.2) }
        }
        #expect(open == [])
        // Text outside of tags has no bracket, and every ampersand begins an entity.
        let texts = svg.replacing(#/<style>(.|\n)*<\/style>/#, with: "").replacing(#/<\/?[a-z][^<>]*>/#, with: "")
        #expect(!texts.contains("<") && !texts.contains(">"))
        #expect(texts.matches(of: #/&(?!amp;|lt;|gt;|quot;|#39;)/#).isEmpty)
        #expect(texts.contains("/word/été &quot;&lt;&amp;&gt;`|"))
    }

    @Test("A graph needs no style sheet, because every shape has color attributes", arguments: SampleTables.paths)
    func colors(path: String) throws {
        let svg = GraphSVG.text(RouteGraphBuilder.graph(of: try SampleTables.load(path)))
        #expect(!svg.contains("var("))
        let plain = svg.replacing(#/<style>(.|\n)*<\/style>/#, with: "")
        let color = #/ (fill|stroke)="#[0-9a-f]{6}"/#
        for match in plain.matches(of: #/<(rect|text|path) [^>]*>/#) {
            #expect(match.0.contains(color), "\(match.0)")
        }
        // A line must not be filled, whatever the default of the program that draws it.
        for match in plain.matches(of: #/<path class="line [^>]*>/#) { #expect(match.0.contains(" fill=\"none\"")) }
        // The style sheet contains only literal colors for dark pages.
        let sheet = try #require(
            svg.firstMatch(of: #/<style>\n@media \(prefers-color-scheme: dark\) \{\n((.|\n)*)\n\}\n<\/style>/#))
        #expect(sheet.1.split(separator: "\n").allSatisfy { $0.contains(#/^[.a-z].*\{ (fill|stroke): #[0-9a-f]{6};/#) })
    }

    @Test("A notice is a line from the route to the screen, and an edge in the texts")
    func notices() throws {
        let graph = RouteGraphBuilder.graph(of: try SampleTables.load(SampleTables.path("anchor")))
        let item = try #require(graph.routes.first { $0.id == "item" })
        let notice = try #require(item.exits.first { $0.kind == .notice })
        guard case .screen(let coordinator, let screen)? = notice.target else {
            Issue.record("the notice leads to no screen")
            return
        }
        #expect(graph.coordinators[coordinator].name == "system")
        #expect(graph.coordinators[coordinator].screens[screen].name == "update")
        #expect(GraphLayout(graph).lines.filter { $0.styleClass == "notice" }.count == 1)
        #expect(GraphSVG.text(graph).contains("shows a notice"))
        #expect(GraphText.mermaid(graph).contains("-.->|\"notice"))
        #expect(GraphText.dot(graph).contains("label=\"notice"))
    }
}
