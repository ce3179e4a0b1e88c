public import LinkCoordinator
internal import StrictJSON

/// The different decisions of two tables, with a witness for every set of links that the tables distinguish.
///
/// Create it with `RouteTable.difference(from:)`. A set consists of the links that select one pattern of the old table
/// and one of the new table, with the same rewrites before and the same redirects after them. For each set the search
/// tries requests with every kind of value that the fields of its routes distinguish (query, captures, rewrites,
/// fragment, payload), on one device of every cell that their conditions, screens, and guards distinguish.
public struct TableDifference: Sendable {
    /// A pattern of a table with its route.
    public struct Choice: Sendable, Hashable {
        /// The route's id.
        public var route: String
        /// The pattern with the scheme and host that it names.
        public var pattern: String
    }

    /// The patterns that links select in both tables; nil for no match.
    struct Region: Hashable {
        var old: Choice?
        var new: Choice?
    }

    /// One kind of change for a set of links.
    public struct Change: Sendable {
        /// The choice of the links in the old table, or nil for no match.
        public var oldChoice: Choice?
        /// The choice of the links in the new table, or nil for no match.
        public var newChoice: Choice?
        /// A request for which the tables make different decisions.
        ///
        /// It is a link of the set, in a payload if necessary, or another form if no link shows the change.
        public var request: LinkRequest
        /// A device for which the decisions differ; `json` contains it as text.
        public var device: DeviceFacts
        /// The old table's decision for that request and device.
        public var old: Decision
        /// The new table's decision for that request and device.
        public var new: Decision

        /// A description of what the new decision removes from the old one, or nil if the change is not breaking.
        ///
        /// A change is breaking if the old table led to a result (`navigate`, `external`, `deferred`, not by a
        /// fallback) and the new one leads to none, requires a claim first, opens another URL, shows another screen on
        /// top, or lacks a screen of the stack or a value that a screen had. It is also breaking if a fallback led to a
        /// result and the new table leads to none.
        public var breakage: String? { Breakage.description(from: old.value, to: new.value) }

        /// A Boolean value that indicates whether the change removes a working result.
        public var isBreaking: Bool { breakage != nil }
    }

    /// A location at which the tables differ.
    public struct Cause: Sendable, Hashable {
        /// The location in the table's notation, such as `link.rewrites` or `routes.item`.
        public var location: String
        /// The text that only the old table has there, or nil if there is none.
        public var old: String?
        /// The text that only the new table has there, or nil if there is none.
        public var new: String?
    }

    /// The changes that one edit of the table, or several edits together, cause.
    public struct Group: Sendable {
        /// The edits.
        public var causes: [Cause]
        /// The changes, with breaking ones first.
        public var changes: [Change]

        /// Descriptions of losses that no request and device can show.
        ///
        /// Events that name an application that no table lists any more become dead letters.
        public var losses: [String] = []

        /// A Boolean value that indicates whether any of the changes removes a working result.
        public var isBreaking: Bool { !losses.isEmpty || changes.first?.isBreaking ?? false }
    }

    /// The changes, grouped by their cause: breaking groups first, then the largest.
    ///
    /// Edits that no request can show, such as those of `table.applications`, are groups without changes.
    public var groups: [Group] = []

    /// The changes in the order of the new table's patterns; those that match nothing there come last.
    public var changes: [Change] = []

    /// The number of sets of links that were compared, each pair of an old and a new choice counted once.
    public var comparedSetCount = 0

    /// The number of these sets with a link that the tables decide differently.
    package var changedSets = 0

    /// The number of changes that only requests outside of these sets show, such as coordinator paths.
    package var otherChanges = 0

    /// Sets of links that were not compared completely: the old and the new choice.
    ///
    /// An entry without choices stands for the links that no route matches, and for requests other than links. The
    /// reasons are: the search exceeded its budget; a redirect puts two captures into one segment, more segments
    /// after a tail, or a typed capture where another type is expected; routes have query constraints and the tables
    /// have different dialects; limits differ and no link of the set could be made to exceed only one of them; or too
    /// many screens changed to try all pairs of them in coordinator paths.
    public var incompletelyComparedSets: [(old: Choice?, new: Choice?)] = []

    /// A Boolean value that indicates whether the search was ended early, so that not all sets were compared.
    package var isCut = false

    /// Sets of links for which only some combinations of device facts were tried: the old and the new choice.
    ///
    /// If there are too many combinations, those of any two facts are tried, up to a limit.
    public var sampledSets: [(old: Choice?, new: Choice?)] = []
}

extension LinkRequest {
    /// The request in one line: a link as is, other forms after a word for the form.
    package var text: String {
        switch self {
        case .link(let text): text
        case .path(let text, _): "path \(text)"
        case .route(let id, let params): "route \(id) with \(params.json)"
        case .payload(let payload): "payload \(payload.json)"
        }
    }
}

extension Decision {
    /// The decision without the name of its table, as text for comparisons.
    package var comparable: String {
        JSONValue(.object((value.object ?? []).filter { $0.name != "table" })).text
    }

    /// A summary of the decision that distinguishes kinds of changes.
    fileprivate var kind: [String] {
        [
            outcome.rawValue, route ?? "", variant.map(String.init) ?? "", reason?.rawValue ?? "", detail ?? "",
            `guard` ?? "",
        ]
            + [path ?? "", url.map { _ in "url" } ?? ""]
    }
}

extension TableDifference {
    /// Inserts a breaking group after the other breaking ones, and any other group at the end.
    mutating func add(_ group: Group) {
        let index = group.isBreaking ? groups.prefix(while: \.isBreaking).count : groups.count
        groups.insert(group, at: index)
    }

    /// A key that is equal for changes of the same kind.
    struct Kind: Hashable {
        private let old: [String]
        private let new: [String]

        init(_ old: Decision, _ new: Decision) {
            self.old = old.kind
            self.new = new.kind
        }
    }
}
