internal import ByteStorage
internal import RouteTools
internal import StrictJSON

/// The answer of `linkd bisect`: since when a link opens what it opens, and all changes before and after.
struct BisectReport {
    /// The beginning of the time in which the result is the one that was asked for.
    struct Since {
        var step: BisectSearch.Step
        /// A Boolean value that indicates whether it is the first use in the archive, before which nothing is known.
        var isFirst: Bool
    }

    /// The link, or the id of the decision.
    let subject: String
    /// The result that was asked for: the result of a decision, or the last result.
    let result: BisectResult
    /// The beginning, or nil if no known configuration of that time has the result of the decision.
    let since: Since?
    /// The time of a decision of `linkd recall` with a configuration that no worker has used, or nil for other ones.
    private let recalled: Int64?
    let steps: [BisectSearch.Step]
    let changes: [BisectSearch.Change]
    let problems: [String]

    /// Creates the answer of a search that has at least one step.
    ///
    /// - Parameters:
    ///   - search: The search.
    ///   - decided: A decision, or nil for the last result.
    init(_ search: inout BisectSearch, subject: String, decided: BisectDecision? = nil) throws(CommandFailure) {
        self.subject = subject
        self.steps = search.steps
        changes = try search.changes()
        let steps = search.steps
        let wanted = decided?.result ?? steps.last?.result ?? BisectResult(decision: nil, essence: "")
        result = wanted
        let isUnknown = decided != nil && decided?.configuration == nil
        let isServed = steps.contains { $0.entry.hash == decided?.configuration }
        recalled = isUnknown || isServed ? nil : decided?.time
        let now = Platform.nowMilliseconds
        problems =
            search.problems + (isUnknown ? ["no archived configuration gives this decision with this version"] : [])
            + (recalled == nil ? [] : ["no worker has used the configuration with which `linkd recall` decided this"])
            + steps.filter { $0.time > now + Self.clockTolerance }.map { step in
                "\(Self.time(step.time)) is in the future: the clock of a worker was wrong when it began to use "
                    + "\(Self.name(step.entry))"
            }
        since = Self.since(steps, wanted, decided)
    }

    /// The time by which clocks may differ without a warning, in milliseconds.
    private static let clockTolerance: Int64 = 60_000

    /// Returns the beginning of the time in which links had a result, or nil if it is not known.
    ///
    /// The use of the configuration that made the decision is within that time, or else the last use before the
    /// decision. A worker can still use an older configuration than others, and its clock can be late.
    static func since(_ steps: [BisectSearch.Step], _ wanted: BisectResult, _ decided: BisectDecision?) -> Since? {
        let own = steps.indices.filter { index in
            decided?.configuration.map { steps[index].entry.hash == $0 } ?? true
        }
        let before = own.last { steps[$0].time <= decided?.time ?? .max }
        guard var index = before ?? (decided?.configuration == nil ? nil : own.first), steps[index].result == wanted
        else { return nil }
        while index > 0, steps[index - 1].result == wanted { index -= 1 }
        return Since(step: steps[index], isFirst: index == 0)
    }

    /// Prints the report for people.
    func print(on console: Console) {
        let out = console.out
        let view = DecisionView(style: out.style)
        for problem in problems { console.warn("warning: " + Escaping.visible(problem)) }
        out.line(out.style.name(Escaping.visible(DisplayWidth.cut(subject, to: 200))))
        out.line("  " + Self.text(result, view))
        if let since {
            let place = since.isFirst ? "since the first archived configuration, or longer: " : "since "
            out.line("  \(place)\(Self.time(since.step.time))  \(Self.name(since.step.entry))")
        } else if let recalled {
            out.line("  since \(Self.time(recalled)), when `linkd recall` published it")
        } else {
            out.line("  no known configuration of that time gives this result with this version of linkd")
        }
        let count = Counts.text(changes.count, "change")
        let all = Counts.text(Set(steps.map(\.entry.hash)).count, "configuration")
        out.line(out.style.heading(changes.isEmpty ? "no change in \(all)" : "\(count) in \(all):"))
        for change in changes { Self.print(change, view, out) }
    }

    private static func print(_ change: BisectSearch.Change, _ view: DecisionView, _ out: Channel) {
        out.line("  \(time(change.after.time))  \(name(change.after.entry))")
        out.line("    was  \(text(change.before.result, view))")
        out.line("    is   \(text(change.after.result, view))")
        if !change.isProved {
            out.line("    " + view.style.paint("no part of the edits was shown to cause it; all edits:", .warning))
        }
        for edit in change.edits.prefix(20) {
            let row = edit.edit.row.map { " (\($0))" } ?? ""
            let values = [edit.edit.old, edit.edit.new].map { DisplayWidth.cut($0 ?? "nothing", to: 100) }
            let place = "\(edit.document.text)\(row)  \(edit.edit.pointer.isEmpty ? "(whole)" : edit.edit.pointer)"
            out.line("    " + Escaping.visible(place))
            out.line("      " + Escaping.visible("\(values[0]) -> \(values[1])"))
        }
        if change.edits.count > 20 { out.line("    and \(Counts.text(change.edits.count - 20, "other edit"))") }
    }

    private static func time(_ milliseconds: Int64) -> String { UTCDateTime.text(milliseconds: milliseconds) }

    private static func name(_ entry: ConfigurationArchive.Entry) -> String {
        "\(entry.tablesText)  (configuration \(entry.hash.prefix(8)))"
    }

    private static func text(_ result: BisectResult, _ view: DecisionView) -> String {
        guard let decision = result.decision else { return view.style.paint(Escaping.visible(result.essence), .bad) }
        let lines = DecisionLines(decision, view)
        let route = (try? JSONValue.parse(decision, maxDepth: DecisionTape.depth))?["route"]?.string
        return lines.outcome + (route.map { "  " + Escaping.visible($0) } ?? "")
            + (lines.summary.isEmpty ? "" : "  " + lines.summary)
    }

    /// Prints the report as one JSON object.
    func printJSON(on out: Channel) {
        out.json { json in
            json.text("subject", subject)
            Self.write("result", result, &json)
            json.object("since", of: since) { json, since in
                Self.write(since.step, &json)
                json.boolean("first", since.isFirst)
            }
            json.number("configurations", Int64(Set(steps.map(\.entry.hash)).count))
            json.objects("changes", of: changes) { json, change in
                Self.write(change.after, &json)
                json.text("before", change.before.entry.hash)
                Self.write("old", change.before.result, &json)
                Self.write("new", change.after.result, &json)
                json.boolean("proved", change.isProved)
                json.objects("edits", of: change.edits) { json, edit in
                    json.text("document", edit.document.text)
                    json.text("row", edit.edit.row)
                    json.text("pointer", edit.edit.pointer)
                    json.raw("old", Array((edit.edit.old ?? "null").utf8))
                    json.raw("new", Array((edit.edit.new ?? "null").utf8))
                }
            }
            json.texts("problems", problems)
        }
    }

    private static func write(_ step: BisectSearch.Step, _ json: inout JSONText) {
        json.text("time", time(step.time))
        json.number("ms", step.time)
        json.text("configuration", step.entry.hash)
        json.texts("tables", step.entry.configuration.identities)
    }

    private static func write(_ name: String, _ result: BisectResult, _ json: inout JSONText) {
        guard result.decision == nil else { return json.raw(name, Array(result.essence.utf8)) }
        json.object(name) { $0.text("none", result.essence) }
    }
}
