internal import LinkCoordinator

/// A pattern as proofs walk it: matchers by number, in the order of 2.3 among all patterns of its table.
struct ProofPattern {
    /// What ends a pattern.
    enum Tail: Hashable {
        /// Nothing.
        case end
        /// Any number of segments.
        case star
        /// One segment or more.
        case plus
        /// One of the names of this number and anything after it.
        case coordinators(Int)
        /// Anything, if one of the segments that the matchers leave is the literal of this number.
        case anySegment(Int)
    }

    /// Index of the table.
    var table = 0
    /// Index of the route.
    var route: Int
    /// Index of the pattern in the route.
    var index: Int
    /// Number of its origin rule.
    var rule: Int
    /// Numbers of the matchers of its segments.
    var segments: [Int]
    /// How it ends.
    var tail: Tail
    /// What it wants of the query.
    var constraints: QueryConstraints.List

    /// What the pattern makes of a segment at some depth.
    enum Step {
        /// It takes no segment here.
        case ends
        /// It takes every segment, here and later.
        case takesAll
        /// It takes what a matcher takes.
        case matcher(Int)
    }

    /// What the pattern makes of the segment at a depth; `anySegment` wants its literal at every depth.
    func step(at depth: Int) -> Step {
        if depth < segments.count { return .matcher(segments[depth]) }
        switch tail {
        case .end: return .ends
        case .star, .plus: return .takesAll
        case .coordinators(let names): return depth == segments.count ? .matcher(names) : .takesAll
        case .anySegment(let literal): return .matcher(literal)
        }
    }

    /// Whether the segment at a depth may be the one that `anySegment` waits for.
    func isWild(at depth: Int) -> Bool {
        if case .anySegment = tail { depth >= segments.count } else { false }
    }

    /// Whether the pattern takes all links that another takes, as far as that is seen segment by segment; false where a
    /// search has to tell.
    func plainlyIncludes(_ other: ProofPattern, _ space: borrowing SegmentSpace) -> Bool {
        guard rule == other.rule || rule == 0, segments.count <= other.segments.count else { return false }
        switch tail {
        case .star: break
        case .plus: if segments.count == other.segments.count && other.tail != .plus { return false }
        case .end, .coordinators, .anySegment:
            if segments.count != other.segments.count || tail != other.tail { return false }
        }
        for (own, its) in zip(segments, other.segments) where !space.plainlyIncludes(own, its) { return false }
        return constraints.allSatisfy { own in
            other.constraints.contains { $0.name.value == own.name.value && $0.test == own.test }
        }
    }

    /// Whether the pattern takes a path that ends at a depth, if it took the segments before.
    func canEnd(at depth: Int) -> Bool {
        switch tail {
        case .end: depth == segments.count
        case .star: depth >= segments.count
        case .plus, .coordinators: depth > segments.count
        case .anySegment: false
        }
    }
}

/// The patterns of one table or several, numbered for proofs, with the spaces that they cut.
struct PatternSpace {
    /// The table that says how links are read.
    let source: TableSource
    /// All tables.
    let sources: [TableSource]
    /// The patterns, table by table, the best first in each.
    private(set) var patterns: [ProofPattern] = []
    /// The origin rules of the patterns; the first is that of patterns without scheme and host.
    private(set) var rules: [OriginRule] = [OriginRule()]
    /// What a segment can be.
    var segments: SegmentSpace
    /// What scheme and host can be.
    private(set) var origins: OriginSpace
    /// For each block its rewrites as patterns that take what they would take off.
    private(set) var rewrites: [[ProofPattern]] = []

    /// Numbers the patterns of tables; links are read as one of them says.
    ///
    /// - Parameters:
    ///   - shifts: For each table how many segments come before those that its patterns look at.
    ///   - cut: What else tells schemes and hosts apart; nil for nothing.
    init(_ sources: [TableSource], reading: Int = 0, shifts: [Int] = [], cut: OriginCut? = nil) {
        self.sources = sources
        let source = sources[reading]
        self.source = source
        segments = SegmentSpace(coordinators: sources.map { $0.coordinators.map(\.name.value) })
        var numbers = [rules[0]: 0]
        origins = OriginSpace()
        for (table, source) in sources.enumerated() {
            for one in Self.ordered(source) {
                let rule = OriginRule(source.routes[one.route].patterns[one.index])
                if numbers[rule] == nil {
                    numbers[rule] = rules.count
                    rules.append(rule)
                }
                var pattern = pattern(source.routes[one.route].patterns[one.index].path, of: table)
                pattern.table = table
                if table < shifts.count {
                    pattern.segments = Array(repeating: segments.any, count: shifts[table]) + pattern.segments
                }
                pattern.route = one.route
                pattern.index = one.index
                pattern.rule = numbers[rule] ?? 0
                pattern.constraints = source.routes[one.route].query
                patterns.append(pattern)
            }
        }
        origins = OriginSpace(source, rules: rules, cut: cut)
        for block in source.blocks { rewrites.append(block.rewrites.map { pattern($0.pattern, of: reading) }) }
    }

    /// The patterns of a table, the best first.
    private static func ordered(_ source: TableSource) -> [(route: Int, index: Int)] {
        var keys: [(key: Precedence, route: Int, index: Int)] = []
        for (route, one) in source.routes.enumerated() {
            for (index, pattern) in one.patterns.enumerated() {
                keys.append((one.precedence(of: pattern), route, index))
            }
        }
        keys.sort {
            let order = Precedence.compare($0.key, $1.key)
            return order != 0 ? order < 0 : ($0.route, $0.index) < ($1.route, $1.index)
        }
        return keys.map { ($0.route, $0.index) }
    }

    private mutating func pattern(_ path: Pattern, of table: Int) -> ProofPattern {
        let folds = sources[table].foldsPathCase
        let tail: ProofPattern.Tail
        switch path.matchers[path.segmentCount] {
        case .restStar: tail = .star
        case .restPlus: tail = .plus
        case .coordinatorPath: tail = .coordinators(segments.coordinators(of: table))
        case .anySegment(let text): tail = .anySegment(segments.number(of: .literal(text), folds: folds))
        default: tail = .end
        }
        return ProofPattern(
            route: -1, index: 0, rule: 0,
            segments: path.matchers.prefix(path.segmentCount).map { segments.number(of: $0, folds: folds) }, tail: tail,
            constraints: [])
    }

    /// A pattern as the table has it.
    func source(of pattern: ProofPattern) -> TableSource.RoutePattern {
        sources[pattern.table].routes[pattern.route].patterns[pattern.index]
    }
}
