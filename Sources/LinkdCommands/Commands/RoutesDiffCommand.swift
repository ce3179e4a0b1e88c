internal import LinkCoordinator

/// `linkd routes diff`: what two tables decide differently.
enum RoutesDiffCommand {
    static let command = Command(
        path: ["routes", "diff"],
        summary: "Say which links two tables decide differently",
        discussion: [
            "With recorded traffic each line is resolved with both tables and the decisions are compared, member by "
                + "member, the table's own name aside. A line is a link or an event, as `linkd resolve` takes them; a "
                + "tab and a number behind it say how often it came.",
            "Without it links are made of both tables' patterns, and devices of their conditions: every difference "
                + "that is shown is real, but that none is shown is no proof.",
            "Ends with 0 if all decisions are the same, with 1 if any differs, with another code if it could not tell.",
        ],
        flags: [
            FlagDeclaration("--traffic", type: .file, "File with links or events, `-` for standard input."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object."),
        ],
        operands: OperandDeclaration(name: "OLD NEW", help: "The files of two tables.", count: 2...2),
        examples: [
            CommandExample(
                line: "linkd routes diff config/routes/shop.json my-shop.json",
                words: "What a change of a table changes, with a link for each."),
            CommandExample(
                line: "linkd routes diff config/routes/shop.json my-shop.json --traffic links.txt",
                words: "What it does to yesterday's links."),
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let old = try CheckedTable.whole(call.operands[0])
        let new = try CheckedTable.whole(call.operands[1])
        let report = try report(call, old, new)
        let out = call.console.out
        if call.json {
            var json = JSONText()
            json.beginObject()
            json.text("old", old.identity)
            json.text("new", new.identity)
            report.write(to: &json)
            json.endObject()
            out.line(json.finish())
        } else {
            out.line(Escaping.visible("\(old.identity) -> \(new.identity)"))
            report.print(on: out)
        }
        let changed = report.difference.total - report.difference.same
        guard changed > 0 else { return .success }
        throw CommandFailure(
            .finding, "\(changed) of \(report.difference.total) decisions differ",
            advice: "look at the examples above with `linkd routes explain`, and change the table if they are not meant"
        )
    }

    private static func report(
        _ call: Invocation, _ old: Table, _ new: Table
    ) throws(CommandFailure) -> DifferenceReport {
        guard let path = call.text("traffic") else {
            let generated = GeneratedTraffic(old, new)
            return DifferenceReport(
                source: "generated", difference: generated.difference(old: old, new: new), unreadable: 0)
        }
        let source = try ByteSource(path: path)
        if source.isTerminal { call.console.note("Type links or events, one a line; end with Ctrl-D.") }
        var reader = TrafficReader(old: old, new: new)
        var line: [UInt8] = []
        while source.line(into: &line, limit: TrafficReader.limit) {
            let trimmed = EventInput.trim(line)
            if !trimmed.isEmpty { reader.add(Array(trimmed)) }
        }
        if source.hasFailed {
            throw CommandFailure(
                .badData, "reading \(Escaping.visible(source.name)) failed", advice: "name a file that can be read")
        }
        return DifferenceReport(source: "traffic", difference: reader.difference, unreadable: reader.unreadable)
    }
}
