internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The difference of two tables as the members of a JSON object, with the decisions that show it.
struct ComparisonJSON {
    /// The maximum number of groups.
    static let maxGroups = 200
    /// The maximum number of effects of a group.
    private static let maxEffects = 6
    /// The maximum number of values of an effect.
    private static let maxValues = 24
    /// The maximum number of sets in each list of sets that were compared in part.
    private static let maxSets = 50

    private let difference: TableDifference
    private let old: RouteTable
    private let new: RouteTable
    /// The recent decisions of the old table's routes, or nil if they are not known.
    private let counts: [String: Int64]?

    /// Creates the members of a difference.
    init(_ difference: TableDifference, old: RouteTable, new: RouteTable, counts: [String: Int64]?) {
        self.difference = difference
        self.old = old
        self.new = new
        self.counts = counts
    }

    /// Writes the member `difference`.
    func write(to json: inout JSONText) {
        json.beginObject("difference")
        json.number("sets", Int64(difference.comparedSetCount))
        json.number("changedSets", Int64(difference.changedSets))
        json.number("otherChanges", Int64(difference.otherChanges))
        json.number("groupCount", Int64(difference.groups.count))
        json.number("breakingCount", Int64(difference.groups.count(where: \.isBreaking)))
        json.boolean("isCut", difference.isCut)
        write("unproved", difference.incompletelyComparedSets, to: &json)
        write("sampled", difference.sampledSets, to: &json)
        json.objects("groups", of: sorted.prefix(Self.maxGroups)) { json, group in write(group, to: &json) }
        json.endObject()
    }

    /// The groups with their weights: breaking ones first, then the heaviest.
    private var sorted: [(group: TableDifference.Group, weight: Int64?)] {
        let weighted = difference.groups.map { (group: $0, weight: weight($0)) }
        guard counts != nil else { return weighted }
        return weighted.enumerated().sorted { a, b in
            let (x, y) = (a.element, b.element)
            if x.group.isBreaking != y.group.isBreaking { return x.group.isBreaking }
            return x.weight != y.weight ? (x.weight ?? 0) > (y.weight ?? 0) : a.offset < b.offset
        }.map(\.element)
    }

    /// Returns the number of recent decisions of routes with links that change, which may include unaffected decisions.
    private func weight(_ group: TableDifference.Group) -> Int64? {
        guard let counts else { return nil }
        return Set(group.changes.compactMap(\.old.route)).reduce(0) { $0 + (counts[$1] ?? 0) }
    }

    private func write(
        _ name: String, _ sets: [(old: TableDifference.Choice?, new: TableDifference.Choice?)],
        to json: inout JSONText
    ) {
        json.beginObject(name)
        json.number("count", Int64(sets.count))
        json.objects("sets", of: sets.prefix(Self.maxSets)) { json, pair in
            json.text("oldRoute", pair.old?.route)
            json.text("oldPattern", pair.old?.pattern)
            json.text("newRoute", pair.new?.route)
            json.text("newPattern", pair.new?.pattern)
        }
        json.endObject()
    }

    private func write(_ entry: (group: TableDifference.Group, weight: Int64?), to json: inout JSONText) {
        let group = entry.group
        json.objects("causes", of: group.causes) { json, cause in
            json.text("place", cause.location)
            json.text("old", cause.old)
            json.text("new", cause.new)
        }
        json.boolean("breaking", group.isBreaking)
        json.number("changes", Int64(group.changes.count))
        if let weight = entry.weight { json.number("weight", weight) }
        if !group.losses.isEmpty { json.texts("losses", group.losses) }
        let effects = SetsReport.Effect.all(group)
        json.number("effectCount", Int64(effects.count))
        json.objects("effects", of: effects.prefix(Self.maxEffects)) { json, effect in write(effect, to: &json) }
    }

    private func write(_ effect: SetsReport.Effect, to json: inout JSONText) {
        let change = effect.changes.first { $0.isBreaking } ?? effect.changes[0]
        json.number("count", Int64(effect.changes.count))
        json.boolean("breaking", effect.isBreaking)
        if let breakage = change.breakage { json.text("breaks", breakage) }
        json.text("oldPattern", change.oldChoice?.pattern)
        json.text("newPattern", change.newChoice?.pattern)
        SetsReport.writeRequest(of: change, to: &json)
        Self.write("old", change.old.value, old, to: &json)
        Self.write("new", change.new.value, new, to: &json)
        let values = ChangedValues.between(change.old.value, change.new.value)
        json.number("valueCount", Int64(values.count))
        ValueLines.write(Array(values.prefix(Self.maxValues)), to: &json)
    }

    /// Writes a decision with its sentence, as a member.
    private static func write(_ name: String, _ decision: JSONValue, _ table: RouteTable, to json: inout JSONText) {
        json.beginObject(name)
        DecisionSentence(decision, explanation: nil, table: table).write("sentence", to: &json)
        json.value("decision", decision)
        json.endObject()
    }

    /// Writes the member `traffic`: the recorded inputs that the tables decide differently.
    static func write(
        _ reader: TrafficReader, isCut: Bool, old: RouteTable, new: RouteTable, to json: inout JSONText
    ) {
        let (difference, groups) = (reader.difference, reader.difference.groups)
        json.beginObject("traffic")
        json.number("decisions", Int64(difference.total))
        json.number("same", Int64(difference.same))
        json.number("breaking", Int64(difference.breaking))
        json.number("unreadable", Int64(reader.unreadable))
        json.boolean("isCut", isCut)
        json.number("groupCount", Int64(groups.count))
        json.objects("groups", of: groups.prefix(maxGroups)) { json, group in
            json.number("count", Int64(group.count))
            json.boolean("breaking", group.breakage != nil)
            if let breakage = group.breakage { json.text("breaks", breakage) }
            json.text("witness", group.witness)
            write("old", group.first.old, old, to: &json)
            write("new", group.first.new, new, to: &json)
            json.number("valueCount", Int64(group.values.count))
            ValueLines.write(Array(group.values.prefix(maxValues)), to: &json)
        }
        json.endObject()
    }
}

/// The problems of a candidate, with the decision about each link that shows one.
struct CandidateProblems {
    /// The maximum number of problems with a decision.
    private static let maxWitnesses = 20

    private let checked: CheckedTable
    /// The table that explains the witnesses, even if it is refused.
    private let table: RouteTable?

    /// Creates the problems of a file.
    init(_ checked: CheckedTable) {
        self.checked = checked
        table = checked.table ?? checked.unchecked
    }

    /// Writes the member `problems`, and `isTruncated` if there are more.
    ///
    /// - Parameters:
    ///   - json: The text.
    ///   - isOver: A function that returns true if no further decision is added.
    func write(to json: inout JSONText, until isOver: () -> Bool) {
        var witnesses = 0
        json.objects("problems", of: checked.problems) { json, problem in
            json.text("severity", problem.severity.text)
            json.text("code", problem.code.rawValue)
            json.text("message", problem.message)
            json.number("line", Int64(problem.line))
            json.number("column", Int64(problem.column))
            json.text("pointer", problem.pointer)
            if let suggestion = problem.suggestion { json.text("suggestion", suggestion) }
            if !problem.routes.isEmpty { json.texts("routes", problem.routes) }
            guard let link = problem.witness else { return }
            json.text("link", link)
            let device = device(of: problem)
            if let device { json.value("device", device) }
            guard let table, witnesses < Self.maxWitnesses, !isOver() else { return }
            witnesses += 1
            let explanation = table.explain(.link(link), device: device.map { DeviceFacts($0) } ?? DeviceFacts())
            DecisionSentence(explanation.decision.value, explanation: nil, table: table).write("sentence", to: &json)
            json.raw("decision", explanation.decision.json)
            json.raw("explain", explanation.json)
        }
        json.boolean("isTruncated", checked.isTruncated)
    }

    /// Returns the device that shows a problem: the problem's device, or the device of the example that does not hold.
    private func device(of problem: TableProblem) -> JSONValue? {
        if let text = problem.device { return try? JSONValue.parse(Array(text.utf8), maxDepth: 16) }
        let parts = problem.pointer.split(separator: "/")
        guard problem.code == .example, parts.first == "examples", parts.count > 1, let index = Int(parts[1]),
            let examples = table?.source.examples, examples.indices.contains(index)
        else { return nil }
        return examples[index].device
    }
}
