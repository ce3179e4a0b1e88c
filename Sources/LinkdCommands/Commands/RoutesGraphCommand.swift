internal import RouteTools
internal import LinkCoordinator

/// `linkd routes graph`: a table as a picture.
enum RoutesGraphCommand {
    static let command = Command(
        path: ["routes", "graph"],
        summary: "Draw a table: routes, coordinators, screens, and what leads where",
        discussion: [
            "Routes stand left with their patterns and conditions, coordinators with their screens right. Lines show "
                + "targets, redirects, notices, parents, guards and the fallback. The SVG needs no style sheet, so "
                + "that any program draws it, and suits dark pages where style sheets are read; Mermaid "
                + "and Graphviz texts are for documents that draw them."
        ],
        flags: [
            FlagDeclaration("--format", type: .choice(["svg", "mermaid", "dot"]), default: "svg", "What to print.")
        ],
        operands: OperandDeclaration(name: "TABLE", help: "The table's file.", count: 1...1),
        examples: [
            CommandExample(
                line: "linkd routes graph config/routes/shop.json > shop.svg", words: "A picture for a browser."),
            CommandExample(
                line: "linkd routes graph config/routes/shop.json --format mermaid",
                words: "For a Markdown document."),
        ],
        run: { call throws(CommandFailure) in
            let graph = RouteGraphBuilder.graph(of: try CheckedTable.whole(call.operands[0]))
            switch call.text("format") {
            case "mermaid": call.console.out.write(GraphText.mermaid(graph))
            case "dot": call.console.out.write(GraphText.dot(graph))
            default: call.console.out.write(GraphSVG.text(graph))
            }
            return .success
        })
}
