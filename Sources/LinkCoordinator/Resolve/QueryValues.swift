package import ByteStorage

// Values by query name: those of the query, or the parameters of a `route` request.
extension Resolver {
    /// Splits the query into items, once.
    package mutating func splitQuery() { query.split(&texts) }

    /// Returns the text of an item's value, or nil if it cannot be decoded.
    package mutating func text(ofItem index: Int) -> ByteView? { query.text(ofItem: index, &texts) }

    /// Returns the first item with a name, or -1.
    package mutating func firstItem(_ name: Ref<CompiledQueryName>) -> Int { query.firstItem(name) }

    /// Returns the next item with the same name after a given one, or -1.
    package mutating func nextItem(after index: Int, _ name: Ref<CompiledQueryName>) -> Int {
        query.nextItem(after: index, name)
    }

    /// Returns the value of a name under the dialect's rule for duplicates.
    package mutating func find(_ name: Ref<CompiledQueryName>) -> Found {
        usesParams ? findParam(name) : query.find(name, &texts)
    }

    /// Returns a Boolean value that indicates whether a constraint of the table holds for this query.
    package mutating func holds(_ constraint: Ref<CompiledConstraint>) -> Bool {
        let name = constraint.ref(\.name)
        switch constraint.test {
        case .present: return hasItem(name)
        case .absent: return !hasItem(name)
        case .equals:
            if case .text(let value) = find(name) { return value == constraint[dynamicMember: \.value] }
            return false
        }
    }

    /// Returns a Boolean value that indicates whether all constraints hold for this query.
    mutating func allHold(_ constraints: UnsafeBufferPointer<CompiledConstraint>) -> Bool {
        for index in 0..<constraints.count where !holds(constraints.at(index)) { return false }
        return true
    }

    private mutating func hasItem(_ name: Ref<CompiledQueryName>) -> Bool {
        usesParams ? hasParam(name) : query.contains(name, &texts)
    }
}
