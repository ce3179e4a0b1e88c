internal import LinkCoordinator
package import StrictJSON

/// The members of two decisions that differ, with both values.
package enum ChangedValues {
    /// A member with its old and new value, which are nil if it is absent.
    package struct Value: Sendable, Equatable {
        /// The member's path, inside the stack with the index of its entry: `stack[2].data.Product.count`.
        package var member: String
        /// The old table's value as JSON.
        package var old: String?
        /// The new table's value as JSON.
        package var new: String?

        /// Creates a changed value.
        package init(member: String, old: String?, new: String?) {
            self.member = member
            self.old = old
            self.new = new
        }
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
        var names: [String] = []
        for member in (a.object ?? []) + (b.object ?? []) where !names.contains(member.name) {
            names.append(member.name)
        }
        return names
    }
}
