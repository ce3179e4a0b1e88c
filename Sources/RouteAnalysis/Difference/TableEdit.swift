package import LinkCoordinator
package import StrictJSON

/// A location at which two tables differ in a way that can cause different decisions.
struct TableEdit: Sendable {
    /// The location in the table's notation: `link.rewrites`, `models.Product`, `routes.item`.
    let location: String
    /// The pieces that only the old table has there, or nil if there are none.
    let old: String?
    /// The pieces that only the new table has there, or nil if there are none.
    let new: String?
    /// A closure that copies the new table's part into a copy of the old table, or nil for a route, which is identified
    /// by its id.
    let apply: (@Sendable (inout TableSource) -> Void)?

    /// Creates an edit from two lists of pieces, or returns nil if they are equal.
    init?(_ location: String, _ old: [String], _ new: [String], apply: (@Sendable (inout TableSource) -> Void)?) {
        if old == new { return nil }
        self.location = location
        self.old = Self.text(old, without: new)
        self.new = Self.text(new, without: old)
        self.apply = apply
    }

    private static func text(_ own: [String], without other: [String]) -> String? {
        if own.isEmpty { return nil }
        let ownTexts = own.filter { !other.contains($0) }
        // The pieces are the same in another order.
        if ownTexts.isEmpty, other.allSatisfy(own.contains) { return own.joined(separator: ", ") }
        return ownTexts.isEmpty ? nil : ownTexts.joined(separator: ", ")
    }
}

/// The edits between two tables, except the edits of routes.
enum TableEdits {
    /// The maximum number of separate locations, beyond which each kind of part is one location.
    private static let maxLocations = 16

    /// Returns the edits from one table to another.
    static func list(from old: TableSource, to new: TableSource) -> [TableEdit] {
        let parts = parts(old, new, byName: true)
        let wholes = parts.count > maxLocations ? self.parts(old, new, byName: false) : parts
        return links(old, new) + wholes + otherEdits(old, new)
    }

    /// Returns a Boolean value that indicates whether two tables differ in a part other than routes and link blocks.
    static func haveOtherParts(_ old: TableSource, _ new: TableSource) -> Bool {
        !(parts(old, new, byName: false) + otherEdits(old, new)).isEmpty
    }

    private static func links(_ old: TableSource, _ new: TableSource) -> [TableEdit] {
        var edits: [TableEdit] = []
        func add(
            _ location: String, _ a: [String], _ b: [String], _ apply: @escaping @Sendable (inout TableSource) -> Void
        ) {
            if let edit = TableEdit(location, a, b, apply: apply) { edits.append(edit) }
        }
        guard old.blocks.count == new.blocks.count else {
            add("link", old.blocks.map(\.description), new.blocks.map(\.description)) { $0.blocks = new.blocks }
            return edits + paths(old, new)
        }
        for (index, (a, b)) in zip(old.blocks, new.blocks).enumerated() {
            let name = old.blocks.count == 1 ? "link" : "link[\(index)]"
            add("\(name).schemes", a.schemeTexts, b.schemeTexts) {
                $0.blocks[index].schemes = b.schemes
                $0.blocks[index].acceptsOtherSchemes = b.acceptsOtherSchemes
                $0.blocks[index].schemeCase = b.schemeCase
            }
            add("\(name).hosts", a.hostTexts, b.hostTexts) {
                $0.blocks[index].hosts = b.hosts
                $0.blocks[index].hostRole = b.hostRole
            }
            add("\(name).rewrites", a.rewriteTexts, b.rewriteTexts) { $0.blocks[index].rewrites = b.rewrites }
            add("\(name).query", a.query.pieces, b.query.pieces) { $0.blocks[index].query = b.query }
            add("\(name).path.emptySegments", [a.emptySegments.rawValue], [b.emptySegments.rawValue]) {
                $0.blocks[index].emptySegments = b.emptySegments
            }
            add("\(name).repair", ["\(a.repair)"], ["\(b.repair)"]) { $0.blocks[index].repair = b.repair }
        }
        return edits + paths(old, new)
    }

    private static func paths(_ old: TableSource, _ new: TableSource) -> [TableEdit] {
        // Patterns contain folded literals, so a change of case affects all routes.
        [
            TableEdit(
                "link.path.case", [old.foldsPathCase ? "insensitive" : "sensitive"],
                [new.foldsPathCase ? "insensitive" : "sensitive"]
            ) {
                $0.foldsPathCase = new.foldsPathCase
                $0.routes = new.routes
            }
        ].compactMap { $0 }
    }

    /// Returns the edits of named parts, with one location for each part or for each kind of part.
    private static func parts(_ old: TableSource, _ new: TableSource, byName: Bool) -> [TableEdit] {
        func list<Part: Sendable>(
            _ kind: String, _ path: any WritableKeyPath<TableSource, [Part]> & Sendable, _ name: (Part) -> String,
            _ pieces: (Part) -> [String]
        ) -> [TableEdit] {
            let (own, others) = (old[keyPath: path], new[keyPath: path])
            guard byName else {
                let texts = [own, others].map { $0.map { Pieces.line(name($0), pieces($0)) } }
                return [TableEdit(kind, texts[0], texts[1]) { $0[keyPath: path] = others }].compactMap { $0 }
            }
            let oldParts = Dictionary(own.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
            let newParts = Dictionary(others.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
            let names = own.map(name) + others.map(name).filter { oldParts[$0] == nil }
            return names.compactMap { one in
                // The old parts, with only this one replaced by the new table's.
                var changed = own.filter { name($0) != one || newParts[one] != nil }
                    .map { name($0) == one ? newParts[one] ?? $0 : $0 }
                if oldParts[one] == nil, let part = newParts[one] { changed.append(part) }
                return TableEdit("\(kind).\(one)", oldParts[one].map(pieces) ?? [], newParts[one].map(pieces) ?? []) {
                    [changed] in $0[keyPath: path] = changed
                }
            }
        }
        return list("models", \.models, \.name.value, \.pieces)
            + list("capabilities", \.capabilities, \.name.value, \.pieces)
            + list("coordinators", \.coordinators, \.name.value, \.pieces)
            + list("guards", \.guards, \.name.value, \.pieces)
    }

    private static func otherEdits(_ old: TableSource, _ new: TableSource) -> [TableEdit] {
        [
            TableEdit("link.payload", old.payload.pieces, new.payload.pieces) { $0.payload = new.payload },
            TableEdit("link.limits", old.limits.pieces, new.limits.pieces) { $0.limits = new.limits },
            TableEdit("externals", old.externals.pieces, new.externals.pieces) { $0.externals = new.externals },
            TableEdit("fallback", old.fallback.map(\.piece), new.fallback.map(\.piece)) { $0.fallback = new.fallback },
        ].compactMap { $0 }
    }
}

/// An edit of `table.applications`.
///
/// It affects only events that name an application, because the application selects their table.
enum ApplicationEdit {
    /// Returns the edit with its losses, or nil if both tables list the same applications in any order.
    static func group(from old: TableSource, to new: TableSource) -> TableDifference.Group? {
        let (before, after) = (old.applications.map(\.value), new.applications.map(\.value))
        let removed = before.filter { !after.contains($0) }
        let added = after.filter { !before.contains($0) }
        if removed.isEmpty && added.isEmpty { return nil }
        var cause = TableDifference.Cause(location: "table.applications")
        cause.old = removed.isEmpty ? nil : removed.joined(separator: ", ")
        cause.new = added.isEmpty ? nil : added.joined(separator: ", ")
        var group = TableDifference.Group(causes: [cause], changes: [])
        group.losses = removed.map { "events of the application `\($0)` become dead letters (application_unknown)" }
        return group
    }
}

/// The routes, coordinators, and screens that only the newer of two tables has.
///
/// A part that the old table had no place for is *added*. It may have led to a fallback before, and may refuse some of
/// its values now: a name of 41 characters where the new route takes 40. Such a refusal belongs to the new part and
/// breaks nothing.
package struct Additions: Sendable {
    private let routes: Set<String>
    private let screens: Set<String>

    /// Creates the additions of a table to an older one.
    package init(from old: RouteTable, to new: RouteTable) {
        routes = Set(new.source.routes.map(\.id.value)).subtracting(old.source.routes.map(\.id.value))
        screens = Self.screens(new).subtracting(Self.screens(old))
    }

    /// Returns the names of coordinators and of their screens.
    private static func screens(_ table: RouteTable) -> Set<String> {
        table.source.coordinators.reduce(into: []) { names, coordinator in
            names.insert(coordinator.name.value)
            names.formUnion(coordinator.screens.map(\.name.value))
        }
    }

    /// Returns a Boolean value that indicates whether an added part decides a request for which the old table had at
    /// most the result of a fallback.
    ///
    /// - Parameters:
    ///   - old: The old table's decision, or an object without outcome for a dead letter.
    ///   - new: The new table's decision.
    package func decide(_ old: JSONValue, _ new: JSONValue) -> Bool {
        guard old["outcome"]?.string != nil, Breakage.resultingOutcome(old) == nil || Decision.isFallback(old) else {
            return false
        }
        let decided = [new["route"]?.string] + (new["via"]?.array ?? []).map(\.string)
        if decided.contains(where: { $0.map(routes.contains) ?? false }) { return true }
        guard old["reason"]?.string == ReasonCode.unknownScreen.rawValue, old["reason"]?.text != new["reason"]?.text
        else { return false }
        return old["detail"]?.string.map(screens.contains) ?? false
    }
}
