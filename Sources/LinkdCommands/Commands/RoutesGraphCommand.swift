internal import RouteTools
internal import LinkCoordinator

/// `linkd routes graph`: draws a table.
enum RoutesGraphCommand {
    static let command = Command(
        path: ["routes", "graph"],
        summary: "Draw the routes, coordinators, and screens of a table",
        discussion: [
            "Routes with patterns and conditions are on the left, coordinators with screens on the right. Lines show "
                + "targets, redirects, notices, parents, guards, and the fallback. Any program can draw the SVG, "
                + "because it needs no style sheet. It adapts to dark pages in programs that support style sheets. "
                + "Mermaid and Graphviz texts are for documents that draw them."
        ],
        flags: [
            FlagDeclaration("--format", type: .choice(["svg", "mermaid", "dot"]), default: "svg", "Format to print.")
        ],
        operands: OperandDeclaration(name: "TABLE", help: "The file of the table.", count: 1...1),
        examples: [
            CommandExample(
                line: "linkd routes graph config/routes/shop.json > shop.svg", description: "An image for a browser."),
            CommandExample(
                line: "linkd routes graph config/routes/shop.json --format mermaid",
                description: "A diagram for a Markdown document."),
        ],
        run: { call throws(CommandFailure) in
            let graph = RouteGraphBuilder.graph(of: try CheckedTable.validTable(at: call.operands[0]))
            switch call.text("format") {
            case "mermaid": call.console.out.write(GraphText.mermaid(graph))
            case "dot": call.console.out.write(GraphText.dot(graph))
            default: call.console.out.write(GraphSVG.text(graph))
            }
            return .success
        })
}
