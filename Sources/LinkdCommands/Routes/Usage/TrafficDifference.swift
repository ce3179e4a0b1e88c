internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import LinkCoordinator
internal import StrictJSON

/// Recorded links that two tables decide differently, gathered by what changed.
struct TrafficDifference {
    /// What a decision is told apart by: its route and how it ended.
    struct Side: Hashable, Comparable {
        var route: String?
        var outcome: String
        var reason: String?

        /// Takes the side from a decision, or from the reason of a dead letter.
        init(_ decision: JSONValue) {
            route = decision["route"]?.string
            outcome = decision["outcome"]?.string ?? "dead letter"
            reason = decision["reason"]?.string
        }

        /// `route: outcome (reason)`.
        var text: String { (route.map { $0 + ": " } ?? "") + outcome + (reason.map { " (\($0))" } ?? "") }

        /// Writes the side as a member.
        func write(_ name: String, to json: inout JSONText) {
            json.beginObject(name)
            json.text("route", route)
            json.text("outcome", outcome)
            json.text("reason", reason)
            json.endObject()
        }

        static func < (a: Side, b: Side) -> Bool { a.text < b.text }
    }

    /// Decisions that changed in the same way.
    struct Group {
        var old: Side
        var new: Side
        /// Members of the decision that differ.
        var members: [String]
        /// Sum of the weights.
        var count = 0
        /// The first input that shows it.
        var witness: String
        /// What the new decision takes away of the old one; nil for a change that breaks nothing.
        var breaks: String?
        /// The values of the first input's decisions that changed.
        var values: [ChangedValues.Value]
    }

    private struct Key: Hashable {
        var old: Side
        var new: Side
        var members: [String]
        var isBreaking: Bool
    }

    /// Decisions that were compared, by weight.
    private(set) var total = 0
    /// Those that are the same.
    private(set) var same = 0
    private var found: [Key: Group] = [:]

    /// Compares the decisions of one input, device by device.
    ///
    /// - Parameters:
    ///   - old: Decisions of the old table, or one object with the member `reason` for a dead letter.
    ///   - new: The same of the new table.
    ///   - weight: How often the input came.
    ///   - witness: The input, for people.
    mutating func add(old: [JSONValue], new: [JSONValue], weight: Int, witness: String) {
        let nothing = JSONValue(.object([]))
        for index in 0..<max(old.count, new.count) {
            let a = old[safe: index] ?? nothing
            let b = new[safe: index] ?? nothing
            total &+= weight
            let members = Self.difference(a, b)
            if members.isEmpty {
                same &+= weight
                continue
            }
            let (from, to) = (Side(a), Side(b))
            // Where route or outcome changed, what else changed with it tells nothing apart.
            let breaks = Breakage.of(a, b)
            let key = Key(old: from, new: to, members: from == to ? members : [], isBreaking: breaks != nil)
            var group =
                found[key]
                ?? Group(
                    old: from, new: to, members: [], witness: witness, breaks: breaks,
                    values: ChangedValues.between(a, b))
            group.count &+= weight
            for member in members where !group.members.contains(member) { group.members.append(member) }
            found[key] = group
        }
    }

    /// Weight of the decisions whose change breaks something.
    var breaking: Int { found.values.reduce(0) { $1.breaks == nil ? $0 : $0 + $1.count } }

    /// The groups, those that break something first, then the heaviest.
    var groups: [Group] {
        found.values.sorted { a, b in
            if (a.breaks == nil) != (b.breaks == nil) { return a.breaks != nil }
            if a.count != b.count { return a.count > b.count }
            if a.old != b.old { return a.old < b.old }
            if a.new != b.new { return a.new < b.new }
            return a.members.joined(separator: ",") < b.members.joined(separator: ",")
        }
    }

    /// Names of the members that differ; the table's own name always does and says nothing.
    static func difference(_ a: JSONValue, _ b: JSONValue) -> [String] {
        var names: [String] = []
        for member in (a.object ?? []) + (b.object ?? []) where member.name != "table" && !names.contains(member.name) {
            if a[member.name]?.text != b[member.name]?.text { names.append(member.name) }
        }
        return names
    }
}
