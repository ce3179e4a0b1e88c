internal import RouteTools
internal import LinkCoordinator
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
