internal import LinkCoordinator
internal import StrictJSON

/// A solver for query constraints: it finds a query that meets some and violates others, in the dialect of one link
/// block.
struct QueryConstraints {
    /// The constraints of one route.
    typealias List = [TableSource.QueryConstraint]

    /// A name of a query with its value, which is nil for a name without one.
    typealias Item = (name: String, value: String?)

    private let dialect: TableSource.QueryDialect

    /// Creates a solver for a dialect.
    init(_ dialect: TableSource.QueryDialect) { self.dialect = dialect }

    /// Returns a query that meets `required` and violates a constraint in each list of `violated`, or nil if there is
    /// none.
    func solve(
        required: List, violated: [List], _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [Item]? {
        if violated.contains(where: \.isEmpty) { return nil }
        if required.isEmpty && violated.isEmpty { return [] }
        var states = QueryStates(foldsNames: dialect.names == .insensitive)
        for constraint in required {
            if !isPossible(constraint) || !states.require(constraint, holds: true) { return nil }
        }
        // Every query violates a list with a constraint that no query can meet.
        let open = violated.filter { $0.allSatisfy(isPossible) }.sorted { $0.count < $1.count }
        return try violateAll(open, &states, &budget)
    }

    /// Violates one list after another and backtracks if a list cannot be violated.
    ///
    /// It uses no recursion, because there can be many lists.
    private func violateAll(
        _ lists: [List], _ states: inout QueryStates, _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [Item]? {
        var next = Array(repeating: 0, count: lists.count + 1)
        // Backtracking to the first list keeps what `required` demands.
        var marks = Array(repeating: states.mark, count: next.count)
        var level = 0
        while true {
            if level == lists.count {
                if let items = items(of: states) { return items }
            } else if try violateOne(lists[level], &next[level], &states, &budget) {
                level += 1
                next[level] = 0
                marks[level] = states.mark
                continue
            }
            repeat {
                if level == 0 { return nil }
                level -= 1
                states.undo(to: marks[level])
            } while next[level] >= lists[level].count
        }
    }

    /// Violates the next constraint of a list that was not tried yet; does nothing if one is violated already.
    private func violateOne(
        _ list: List, _ next: inout Int, _ states: inout QueryStates, _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> Bool {
        try budget.spend(1)
        if next == 0, list.contains(where: { states.isViolated($0) }) {
            next = list.count
            return true
        }
        while next < list.count {
            try budget.spend(1)
            next += 1
            if states.require(list[next - 1], holds: false) { return true }
        }
        return false
    }

    /// Returns the query for the known names, or nil if there is none, which only `flatten` can cause.
    private func items(of states: QueryStates) -> [Item]? {
        if dialect.flatten { return states.flatParts().map(Self.pairs) }
        return states.names.sorted { compareBytes($0.name, $1.name) < 0 }.compactMap { name, state in
            if let value = state.value { return (name, value) }
            guard state.isPresent == true else { return nil }
            // An empty name needs a value, because an empty part is ignored.
            return (name, name.isEmpty ? UnusedText.first("") { !state.others.contains($0) } : nil)
        }
    }

    private static func pairs(_ parts: [String]) -> [Item] {
        stride(from: 0, to: parts.count, by: 2).map { (parts[$0], $0 + 1 < parts.count ? parts[$0 + 1] : nil) }
    }

    /// Returns a Boolean value that indicates whether a query can meet the constraint: dialects cannot express all
    /// texts.
    private func isPossible(_ constraint: TableSource.QueryConstraint) -> Bool {
        switch constraint.test {
        case .absent: true
        case .present: isWritable(constraint.name.value, isName: true)
        case .equals(let text): isWritable(constraint.name.value, isName: true) && isWritable(text, isName: false)
        }
    }

    private func isWritable(_ text: String, isName: Bool) -> Bool {
        // Empty parts are ignored, and if names and values are in one list, each is a part.
        if dialect.flatten && text.isEmpty { return false }
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x7F { return false }
            guard dialect.decode == .none else { continue }
            if dialect.pairSeparators.contains(byte) || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\\")
                || (isName || dialect.flatten) && byte == UInt8(ascii: "=")
            {
                return false
            }
        }
        return true
    }

    /// Returns the text of a query, which is empty if there are no items.
    func text(of items: [Item]) -> String {
        let separator = dialect.pairSeparators.first.map { String(UnicodeScalar($0)) } ?? "&"
        let texts = items.map { encode($0.name) + ($0.value.map { "=" + encode($0) } ?? "") }
        return texts.isEmpty ? "" : "?" + texts.joined(separator: separator)
    }

    private func encode(_ text: String) -> String {
        switch dialect.decode {
        case .none: text
        case .once: LinkEncoding.encode(Array(text.utf8))
        case .before: LinkEncoding.encode(Array(LinkEncoding.encode(Array(text.utf8)).utf8))
        }
    }
}
