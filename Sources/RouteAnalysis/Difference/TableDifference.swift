public import LinkCoordinator
internal import StrictJSON

/// What two tables decide differently: for every set of links that they can tell apart, with a witness.
///
/// Made by `Table.difference(from:)`. A set of links is those that choose one pattern in the old table and one in the
/// new, with the same rewrites before and the same redirects behind them. Within it requests are tried with every kind
/// of value that the fields of the routes concerned tell apart (query, captures, rewrites, fragment, payload), on one
/// device of every cell that their conditions, screens and guards cut.
public struct TableDifference: Sendable {
    /// A pattern of a table, and its route.
    public struct Choice: Sendable, Hashable {
        /// The route's id.
        public var route: String
        /// The pattern, with the scheme and host that it names.
        public var pattern: String
    }

    /// What links choose in both tables; nil for nothing.
    struct Region: Hashable {
        var old: Choice?
        var new: Choice?
    }

    /// One way in which a set of links changed.
    public struct Change: Sendable {
        /// What the links of the set choose in the old table; nil for nothing.
        public var oldChoice: Choice?
        /// What they choose in the new one; nil for nothing.
        public var newChoice: Choice?
        /// A request for which the tables decide differently: a link of the set, where need be in a payload, or for
        /// what no link shows another form.
        public var request: LinkRequest
        /// A device for which they do; `json` writes it.
        public var device: DeviceFacts
        /// The old table's decision for that request and device.
        public var old: Decision
        /// The new table's.
        public var new: Decision

        /// What of the old decision the new one takes away, in words; nil for a change that breaks nothing.
        ///
        /// A change is breaking where the old table led somewhere (`navigate`, `external`, `deferred`, not by a
        /// fallback) and the new one does not, asks for a claim first, opens another URL, shows another screen on top
        /// or lacks one of the stack, or lacks a value that a screen had; and where a fallback led somewhere and
        /// nothing is left of that.
        public var breaks: String? { Breakage.of(old.value, new.value) }

        /// A Boolean value that indicates whether the change takes away something that worked.
        public var isBreaking: Bool { breaks != nil }
    }

    /// A place in which the tables differ.
    public struct Cause: Sendable, Hashable {
        /// The place, as the table names it, such as `link.rewrites` or `routes.item`.
        public var place: String
        /// What only the old table has there; nil for nothing.
        public var old: String?
        /// What only the new table has there; nil for nothing.
        public var new: String?
    }

    /// The changes that one edit of the table, or some edits together, bring about.
    public struct Group: Sendable {
        /// The edits.
        public var causes: [Cause]
        /// The changes, those that break something first.
        public var changes: [Change]

        /// Words for what the edits take away that no request and device show.
        ///
        /// Events that name an application which no table lists any more become dead letters.
        public var losses: [String] = []

        /// A Boolean value that indicates whether any of the changes takes away something that worked.
        public var isBreaking: Bool { !losses.isEmpty || changes.first?.isBreaking ?? false }
    }

    /// The changes, gathered by what brings them about: what breaks something first, then the largest group; with the
    /// edits that no request shows, such as of `table.applications`, which have no changes.
    public var groups: [Group] = []

    /// The changes, in the order of the new table's patterns, the ones that choose nothing there last.
    public var changes: [Change] = []

    /// Number of sets of links that were looked at.
    public var sets = 0

    /// Sets of links that were not looked at whole: old and new choice.
    ///
    /// Because it would have taken too much work; because a redirect puts two captures into one segment, more after a
    /// tail, or a typed one where another type is wanted; because routes want values of the query and the tables read
    /// queries in different ways; or because limits differ and no link of the set could be made so large that only one
    /// of them is passed.
    public var unproved: [(old: Choice?, new: Choice?)] = []

    /// Sets of links for which not all devices that the conditions tell apart were tried, but every two facts
    /// together: old and new choice.
    public var sampled: [(old: Choice?, new: Choice?)] = []
}

extension RouteTable {
    /// What this table decides differently from an older one.
    ///
    /// Every change comes with a request and a device, which were resolved with both tables: there are no false alarms.
    /// What is not found is the same for all links, as far as `unproved` and `sampled` are empty.
    public func difference(from old: RouteTable) -> TableDifference {
        var search = DifferenceSearch(old: old, new: self, budget: WorkBudget())
        search.run()
        var difference = search.difference
        if !difference.changes.isEmpty {
            var causes = DifferenceCauses([old, self])
            difference.groups = causes.groups(of: difference.changes)
        }
        if let group = ApplicationEdit.group(from: old.source, to: source) { difference.add(group) }
        return difference
    }
}

extension LinkRequest {
    /// The request in one line: a link as it is, other forms with a word before them.
    package var text: String {
        switch self {
        case .link(let text): text
        case .path(let text, _): "path \(text)"
        case .route(let id, let params): "route \(id) with \(params)"
        case .payload(let json): "payload \(json)"
        }
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
    /// Adds a group behind those that break as much.
    mutating func add(_ group: Group) {
        let place = group.isBreaking ? groups.prefix(while: \.isBreaking).count : groups.count
        groups.insert(group, at: place)
    }

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
