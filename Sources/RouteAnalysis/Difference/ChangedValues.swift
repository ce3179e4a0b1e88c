internal import LinkCoordinator
package import StrictJSON

/// Members of two decisions that differ, with the values of both.
package enum ChangedValues {
    /// A member and what it was and is; nil where it is absent.
    package struct Value: Sendable, Equatable {
        /// The member, inside the stack with its place: `stack[2].data.Product.count`.
        package var member: String
        /// The old table's value as JSON.
        package var old: String?
        /// The new one's.
        package var new: String?

        /// Makes a value that changed.
        package init(member: String, old: String?, new: String?) {
            self.member = member
            self.old = old
            self.new = new
        }
    }

    /// The values that differ, in the order of a decision's members; the table's own name always does and says nothing.
    package static func between(_ old: JSONValue, _ new: JSONValue) -> [Value] {
        var values: [Value] = []
        for name in names(old, new) where name != "table" { add(name, old[name], new[name], to: &values) }
        return values
    }

    /// Deepest member that is told apart.
    private static let maxDepth = 8

    private static func add(
        _ place: String, _ old: JSONValue?, _ new: JSONValue?, to values: inout [Value], depth: Int = 0
    ) {
        if old?.text == new?.text { return }
        if depth < maxDepth, let a = old, let b = new {
            if a.object != nil, b.object != nil {
                for name in names(a, b) { add("\(place).\(name)", a[name], b[name], to: &values, depth: depth + 1) }
                return
            }
            if let x = a.array, let y = b.array, x.count == y.count {
                for index in x.indices { add("\(place)[\(index)]", x[index], y[index], to: &values, depth: depth + 1) }
                return
            }
        }
        values.append(Value(member: place, old: old?.text, new: new?.text))
    }

    private static func names(_ a: JSONValue, _ b: JSONValue) -> [String] {
        var names: [String] = []
        for member in (a.object ?? []) + (b.object ?? []) where !names.contains(member.name) {
            names.append(member.name)
        }
        return names
    }
}
