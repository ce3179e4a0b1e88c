/// Finds the patterns that a pattern may share links with, without looking at all pairs: a trie for each origin rule.
struct PatternIndex {
    private struct Node {
        var literals: [Int: Int] = [:]
        var others: [(matcher: Int, child: Int)] = []
        /// Patterns that end here, or whose tail begins here.
        var patterns: [Int] = []
    }

    private var nodes: [Node] = []
    private var roots: [Int] = []
    /// For each origin rule those that take one of its origins too.
    private var neighbours: [[Int]] = []

    /// Builds the tries of a space.
    init(_ space: PatternSpace) {
        for _ in space.rules {
            roots.append(nodes.count)
            nodes.append(Node())
        }
        var meeting = Array(repeating: Set<Int>(), count: space.rules.count)
        for origin in space.origins.origins {
            for rule in origin.rules { meeting[rule].formUnion(origin.rules) }
        }
        neighbours = meeting.map { $0.sorted() }
        for (number, pattern) in space.patterns.enumerated() {
            var at = roots[pattern.rule]
            for matcher in pattern.segments { at = child(of: at, matcher, space.segments) }
            nodes[at].patterns.append(number)
        }
    }

    private mutating func child(of node: Int, _ matcher: Int, _ space: borrowing SegmentSpace) -> Int {
        let isLiteral = space.literal(matcher) != nil
        let known =
            isLiteral ? nodes[node].literals[matcher] : nodes[node].others.first { $0.matcher == matcher }?.child
        if let known { return known }
        nodes.append(Node())
        if isLiteral {
            nodes[node].literals[matcher] = nodes.count - 1
        } else {
            nodes[node].others.append((matcher, nodes.count - 1))
        }
        return nodes.count - 1
    }

    /// Numbers of the patterns before `number` whose origins and segments meet its own; more than really meet it.
    func candidates(
        for number: Int, _ search: inout LinkSearch
    ) throws(WorkBudget.Exhausted) -> [Int] {
        let pattern = search.space.patterns[number]
        search.budget.begin()
        var found: [Int] = []
        for rule in neighbours[pattern.rule] {
            try collect(pattern, roots[rule], 0, before: number, &search, &found)
        }
        return found.sorted()
    }

    private func collect(
        _ pattern: ProofPattern, _ at: Int, _ depth: Int, before number: Int, _ search: inout LinkSearch,
        _ found: inout [Int]
    ) throws(WorkBudget.Exhausted) {
        let node = nodes[at]
        try search.budget.spend(1)
        guard depth < pattern.segments.count else {
            if pattern.tail == .end {
                found += node.patterns.filter { $0 < number }
            } else {
                try collectAll(at, before: number, &search, &found)
            }
            return
        }
        for other in node.patterns where other < number && search.space.patterns[other].tail != .end {
            found.append(other)
        }
        let matcher = pattern.segments[depth]
        if search.space.segments.literal(matcher) != nil {
            if let child = node.literals[matcher] {
                try collect(pattern, child, depth + 1, before: number, &search, &found)
            }
        } else {
            for (literal, child) in node.literals {
                try search.budget.spend(1)
                guard try search.space.segments.meet(matcher, literal, &search.budget) else { continue }
                try collect(pattern, child, depth + 1, before: number, &search, &found)
            }
        }
        for (other, child) in node.others {
            guard try search.space.segments.meet(matcher, other, &search.budget) else { continue }
            try collect(pattern, child, depth + 1, before: number, &search, &found)
        }
    }

    private func collectAll(
        _ at: Int, before number: Int, _ search: inout LinkSearch, _ found: inout [Int]
    ) throws(WorkBudget.Exhausted) {
        try search.budget.spend(1)
        found += nodes[at].patterns.filter { $0 < number }
        for child in nodes[at].literals.values {
            try collectAll(child, before: number, &search, &found)
        }
        for (_, child) in nodes[at].others { try collectAll(child, before: number, &search, &found) }
    }
}
