internal import LinkCoordinator

/// A pattern in the form for proofs: with numbered matchers, in order of precedence among all patterns of its table.
struct ProofPattern {
    /// The end of a pattern.
    enum Tail: Hashable {
        /// No more segments.
        case end
        /// Any number of segments.
        case star
        /// One segment or more.
        case plus
        /// A coordinator's name from the set with this number, then any segments.
        case coordinators(Int)
        /// Any segments, if one of those after the matchers is the literal with this number.
        case anySegment(Int)
    }

    /// The index of the table.
    var table = 0
    /// The index of the route.
    var route: Int
    /// The index of the pattern in the route.
    var index: Int
    /// The number of its origin rule.
    var rule: Int
    /// The numbers of its segments' matchers.
    var segments: [Int]
    /// The end of the pattern.
    var tail: Tail
    /// The query constraints.
    var constraints: QueryConstraints.List

    /// The effect of the pattern on a segment at some depth.
    enum Step {
        /// The pattern matches no segment here.
        case ends
        /// The pattern matches every segment here and later.
        case matchesAll
        /// The pattern matches the segments of a matcher.
        case matcher(Int)
    }

    /// Returns the effect on the segment at a depth; `anySegment` requires its literal at every depth.
    func step(at depth: Int) -> Step {
        if depth < segments.count { return .matcher(segments[depth]) }
        switch tail {
        case .end: return .ends
        case .star, .plus: return .matchesAll
        case .coordinators(let names): return depth == segments.count ? .matcher(names) : .matchesAll
        case .anySegment(let literal): return .matcher(literal)
        }
    }

    /// Returns a Boolean value that indicates whether the segment at a depth can be the one that `anySegment` requires.
    func isWild(at depth: Int) -> Bool {
        if case .anySegment = tail { depth >= segments.count } else { false }
    }

    /// Returns a Boolean value that indicates whether the pattern matches all links of another, compared segment by
    /// segment.
    ///
    /// Returns false if only a search can decide.
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

    /// Returns a Boolean value that indicates whether the pattern matches a path that ends at a depth, if it matched
    /// the segments before.
    func canEnd(at depth: Int) -> Bool {
        switch tail {
        case .end: depth == segments.count
        case .star: depth >= segments.count
        case .plus, .coordinators: depth > segments.count
        case .anySegment: false
        }
    }
}

/// The patterns of one or several tables, numbered for proofs, with the spaces of their segments and origins.
struct PatternSpace {
    /// The table that determines how links are read.
    let source: TableSource
    /// All tables.
    let sources: [TableSource]
    /// The patterns, table by table, in order of precedence.
    private(set) var patterns: [ProofPattern] = []
    /// The origin rules of the patterns; the first one is that of patterns without scheme and host.
    private(set) var rules: [OriginRule] = [OriginRule()]
    /// The space of a segment's texts.
    var segments: SegmentSpace
    /// The space of schemes and hosts.
    private(set) var origins: OriginSpace
    /// The rewrites of each block, as patterns that match the links that they change.
    private(set) var rewrites: [[ProofPattern]] = []

    /// Numbers the patterns of tables; one of the tables determines how links are read.
    ///
    /// - Parameters:
    ///   - shifts: For each table, the number of segments before those that its patterns match.
    ///   - distinction: The properties that distinguish schemes and hosts in addition; nil for none.
    init(_ sources: [TableSource], reading: Int = 0, shifts: [Int] = [], distinction: OriginDistinction? = nil) {
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
        origins = OriginSpace(source, rules: rules, distinction: distinction)
        for block in source.blocks { rewrites.append(block.rewrites.map { pattern($0.pattern, of: reading) }) }
    }

    /// Returns the patterns of a table in order of precedence.
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

    /// Returns a pattern of the table.
    func source(of pattern: ProofPattern) -> TableSource.RoutePattern {
        sources[pattern.table].routes[pattern.route].patterns[pattern.index]
    }
}
