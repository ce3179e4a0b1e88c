internal import LinkCoordinator

/// The known state of a query's names while constraints are met and violated, with changes that can be undone.
struct QueryStates {
    /// The known state of one name.
    struct State {
        /// A Boolean value that indicates whether the name must be present (true) or absent (false), or nil if unknown.
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
    private var numbers: [[UInt8]: Int] = [:]
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

    /// Makes a constraint hold or not hold, or returns false and changes nothing if that is impossible.
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
        texts.append(String(decoding: folded, as: UTF8.self))
        states.append(State())
        return states.count - 1
    }

    private func fold(_ name: String) -> [UInt8] { foldsNames ? name.lowercasedASCII : Array(name.utf8) }

    private static func same(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

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

    /// Violates the next constraint of a list that was not tried yet, unless one is violated already.
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

/// The patterns of one node, indexed by the query values that they require: patterns with different values do not
/// overlap.
struct QueryIndex {
    /// The requirement of a pattern for one name of the query.
    enum Test: Hashable {
        /// The value with this number.
        case equals(Int)
        /// Any value, including none.
        case present
        /// The name must be absent.
        case absent

        /// Returns a Boolean value that indicates whether no query meets both requirements.
        func excludes(_ other: Test) -> Bool {
            switch (self, other) {
            case (.equals(let a), .equals(let b)): a != b
            case (.absent, .absent): false
            case (.absent, _), (_, .absent): true
            default: false
            }
        }
    }

    /// The requirements of a pattern, sorted by the number of the name, which occurs twice only if the pattern repeats
    /// it.
    typealias Tests = [(name: Int, test: Test)]

    /// The names and values of all patterns as numbers.
    struct Numbers {
        /// The requirements of each pattern.
        private(set) var tests: [Tests] = []

        /// Numbers the constraints of a space's patterns.
        ///
        /// If tables have different dialects, there are no requirements, because one link can then have two values.
        init(_ space: PatternSpace) {
            let dialects = space.sources.flatMap { $0.blocks.map(\.query) }
            let isOne = space.sources.count == 1 || dialects.allSatisfy { $0 == dialects[0] }
            // Names count as different unless all blocks fold their case.
            let folds = dialects.allSatisfy { $0.names == .insensitive }
            var names: [[UInt8]: Int] = [:]
            var values: [[UInt8]: Int] = [:]
            for pattern in space.patterns {
                var tests: Tests = []
                for constraint in isOne ? pattern.constraints : [] {
                    let text = constraint.name.value
                    let name = folds ? text.lowercasedASCII : Array(text.utf8)
                    let test: Test
                    switch constraint.test {
                    case .present: test = .present
                    case .absent: test = .absent
                    case .equals(let value): test = .equals(Self.number(Array(value.utf8), &values))
                    }
                    tests.append((Self.number(name, &names), test))
                }
                self.tests.append(tests.sorted { $0.name < $1.name })
            }
        }

        private static func number(_ text: [UInt8], _ numbers: inout [[UInt8]: Int]) -> Int {
            if let known = numbers[text] { return known }
            numbers[text] = numbers.count
            return numbers.count - 1
        }

        /// Returns a Boolean value that indicates whether no query meets the requirements of both patterns.
        func exclude(_ a: Tests, _ b: Tests) -> Bool {
            var (i, j) = (0, 0)
            while i < a.count && j < b.count {
                if a[i].name == b[j].name {
                    // Only the first requirement of a repeated name is compared, so the result can include patterns
                    // without an overlap.
                    if a[i].test.excludes(b[j].test) { return true }
                    i += 1
                    j += 1
                } else if a[i].name < b[j].name {
                    i += 1
                } else {
                    j += 1
                }
            }
            return false
        }
    }

    /// Patterns that require values of the same names, by those values.
    private struct Group {
        var members: [Int] = []
        var byValues: [[Int]: [Int]] = [:]
    }

    /// Patterns by the names whose values they require.
    private struct Groups {
        var groups: [[Int]: Group] = [:]

        mutating func add(_ number: Int, _ tests: Tests) {
            var (names, values): ([Int], [Int]) = ([], [])
            for case (let name, .equals(let value)) in tests {
                names.append(name)
                values.append(value)
            }
            groups[names, default: Group()].members.append(number)
            groups[names, default: Group()].byValues[values, default: []].append(number)
        }

        func collect(_ tests: Tests, before number: Int, _ numbers: Numbers, _ found: inout [Int]) {
            for (names, group) in groups {
                var values: [Int]? = []
                for name in names {
                    guard let value = QueryIndex.value(of: name, in: tests) else {
                        values = nil
                        break
                    }
                    values?.append(value)
                }
                let members = values.map { group.byValues[$0] ?? [] } ?? group.members
                for member in members.prefix(while: { $0 < number })
                where !numbers.exclude(tests, numbers.tests[member]) {
                    found.append(member)
                }
            }
        }
    }

    /// Patterns that were added but not sorted yet.
    private var added: [(number: Int, tests: Tests)] = []
    /// Patterns that require no value.
    private var withoutRequiredValue = Groups()
    /// The other patterns by the one of their names that most patterns require, and by its value.
    ///
    /// Names that few patterns require would produce as many groups as patterns.
    private var byName: [Int: [Int: Groups]] = [:]

    /// Adds a pattern, in the order of the numbers.
    ///
    /// Call `sort()` after the last one.
    mutating func add(_ number: Int, _ tests: Tests) { added.append((number, tests)) }

    /// Sorts the patterns that were added.
    mutating func sort() {
        var counts: [Int: Int] = [:]
        for (_, tests) in added {
            for case (let name, .equals) in tests { counts[name, default: 0] += 1 }
        }
        for (number, tests) in added {
            var best: Int?
            for case (let name, .equals) in tests where counts[name] ?? 0 > best.flatMap({ counts[$0] }) ?? 0 {
                best = name
            }
            if let best, let value = Self.value(of: best, in: tests) {
                byName[best, default: [:]][value, default: Groups()].add(number, tests)
            } else {
                withoutRequiredValue.add(number, tests)
            }
        }
        added = []
    }

    /// Returns the value that the first requirement of a name demands, or nil if there is none.
    private static func value(of name: Int, in tests: Tests) -> Int? {
        if case .equals(let value)? = tests.first(where: { $0.name == name })?.test { value } else { nil }
    }

    /// Adds the patterns before `number` whose requirements one query can meet together with `tests`.
    func collect(_ tests: Tests, before number: Int, _ numbers: Numbers, _ found: inout [Int]) {
        withoutRequiredValue.collect(tests, before: number, numbers, &found)
        for (name, values) in byName {
            if let value = Self.value(of: name, in: tests) {
                values[value]?.collect(tests, before: number, numbers, &found)
            } else {
                for groups in values.values { groups.collect(tests, before: number, numbers, &found) }
            }
        }
    }
}
