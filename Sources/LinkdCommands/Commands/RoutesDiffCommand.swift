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
            "Without it all links are looked at, as sets: those that choose one pattern in the old table and one in "
                + "the new, with the same rewrites before and the same redirects behind them, on a device of every "
                + "kind that the routes concerned tell apart, with values of every kind that their fields tell apart "
                + "in query, path, fragment and payload. Then requests that are no links. Each change comes with a "
                + "link, or another request, and a device that show it; what was not looked at whole is said.",
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
        if let path = call.text("traffic") {
            let report = try traffic(path, call, old, new)
            print(call, old, new, report.print, report.write)
            let total = report.difference.total
            return try end(total - report.difference.same, "of \(total) decisions differ")
        }
        let report = SetsReport(difference: new.difference(from: old))
        print(call, old, new, report.print, report.write)
        return try end(report.difference.changes.count, "changes between \(old.identity) and \(new.identity)")
    }

    private static func print(
        _ call: Invocation, _ old: Table, _ new: Table, _ lines: (Channel) -> Void, _ write: (inout JSONText) -> Void
    ) {
        let out = call.console.out
        guard call.json else {
            out.line(Escaping.visible("\(old.identity) -> \(new.identity)"))
            return lines(out)
        }
        var json = JSONText()
        json.beginObject()
        json.text("old", old.identity)
        json.text("new", new.identity)
        write(&json)
        json.endObject()
        out.line(json.finish())
    }

    private static func end(_ changed: Int, _ words: String) throws(CommandFailure) -> ExitCode {
        guard changed > 0 else { return .success }
        throw CommandFailure(
            .finding, Escaping.visible("\(changed) \(words)"),
            advice: "look at the examples above with `linkd routes explain`, and change the table if they are not meant"
        )
    }

    private static func traffic(
        _ path: String, _ call: Invocation, _ old: Table, _ new: Table
    ) throws(CommandFailure) -> DifferenceReport {
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
        return DifferenceReport(difference: reader.difference, unreadable: reader.unreadable)
    }
}
