internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// `linkd routes coverage`: counts the decisions for each route of a table.
enum RoutesCoverageCommand {
    static let command = Command(
        path: ["routes", "coverage"],
        summary: "Count the routes, variants, and reasons of recorded decisions",
        discussion: [
            "Reads decisions, one JSON object per line, as `linkd inspect --json` and `linkd resolve --json` print "
                + "them. Other lines are skipped, and their number is reported. Routes and reasons are counted for "
                + "decisions of all versions of the table, variants only for decisions of this version, because a "
                + "decision identifies its variant by number. Decisions of other tables are not counted. Patterns "
                + "are counted only for decisions with a trace (`linkd resolve --explain --json`)."
        ],
        flags: [
            Flag("--decisions", .file, default: "-, standard input", "File with decisions, one per line."),
            Flag("--json", "Print one JSON object."),
            Flag("--all", "End with exit code 1 if a route was never selected."),
        ],
        operands: Operands(name: "TABLE", help: "The file of the table.", count: 1...1),
        examples: [
            "linkd inspect -b localhost:9092 --json | linkd routes coverage config/routes/shop.json":
                "The coverage of the decisions in a topic.",
            "linkd resolve --explain --json < links.txt | linkd routes coverage my.json --all":
                "Fails in CI if a list of links does not cover every route.",
        ],
        run: run)

    /// The size limit of a line, in bytes.
    private static let limit = 8 << 20

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        if (call.text("decisions") ?? "-") == "-" { try call.reserveStandardInput(for: "the decisions", call.operands) }
        let table = try CheckedTable.validTable(at: call.operands[0])
        let source = try ByteSource(path: call.text("decisions") ?? "-")
        var coverage = Coverage(of: table)
        var unreadable = 0
        try source.forEachLine(limit: limit, request: "Paste decisions", on: call.console) { line in
            if let decision = InspectedDecision.read(line) { coverage.add(decision) } else { unreadable += 1 }
        }
        let report = CoverageReport(table, coverage, unreadable: unreadable)
        if call.json { call.console.out.line(report.json) } else { report.print(on: call.console.out) }
        let never = report.neverSelected
        if call.isOn("all"), !never.isEmpty {
            throw CommandFailure(
                .finding,
                "\(never.count) of \(Counts.text(coverage.routes.count, "route")) "
                    + "\(never.count == 1 ? "was" : "were") never selected",
                advice: "add links that select these routes, or remove the routes")
        }
        return .success
    }
}

/// A decision in the output of a command.
enum InspectedDecision {
    /// Returns the decision of a line: the object itself, or the member `value` in the output of `inspect`.
    static func read(_ bytes: [UInt8]) -> Decision? {
        guard let value = try? JSONValue.parse(bytes, maxDepth: 512) else { return nil }
        if value["outcome"] != nil { return try? Decision(json: bytes) }
        return value["value"].flatMap { try? Decision(json: $0.text.utf8) }
    }
}
