internal import LinkCoordinator

/// The product of an automaton's matchers, which determines the matchers of every text.
struct SegmentProduct {
    /// A set of texts that the same matchers match.
    struct Class {
        /// The numbers of these matchers, sorted.
        var matchers: [Int]
        /// The states in which the texts end.
        var states: [Int]
    }

    /// The classes of texts, the shortest first.
    private(set) var classes: [Class] = []

    private let symbols: [[Unicode.Scalar]]
    /// The next state for each state and each class of symbols, or -1.
    private var next: [[Int]] = []

    /// The maximum number of states of a product.
    private static let maxStates = 20_000

    /// Follows all texts that the first `inside` matchers can still match.
    init(_ automaton: SegmentAutomaton, inside: Int, _ budget: inout WorkBudget) throws(WorkBudget.Exhausted) {
        symbols = SymbolClasses(automaton.tests).classes
        var numbers: [[Int]: Int] = [automaton.starts.sorted(): 0]
        var sets = [automaton.starts.sorted()]
        var classIndices: [[Int]: Int] = [:]
        var at = 0
        while at < sets.count {
            let set = sets[at]
            try addState(set, at, automaton, inside, &classIndices)
            var row: [Int] = []
            for symbol in symbols {
                try budget.spend(set.count + 1)
                let target = Self.step(set, symbol[0], automaton)
                guard Self.reachesInside(target, inside, automaton) else {
                    row.append(-1)
                    continue
                }
                if let known = numbers[target] {
                    row.append(known)
                } else {
                    if sets.count >= Self.maxStates { throw WorkBudget.Exhausted() }
                    numbers[target] = sets.count
                    row.append(sets.count)
                    sets.append(target)
                }
            }
            next.append(row)
            at += 1
        }
    }

    private mutating func addState(
        _ set: [Int], _ state: Int, _ automaton: SegmentAutomaton, _ inside: Int, _ classIndices: inout [[Int]: Int]
    ) throws(WorkBudget.Exhausted) {
        let matchers = Set(set.filter { automaton.accepts[$0] }.map { automaton.owner[$0] }).sorted()
        guard matchers.prefix(inside).elementsEqual(0..<inside) else { return }
        if let classIndex = classIndices[matchers] {
            classes[classIndex].states.append(state)
        } else {
            classIndices[matchers] = classes.count
            classes.append(Class(matchers: matchers, states: [state]))
        }
    }

    private static func step(_ set: [Int], _ symbol: Unicode.Scalar, _ automaton: SegmentAutomaton) -> [Int] {
        var targets: [Int] = []
        for state in set {
            for step in automaton.steps[state] where step.test.matches(symbol) { targets.append(step.target) }
        }
        return Array(Set(targets)).sorted()
    }

    private static func reachesInside(_ set: [Int], _ inside: Int, _ automaton: SegmentAutomaton) -> Bool {
        var seen = Set<Int>()
        for state in set where automaton.owner[state] < inside { seen.insert(automaton.owner[state]) }
        return seen.count == inside
    }

    /// Calls a closure with each text of a class, the shortest first, until it returns false or there are no more.
    ///
    /// - Parameter longest: The length in characters after which a class counts as infinite.
    func enumerate(
        _ members: Class, longest: Int, _ budget: inout WorkBudget, _ stop: ([UInt8]) -> Bool
    ) throws(WorkBudget.Exhausted) {
        // reach[n] contains the states from which the class is reached in exactly n steps.
        var reach: [[Bool]] = [next.indices.map { members.states.contains($0) }]
        for length in 0...longest {
            if length > 0 {
                try budget.spend(next.count)
                let last = reach[length - 1]
                reach.append(next.map { row in row.contains { $0 >= 0 && last[$0] } })
            }
            if !reach[length].contains(true) { return }
            guard reach[length][0] else { continue }
            var text: [UInt8] = []
            if try walk(0, length, reach, &text, &budget, stop) { return }
        }
    }

    private func walk(
        _ state: Int, _ remaining: Int, _ reach: [[Bool]], _ text: inout [UInt8], _ budget: inout WorkBudget,
        _ stop: ([UInt8]) -> Bool
    ) throws(WorkBudget.Exhausted) -> Bool {
        try budget.spend(1)
        if remaining == 0 { return stop(text) }
        for (number, target) in next[state].enumerated() where target >= 0 && reach[remaining - 1][target] {
            for symbol in symbols[number] {
                let count = text.count
                text += Array(String(symbol).utf8)
                if try walk(target, remaining - 1, reach, &text, &budget, stop) { return true }
                text.removeSubrange(count...)
            }
        }
        return false
    }
}
