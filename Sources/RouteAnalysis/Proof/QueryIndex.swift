internal import LinkCoordinator

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

    /// The requirements of a pattern, sorted by the number of the name; a name occurs twice only if the pattern repeats
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
            var names: [String: Int] = [:]
            var values: [String: Int] = [:]
            for pattern in space.patterns {
                var tests: Tests = []
                for constraint in isOne ? pattern.constraints : [] {
                    let text = constraint.name.value
                    let name = folds ? text.lowercasedASCII : text
                    let test: Test
                    switch constraint.test {
                    case .present: test = .present
                    case .absent: test = .absent
                    case .equals(let value): test = .equals(Self.number(value, &values))
                    }
                    tests.append((Self.number(name, &names), test))
                }
                self.tests.append(tests.sorted { $0.name < $1.name })
            }
        }

        private static func number(_ text: String, _ numbers: inout [String: Int]) -> Int {
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
    /// The other patterns by one name, chosen as the name that most of them require, and by its value.
    ///
    /// Names that few patterns require would produce as many groups as patterns.
    private var byName: [Int: [Int: Groups]] = [:]

    /// Adds a pattern, in the order of the numbers; call `sort()` after the last one.
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
