internal import LinkCoordinator

/// The patterns of one place, by the values that they want of the query: those that want other values share no link.
struct QueryIndex {
    /// What a pattern wants of one name of the query.
    enum Test: Hashable {
        /// A value, by its number.
        case equals(Int)
        /// Anything, null included.
        case present
        /// Nothing.
        case absent

        /// Whether no query meets both.
        func excludes(_ other: Test) -> Bool {
            switch (self, other) {
            case (.equals(let a), .equals(let b)): a != b
            case (.absent, .absent): false
            case (.absent, _), (_, .absent): true
            default: false
            }
        }
    }

    /// What a pattern wants of the query: names by number, each once unless it is asked twice, sorted.
    typealias Tests = [(name: Int, test: Test)]

    /// Names and values of all patterns as numbers.
    struct Numbers {
        /// For each pattern what it wants.
        private(set) var tests: [Tests] = []

        /// Numbers the constraints of a space's patterns.
        ///
        /// Nothing tells patterns apart where tables read queries in different ways: then one link may have two values.
        init(_ space: PatternSpace) {
            let dialects = space.sources.flatMap { $0.blocks.map(\.query) }
            let isOne = space.sources.count == 1 || dialects.allSatisfy { $0 == dialects[0] }
            // Names that only some blocks fold count as different ones.
            let folds = dialects.allSatisfy { $0.names == .insensitive }
            var names: [String: Int] = [:]
            var values: [String: Int] = [:]
            for pattern in space.patterns {
                var tests: Tests = []
                for constraint in isOne ? pattern.constraints : [] {
                    let text = constraint.name.value
                    let name = folds ? String(decoding: text.utf8.map(lowerASCII), as: UTF8.self) : text
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

        /// Whether no query meets what both patterns want.
        func exclude(_ a: Tests, _ b: Tests) -> Bool {
            var (i, j) = (0, 0)
            while i < a.count && j < b.count {
                if a[i].name == b[j].name {
                    // A name that is asked twice is compared with its first test only: then more are kept than meet.
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

    /// Patterns that want values of the same names, by those values.
    private struct Group {
        var members: [Int] = []
        var byValues: [[Int]: [Int]] = [:]
    }

    /// Patterns by the names of which they want values.
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

    /// Patterns that were added and not sorted yet.
    private var added: [(number: Int, tests: Tests)] = []
    /// Patterns that want no value.
    private var loose = Groups()
    /// The others by a name that each asks for, the one that most of them ask for, and by its value: names that only
    /// few ask for would make as many groups as there are patterns.
    private var byName: [Int: [Int: Groups]] = [:]

    /// Adds a pattern; patterns come in the order of their numbers, and `sort()` ends the adding.
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
                loose.add(number, tests)
            }
        }
        added = []
    }

    /// The value that the first test of a name wants.
    private static func value(of name: Int, in tests: Tests) -> Int? {
        if case .equals(let value)? = tests.first(where: { $0.name == name })?.test { value } else { nil }
    }

    /// Adds the patterns before `number` that may share a query with what it wants.
    func collect(_ tests: Tests, before number: Int, _ numbers: Numbers, _ found: inout [Int]) {
        loose.collect(tests, before: number, numbers, &found)
        for (name, values) in byName {
            if let value = Self.value(of: name, in: tests) {
                values[value]?.collect(tests, before: number, numbers, &found)
            } else {
                for groups in values.values { groups.collect(tests, before: number, numbers, &found) }
            }
        }
    }
}
