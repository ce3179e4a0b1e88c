internal import ByteStorage
public import LinkCoordinator
package import StrictJSON

/// The different decisions of two tables, with a witness for every set of links that the tables distinguish.
///
/// Create it with `RouteTable.difference(from:)`. A set consists of the links that select one pattern of the old table
/// and one of the new table, with the same rewrites before and the same redirects after them. For each set, the search
/// tries every kind of value that the fields of its routes distinguish, in the query, captures, rewrites, fragment, and
/// payload. It tries them on one device of every kind that the conditions, screens, and guards of these routes
/// distinguish.
public struct TableDifference: Sendable {
    /// A pattern of a table with its route.
    public struct Choice: Sendable, Hashable {
        /// The route's id.
        public var route: String
        /// The pattern with the scheme and host that it names.
        public var pattern: String
    }

    /// The patterns that links select in both tables, or nil if no pattern matches.
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
        /// A device for which the decisions differ, with its text in `json`.
        public var device: DeviceFacts
        /// The old table's decision for that request and device.
        public var old: Decision
        /// The new table's decision for that request and device.
        public var new: Decision
        /// A Boolean value that indicates whether a route or screen was added for the request.
        ///
        /// Only the new table has the route or screen that decides. The old table had no result, or only the result of
        /// a fallback.
        public var isAddition: Bool

        /// A description of what the new decision removes from the old one, or nil if the change is not breaking.
        ///
        /// A result is `navigate`, `external`, or `deferred`. A change is breaking if the old table led to a result
        /// without a fallback, and the new table leads to none, requires a claim first, opens another URL, shows
        /// another screen on top, or lacks a screen of the stack or a value that a screen had. It is also breaking if a
        /// fallback led to a result and the new table leads to none, unless a route or screen was added for the
        /// request.
        public var breakage: String? {
            isAddition ? nil : Breakage.description(from: old.value, to: new.value)
        }

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

        /// A Boolean value that indicates whether all changes come from added routes and screens.
        public var isAddition: Bool { losses.isEmpty && !changes.isEmpty && changes.allSatisfy(\.isAddition) }
    }

    /// The changes, grouped by their cause: breaking groups first, then the largest.
    ///
    /// Edits that no request can show, such as edits of `table.applications`, are groups without changes.
    public var groups: [Group] = []

    /// The changes in the order of the new table's patterns, and at the end the changes that match no pattern there.
    public var changes: [Change] = []

    /// The number of sets of links that were compared, each pair of an old and a new choice counted once.
    public var comparedSetCount = 0

    /// The number of these sets with a link that the tables decide differently.
    package var changedSets = 0

    /// The number of changes that only requests outside of these sets show, such as coordinator paths.
    package var otherChanges = 0

    /// Sets of links that were not compared completely: the old and the new choice.
    ///
    /// An entry without choices stands for the links that no route matches, and for requests other than links. There
    /// are five reasons. The search exceeded its budget. A redirect puts two captures into one segment, more segments
    /// after a tail, or a typed capture where another type is expected. Routes have query constraints, and the tables
    /// have different dialects. Limits differ, and no link of the set could be made to exceed only one of them. Too
    /// many screens changed to try all pairs of them in coordinator paths.
    public var incompletelyComparedSets: [(old: Choice?, new: Choice?)] = []

    /// A Boolean value that indicates whether the search was ended before all sets were compared.
    package var isCut = false

    /// Sets of links for which only some combinations of device facts were tried: the old and the new choice.
    ///
    /// If there are too many combinations, the combinations of any two facts are tried, up to a limit.
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

extension RouteTable {
    /// Returns the different decisions of this table compared to an older one.
    ///
    /// Every change has a request and a device that were resolved with both tables, so there are no false alarms. If
    /// `unproved` and `sampled` are empty, all other decisions are equal for all links.
    public func difference(from old: RouteTable) -> TableDifference { difference(from: old) { false } }

    /// Returns the different decisions of this table compared to an older one, as far as they are found before the
    /// search is ended.
    ///
    /// - Parameters:
    ///   - old: The older table.
    ///   - isOver: A function that returns true to end the search after the current set of links. `isCut` then is true,
    ///     and the causes of the changes can be less exact.
    package func difference(from old: RouteTable, until isOver: () -> Bool) -> TableDifference {
        var search = DifferenceSearch(old: old, new: self, budget: WorkBudget())
        let isCut = !search.run(until: isOver)
        var difference = search.difference
        difference.isCut = isCut
        if !difference.changes.isEmpty {
            var causes = DifferenceCauses([old, self])
            difference.groups = causes.groups(of: difference.changes, until: isOver)
        }
        if let group = ApplicationEdit.group(from: old.source, to: source) { difference.add(group) }
        return difference
    }
}

/// The links of one set, and their redirect results.
struct LinkSet {
    var inside: [ProofPattern]
    var outside: [ProofPattern]
    var ends: [(table: ProofTable, result: RedirectResult)]
    var dependencies: Dependencies
}

/// The rules for breaking changes of a decision.
///
/// A change is *breaking* if the old table led to a result and the new table removes part of it. The help of `linkd
/// routes diff` and the catalog of `LinkdCommands` describe the same rules.
package enum Breakage {
    /// Returns a description of what a change removes, or nil if it breaks nothing.
    ///
    /// - Parameters:
    ///   - old: The old table's decision, or an object without outcome for a dead letter.
    ///   - new: The new table's decision.
    ///   - additions: The parts that only the new table has, whose refusals break nothing.
    package static func description(
        from old: JSONValue, to new: JSONValue, additions: Additions? = nil
    ) -> String? {
        guard let before = resultingOutcome(old), additions?.decide(old, new) != true else { return nil }
        guard let after = resultingOutcome(new) else {
            let reason = new["reason"]?.string.map { " (\($0))" } ?? ""
            return "\(new["outcome"]?.string ?? "a dead letter")\(reason) instead of \(before)"
        }
        // A fallback is not the link's intended result, so it only matters that a screen is shown.
        if Decision.isFallback(old) { return nil }
        if Decision.isFallback(new) { return "a fallback (\(new["reason"]?.string ?? "")) instead of \(before)" }
        switch (before, after) {
        case ("deferred", "navigate"), ("deferred", "external"): return nil
        case ("deferred", "deferred"):
            if old["resume"]?["claim"]?.text != new["resume"]?["claim"]?.text { return "another claim is required" }
            return old["resume"] != nil && new["resume"] == nil ? "the request is no longer resumed" : screens(old, new)
        case (_, "deferred"): return "a claim is required that was not required before"
        case ("external", "external"):
            return old["url"]?.string != new["url"]?.string ? "another URL is opened" : nil
        case ("navigate", "navigate"): return screens(old, new) ?? data(old, new)
        default: return "\(after) instead of \(before)"
        }
    }

    /// Returns the outcome if a decision leads to a result, or nil if it does not.
    static func resultingOutcome(_ decision: JSONValue) -> String? {
        guard let outcome = decision["outcome"]?.string, ["navigate", "external", "deferred"].contains(outcome) else {
            return nil
        }
        return outcome
    }

    private static func name(_ entry: JSONValue) -> String {
        let view = entry["view"]?.string.map { " (\($0))" } ?? ""
        return "\(entry["coordinator"]?.string ?? "").\(entry["screen"]?.string ?? "")\(view)"
    }

    /// Returns a description of a screen that is missing from the stack or in another position, or of another screen on
    /// top.
    private static func screens(_ old: JSONValue, _ new: JSONValue) -> String? {
        let before = (old["stack"]?.array ?? []).map(name)
        let after = (new["stack"]?.array ?? []).map(name)
        if before.isEmpty, !after.isEmpty { return "screens instead of the root" }
        if before.last != after.last { return "another screen is on top" }
        var rest = after[...]
        for screen in before {
            guard let index = rest.firstIndex(of: screen) else { return "`\(screen)` is missing or was moved" }
            rest = rest[(index + 1)...]
        }
        return nil
    }

    /// Returns a description of a value that a screen no longer has, or that differs.
    private static func data(_ old: JSONValue, _ new: JSONValue) -> String? {
        var rest = (new["stack"]?.array ?? [])[...]
        for entry in old["stack"]?.array ?? [] {
            guard let index = rest.firstIndex(where: { name($0) == name(entry) }) else { continue }
            for model in entry["data"]?.object ?? [] {
                for field in model.value.object ?? [] where !field.value.isNull {
                    if rest[index]["data"]?[model.name]?[field.name]?.text != field.value.text {
                        return "`\(model.name).\(field.name)` has another value, or none"
                    }
                }
            }
            rest = rest[(index + 1)...]
        }
        return nil
    }
}

/// The decisions of two tables about one request, as bytes.
struct DecisionPair {
    /// The old table's decision.
    let old: [UInt8]
    /// The new table's decision.
    let new: [UInt8]

    /// Creates the pair of equal decisions.
    init(_ decision: [UInt8]) {
        old = decision
        new = decision
    }

    /// Resolves a request with both tables.
    init(_ request: LinkRequest, _ device: DeviceFacts, _ tables: [RouteTable]) {
        old = tables[0].compiled.resolve(request, device)
        new = tables[1].compiled.resolve(request, device)
    }

    /// A Boolean value that indicates whether the decisions are equal except for the tables' names.
    var isSame: Bool { Self.withoutTable(old) == Self.withoutTable(new) }

    /// A Boolean value that indicates whether one of the decisions waits for a claim, so the guard hides the stack.
    var isDeferred: Bool { Self.has(old) || Self.has(new) }

    /// Returns the decision without its first member, the table's name, whose text contains no unescaped quotes.
    static func withoutTable(_ decision: [UInt8]) -> ArraySlice<UInt8> {
        var at = head.count
        while at < decision.count && decision[at] != UInt8(ascii: "\"") {
            at += decision[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return decision[min(at, decision.count)...]
    }

    private static let head = Array(#"{"table":""#.utf8)

    private static func has(_ decision: [UInt8]) -> Bool {
        let mark = Array(#""outcome":"deferred""#.utf8)
        return decision.indices.dropLast(mark.count).contains { start in
            decision[start] == mark[0] && decision[start..<(start + mark.count)].elementsEqual(mark)
        }
    }
}

/// The members of two decisions that differ, with both values.
package enum ChangedValues {
    /// A member with its old and new value, or with nil where it is absent.
    package struct Value: Sendable, Equatable {
        /// The member's path, inside the stack with the index of its entry: `stack[2].data.Product.count`.
        package var member: String
        /// The old table's value as JSON.
        package var old: String?
        /// The new table's value as JSON.
        package var new: String?
    }

    /// Returns the values that differ, in the order of a decision's members.
    ///
    /// The member with the table's name is omitted, because it always differs.
    package static func between(_ old: JSONValue, _ new: JSONValue) -> [Value] {
        var values: [Value] = []
        for name in names(old, new) where name != "table" { add(name, old[name], new[name], to: &values) }
        return values
    }

    /// The maximum depth of members to compare separately.
    private static let maxDepth = 8

    private static func add(
        _ member: String, _ old: JSONValue?, _ new: JSONValue?, to values: inout [Value], depth: Int = 0
    ) {
        if old?.text == new?.text { return }
        if depth < maxDepth, let a = old, let b = new {
            if a.object != nil, b.object != nil {
                for name in names(a, b) { add("\(member).\(name)", a[name], b[name], to: &values, depth: depth + 1) }
                return
            }
            if let x = a.array, let y = b.array, x.count == y.count {
                for index in x.indices { add("\(member)[\(index)]", x[index], y[index], to: &values, depth: depth + 1) }
                return
            }
        }
        values.append(Value(member: member, old: old?.text, new: new?.text))
    }

    private static func names(_ a: JSONValue, _ b: JSONValue) -> [String] {
        ((a.object ?? []) + (b.object ?? [])).map(\.name).unique
    }
}

/// The edits of a table that cause changes, and the changes grouped by them.
///
/// An edit of the reading of links, of models, of coordinators, or of the fallback can affect all links. It is applied
/// alone to a copy of the old table. If the copy makes the decision of the new table, the edit is the only cause.
/// Otherwise the causes are all edits that change the decision of such a copy, and the edits of the routes that the
/// request reaches.
struct DifferenceCauses {
    private let tables: [RouteTable]
    private let edits: [TableEdit]
    /// Copies of the old table with one edit each, created on first use.
    private var edited: [Int: CompiledTable] = [:]
    /// The routes of both tables by id.
    private let routes: [[String: TableSource.Route]]
    private var routeEdits: [String: TableEdit] = [:]

    init(_ tables: [RouteTable]) {
        self.tables = tables
        edits = TableEdits.list(from: tables[0].source, to: tables[1].source)
        routes = tables.map {
            Dictionary($0.source.routes.map { ($0.id.value, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Returns the changes grouped by cause: breaking groups first, then the largest.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - isOver: A function that returns true to no longer test the edits that can affect all links.
    mutating func groups(
        of changes: [TableDifference.Change], until isOver: () -> Bool
    ) -> [TableDifference.Group] {
        var order: [[String]] = []
        var groups: [[String]: TableDifference.Group] = [:]
        for change in changes {
            let causes = causes(of: change, tests: !isOver())
            let key = causes.map(\.location)
            if groups[key] == nil {
                order.append(key)
                groups[key] = TableDifference.Group(causes: causes, changes: [])
            }
            groups[key]?.changes.append(change)
        }
        let all = order.compactMap { groups[$0] }.map { group in
            // The first change is the group's witness: a breaking one, then a link, then a short request.
            var group = group
            group.changes = group.changes.map { ($0, $0.witnessRank) }.enumerated().sorted { a, b in
                (a.element.1, a.offset) < (b.element.1, b.offset)
            }.map(\.element.0)
            return group
        }
        return all.enumerated().sorted { a, b in
            let (x, y) = (a.element, b.element)
            if x.isBreaking != y.isBreaking { return x.isBreaking }
            return x.changes.count != y.changes.count ? x.changes.count > y.changes.count : a.offset < b.offset
        }.map(\.element)
    }

    fileprivate mutating func causes(of change: TableDifference.Change, tests: Bool) -> [TableDifference.Cause] {
        let expected = DecisionPair.withoutTable(change.new.json)
        let before = DecisionPair.withoutTable(change.old.json)
        var partial: [TableEdit] = []
        for index in tests ? edits.indices : 0..<0 {
            let decided = DecisionPair.withoutTable(table(index).resolve(change.request, change.device))
            if decided == expected { return [TableDifference.Cause(edits[index])] }
            if decided != before { partial.append(edits[index]) }
        }
        let own = routeEdits(of: change)
        let all = partial + own
        if !all.isEmpty { return all.map { TableDifference.Cause($0) } }
        // These edits have an effect only together. If there are none, parents or routes that were not reached by name
        // are the cause.
        return edits.isEmpty ? [TableDifference.Cause(location: "routes")] : edits.map { TableDifference.Cause($0) }
    }

    private mutating func table(_ index: Int) -> CompiledTable {
        if let known = edited[index] { return known }
        var source = tables[0].source
        edits[index].apply?(&source)
        let compiled = CompiledTable(source, hash: "edited00")
        edited[index] = compiled
        return compiled
    }

    /// Returns the edits of the routes that the request reaches in either table.
    private mutating func routeEdits(of change: TableDifference.Change) -> [TableEdit] {
        var ids: [String] = []
        func add(_ id: String?) {
            if let id, !ids.contains(id) { ids.append(id) }
        }
        for (choice, decision) in [(change.oldChoice, change.old), (change.newChoice, change.new)] {
            add(choice?.route)
            for id in decision.via { add(id) }
            add(decision.route)
        }
        if case .route(let id, _) = change.request { add(id) }
        // Include the routes whose entries are parents, and the routes that a redirect names.
        var at = 0
        while at < ids.count {
            for own in routes { for id in own[ids[at]]?.named ?? [] { add(id) } }
            at += 1
        }
        return ids.compactMap { routeEdit($0) }
    }

    private mutating func routeEdit(_ id: String) -> TableEdit? {
        if let known = routeEdits[id] { return known }
        let (old, new) = (routes[0][id], routes[1][id])
        let edit = TableEdit(
            "routes.\(id)", old?.pieces ?? [], new?.pieces ?? [], apply: nil)
        routeEdits[id] = edit
        return edit
    }
}

/// A search for the edits of a table that change the decisions of requests.
package struct ChangeCauses {
    private let tables: [RouteTable]
    private var causes: DifferenceCauses

    /// Creates a search for the edits between two tables.
    package init(from old: RouteTable, to new: RouteTable) {
        tables = [old, new]
        causes = DifferenceCauses(tables)
    }

    /// Returns the edits that change the decision of a request for a device, or an empty array if none does.
    package mutating func edits(of request: LinkRequest, _ device: DeviceFacts) -> [TableDifference.Cause] {
        let decisions = tables.map { $0.resolve(request, device: device) }
        guard decisions[0].comparable != decisions[1].comparable else { return [] }
        let change = TableDifference.Change(
            request: request, device: device, old: decisions[0], new: decisions[1], isAddition: false)
        return causes.causes(of: change, tests: true)
    }
}

extension TableSource.Route {
    /// The ids that this route names: the routes of its parents, and the one that it redirects to.
    fileprivate var named: [String] {
        var ids: [String] = []
        for variant in variants { if case .route(let id) = variant.to.parents { ids.append(id.value) } }
        if case .redirect(.route(let id)) = action { ids.append(id.value) }
        return ids
    }
}

extension TableDifference.Cause {
    fileprivate init(_ edit: TableEdit) {
        location = edit.location
        old = edit.old
        new = edit.new
    }

    init(location: String) { self.location = location }
}

extension TableDifference.Change {
    /// A number that is lower for a change whose request is a better witness.
    fileprivate var witnessRank: Int {
        var rank = isBreaking ? 0 : 1 << 40
        if case .link = request {} else { rank += 1 << 32 }
        // A text without a scheme, such as an empty one, does not look like a link.
        if case .link(let link) = request, !link.contains(":") { rank += 1 << 28 }
        if device.json != "{}" { rank += 1 << 24 }
        return rank + request.text.utf8.count
    }
}
