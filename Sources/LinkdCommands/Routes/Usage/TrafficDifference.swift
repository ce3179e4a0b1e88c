internal import LinkIngest
internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON
internal import LinkDecider

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
    private let additions: Additions?

    /// Creates an empty comparison.
    ///
    /// - Parameter additions: The parts that only the new table has, or nil if the tables are not known.
    init(additions: Additions? = nil) { self.additions = additions }

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
            let breakage = Breakage.description(from: a, to: b, additions: additions)
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

/// A comparison of two tables by recorded links and events.
///
/// A class for the same reason as `Explainer`.
final class TrafficReader {
    private var old: Decider
    private var new: Decider
    private var arena = OutputArena()
    private(set) var difference: TrafficDifference
    /// The number of inputs that neither table accepts: not an event, not a link, or for another application.
    private(set) var unreadable = 0

    /// The size limit of a line, in bytes.
    static let limit = EventInput.limit

    /// Creates a comparison of two tables.
    init(old: RouteTable, new: RouteTable, _ settings: Settings, _ vendors: LoadedVendors) {
        self.old = Decider(DeciderConfiguration(settings, [old], vendors))
        self.new = Decider(DeciderConfiguration(settings, [new], vendors))
        difference = TrafficDifference(additions: Additions(from: old, to: new))
    }

    /// Compares the decisions of a line: a link or an event, optionally with a tab and the number of its occurrences.
    func add(_ line: [UInt8]) {
        let (input, weight) = Self.parts(line)
        let a = Self.decisions(input, &old, &arena)
        let b = Self.decisions(input, &new, &arena)
        guard a.isDecided || b.isDecided else {
            unreadable += 1
            return
        }
        difference.add(old: a.values, new: b.values, weight: weight, witness: Self.witness(input))
    }

    /// Splits a line into input and weight.
    ///
    /// A link has no tab, and an event has none before digits at the end of its line.
    private static func parts(_ line: [UInt8]) -> (input: [UInt8], weight: Int) {
        guard let tab = line.lastIndex(of: UInt8(ascii: "\t")) else { return (line, 1) }
        let digits = String(decoding: line[(tab + 1)...], as: UTF8.self)
        guard let weight = Int(digits), (1...1_000_000_000).contains(weight) else { return (line, 1) }
        return (Array(line[..<tab]), weight)
    }

    private static func decisions(
        _ input: [UInt8], _ decider: inout Decider, _ arena: inout OutputArena
    ) -> (values: [JSONValue], isDecided: Bool) {
        arena.reset()
        var values: [JSONValue] = []
        let cause = input.withUnsafeBufferPointer { input in
            let key: ByteView? = input.first == UInt8(ascii: "{") ? nil : ByteView("device")
            return decider.decide(value: ByteView(input), key: key, into: &arena) { _, decision, _ in
                if let value = try? JSONValue.parse(decision.array, maxDepth: 512) { values.append(value) }
            }
        }
        guard let cause, cause.item == nil else { return (values, true) }
        let reason = JSONMember(name: "reason", value: JSONValue(.string(cause.reason.rawValue)))
        return ([JSONValue(.object([reason]))], false)
    }

    /// Returns the link of the input, or the whole input.
    private static func witness(_ input: [UInt8]) -> String {
        let event = input.first == UInt8(ascii: "{") ? try? JSONValue.parse(input) : nil
        if event?["device"] == nil, let link = event?["link"]?.string { return link }
        return String(decoding: input, as: UTF8.self)
    }
}
