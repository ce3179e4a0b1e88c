internal import LinkCoordinator

/// `linkd routes diff`: what two tables decide differently.
enum RoutesDiffCommand {
    static let command = Command(
        path: ["routes", "diff"],
        summary: "Say which recorded links two tables decide differently",
        discussion: [
            "Resolves each line of the recorded traffic with both tables and compares the decisions, member by member; "
                + "the table's own name aside. A line is a link or an event, as `linkd resolve` takes them; a tab and "
                + "a number behind it say how often it came.",
            "Ends with 0 if all decisions are the same, with 1 if any differs, with another code if it could not tell.",
        ],
        flags: [
            FlagDeclaration("--traffic", type: .file, default: "-, standard input", "File with links or events."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object."),
        ],
        operands: OperandDeclaration(name: "OLD NEW", help: "The files of two tables.", count: 2...2),
        examples: [
            CommandExample(
                line: "linkd routes diff config/routes/shop.json my-shop.json --traffic links.txt",
                words: "What a change of a table does to yesterday's links.")
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let old = try CheckedTable.whole(call.operands[0])
        let new = try CheckedTable.whole(call.operands[1])
        let source = try ByteSource(path: call.text("traffic") ?? "-")
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
        let report = DifferenceReport(difference: reader.difference, unreadable: reader.unreadable)
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
        let changed = reader.difference.total - reader.difference.same
        guard changed > 0 else { return .success }
        throw CommandFailure(
            .finding, "\(changed) of \(reader.difference.total) decisions differ",
            advice: "look at the examples above with `linkd routes explain`, and change the table if they are not meant"
        )
    }
}
