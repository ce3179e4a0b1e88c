internal import LinkCoordinator
internal import StrictJSON

/// Looks for a query that meets some constraints and breaks others, in the dialect of one link block.
struct QueryConstraints {
    /// The constraints of one route.
    typealias List = [TableSource.QueryConstraint]

    /// A name of a query and its value, nil for none.
    typealias Item = (name: String, value: String?)

    private let dialect: TableSource.QueryDialect

    /// Looks in one dialect.
    init(_ dialect: TableSource.QueryDialect) { self.dialect = dialect }

    /// A query for which all of `kept` hold and of each list of `broken` something does not; nil if there is none.
    func solve(
        kept: List, broken: [List], _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [Item]? {
        if broken.contains(where: \.isEmpty) { return nil }
        if kept.isEmpty && broken.isEmpty { return [] }
        var states = QueryStates(foldsNames: dialect.names == .insensitive)
        for constraint in kept {
            if !isPossible(constraint) || !states.require(constraint, holds: true) { return nil }
        }
        // A list with a constraint that no query can meet is broken by every query.
        let open = broken.filter { $0.allSatisfy(isPossible) }.sorted { $0.count < $1.count }
        return try breakAll(open, &states, &budget)
    }

    /// Breaks list after list, going back where one cannot be broken; not by calling itself, for there may be many.
    private func breakAll(
        _ lists: [List], _ states: inout QueryStates, _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [Item]? {
        var next = Array(repeating: 0, count: lists.count + 1)
        var marks = next
        var level = 0
        while true {
            if level == lists.count {
                if let items = items(of: states) { return items }
            } else if try breakOne(lists[level], &next[level], &states, &budget) {
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

    /// Breaks one more constraint of a list than were tried; nothing has to be done where one is broken already.
    private func breakOne(
        _ list: List, _ next: inout Int, _ states: inout QueryStates, _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> Bool {
        try budget.spend(1)
        if next == 0, list.contains(where: { states.isBroken($0) }) {
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

    /// The query of what is known of its names; nil if there is none, which only `flatten` brings about.
    private func items(of states: QueryStates) -> [Item]? {
        if dialect.flatten { return states.flatPieces().map(Self.pairs) }
        return states.names.sorted { compareBytes($0.name, $1.name) < 0 }.compactMap { name, state in
            if let value = state.value { return (name, value) }
            guard state.isThere == true else { return nil }
            // An empty name cannot stand alone: an empty piece is no piece.
            return (name, name.isEmpty ? Self.unusedValue(state.others) : nil)
        }
    }

    private static func unusedValue(_ others: Set<String>) -> String {
        (0...).lazy.map { $0 == 0 ? "" : "\($0)" }.first { !others.contains($0) } ?? ""
    }

    private static func pairs(_ pieces: [String]) -> [Item] {
        stride(from: 0, to: pieces.count, by: 2).map { (pieces[$0], $0 + 1 < pieces.count ? pieces[$0 + 1] : nil) }
    }

    /// Whether some query can meet the constraint: not every text can be written in every dialect.
    private func isPossible(_ constraint: TableSource.QueryConstraint) -> Bool {
        switch constraint.test {
        case .absent: true
        case .present: isWritable(constraint.name.value, isName: true)
        case .equals(let text): isWritable(constraint.name.value, isName: true) && isWritable(text, isName: false)
        }
    }

    private func isWritable(_ text: String, isName: Bool) -> Bool {
        // Empty pieces are none, and where names and values stand in one list, each is a piece.
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

    /// The text of a query; empty for none.
    func text(of items: [Item]) -> String {
        let separator = dialect.pairSeparators.first.map { String(UnicodeScalar($0)) } ?? "&"
        let pieces = items.map { encode($0.name) + ($0.value.map { "=" + encode($0) } ?? "") }
        return pieces.isEmpty ? "" : "?" + pieces.joined(separator: separator)
    }

    private func encode(_ text: String) -> String {
        switch dialect.decode {
        case .none: text
        case .once: Witness.encode(Array(text.utf8))
        case .before: Witness.encode(Array(Witness.encode(Array(text.utf8)).utf8))
        }
    }
}
