internal import RouteTools
internal import RouteAnalysis
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
                + "in query, path, fragment and payload. Then requests that are no links. The changes are told by "
                + "the edit of the table that brings them about, each edit once, with what it does, a link or "
                + "another request and a device that show it, and the values that changed for these. What was not "
                + "looked at whole is said.",
            "A change is breaking where a request led somewhere (navigate, external, deferred) and no longer does, "
                + "is caught by a fallback or must have a claim first; where another URL is opened, another screen "
                + "is on top, or a screen of the stack is gone; and where a screen has lost a value or has another. "
                + "So is an application that is no longer listed: events that name it become dead letters. "
                + "Applications, screens, values and links that are added, another order of the same reasons, "
                + "presentation, mode, notices and notes break nothing.",
            "Ends with 0 if nothing of what --fail-on names was found, with 1 if something was, with another code if "
                + "it could not tell.",
        ],
        flags: [
            FlagDeclaration("--traffic", type: .file, "File with links or events, `-` for standard input."),
            FlagDeclaration(
                "--fail-on", type: .choice(["any", "breaking", "none"]), default: "any",
                "Which changes end with 1: any, only breaking ones, or none."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object, with an object for each cause."),
        ],
        operands: OperandDeclaration(name: "OLD NEW", help: "The files of two tables.", count: 2...2),
        examples: [
            CommandExample(
                line: "linkd routes diff config/routes/shop.json my-shop.json",
                words: "What a change of a table changes, with a link for each."),
            CommandExample(
                line: "linkd routes diff config/routes/shop.json my-shop.json --traffic links.txt",
                words: "What it does to yesterday's links."),
            CommandExample(
                line: "linkd routes diff config/routes/shop.json my-shop.json --fail-on breaking",
                words: "For CI: links may be added, but none may be lost."),
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let old = try CheckedTable.whole(call.operands[0])
        let new = try CheckedTable.whole(call.operands[1])
        let breakingOnly = call.text("fail-on") == "breaking"
        if let path = call.text("traffic") {
            let report = try traffic(path, call, old, new)
            print(call, old, new, report.print, report.write)
            let difference = report.difference
            let found = breakingOnly ? difference.breaking : difference.total - difference.same
            return try end(
                call, found, "of \(difference.total) decisions \(breakingOnly ? "lose something" : "differ")")
        }
        let report = SetsReport(difference: new.difference(from: old))
        print(call, old, new, report.print, report.write)
        let found = breakingOnly ? report.breaking : report.difference.groups.count
        let kind = (breakingOnly ? "breaking " : "") + (found == 1 ? "cause" : "causes")
        return try end(call, found, "\(kind) of changes between \(old.identity) and \(new.identity)")
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

    private static func end(
        _ call: Invocation, _ changed: Int, _ words: String
    ) throws(CommandFailure) -> ExitCode {
        guard changed > 0, call.text("fail-on") != "none" else { return .success }
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
