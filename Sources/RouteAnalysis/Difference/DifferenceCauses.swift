internal import LinkCoordinator

/// The edits of a table that cause changes, and the changes grouped by them.
///
/// An edit that can affect all links (reading of links, models, coordinators, the fallback) is tested: it is applied
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
            // A breaking change comes first, because the first change is the group's witness.
            var group = group
            group.changes = group.changes.filter(\.isBreaking) + group.changes.filter { !$0.isBreaking }
            return group
        }
        return all.enumerated().sorted { a, b in
            let (x, y) = (a.element, b.element)
            if x.isBreaking != y.isBreaking { return x.isBreaking }
            return x.changes.count != y.changes.count ? x.changes.count > y.changes.count : a.offset < b.offset
        }.map(\.element)
    }

    private mutating func causes(of change: TableDifference.Change, tests: Bool) -> [TableDifference.Cause] {
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
        // Include the routes whose entries are parents, and those that are redirected to by name.
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
