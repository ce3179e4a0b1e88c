internal import DispatchWorker
internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import LinkIngest
internal import StrictJSON

/// `linkd routes diff`: compares the decisions of two tables.
enum RoutesDiffCommand {
    static let command = Command(
        path: ["routes", "diff"],
        summary: "Compare the decisions of two tables",
        discussion: [
            "With recorded traffic, each line is resolved with both tables and the decisions are compared member by "
                + "member, except for the table's name. A line is a link or an event, as in `linkd resolve`. A tab "
                + "and a number after it state how often it occurred.",
            "Without traffic, the comparison covers all links, as sets. A set consists of the links that select one "
                + "pattern in the old table and one in the new, with the same rewrites before and the same redirects "
                + "after. Each set is tried on every kind of device that its routes distinguish, with every kind of "
                + "value that their fields distinguish in query, path, fragment, and payload. Then requests without a "
                + "link are compared. Each edit of the table that causes a change is reported once, with its effects, "
                + "a request and a device that show them, and the values that changed. The report also lists the sets "
                + "that were compared only in part.",
            "A change is breaking if a request that led to a result (navigate, external, deferred) leads to none, "
                + "falls back, or now requires a claim; if another URL opens, another screen is on top, or a screen is "
                + "missing from the stack or moved; and if a screen loses a value or receives another one. Removing "
                + "an application is breaking too, because events that name it become dead letters. A route or a "
                + "screen that is added breaks nothing: what only a fallback handled before belongs to it, and a "
                + "value that it refuses is listed as refused. An exception is `coordinatorPath`: a path whose last "
                + "segment was no screen now shows the screen that is added. All other changes are compatible: added "
                + "applications, screens, values, and links, another reason, presentation, mode, notices, and notes.",
            "With --canary, the tables are the two of a worker's canary: the report has the differences that the "
                + "worker counted, with the position and the index of the first decision of each route. The file is a "
                + "saved page /status.",
            "With --census, the report also says for how many devices of the registry a request of each change is "
                + "decided differently. `--fail-on devices:0.1%` selects changes that concern more than this share of "
                + "the devices.",
            "Ends with exit code 0 if no change that --fail-on selects was found, with 1 if one was found, and with "
                + "another code if the tables could not be compared.",
        ],
        flags: [
            Flag("--traffic", .file, "File with links or events. `-` means standard input."),
            Flag("--canary", .file, "Saved page /status of a worker, instead of OLD and NEW."),
            Flag("--census", .file, "Census of `linkd forecast --save-census`, to count the devices of each change."),
            Flag(
                "--fail-on", .text(bytes: 1...32), default: "any", placeholder: "any|breaking|none|devices:P%",
                "Changes that end with exit code 1."),
            Flag("--json", "Print one JSON object, with one object per cause."),
        ],
        settings: .diff,
        operands: Operands(name: "OLD NEW", help: "The files of the two tables.", count: 0...2),
        examples: [
            "linkd routes diff config/routes/shop.json my-shop.json": "The effects of an edit, with a link for each.",
            "linkd routes diff config/routes/shop.json my-shop.json --traffic links.txt":
                "The effects on recorded links.",
            "linkd routes diff config/routes/shop.json my-shop.json --fail-on breaking":
                "Fails in CI if an edit breaks links.",
            "linkd routes diff config/routes/shop.json my-shop.json --census census.json --fail-on devices:0.1%":
                "Fails in CI if an edit concerns more than a thousandth of the devices.",
            "linkd routes diff --canary status.json":
                "The differences that a worker counted between its table and a candidate.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let condition = try condition(call)
        if let path = call.text("canary") { return try reportCanary(path, call) }
        guard call.operands.count == 2 else {
            throw CommandFailure(
                .usage, "expected the files of two tables, OLD and NEW", advice: "see `linkd help routes diff`")
        }
        let old = try CheckedTable.validTable(at: call.operands[0])
        let new = try CheckedTable.validTable(at: call.operands[1])
        let breakingOnly = condition == .breaking
        if let path = call.text("traffic") {
            let report = try compareTraffic(path, call, old, new)
            print(call, old.identity, new.identity, report.print, report.write)
            let difference = report.difference
            let found = breakingOnly ? difference.breaking : difference.total - difference.same
            let manner = breakingOnly ? " in a breaking way" : ""
            return try checkChanges(
                call, found, "\(found) of \(Counts.text(difference.total, "decision")) changed\(manner)")
        }
        var report = SetsReport(difference: new.difference(from: old))
        if let path = call.text("census") {
            let kinds = DeviceKinds([old, new], platforms: DeviceClass.platforms)
            let census = try CensusFile(path: path, for: kinds).census
            report.census = CensusDifference(report.difference, old, new, census)
        }
        print(call, old.identity, new.identity, report.print, report.write)
        if let census = report.census, case .devices = condition {
            // A removed application has no request, but concerns all devices.
            let isLost = report.difference.groups.contains { !$0.losses.isEmpty }
            guard isLost || condition.isExceeded(by: census) else { return .success }
            throw CommandFailure(
                .finding, "another decision for \(census.text(census.changed))",
                advice: "see `linkd resolve --explain` for the requests above, and change the table if a change is not "
                    + "intended")
        }
        let found = breakingOnly ? report.breaking : report.difference.groups.count
        let kind = breakingOnly ? "breaking changes" : "changes"
        return try checkChanges(
            call, found, "\(Counts.text(found, "cause")) of \(kind) between \(old.identity) and \(new.identity)")
    }

    /// Returns the condition of `--fail-on`, after a check of the flags that exclude each other.
    private static func condition(_ call: Invocation) throws(CommandFailure) -> FailureCondition {
        let text = call.text("fail-on") ?? "any"
        guard let condition = FailureCondition(text) else {
            throw CommandFailure(
                .usage, "`\(Escaping.visible(DisplayWidth.cut(text, to: 80)))` is not a valid value for flag --fail-on",
                advice: "pass any, breaking, none, or devices:P% with at most 4 decimal places")
        }
        let hasCensus = call.text("census") != nil
        if case .devices = condition, !hasCensus {
            throw CommandFailure(.usage, "--fail-on \(text) needs a census", advice: "pass --census FILE")
        }
        if hasCensus, let other = ["traffic", "canary"].first(where: { call.text($0) != nil }) {
            throw CommandFailure(
                .usage, "--census and --\(other) cannot be combined", advice: "pass only one of them")
        }
        return condition
    }

    /// Reports the differences in a saved page `/status`.
    private static func reportCanary(_ path: String, _ call: Invocation) throws(CommandFailure) -> ExitCode {
        guard call.operands.isEmpty, call.text("traffic") == nil, call.text("fail-on") != "breaking" else {
            throw CommandFailure(
                .usage, "--canary cannot be combined with OLD and NEW, --traffic, or --fail-on breaking",
                advice: "remove them: a worker counts differences of all kinds")
        }
        let report = try CanaryReport(path: path)
        let totals = report.totals
        print(call, totals.base, totals.table, report.print, report.write)
        guard totals.different > 0, call.text("fail-on") != "none" else { return .success }
        throw CommandFailure(
            .finding,
            Escaping.visible(
                "\(totals.different) of \(Counts.text(Int(clamping: totals.compared), "compared decision")) differ "
                    + "between \(totals.base) and \(totals.table)"),
            advice: "see `linkd inspect` for the decisions at these positions, and change the candidate if a "
                + "difference is not intended")
    }

    private static func print(
        _ call: Invocation, _ old: String, _ new: String, _ lines: (Channel) -> Void,
        _ write: (inout JSONText) -> Void
    ) {
        let out = call.console.out
        guard call.json else {
            out.line(Escaping.visible("\(old) -> \(new)"))
            return lines(out)
        }
        out.json { json in
            json.text("old", old)
            json.text("new", new)
            write(&json)
        }
    }

    private static func checkChanges(
        _ call: Invocation, _ changed: Int, _ changeText: String
    ) throws(CommandFailure) -> ExitCode {
        guard changed > 0, call.text("fail-on") != "none" else { return .success }
        throw CommandFailure(
            .finding, Escaping.visible(changeText),
            advice: "see `linkd resolve --explain` for the links above, and change the table if a change is not "
                + "intended")
    }

    private static func compareTraffic(
        _ path: String, _ call: Invocation, _ old: RouteTable, _ new: RouteTable
    ) throws(CommandFailure) -> DifferenceReport {
        let settings = try call.settings()
        let vendors = try LoadedVendors(settings, ShippedFiles(environment: call.environment), on: call.console)
        let source = try ByteSource(path: path)
        let reader = TrafficReader(old: old, new: new, settings, vendors)
        let size = FileStamp(of: path).flatMap { path != "-" && $0.isRegular ? $0.size : nil }
        var progress = ProgressLine(call.console)
        var lines = 0
        try source.forEachLine(limit: TrafficReader.limit, request: "Type links or events", on: call.console) {
            reader.add($0)
            lines += 1
            if lines % 64 == 0, !source.isTerminal {
                let part = size.map { ", \(source.consumed * 100 / max(1, $0)) %" } ?? ""
                progress.show("compared \(Counts.grouped(Int64(lines))) lines" + part)
            }
        }
        progress.clear()
        guard reader.difference.total > 0 else {
            throw CommandFailure(
                .badData,
                "\(Escaping.visible(source.name)) has no link or event of these tables, so nothing was compared",
                advice: "specify a file in UTF-8 with one link or event in each line")
        }
        return DifferenceReport(difference: reader.difference, unreadable: reader.unreadable)
    }
}
