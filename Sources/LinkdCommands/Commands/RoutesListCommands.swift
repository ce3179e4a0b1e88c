internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// `linkd routes list`: prints the routes of tables.
enum RoutesListCommand {
    static let command = Command(
        path: ["routes", "list"],
        summary: "List the routes of tables",
        flags: [Flag("--json", "Print one JSON object.")],
        settings: .routes,
        operands: .tables,
        examples: [
            "linkd routes list": "The tables that come with linkd.",
            "linkd routes list config/routes/shop.json": "One table.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        var tables: [RouteTable] = []
        for path in try TablePaths.of(call) { tables.append(try CheckedTable.validTable(at: path)) }
        if call.json { printJSON(tables, call.console.out) } else { printText(tables, call.console.out) }
        return .success
    }

    private static func printText(_ tables: [RouteTable], _ out: Channel) {
        for (index, table) in tables.enumerated() {
            if index > 0 { out.line() }
            let schemes = table.source.blocks.flatMap(\.schemes).map(\.value).joined(separator: ", ")
            out.line(out.style.heading(Escaping.visible(table.identity)) + "  " + Escaping.visible(schemes))
            var lines = TextTable([("ROUTE", .left), ("PATTERN", .left), ("LEADS TO", .left), ("DATA", .left)])
            for route in table.source.routes {
                let patterns = RouteText.patterns(route)
                lines.add(
                    [
                        Escaping.visible(route.id.value), Escaping.visible(patterns.first ?? "(by id only)"),
                        Escaping.visible(RouteText.target(route)),
                        Escaping.visible(RouteText.models(route).joined(separator: ", ")),
                    ], [.name])
                for pattern in patterns.dropFirst() { lines.add(["", Escaping.visible(pattern), "", ""]) }
            }
            out.table(lines)
        }
    }

    private static func printJSON(_ tables: [RouteTable], _ out: Channel) {
        out.json { json in
            json.objects("tables", of: tables) { json, table in
                json.text("table", table.identity)
                json.objects("routes", of: table.source.routes) { json, route in
                    json.text("id", route.id.value)
                    json.texts("patterns", RouteText.patterns(route))
                    json.text("target", RouteText.target(route))
                    json.texts("models", RouteText.models(route))
                }
            }
        }
    }
}

/// `linkd routes docs`: writes a table as a Markdown document.
enum RoutesDocsCommand {
    static let command = Command(
        path: ["routes", "docs"],
        summary: "Write the documentation of a table, in Markdown",
        discussion: [
            "Routes are sorted by their ids, so that a small edit of the table is a small edit of the document. "
                + "The examples of the table are resolved again. A pattern without an example gets a generated "
                + "link, marked as such."
        ],
        operands: Operands(name: "TABLE", help: "The file of the table.", count: 1...1),
        examples: [
            "linkd routes docs config/routes/shop.json > ROUTES.md": "A page for a team's documentation."
        ],
        run: { call throws(CommandFailure) in
            call.console.out.write(RoutesDocument.text(try CheckedTable.validTable(at: call.operands[0])))
            return .success
        })
}

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
