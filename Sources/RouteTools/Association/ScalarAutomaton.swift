internal import RouteAnalysis
internal import LinkCoordinator

/// A nondeterministic automaton over the characters of a text that runs many patterns at once.
///
/// The time for a text is at most proportional to its length times the number of states, for any patterns. Each pattern
/// has a number, and a text has the numbers of all patterns that match it.
struct ScalarAutomaton {
    /// A transition that consumes a character.
    struct Step {
        var test: ScalarTest
        var to: Int
    }

    /// The maximum number of states of the patterns of one file.
    static let maxStates = 1 << 17

    /// The transitions of each state.
    private(set) var steps: [[Step]] = []
    /// The transitions of each state that consume nothing.
    private var free: [[Int]] = []
    /// The number of the pattern that ends in each state, or -1.
    private var ends: [Int] = []
    private var starts: [Int] = []

    /// A Boolean value that indicates whether the patterns need more states than the limit.
    ///
    /// The automaton is then incomplete and must not be used.
    private(set) var isTooLarge = false

    /// Creates an automaton without patterns.
    init() {}

    // MARK: Building

    /// Adds a state.
    mutating func state() -> Int {
        if steps.count >= Self.maxStates {
            isTooLarge = true
            return 0
        }
        steps.append([])
        free.append([])
        ends.append(-1)
        return steps.count - 1
    }

    /// Adds a start state.
    mutating func begin() -> Int {
        let start = state()
        starts.append(start)
        return start
    }

    /// Adds a transition to a new state.
    mutating func step(from source: Int, _ test: ScalarTest) -> Int {
        let target = state()
        connect(source, test, target)
        return target
    }

    /// Adds a transition between two states.
    mutating func connect(_ source: Int, _ test: ScalarTest, _ target: Int) {
        guard !isTooLarge else { return }
        steps[source].append(Step(test: test, to: target))
    }

    /// Adds a transition that consumes nothing.
    mutating func join(_ source: Int, _ target: Int) {
        guard !isTooLarge else { return }
        free[source].append(target)
    }

    /// Adds a state that consumes any number of any characters.
    mutating func anything(from source: Int) -> Int {
        let target = state()
        join(source, target)
        connect(target, .any, target)
        return target
    }

    /// Adds a text, character by character.
    mutating func word(_ text: String, from source: Int, folds: Bool) -> Int {
        var last = source
        for scalar in text.unicodeScalars { last = step(from: last, .exact(scalar, folds: folds)) }
        return last
    }

    /// Marks the end of a pattern.
    ///
    /// A state has at most one number, so a second pattern gets a state of its own.
    mutating func finish(_ state: Int, pattern number: Int) {
        let end = self.state()
        join(state, end)
        if !isTooLarge { ends[end] = number }
    }

    /// Adds the texts of a matcher of one segment.
    mutating func segment(_ matcher: Matcher, from source: Int, folds: Bool) -> Int {
        var own = SegmentAutomaton()
        own.add(matcher, folds: folds)
        let first = steps.count
        for _ in own.steps.indices { _ = state() }
        let target = state()
        guard !isTooLarge else { return 0 }
        for (index, list) in own.steps.enumerated() {
            for step in list { connect(first + index, .segment(step.test), first + step.target) }
            if own.accepts[index] { join(first + index, target) }
        }
        for start in own.starts { join(source, first + start) }
        return target
    }

    // MARK: Running

    /// Returns the states before the first character.
    func start() -> [Int] {
        var set = StateSet(steps.count)
        for state in starts { insert(state, into: &set) }
        return set.states
    }

    /// Returns the states after a character.
    func step(_ states: [Int], _ scalar: Unicode.Scalar) -> [Int] {
        var set = StateSet(steps.count)
        for state in states {
            for step in steps[state] where step.test.matches(scalar) { insert(step.to, into: &set) }
        }
        return set.states
    }

    /// Returns the work of a step from some states.
    func work(_ states: [Int]) -> Int { states.reduce(0) { $0 + 1 + steps[$1].count } }

    /// Returns the sorted numbers of the patterns that end in some states.
    func numbers(_ states: [Int]) -> [Int] {
        var found = Set<Int>()
        for state in states where ends[state] >= 0 { found.insert(ends[state]) }
        return found.sorted()
    }

    /// Returns the sorted numbers of the patterns that match a text.
    func numbers(matching text: String) -> [Int] {
        var states = start()
        for scalar in text.unicodeScalars {
            states = step(states, scalar)
            if states.isEmpty { return [] }
        }
        return numbers(states)
    }

    /// Returns a Boolean value that indicates whether a text matches a pattern of each of two automata.
    static func overlap(_ a: ScalarAutomaton, _ b: ScalarAutomaton) -> Bool {
        var pending = a.starts.flatMap { own in b.starts.map { [own, $0] } }
        var seen = Set(pending)
        while let pair = pending.popLast() {
            if a.ends[pair[0]] >= 0, b.ends[pair[1]] >= 0 { return true }
            var next = a.free[pair[0]].map { [$0, pair[1]] } + b.free[pair[1]].map { [pair[0], $0] }
            for one in a.steps[pair[0]] {
                for other in b.steps[pair[1]] where one.test.overlaps(other.test) { next.append([one.to, other.to]) }
            }
            for pair in next where seen.insert(pair).inserted { pending.append(pair) }
        }
        return false
    }

    private func insert(_ state: Int, into set: inout StateSet) {
        guard set.insert(state), !free[state].isEmpty else { return }
        var waiting = free[state]
        while let next = waiting.popLast() {
            if set.insert(next) { waiting += free[next] }
        }
    }

    /// A set of states, as bits.
    private struct StateSet {
        private var words: [UInt64]
        private var count = 0

        /// Creates an empty set of states below a number.
        init(_ end: Int) { words = Array(repeating: 0, count: end / 64 + 1) }

        /// Adds a state, and returns false if the set has it.
        mutating func insert(_ state: Int) -> Bool {
            let bit: UInt64 = 1 << UInt64(state % 64)
            guard words[state / 64] & bit == 0 else { return false }
            words[state / 64] |= bit
            count += 1
            return true
        }

        /// The states in ascending order.
        var states: [Int] {
            var states: [Int] = []
            states.reserveCapacity(count)
            for (index, word) in words.enumerated() where word != 0 {
                var rest = word
                while rest != 0 {
                    states.append(index * 64 + rest.trailingZeroBitCount)
                    rest &= rest - 1
                }
            }
            return states
        }
    }
}

/// A test of one character, for a transition of an automaton.
enum ScalarTest: Hashable {
    /// This character, optionally in either case.
    case exact(Unicode.Scalar, folds: Bool)
    /// One of some ASCII characters, optionally in either case.
    case ascii(String, folds: Bool)
    /// A character of a segment that a matcher of a table tests. It is never a slash.
    case segment(SymbolTest)
    /// Any character.
    case any

    /// Returns a Boolean value that indicates whether a character passes the test.
    func matches(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .any: return true
        case .segment(let test): return scalar != "/" && test.matches(scalar)
        case .exact(let own, let folds): return own == scalar || folds && Self.fold(own) == Self.fold(scalar)
        case .ascii(let set, let folds):
            guard scalar.isASCII else { return false }
            if set.unicodeScalars.contains(scalar) { return true }
            return folds && set.unicodeScalars.contains { Self.fold($0) == Self.fold(scalar) }
        }
    }

    /// Returns a Boolean value that indicates whether a character passes both tests of patterns without matchers.
    func overlaps(_ other: ScalarTest) -> Bool {
        switch (self, other) {
        case (.exact(let own, let folds), _): (folds ? Self.cases(own) : [own]).contains(where: other.matches)
        case (.ascii(let set, let folds), .ascii):
            set.unicodeScalars.contains { ScalarTest.exact($0, folds: folds).overlaps(other) }
        case (_, .exact), (_, .ascii): other.overlaps(self)
        default: true
        }
    }

    /// Returns a character with an ASCII letter in both cases.
    private static func cases(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        let isLetter = scalar.isASCII && (scalar.value | 0x20) &- 97 < 26
        return isLetter ? [0x20, 0].map { Unicode.Scalar(UInt8(scalar.value & ~0x20) | $0) } : [scalar]
    }

    /// Returns the lowercase form of a character if it is one character, or else the character.
    static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII {
            return scalar.value &- 65 < 26 ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
        }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? lower.first ?? scalar : scalar
    }
}
