internal import StrictJSON

/// A place at which two documents differ.
struct JSONEdit: Sendable, Equatable {
    /// The JSON pointer: in the new document, or in the old one for what was removed.
    var pointer: String
    /// The `id` of the outermost row of a list in which the place is, such as a route or a vendor, or nil.
    var row: String?
    /// The text of the old value, or nil if it was added.
    var old: String?
    /// The text of the new value, or nil if it was removed.
    var new: String?
}

/// The comparison of two documents, and documents between them.
///
/// A walk visits all places at which the documents differ, always in the same order. At each one, the chosen edits are
/// made, and the others are not. Rows of a list that have an `id` are compared with the rows of the same `id`.
struct JSONEdits {
    /// The pointers of a place in both documents.
    private struct Place {
        var old = ""
        var new = ""

        func step(_ name: String) -> Place {
            Place(old: old + JSONLocation.step(name), new: new + JSONLocation.step(name))
        }

        func step(_ oldIndex: Int, _ newIndex: Int) -> Place {
            Place(old: "\(old)/\(oldIndex)", new: "\(new)/\(newIndex)")
        }
    }

    /// The places that were visited.
    private(set) var edits: [JSONEdit] = []
    private let isChosen: (Int) -> Bool
    private var row: String?

    private init(_ isChosen: @escaping (Int) -> Bool) { self.isChosen = isChosen }

    /// Returns the edits from one document to another.
    static func list(_ old: JSONValue?, _ new: JSONValue?) -> [JSONEdit] {
        var walk = JSONEdits { _ in false }
        _ = walk.merge(old, new, Place())
        return walk.edits
    }

    /// Returns the old document with some of the edits.
    ///
    /// - Parameter chosen: A function that returns true for the number of an edit that is made.
    static func apply(_ old: JSONValue?, _ new: JSONValue?, _ chosen: @escaping (Int) -> Bool) -> JSONValue? {
        var walk = JSONEdits(chosen)
        return walk.merge(old, new, Place())
    }

    /// Returns a Boolean value that indicates whether an edit is made.
    private mutating func visit(_ old: JSONValue?, _ new: JSONValue?, _ place: Place) -> Bool {
        let pointer = new == nil ? place.old : place.new
        edits.append(JSONEdit(pointer: pointer, row: row, old: old?.text, new: new?.text))
        return isChosen(edits.count - 1)
    }

    private mutating func merge(_ old: JSONValue?, _ new: JSONValue?, _ place: Place) -> JSONValue? {
        guard let old, let new else {
            if old == nil, new == nil { return nil }
            return visit(old, new, place) ? new : old
        }
        if old.isEqual(to: new) { return old }
        switch (old.kind, new.kind) {
        case (.object(let a), .object(let b)):
            let names = a.map(\.name) + b.map(\.name).filter { old[$0] == nil }
            let members = names.compactMap { name in
                merge(old[name], new[name], place.step(name)).map { JSONMember(name: name, value: $0) }
            }
            return JSONValue(.object(members))
        case (.array(let a), .array(let b)):
            if let ids = Self.ids(a), let others = Self.ids(b) { return mergeRows(a, ids, b, others, place) }
            return mergeElements(a, b, place)
        default: return visit(old, new, place) ? new : old
        }
    }

    /// Returns the ids of rows, or nil if the elements are not all rows with different ids.
    private static func ids(_ rows: [JSONValue]) -> [String]? {
        let ids = rows.compactMap { $0["id"]?.string }
        return ids.count == rows.count && Set(ids).count == ids.count ? ids : nil
    }

    private mutating func mergeRows(
        _ old: [JSONValue], _ oldIDs: [String], _ new: [JSONValue], _ newIDs: [String], _ place: Place
    ) -> JSONValue {
        let (before, after) = (
            Dictionary(uniqueKeysWithValues: zip(oldIDs, old.indices)),
            Dictionary(uniqueKeysWithValues: zip(newIDs, new.indices))
        )
        let kept = newIDs.filter { before[$0] != nil }
        var order = oldIDs
        if oldIDs.filter({ after[$0] != nil }) != kept {
            let lists = [oldIDs, newIDs].map { JSONValue(.array($0.map { JSONValue(.string($0)) })) }
            if visit(lists[0], lists[1], place) { order = kept + oldIDs.filter { after[$0] == nil } }
        }
        // The order of the visits does not depend on the chosen edits.
        var merged: [String: JSONValue] = [:]
        for id in oldIDs + newIDs.filter({ before[$0] == nil }) {
            let isOutermost = row == nil
            if isOutermost { row = id }
            defer { if isOutermost { row = nil } }
            let row = place.step(before[id] ?? 0, after[id] ?? 0)
            merged[id] = merge(before[id].map { old[$0] }, after[id].map { new[$0] }, row)
        }
        // A row that was added follows the row that it follows in the new document.
        for (index, id) in newIDs.enumerated() where before[id] == nil {
            let position = index == 0 ? 0 : (order.firstIndex(of: newIDs[index - 1]) ?? order.count - 1) + 1
            order.insert(id, at: position)
        }
        return JSONValue(.array(order.compactMap { merged[$0] }))
    }

    /// Merges lists whose first and last equal elements belong together.
    private mutating func mergeElements(_ old: [JSONValue], _ new: [JSONValue], _ place: Place) -> JSONValue {
        let start = zip(old, new).prefix { $0.isEqual(to: $1) }.count
        let end = min(
            zip(old.reversed(), new.reversed()).prefix { $0.isEqual(to: $1) }.count, min(old.count, new.count) - start)
        let (a, b) = (Array(old[start..<old.count - end]), Array(new[start..<new.count - end]))
        var middle: [JSONValue] = []
        for index in 0..<max(a.count, b.count) {
            let pair = (index < a.count ? a[index] : nil, index < b.count ? b[index] : nil)
            if let merged = merge(pair.0, pair.1, place.step(start + index, start + index)) { middle.append(merged) }
        }
        return JSONValue(.array(Array(old[..<start]) + middle + Array(old[(old.count - end)...])))
    }
}
