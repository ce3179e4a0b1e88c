internal import StrictJSON

/// What two tables decide differently: for every set of links that they can tell apart, with a witness.
///
/// Made by `Table.difference(from:)`. A set of links is those that choose one pattern in the old table and one in the
/// new; within it links are tried with every kind of value that the fields of both routes tell apart, on one device of
/// every cell that the conditions of both tables cut.
package struct TableDifference: Sendable {
    /// A pattern of a table, and its route.
    package struct Choice: Sendable, Hashable {
        /// The route's id.
        package var route: String
        /// The pattern, with the scheme and host that it names.
        package var pattern: String
    }

    /// One way in which a set of links changed.
    package struct Change: Sendable {
        /// What the links of the set choose in the old table; nil for nothing.
        package var oldChoice: Choice?
        /// What they choose in the new one; nil for nothing.
        package var newChoice: Choice?
        /// A link of the set for which the tables decide differently.
        package var link: String
        /// A device for which they do; `json` writes it.
        package var device: Device
        /// The old table's decision for that link and device.
        package var old: Decision
        /// The new table's.
        package var new: Decision
    }

    /// The changes, in the order of the new table's patterns, the ones that choose nothing there last.
    package var changes: [Change] = []

    /// Number of sets of links that were looked at.
    package var sets = 0

    /// Sets of links that were not looked at whole, because it would have taken too much work: old and new choice.
    package var unproved: [(old: Choice?, new: Choice?)] = []

    /// Whether the devices that were tried stand for all.
    package var triesAllDevices = true
}

extension Table {
    /// What this table decides differently from an older one.
    ///
    /// Every change comes with a link and a device, which were resolved with both tables: there are no false alarms.
    /// What is not found is the same for all links, as far as `unproved` is empty, `triesAllDevices` holds and values
    /// of query and path count by their kinds.
    package func difference(from old: Table, budget: WorkBudget = WorkBudget()) -> TableDifference {
        var search = DifferenceSearch(old: old, new: self)
        search.look(reading: 0, budget)
        // Links that only one of the tables reads are found by reading as it does.
        search.look(reading: 1, budget)
        return search.difference
    }
}

extension Decision {
    /// The decision without the name of its table, as text: what two tables are compared by.
    package var comparable: String {
        JSONValue(.object((value.object ?? []).filter { $0.name != "table" })).text
    }

    /// How a decision reads in short: what tells one way of changing from another.
    fileprivate var kind: [String] {
        [outcome.rawValue, route ?? "", variant.map(String.init) ?? "", reason ?? "", detail ?? "", `guard` ?? ""]
            + [path ?? "", url.map { _ in "url" } ?? ""]
    }
}

extension TableDifference {
    /// Two decisions that count as one way of changing.
    struct Kind: Hashable {
        private let old: [String]
        private let new: [String]

        init(_ old: Decision, _ new: Decision) {
            self.old = old.kind
            self.new = new.kind
        }
    }
}
