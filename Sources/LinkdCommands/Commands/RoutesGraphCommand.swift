internal import RouteTools

/// `linkd routes graph`: draws a table.
enum RoutesGraphCommand {
    static let command = Command(
        path: ["routes", "graph"],
        summary: "Draw the routes, coordinators, and screens of a table",
        discussion: [
            "Prints a text that other programs draw: Mermaid, for Markdown documents, or DOT, from which Graphviz "
                + "makes an image. Lines show targets, redirects, notices, parents, guards, and the fallback."
        ],
        flags: [
            Flag(
                "--format", .choice(["mermaid", "dot"]), default: "mermaid", "Format to print.",
                advice: "pass mermaid, or draw an SVG with Graphviz: `--format dot | dot -Tsvg`")
        ],
        operands: Operands(name: "TABLE", help: "The file of the table.", count: 1...1),
        examples: [
            "linkd routes graph config/routes/shop.json": "A diagram for a Markdown document.",
            "linkd routes graph config/routes/shop.json --format dot | dot -Tsvg > shop.svg":
                "An image for a browser, drawn by Graphviz.",
        ],
        run: { call throws(CommandFailure) in
            let graph = RouteGraph(try CheckedTable.validTable(at: call.operands[0]))
            call.console.out.write(call.text("format") == "dot" ? GraphText.dot(graph) : GraphText.mermaid(graph))
            return .success
        })
}
