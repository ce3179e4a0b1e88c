internal import LinkCoordinator
internal import LinkDecider
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The result of a recall, or of a dry run.
struct RecallSummary {
    /// A correction as an example.
    struct Example {
        var id: String
        var device: String
        var old: TrafficDifference.Side
        var new: TrafficDifference.Side
        /// The places of the edits that cause it.
        var causes: [String]
        var values: [ChangedValues.Value]
    }

    /// The change of a route and an outcome.
    struct Change: Hashable {
        var old: TrafficDifference.Side
        var new: TrafficDifference.Side
    }

    /// The number of examples.
    private static let exampleLimit = 10
    /// The limit of different changes, beyond which no others are counted.
    private static let changeLimit = 1_000
    /// The number of values of an example.
    private static let valueLimit = 3

    /// The beginning of the hash of the wrong table.
    var hash: String
    /// The name of the new table.
    var replacement: String
    /// The topic of the corrections, or nil for a dry run.
    var target: String?
    var matching: Int64 = 0
    var replaced: Int64 = 0
    var beyondLimit: Int64 = 0
    /// The number of devices in each state.
    var states: [RecallPlan.State: Int] = [:]
    /// The corrections to make when the run began.
    var toCorrect = 0
    /// The number of these corrections whose decisions the new table would send to another topic.
    private(set) var moved = 0
    var published = 0
    /// The reasons for which configurations of the archive cannot be used.
    var failures: [String] = []
    var seconds = 0.0
    /// The hashes of the configurations of the archive that made the decisions to correct.
    private(set) var configurations: Set<String> = []
    /// A Boolean value that indicates whether a configuration that is not in the archive made some of them.
    private(set) var hasUnarchived = false
    private(set) var changes: [Change: Int] = [:]
    private(set) var examples: [Example] = []
    private var causes: RecallCauses
    /// The topic of the new table's decisions about events without an application.
    private let output: (index: UInt8, name: String)

    /// Creates an empty summary.
    init(hash: String, replacement: RouteTable, _ outputs: OutputTopics) {
        self.hash = hash
        let index = outputs.index(of: replacement)
        output = (index, outputs.names[Int(index)])
        self.replacement = replacement.identity
        causes = RecallCauses(to: replacement)
    }

    /// Adds a correction to make.
    mutating func add(
        _ correction: Correction, _ record: ScannedRecord, _ device: (id: [UInt8]?, facts: [UInt8]?),
        in topic: UInt8
    ) {
        toCorrect += 1
        if let hash = correction.configuration.hash { configurations.insert(hash) } else { hasUnarchived = true }
        let places = causes.add(correction, record, device)
        guard let old = try? JSONValue.parse(correction.old, maxDepth: DecisionTape.depth),
            let new = try? JSONValue.parse(correction.new, maxDepth: DecisionTape.depth)
        else { return }
        if new["application"] == nil, new["table"] != nil, topic != output.index { moved += 1 }
        let change = Change(old: TrafficDifference.Side(old), new: TrafficDifference.Side(new))
        if changes.count < Self.changeLimit || changes[change] != nil { changes[change, default: 0] += 1 }
        guard examples.count < Self.exampleLimit else { return }
        let values = ChangedValues.between(old, new).filter { !["decision", "supersedes"].contains($0.member) }
        examples.append(
            Example(
                id: correction.superseded.text, device: new["device"]?.string ?? new["user"]?.string ?? "",
                old: change.old, new: change.new, causes: places, values: Array(values.prefix(Self.valueLimit))))
    }

    private var sortedChanges: [(change: Change, count: Int)] {
        changes.map { ($0.key, $0.value) }.sorted { a, b in
            a.1 == b.1 ? (a.0.old, a.0.new) < (b.0.old, b.0.new) : a.1 > b.1
        }
    }

    /// Prints the choice and what would change.
    func printChoice(on out: Channel) {
        out.line(
            "\(Counts.text(Int(matching), "decision")) of the table \(hash) match, of "
                + Counts.text(states.values.reduce(0, +), "device"))
        if replaced > 0 {
            out.line("\(Counts.grouped(replaced)) of them are followed by another one of their devices")
        }
        if beyondLimit > 0 { out.line("\(Counts.grouped(beyondLimit)) more match, beyond --max") }
        var table = TextTable([("DEVICES", .right), ("", .left)])
        for state in RecallPlan.State.allCases {
            guard let count = states[state], count > 0 else { continue }
            table.add([Counts.grouped(Int64(count)), state.text])
        }
        if !states.isEmpty { out.table(table) }
        for failure in failures.prefix(5) { out.line("not used: " + Escaping.visible(failure)) }
        guard toCorrect > 0 else { return }
        if moved > 0 {
            out.line(
                "\(Counts.text(moved, "correction")) of decisions in another topic than "
                    + "\(Escaping.visible(output.name)), to which decisions of the new table go")
        }
        var list = TextTable([("CORRECTIONS", .right), ("FROM", .left), ("TO", .left)])
        for (change, count) in sortedChanges.prefix(20) {
            list.add(
                [
                    Counts.grouped(Int64(count)), Escaping.visible(change.old.text), Escaping.visible(change.new.text),
                ])
        }
        out.table(list)
        for group in causes.groups.prefix(20) {
            let text = group.causes.isEmpty ? "no single edit" : group.causes.map(\.text).joined(separator: " and ")
            out.line("\(Counts.text(group.count, "correction")) by \(Escaping.visible(text))")
        }
        for example in examples {
            out.line("for example \(Escaping.visible(example.id)) for \(Escaping.visible(example.device))")
            for value in example.values {
                let texts = [value.old, value.new].map { DisplayWidth.cut($0 ?? "nothing", to: 60) }
                out.line("    " + Escaping.visible("\(value.member): \(texts[0]) -> \(texts[1])"))
            }
        }
    }

    /// The line about the result.
    var text: String {
        if toCorrect == 0 { return "nothing to correct" }
        let all = Counts.grouped(Int64(toCorrect))
        guard let target else { return "would correct \(all); nothing was sent" }
        let left = states[.changed] ?? 0
        return "corrected \(Counts.grouped(Int64(published))) of \(all) in \(Escaping.visible(target)), "
            + "\(Counts.grouped(Int64(left))) left, in \(Decimals.text(seconds)) s"
    }

    /// The result as a JSON object.
    var json: String {
        JSONText.object { json in
            json.text("table", hash)
            json.text("with", replacement)
            json.boolean("dry_run", target == nil)
            json.text("to", target)
            json.number("matching", matching)
            json.number("followed", replaced)
            json.number("beyond_max", beyondLimit)
            json.number("devices", Int64(states.values.reduce(0, +)))
            json.number("to_correct", Int64(toCorrect))
            json.number("other_topic", Int64(moved))
            json.number("published", Int64(published))
            json.beginObject("states")
            for state in RecallPlan.State.allCases { json.number(state.name, Int64(states[state] ?? 0)) }
            json.endObject()
            json.objects("changes", of: sortedChanges) { json, item in
                item.change.old.write("old", to: &json)
                item.change.new.write("new", to: &json)
                json.number("count", Int64(item.count))
            }
            json.objects("causes", of: causes.groups) { json, group in
                json.number("count", Int64(group.count))
                json.objects("edits", of: group.causes) { json, cause in
                    json.text("place", cause.location)
                    json.text("old", cause.old)
                    json.text("new", cause.new)
                }
            }
            json.objects("examples", of: examples) { json, example in
                json.text("decision", example.id)
                json.text("device", example.device)
                json.texts("causes", example.causes)
                json.objects("values", of: example.values) { json, value in
                    json.text("member", value.member)
                    json.text("old", value.old)
                    json.text("new", value.new)
                }
            }
            json.decimal("seconds", seconds)
        }
    }
}
