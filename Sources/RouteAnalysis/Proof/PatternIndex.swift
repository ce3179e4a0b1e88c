internal import LinkCoordinator
internal import ByteStorage

/// An index of the patterns that can match links of a given pattern, which avoids comparing all pairs.
///
/// It has a trie for each origin rule. Many patterns at one node are distinguished by the literal text of their next
/// segment, by its affixes and, at the end, by their query constraints.
struct PatternIndex {
    private struct Node {
        /// The children by their literal, folded if the table folds case.
        var literals: [[UInt8]: Int] = [:]
        /// The other children by the number of their matcher.
        var others: [Int: Int] = [:]
        /// The other matchers without an affix.
        var plain = PlainMatchers()
        /// The other matchers with an affix, and all literals, by their texts.
        var affixes = AffixRange<Int>([])
        var texts = AffixRange<(matcher: Int, child: Int)>([])
        /// The patterns that end here, and the patterns whose tail begins here.
        var ended = QueryIndex()
        var tailed = QueryIndex()
    }

    private var nodes: [Node] = []
    private var roots: [Int] = []
    /// For each origin rule, the rules that share one of its origins.
    private var rulesWithSharedOrigin: [[Int]] = []
    private let folds: Bool
    private let constraints: QueryIndex.Numbers

    /// Builds the tries of a space.
    init(_ space: PatternSpace) {
        folds = space.sources.contains(where: \.foldsPathCase)
        constraints = QueryIndex.Numbers(space)
        for _ in space.rules {
            roots.append(nodes.count)
            nodes.append(Node())
        }
        var sharing = Array(repeating: Set<Int>(), count: space.rules.count)
        for origin in space.origins.origins {
            for rule in origin.rules { sharing[rule].formUnion(origin.rules) }
        }
        rulesWithSharedOrigin = sharing.map { $0.sorted() }
        var literals: [[(text: [UInt8], value: (matcher: Int, child: Int))]] = nodes.map { _ in [] }
        for (number, pattern) in space.patterns.enumerated() {
            var at = roots[pattern.rule]
            for matcher in pattern.segments { at = child(of: at, matcher, space.segments, &literals) }
            let tests = constraints.tests[number]
            if pattern.tail == .end {
                nodes[at].ended.add(number, tests)
            } else {
                nodes[at].tailed.add(number, tests)
            }
        }
        // A static function, because an instance method would copy all nodes for each call.
        for index in nodes.indices { Self.sort(&nodes[index], literals[index], space.segments, folds: folds) }
    }

    private mutating func child(
        of node: Int, _ matcher: Int, _ space: borrowing SegmentSpace,
        _ literals: inout [[(text: [UInt8], value: (matcher: Int, child: Int))]]
    ) -> Int {
        let text = space.literal(matcher).map(folded)
        if let known = text.map({ nodes[node].literals[$0] }) ?? nodes[node].others[matcher] { return known }
        nodes.append(Node())
        literals.append([])
        let child = nodes.count - 1
        if let text {
            nodes[node].literals[text] = child
            literals[node].append((text, (matcher, child)))
        } else {
            nodes[node].others[matcher] = child
        }
        return child
    }

    private static func sort(
        _ node: inout Node, _ literals: [(text: [UInt8], value: (matcher: Int, child: Int))],
        _ space: borrowing SegmentSpace, folds: Bool
    ) {
        node.texts = AffixRange(texts: literals)
        var affixes: [(prefix: [UInt8], suffix: [UInt8], value: Int)] = []
        for matcher in node.others.keys.sorted() {
            if let (prefix, suffix) = space.affix(matcher) {
                affixes.append((folded(prefix, folds), folded(suffix, folds), matcher))
            } else {
                node.plain.add(matcher, space.matcher(matcher), folds: folds)
            }
        }
        node.plain.sort()
        node.ended.sort()
        node.tailed.sort()
        node.affixes = AffixRange(affixes)
    }

    private func folded(_ text: [UInt8]) -> [UInt8] { Self.folded(text, folds) }

    private static func folded(_ text: [UInt8], _ folds: Bool) -> [UInt8] { folds ? text.map(lowerASCII) : text }

    /// The pattern of a search, and the number before which to search.
    private struct Lookup {
        var number: Int
        var end: Int
    }

    /// Returns the numbers of other patterns whose origins, segments, and query constraints can overlap with a
    /// pattern's.
    ///
    /// The result can include patterns without an overlap.
    ///
    /// - Parameter end: The number before which to search: by default the pattern's own, to find patterns with higher
    ///   precedence.
    func candidates(
        for number: Int, before end: Int? = nil, _ search: inout LinkSearch
    ) throws(WorkBudget.Exhausted) -> [Int] {
        let pattern = search.space.patterns[number]
        search.budget.begin()
        var found: [Int] = []
        for rule in rulesWithSharedOrigin[pattern.rule] {
            try collect(pattern, roots[rule], 0, Lookup(number: number, end: end ?? number), &search, &found)
        }
        return found.filter { $0 != number }.sorted()
    }

    private func add(_ index: QueryIndex, _ lookup: Lookup, _ found: inout [Int]) {
        index.collect(constraints.tests[lookup.number], before: lookup.end, constraints, &found)
    }

    private func collect(
        _ pattern: ProofPattern, _ at: Int, _ depth: Int, _ lookup: Lookup, _ search: inout LinkSearch,
        _ found: inout [Int]
    ) throws(WorkBudget.Exhausted) {
        try search.budget.spend(1)
        guard depth < pattern.segments.count else {
            if pattern.tail == .end {
                add(nodes[at].ended, lookup, &found)
                add(nodes[at].tailed, lookup, &found)
            } else {
                try collectAll(at, lookup, &search, &found)
            }
            return
        }
        add(nodes[at].tailed, lookup, &found)
        for child in try children(of: at, pattern.segments[depth], &search) {
            try collect(pattern, child, depth + 1, lookup, &search, &found)
        }
    }

    /// Adds the children of a node whose matchers can overlap with a matcher.
    private func children(
        of at: Int, _ matcher: Int, _ search: inout LinkSearch
    ) throws(WorkBudget.Exhausted) -> [Int] {
        var children: [Int] = []
        var matchers = nodes[at].plain.matchers(overlapping: search.space.segments.matcher(matcher), folds: folds)
        if let text = search.space.segments.literal(matcher).map(folded) {
            if let child = nodes[at].literals[text] { children.append(child) }
            matchers += nodes[at].affixes.values(prefix: text, suffix: text, isWhole: true)
        } else {
            let (prefix, suffix) = search.space.segments.affix(matcher).map { (folded($0), folded($1)) } ?? ([], [])
            matchers += nodes[at].affixes.values(prefix: prefix, suffix: suffix)
            for (literal, child) in nodes[at].texts.values(prefix: prefix, suffix: suffix) {
                try search.budget.spend(1)
                if try search.space.segments.overlaps(matcher, literal, &search.budget) { children.append(child) }
            }
        }
        for other in matchers {
            try search.budget.spend(1)
            guard let child = nodes[at].others[other],
                try search.space.segments.overlaps(matcher, other, &search.budget)
            else { continue }
            children.append(child)
        }
        return children
    }

    private func collectAll(
        _ at: Int, _ lookup: Lookup, _ search: inout LinkSearch, _ found: inout [Int]
    ) throws(WorkBudget.Exhausted) {
        try search.budget.spend(1)
        add(nodes[at].ended, lookup, &found)
        add(nodes[at].tailed, lookup, &found)
        for child in nodes[at].literals.values {
            try collectAll(child, lookup, &search, &found)
        }
        for child in nodes[at].others.values { try collectAll(child, lookup, &search, &found) }
    }
}

/// The matchers without affixes of one node, indexed for a fast search for overlapping ones.
///
/// With hundreds of enums or ranges of numbers at one node, comparing all pairs would be quadratic.
struct PlainMatchers {
    private struct Span {
        var min: Int64
        var max: Int64
        var matcher: Int
    }

    /// Ranges of numbers sorted by their lower bounds, each with the largest upper bound so far.
    private var spans: [Span] = []
    private var reach: [Int64] = []
    /// The enums, and for each value the enums that have it.
    private var enumerations: [Int] = []
    private var byValue: [[UInt8]: [Int]] = [:]
    /// All other matchers.
    private var others: [Int] = []

    /// Adds a matcher.
    ///
    /// Call `sort()` after the last one.
    mutating func add(_ number: Int, _ matcher: Matcher, folds: Bool) {
        switch matcher {
        case .int(let min, let max): spans.append(Span(min: min, max: max, matcher: number))
        case .enumeration(let values):
            enumerations.append(number)
            for value in values { byValue[folds ? value.map(lowerASCII) : value, default: []].append(number) }
        default: others.append(number)
        }
    }

    /// Sorts the ranges for searches.
    mutating func sort() {
        spans.sort { ($0.min, $0.matcher) < ($1.min, $1.matcher) }
        var last = Int64.min
        for span in spans {
            last = max(last, span.max)
            reach.append(last)
        }
    }

    /// Returns the numbers of the matchers that can match a text of another, and possibly of further ones.
    func matchers(overlapping matcher: Matcher, folds: Bool) -> [Int] {
        switch matcher {
        case .literal(let text): return others + sharing([text], folds)
        case .enumeration(let values): return others + sharing(values, folds)
        case .int(let min, let max): return others + enumerations + overlapping(min, max)
        case .uuid, .date: return others + enumerations
        default: return others + enumerations + spans.map(\.matcher)
        }
    }

    /// Returns the enums with one of the values, and the ranges with one of the numbers.
    private func sharing(_ values: [[UInt8]], _ folds: Bool) -> [Int] {
        var found: [Int] = []
        for value in values {
            found += byValue[folds ? value.map(lowerASCII) : value] ?? []
            if let number = value.withUnsafeBufferPointer({ TextForms.integer(ByteView($0)) }) {
                found += overlapping(number, number)
            }
        }
        return values.count == 1 ? found : Array(Set(found)).sorted()
    }

    private func overlapping(_ min: Int64, _ max: Int64) -> [Int] {
        // Ranges from `end` on begin above the range. Those before `start` all end below it.
        let end = spans.partitioningIndex { $0.min > max }
        let start = reach.partitioningIndex { $0 >= min }
        guard start < end else { return [] }
        return spans[start..<end].filter { $0.max >= min }.map(\.matcher)
    }
}
