internal import LinkCoordinator

/// A search for a link that some patterns match and others do not, which all proofs use.
///
/// The search is exact: nil means that there is no such link. It throws if it would exceed its budget.
struct LinkSearch {
    /// The patterns.
    var space: PatternSpace
    /// The remaining budget.
    var budget: WorkBudget

    /// Creates a search among the patterns of a space.
    init(_ space: PatternSpace, budget: WorkBudget = WorkBudget()) {
        self.space = space
        self.budget = budget
    }

    /// Returns a link that all of `inside` and none of `outside` match.
    ///
    /// It prefers a link that no rewrite changes.
    mutating func find(
        inside: [ProofPattern], outside: [ProofPattern]
    ) throws(WorkBudget.Exhausted) -> Witness? {
        budget.begin()
        if !space.rewrites.allSatisfy(\.isEmpty) {
            if let plain = try search(inside, outside, avoidsRewrites: true) { return plain }
        }
        guard var found = try search(inside, outside, avoidsRewrites: false) else { return nil }
        found.isRewritten = !space.rewrites[found.origin.block].isEmpty
        return found
    }

    /// Returns a Boolean value that indicates whether all of `inside` and none of `outside` match a link, before
    /// rewrites.
    ///
    /// It costs less than `find`, which looks for a readable link.
    mutating func exists(
        inside: [ProofPattern], outside: [ProofPattern]
    ) throws(WorkBudget.Exhausted) -> Bool {
        budget.begin()
        return try search(inside, outside, avoidsRewrites: false) != nil
    }

    /// Returns a link of some origins that all of `inside` and none of `outside` match, before rewrites.
    ///
    /// - Parameter lengths: The allowed numbers of segments; nil for as many as any of the tables allows.
    mutating func find(
        inside: [ProofPattern], outside: [ProofPattern], among origins: Set<Int>, lengths: ClosedRange<Int>? = nil
    ) throws(WorkBudget.Exhausted) -> Witness? {
        budget.begin()
        let all = 0...(space.sources.map(\.limits.maxSegments).max() ?? 0)
        return try search(inside, outside, avoidsRewrites: false, among: origins, lengths: lengths ?? all)
    }

    private mutating func search(
        _ inside: [ProofPattern], _ outside: [ProofPattern], avoidsRewrites: Bool, among some: Set<Int>? = nil,
        lengths: ClosedRange<Int>? = nil
    ) throws(WorkBudget.Exhausted) -> Witness? {
        let choices = insides(inside, outside)
        let origins = space.origins.origin
        guard let fewest = inside.min(by: { origins[$0.rule].count < origins[$1.rule].count }) else { return nil }
        // The origins of a rule are equivalent for patterns of that rule and of the first one, which matches all
        // origins.
        let isAlike = some == nil && (inside + outside).allSatisfy { $0.rule == fewest.rule || $0.rule == 0 }
        var seen: [Int: Set<[Int]>] = [:]
        for number in isAlike ? space.origins.firsts[fewest.rule] : origins[fewest.rule] {
            if let some, !some.contains(number) { continue }
            let origin = space.origins.origins[number]
            guard inside.allSatisfy({ origin.rules.contains($0.rule) }) else { continue }
            let reachable = outside.indices.filter { origin.rules.contains(outside[$0].rule) }
            try budget.spend(1 + outside.count / 8)
            guard seen[origin.block, default: []].insert(reachable).inserted else { continue }
            let others = reachable.map { outside[$0] } + (avoidsRewrites ? space.rewrites[origin.block] : [])
            for choice in choices {
                var walk = PathWalk(
                    inside: choice, outside: others, source: space.source, block: origin.block, lengths: lengths)
                guard let found = try walk.run(&space.segments, &budget) else { continue }
                return Witness(origin: origin, segments: found.segments, query: found.query)
            }
        }
        return nil
    }

    /// Returns combinations of patterns in which each `anySegment` is replaced by one position of its segment.
    ///
    /// Positions after the segments of all other patterns are equivalent.
    private func insides(_ inside: [ProofPattern], _ outside: [ProofPattern]) -> [[ProofPattern]] {
        let wild = inside.count { if case .anySegment = $0.tail { true } else { false } }
        guard wild > 0 else { return [inside] }
        let deepest = ((inside + outside).map(\.segments.count).max() ?? 0) + wild
        var choices: [[ProofPattern]] = [[]]
        for pattern in inside {
            guard case .anySegment(let literal) = pattern.tail else {
                choices = choices.map { $0 + [pattern] }
                continue
            }
            choices = choices.flatMap { choice in
                (0...deepest).map { depth in
                    var positioned = pattern
                    positioned.segments += Array(repeating: space.segments.any, count: depth) + [literal]
                    positioned.tail = .star
                    return choice + [positioned]
                }
            }
        }
        return choices
    }
}

/// A depth-first walk over paths for one origin, segment by segment and atom by atom.
private struct PathWalk {
    let inside: [ProofPattern]
    let outside: [ProofPattern]
    let query: QueryConstraints
    private let shortest: Int
    private let deepest: Int
    private var seen = Set<[Int]>()
    private var path: [[UInt8]] = []

    init(inside: [ProofPattern], outside: [ProofPattern], source: TableSource, block: Int, lengths: ClosedRange<Int>?) {
        self.inside = inside
        self.outside = outside
        query = QueryConstraints(source.blocks[block].query)
        let longest = (inside + outside).map(\.segments.count).max() ?? 0
        shortest = lengths?.lowerBound ?? 0
        // Patterns do not distinguish the segments after their own: if a longer link matches, one of this length does
        // too.
        deepest = min(max(longest + 2, shortest), lengths?.upperBound ?? source.limits.maxSegments)
    }

    /// Returns the segments and query of a link, or nil if there is none.
    mutating func run(
        _ space: inout SegmentSpace, _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> (segments: [[UInt8]], query: [QueryConstraints.Item])? {
        guard let query = try walk(0, Array(outside.indices), [], &space, &budget) else { return nil }
        return (path, query)
    }

    /// Continues the walk at a depth.
    ///
    /// - Parameters:
    ///   - active: The patterns of `outside` that matched every segment so far.
    ///   - matched: The `anySegment` patterns of `outside` that matched their segment.
    private mutating func walk(
        _ depth: Int, _ active: [Int], _ matched: [Int], _ space: inout SegmentSpace, _ budget: inout WorkBudget
    ) throws(WorkBudget.Exhausted) -> [QueryConstraints.Item]? {
        try budget.spend(1 + active.count)
        guard seen.insert([depth] + active + [-1] + matched).inserted else { return nil }
        let required = inside.flatMap(\.constraints)
        if depth >= shortest, inside.allSatisfy({ $0.canEnd(at: depth) }) {
            let matching = active.filter { outside[$0].canEnd(at: depth) } + matched
            if let found = try query.solve(
                required: required, violated: matching.map { outside[$0].constraints }, &budget)
            {
                return found
            }
        }
        if depth >= deepest || matched.contains(where: { outside[$0].constraints.isEmpty }) { return nil }
        guard let matchers = insideMatchers(at: depth, space) else { return nil }
        var outsideMatchers: [Int] = []
        var unconditional: [Int] = []
        var conditional: [(pattern: Int, matcher: Int)] = []
        for number in active {
            switch outside[number].step(at: depth) {
            case .ends: continue
            case .matchesAll:
                // This pattern matches all longer links too.
                if outside[number].constraints.isEmpty { return nil }
                unconditional.append(number)
            case .matcher(let matcher):
                outsideMatchers.append(matcher)
                conditional.append((number, matcher))
            }
        }
        for atom in try space.atoms(inside: matchers, outside: outsideMatchers, &budget) {
            var nextMatched = matched
            var next = unconditional
            for (number, matcher) in conditional {
                let isWild = outside[number].isWild(at: depth)
                if atom.matchers.contains(matcher) {
                    if isWild { nextMatched.append(number) } else { next.append(number) }
                } else if isWild {
                    next.append(number)
                }
            }
            path.append(atom.text)
            if let found = try walk(depth + 1, next.sorted(), nextMatched.sorted(), &space, &budget) { return found }
            path.removeLast()
        }
        return nil
    }

    /// Returns the matchers that a segment at a depth must match, or nil if the path must end there.
    private func insideMatchers(at depth: Int, _ space: borrowing SegmentSpace) -> [Int]? {
        var matchers: [Int] = []
        for pattern in inside {
            switch pattern.step(at: depth) {
            case .ends: return nil
            case .matchesAll: matchers.append(space.any)
            case .matcher(let matcher): matchers.append(matcher)
            }
        }
        return matchers
    }
}
