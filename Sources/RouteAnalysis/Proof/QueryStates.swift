internal import LinkCoordinator
internal import StrictJSON

/// What is known of the names of a query while constraints are met and broken; every change can be taken back.
struct QueryStates {
    /// What is known of one name.
    struct State {
        /// Whether the name must be there (true) or must not (false).
        var isThere: Bool?
        /// The value that it must have.
        var value: String?
        /// Values that it must not have.
        var others: Set<String> = []
    }

    private enum Change {
        case presence(Int, Bool?)
        case value(Int)
        case other(Int, String)
    }

    private let foldsNames: Bool
    private var numbers: [String: Int] = [:]
    private var texts: [String] = []
    private var states: [State] = []
    private var changes: [Change] = []

    /// Knows nothing yet.
    init(foldsNames: Bool) { self.foldsNames = foldsNames }

    /// All names that something is known of.
    var names: [(name: String, state: State)] { zip(texts, states).map { ($0, $1) } }

    /// What `undo` goes back to.
    var mark: Int { changes.count }

    /// Takes back all changes since a mark.
    mutating func undo(to mark: Int) {
        while changes.count > mark {
            switch changes.removeLast() {
            case .presence(let number, let last): states[number].isThere = last
            case .value(let number): states[number].value = nil
            case .other(let number, let text): states[number].others.remove(text)
            }
        }
    }

    /// Whether a constraint cannot hold any more.
    func isBroken(_ constraint: TableSource.QueryConstraint) -> Bool {
        guard let number = numbers[fold(constraint.name.value)] else { return false }
        let state = states[number]
        switch constraint.test {
        case .present: return state.isThere == false
        case .absent: return state.isThere == true
        case .equals(let text):
            if state.isThere == false || state.others.contains(text) { return true }
            return state.value.map { !Self.same($0, text) } ?? false
        }
    }

    /// Makes a constraint hold, or not hold; false, and nothing changed, where that cannot be any more.
    mutating func require(_ constraint: TableSource.QueryConstraint, holds: Bool) -> Bool {
        let number = number(of: constraint.name.value)
        switch (constraint.test, holds) {
        case (.present, true), (.absent, false): return requirePresence(true, number)
        case (.present, false), (.absent, true): return requirePresence(false, number)
        case (.equals(let text), true):
            if let value = states[number].value { return Self.same(value, text) }
            guard !states[number].others.contains(text), requirePresence(true, number) else { return false }
            states[number].value = text
            changes.append(.value(number))
        case (.equals(let text), false):
            if let value = states[number].value, Self.same(value, text) { return false }
            if states[number].others.insert(text).inserted { changes.append(.other(number, text)) }
        }
        return true
    }

    private mutating func requirePresence(_ there: Bool, _ number: Int) -> Bool {
        if states[number].isThere == there { return true }
        guard states[number].isThere == nil else { return false }
        changes.append(.presence(number, states[number].isThere))
        states[number].isThere = there
        return true
    }

    private mutating func number(of name: String) -> Int {
        let folded = fold(name)
        if let known = numbers[folded] { return known }
        numbers[folded] = states.count
        texts.append(folded)
        states.append(State())
        return states.count - 1
    }

    private func fold(_ name: String) -> String {
        foldsNames ? String(decoding: name.utf8.map(lowerASCII), as: UTF8.self) : name
    }

    private static func same(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}

extension QueryStates {
    /// The pieces of a query whose names and values stand in one list (`flatten`); nil if there is none.
    ///
    /// A piece stands for a name and for the value of the one before it, and the first of a name counts. So a value
    /// that is a name makes that name be there, and what follows it is its own value, unless it came before.
    func flatPieces() -> [String]? {
        for case let value? in states.map(\.value) {
            if let number = numbers[fold(value)], states[number].isThere == false { return nil }
        }
        var placed = Set<Int>()
        var pieces: [String] = []
        /// Whether the last piece is a name whose value nobody asked for: what follows would be its value.
        var isOpen = false
        for number in states.indices.sorted(by: { compareBytes(texts[$0], texts[$1]) < 0 })
        where states[number].isThere == true && !placed.contains(number) {
            if isOpen { pieces.append(unusedPiece) }
            var current: Int? = number
            var text = texts[number]
            while let name = current {
                pieces.append(text)
                current = nil
                isOpen = placed.insert(name).inserted
                guard isOpen, let value = states[name].value else { break }
                isOpen = false
                text = value
                current = numbers[fold(value)]
                if current == nil { pieces.append(value) }
            }
        }
        return pieces
    }

    private var unusedPiece: String {
        let taken = states.reduce(into: Set(texts)) { $0.formUnion($1.others) }
        return (0...).lazy.map { "\($0)" }.first { !taken.contains($0) } ?? ""
    }
}
