internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// The recorded links for which two tables make different decisions, grouped by the change.
struct TrafficDifference {
    /// The properties of a decision that define its group: its route and its outcome.
    struct Side: Hashable, Comparable {
        var route: String?
        var outcome: String
        var reason: String?

        /// Creates a side from a decision, or from the reason of a dead letter.
        init(_ decision: JSONValue) {
            route = decision["route"]?.string
            outcome = decision["outcome"]?.string ?? "dead letter"
            reason = decision["reason"]?.string
        }

        /// The text `route: outcome (reason)`.
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

    /// The decisions that changed in the same way.
    struct Group {
        var old: Side
        var new: Side
        /// The names of the members that differ.
        var members: [String]
        /// The sum of the weights.
        var count = 0
        /// The first input with this change.
        var witness: String
        /// A description of what breaks, or nil for a compatible change.
        var breakage: String?
        /// The changed values in the decisions of the first input.
        var values: [ChangedValues.Value]
        /// The decisions of the first input.
        var first: (old: JSONValue, new: JSONValue)
    }

    private struct Key: Hashable {
        var old: Side
        var new: Side
        var members: [String]
        var isBreaking: Bool
    }

    /// The weight of all compared decisions.
    private(set) var total = 0
    /// The weight of the unchanged decisions.
    private(set) var same = 0
    private var found: [Key: Group] = [:]

    /// Compares the decisions of one input, device by device.
    ///
    /// - Parameters:
    ///   - old: The decisions of the old table, or one object with the member `reason` for a dead letter.
    ///   - new: The same for the new table.
    ///   - weight: The number of occurrences of the input.
    ///   - witness: The input, for output.
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
            // If the route or the outcome changed, the other members change with it, so they do not distinguish groups.
            let breakage = Breakage.description(from: a, to: b)
            let key = Key(old: from, new: to, members: from == to ? members : [], isBreaking: breakage != nil)
            var group =
                found[key]
                ?? Group(
                    old: from, new: to, members: [], witness: witness, breakage: breakage,
                    values: ChangedValues.between(a, b), first: (a, b))
            group.count &+= weight
            for member in members where !group.members.contains(member) { group.members.append(member) }
            found[key] = group
        }
    }

    /// The weight of the decisions with a breaking change.
    var breaking: Int { found.values.reduce(0) { $1.breakage == nil ? $0 : $0 + $1.count } }

    /// The groups, breaking ones first, then by descending weight.
    var groups: [Group] {
        found.values.sorted { a, b in
            if (a.breakage == nil) != (b.breakage == nil) { return a.breakage != nil }
            if a.count != b.count { return a.count > b.count }
            if a.old != b.old { return a.old < b.old }
            if a.new != b.new { return a.new < b.new }
            return a.members.joined(separator: ",") < b.members.joined(separator: ",")
        }
    }

    /// Returns the names of the members that differ, except for the name of the table, which always differs.
    static func difference(_ a: JSONValue, _ b: JSONValue) -> [String] {
        var names: [String] = []
        for member in (a.object ?? []) + (b.object ?? []) where member.name != "table" && !names.contains(member.name) {
            if a[member.name]?.text != b[member.name]?.text { names.append(member.name) }
        }
        return names
    }
}
