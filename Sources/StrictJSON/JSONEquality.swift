extension JSONValue {
    /// Returns a Boolean value that indicates whether both values are equal.
    ///
    /// Numbers are equal if their texts are equal. The order of members does not matter.
    package func isEqual(to other: JSONValue) -> Bool {
        switch (kind, other.kind) {
        case (.null, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)): return a == b
        case (.string(let a), .string(let b)): return a.utf8.elementsEqual(b.utf8)
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isEqual(to: $1) }
        case (.object(let a), .object(let b)):
            // Sorted members take less than quadratic time, also for an object with many names.
            return a.count == b.count
                && zip(Self.sorted(a), Self.sorted(b)).allSatisfy {
                    $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.isEqual(to: $1.value)
                }
        default: return false
        }
    }

    /// Adds the value to a hash, regardless of the order of members.
    package func hash(into hasher: inout Hasher) {
        switch kind {
        case .null: hasher.combine(0)
        case .bool(let value):
            hasher.combine(1)
            hasher.combine(value)
        case .number(let text):
            hasher.combine(2)
            hasher.combine(text)
        case .string(let text):
            hasher.combine(3)
            hasher.combine(text)
        case .array(let elements):
            hasher.combine(4)
            hasher.combine(elements.count)
            for element in elements { element.hash(into: &hasher) }
        case .object(let members):
            hasher.combine(5)
            var sum = 0
            for member in members {
                var own = Hasher()
                own.combine(member.name)
                member.value.hash(into: &own)
                sum &+= own.finalize()
            }
            hasher.combine(members.count)
            hasher.combine(sum)
        }
    }

    private static func sorted(_ members: [JSONMember]) -> [JSONMember] {
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
