internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// `linkd routes coverage`: which routes of a table decisions took.
enum RoutesCoverageCommand {
    static let command = Command(
        path: ["routes", "coverage"],
        summary: "Count which routes, variants and reasons decisions took, and which never",
        discussion: [
            "Reads decisions, one JSON object a line, as `linkd inspect --json` and `linkd resolve --json` print them; "
                + "what is no decision is counted and passed over. Decisions of every version of the table count for "
                + "routes and reasons, those of this very version for variants too (a decision names its variant by "
                + "number); those of other tables do not count. Which pattern was taken is told by decisions with "
                + "their trace only (`linkd resolve --explain --json`)."
        ],
        flags: [
            FlagDeclaration(
                "--decisions", type: .file, default: "-, standard input", "File with decisions, one a line."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object."),
            FlagDeclaration("--all", type: .boolean, "End with 1 where a route was never taken."),
        ],
        operands: OperandDeclaration(name: "TABLE", help: "The table's file.", count: 1...1),
        examples: [
            CommandExample(
                line: "linkd inspect -b localhost:9092 --json | linkd routes coverage config/routes/shop.json",
                words: "What the decisions of a topic took."),
            CommandExample(
                line: "linkd resolve --explain --json < links.txt | linkd routes coverage my.json --all",
                words: "Whether a list of links tests every route of a table, for CI."),
        ],
        run: run)

    /// Longest line that is read, in bytes.
    private static let limit = 8 << 20

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let table = try CheckedTable.whole(call.operands[0])
        let source = try ByteSource(path: call.text("decisions") ?? "-")
        if source.isTerminal { call.console.note("Paste decisions, one a line; end with Ctrl-D.") }
        var coverage = Coverage(of: table)
        var unreadable = 0
        var line: [UInt8] = []
        while source.line(into: &line, limit: limit) {
            let trimmed = EventInput.trim(line)
            guard !trimmed.isEmpty else { continue }
            if let decision = InspectedDecision.read(Array(trimmed)) {
                coverage.add(decision)
            } else {
                unreadable += 1
            }
        }
        if source.hasFailed {
            throw CommandFailure(
                .badData, "reading \(Escaping.visible(source.name)) failed", advice: "name a file that can be read")
        }
        let report = CoverageReport(table, coverage, unreadable: unreadable)
        if call.json { call.console.out.line(report.json) } else { report.print(on: call.console.out) }
        let never = report.neverTaken
        if call.isOn("all"), !never.isEmpty {
            throw CommandFailure(
                .finding, "\(never.count) of \(coverage.routes.count) routes were never taken",
                advice: "add links that take them, or remove the routes")
        }
        return .success
    }
}

/// A decision as the commands print it.
enum InspectedDecision {
    /// The decision of a line: the object itself, or the member `value` of what `linkd inspect --json` prints.
    static func read(_ bytes: [UInt8]) -> Decision? {
        guard let decision = Decision(json: bytes) else { return nil }
        if decision.value["outcome"] != nil { return decision }
        guard let inner = decision.value["value"], inner["outcome"] != nil else { return nil }
        return Decision(json: Array(inner.text.utf8))
    }
}
