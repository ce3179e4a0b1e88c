internal import StrictJSON

/// What is known of one name of a query while constraints are met and broken.
private struct NameState {
    /// Whether the name must be there (true) or must not (false).
    var isThere: Bool?
    /// The value that it must have.
    var value: String?
    /// Values that it must not have.
    var others: Set<String> = []

    mutating func require(_ test: TableSource.QueryConstraint.Test, holds: Bool) -> Bool {
        switch (test, holds) {
        case (.present, true), (.absent, false): return presence(true)
        case (.present, false), (.absent, true): return presence(false)
        case (.equals(let text), true):
            guard presence(true), value == nil || same(value, text), !others.contains(text) else { return false }
            value = text
        case (.equals(let text), false):
            if same(value, text) { return false }
            others.insert(text)
        }
        return true
    }

    private func same(_ a: String?, _ b: String) -> Bool { a.map { $0.utf8.elementsEqual(b.utf8) } ?? false }

    private mutating func presence(_ there: Bool) -> Bool {
        if isThere == !there || !there && value != nil { return false }
        isThere = there
        return true
    }
}

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
    ///
    /// Throws where the dialect mixes names with values, so that names do not stand for themselves (`flatten`).
    func solve(
        kept: List, broken: [List], _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [Item]? {
        if broken.contains(where: \.isEmpty) { return nil }
        if kept.isEmpty && broken.isEmpty { return [] }
        if dialect.flatten { throw WorkBudget.Exhausted() }
        var states: [String: NameState] = [:]
        for constraint in kept {
            if !isPossible(constraint) || !require(constraint, holds: true, &states) { return nil }
        }
        let open = broken.filter { $0.allSatisfy(isPossible) }.sorted { $0.count < $1.count }
        guard let solved = try breakAll(open[...], states, &budget) else { return nil }
        return solved.sorted { compareBytes($0.key, $1.key) < 0 }.compactMap { name, state in
            if let value = state.value { return (name, value) }
            guard state.isThere == true else { return nil }
            // An empty name cannot stand alone: an empty piece is no piece.
            return (name, name.isEmpty ? unusedValue(state.others) : nil)
        }
    }

    private func unusedValue(_ others: Set<String>) -> String {
        (0...).lazy.map { $0 == 0 ? "" : "\($0)" }.first { !others.contains($0) } ?? ""
    }

    private func breakAll(
        _ lists: ArraySlice<List>, _ states: [String: NameState], _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [String: NameState]? {
        guard let list = lists.first else { return states }
        for constraint in list {
            try budget.spend(1)
            var next = states
            guard require(constraint, holds: false, &next) else { continue }
            if let solved = try breakAll(lists.dropFirst(), next, &budget) { return solved }
        }
        return nil
    }

    private func require(
        _ constraint: TableSource.QueryConstraint, holds: Bool, _ states: inout [String: NameState]
    ) -> Bool {
        let name = name(constraint)
        var state = states[name] ?? NameState()
        defer { states[name] = state }
        return state.require(constraint.test, holds: holds)
    }

    private func name(_ constraint: TableSource.QueryConstraint) -> String {
        let name = constraint.name.value
        guard dialect.names == .insensitive else { return name }
        return String(decoding: name.utf8.map(lowerASCII), as: UTF8.self)
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
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x7F { return false }
            guard dialect.decode == .none else { continue }
            if dialect.pairSeparators.contains(byte) || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\\")
                || isName && byte == UInt8(ascii: "=")
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
