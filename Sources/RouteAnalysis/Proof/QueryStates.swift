internal import LinkCoordinator
internal import StrictJSON

/// The known state of a query's names while constraints are met and violated; every change can be undone.
struct QueryStates {
    /// The known state of one name.
    struct State {
        /// A Boolean value that indicates whether the name must be present (true) or absent (false); nil if unknown.
        var isPresent: Bool?
        /// The value that the name must have.
        var value: String?
        /// The values that the name must not have.
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

    /// Creates a state without known names.
    init(foldsNames: Bool) { self.foldsNames = foldsNames }

    /// All names with a known state.
    var names: [(name: String, state: State)] { zip(texts, states).map { ($0, $1) } }

    /// The current position in the list of changes, for `undo`.
    var mark: Int { changes.count }

    /// Undoes all changes since a mark.
    mutating func undo(to mark: Int) {
        while changes.count > mark {
            switch changes.removeLast() {
            case .presence(let number, let last): states[number].isPresent = last
            case .value(let number): states[number].value = nil
            case .other(let number, let text): states[number].others.remove(text)
            }
        }
    }

    /// Returns a Boolean value that indicates whether a constraint can no longer hold.
    func isViolated(_ constraint: TableSource.QueryConstraint) -> Bool {
        guard let number = numbers[fold(constraint.name.value)] else { return false }
        let state = states[number]
        switch constraint.test {
        case .present: return state.isPresent == false
        case .absent: return state.isPresent == true
        case .equals(let text):
            if state.isPresent == false || state.others.contains(text) { return true }
            return state.value.map { !Self.same($0, text) } ?? false
        }
    }

    /// Makes a constraint hold, or not hold; returns false and changes nothing if that is impossible.
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

    private mutating func requirePresence(_ isPresent: Bool, _ number: Int) -> Bool {
        if states[number].isPresent == isPresent { return true }
        guard states[number].isPresent == nil else { return false }
        changes.append(.presence(number, states[number].isPresent))
        states[number].isPresent = isPresent
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

    private func fold(_ name: String) -> String { foldsNames ? name.lowercasedASCII : name }

    private static func same(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}

extension QueryStates {
    /// Returns the parts of a query whose names and values are in one list (`flatten`), or nil if there is none.
    ///
    /// A part is both a name and the value of the name before it, and the first occurrence of a name counts. A value
    /// that is also a required name therefore makes that name present. The next part is then its value, unless the name
    /// occurred before.
    func flatParts() -> [String]? {
        for case let value? in states.map(\.value) {
            if let number = numbers[fold(value)], states[number].isPresent == false { return nil }
        }
        var written = Set<Int>()
        var parts: [String] = []
        /// A Boolean value that indicates whether the last part is a name without a required value: the next part
        /// becomes its value.
        var isOpen = false
        for number in states.indices.sorted(by: { compareBytes(texts[$0], texts[$1]) < 0 })
        where states[number].isPresent == true && !written.contains(number) {
            if isOpen { parts.append(unusedPart) }
            var current: Int? = number
            var text = texts[number]
            while let name = current {
                parts.append(text)
                current = nil
                isOpen = written.insert(name).inserted
                guard isOpen, let value = states[name].value else { break }
                isOpen = false
                text = value
                current = numbers[fold(value)]
                if current == nil { parts.append(value) }
            }
        }
        return parts
    }

    private var unusedPart: String {
        let usedTexts = states.reduce(into: Set(texts)) { $0.formUnion($1.others) }
        return (0...).lazy.map { "\($0)" }.first { !usedTexts.contains($0) } ?? ""
    }
}
