package import LinkCoordinator
internal import ByteStorage

/// The search of all proofs for a link that some patterns match and others do not.
///
/// The search is exact: nil means that there is no such link. It throws if it would exceed its budget.
struct LinkSearch {
    /// The patterns.
    var space: PatternSpace
    /// The remaining budget.
    var budget: WorkBudget

    /// Returns a link that all of `inside` and none of `outside` match.
    ///
    /// It prefers a link that no rewrite changes.
    mutating func find(
        inside: [ProofPattern], outside: [ProofPattern]
    ) throws(WorkBudget.Exhausted) -> LinkWitness? {
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
    /// - Parameter lengths: The allowed numbers of segments, or nil for as many as any of the tables allows.
    mutating func find(
        inside: [ProofPattern], outside: [ProofPattern], among origins: Set<Int>, lengths: ClosedRange<Int>? = nil
    ) throws(WorkBudget.Exhausted) -> LinkWitness? {
        budget.begin()
        let all = 0...(space.sources.map(\.limits.maxSegments).max() ?? 0)
        return try search(inside, outside, avoidsRewrites: false, among: origins, lengths: lengths ?? all)
    }

    private mutating func search(
        _ inside: [ProofPattern], _ outside: [ProofPattern], avoidsRewrites: Bool, among some: Set<Int>? = nil,
        lengths: ClosedRange<Int>? = nil
    ) throws(WorkBudget.Exhausted) -> LinkWitness? {
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
                return LinkWitness(origin: origin, segments: found.segments, query: found.query)
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

/// Percent-encoding of the texts in generated links.
package enum LinkEncoding {
    /// Returns a text with every byte percent-encoded.
    package static func escape(_ text: [UInt8]) -> String {
        text.map { "%" + $0.hexadecimal(digits: 2).uppercased() }.joined()
    }

    /// Returns a text with all but unreserved characters percent-encoded (RFC 3986, 2.3).
    package static func encode(_ text: [UInt8]) -> String {
        var arena = OutputArena(chunkBytes: 256)
        arena.begin()
        text.withUnsafeBufferPointer { PercentDecoding.encode(ByteView($0), into: &arena) }
        return arena.finish().string
    }
}

extension TableSource {
    /// Returns the index of the link block that reads links of a scheme and allows their host, or nil if there is none.
    ///
    /// See RouteTableReference, "Scheme" and "Authority".
    ///
    /// - Parameters:
    ///   - host: The host in lowercase, or empty for none.
    ///   - port: The port, or nil for none and for the scheme's default.
    func block(for scheme: String, _ host: [UInt8], _ port: UInt16?) -> Int? {
        guard let index = block(listing: scheme) else { return nil }
        let block = blocks[index]
        if block.hostRole == .authority && host.isEmpty && WebURL.isWeb(scheme) { return nil }
        return block.hostRole == .segment || block.hosts.contains { $0.value.matches(host: host, port: port) }
            ? index : nil
    }

    /// Returns the index of the link block that lists a scheme, for any host, or nil if there is none.
    package func block(listing scheme: String) -> Int? {
        let listing = blocks.firstIndex { block in
            block.schemes.contains {
                block.schemeCase == .exact ? $0.value == scheme : $0.value.lowercased() == scheme.lowercased()
            }
        }
        return listing ?? blocks.firstIndex(where: \.acceptsOtherSchemes)
    }
}

/// Texts for names and values that no part of a table uses.
enum UnusedText {
    /// Returns the first text that is free: the base itself, or the base with a number, from 1.
    ///
    /// Only finitely many texts can be in use.
    static func first(_ base: String, suffix: String = "", where isFree: (String) -> Bool) -> String {
        var text = base + suffix
        var number = 0
        while !isFree(text) {
            number += 1
            text = "\(base)\(number)\(suffix)"
        }
        return text
    }
}

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
        /// Any segments, if one of the segments after the matchers is the literal with this number.
        case anySegment(Int)
    }

    /// The index of the table.
    var table = 0
    /// The index of the route.
    var route = -1
    /// The index of the pattern in the route.
    var index = 0
    /// The number of its origin rule.
    var rule = 0
    /// The numbers of its segments' matchers.
    var segments: [Int]
    /// The end of the pattern.
    var tail = Tail.star
    /// The query constraints.
    var constraints: QueryConstraints.List = []

    /// The effect of the pattern on a segment at some depth.
    enum Step {
        /// The pattern matches no segment here.
        case ends
        /// The pattern matches every segment here and later.
        case matchesAll
        /// The pattern matches the segments of a matcher.
        case matcher(Int)
    }

    /// Returns the effect on the segment at a depth, or at every later depth for `anySegment`.
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

    /// Returns a Boolean value that indicates whether a path can end at a depth if the pattern matches the segments
    /// before it.
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
    /// The origin rules of the patterns, beginning with the rule of patterns without scheme and host.
    private(set) var rules: [OriginRule] = [OriginRule()]
    /// The space of a segment's texts.
    var segments: SegmentSpace
    /// The space of schemes and hosts.
    private(set) var origins: OriginSpace
    /// The rewrites of each block, as patterns that match the links that they change.
    private(set) var rewrites: [[ProofPattern]] = []
    /// The steps of all searches for the ends of redirects.
    var redirectSteps = 0

    /// Numbers the patterns of tables.
    ///
    /// The table at the index `reading` determines how links are read.
    ///
    /// - Parameters:
    ///   - shifts: For each table, the number of segments before the segments that its patterns match.
    ///   - distinction: The properties that distinguish schemes and hosts in addition, or nil for none.
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
        return pattern(Array(path.matchers.prefix(path.segmentCount)), folds: folds, tail: tail)
    }

    /// Returns a pattern of links with segments that matchers match from a depth on.
    mutating func pattern(
        _ matchers: [Matcher], at depth: Int = 0, folds: Bool = false, tail: ProofPattern.Tail = .star
    ) -> ProofPattern {
        let own = matchers.map { segments.number(of: $0, folds: folds) }
        return ProofPattern(segments: Array(repeating: segments.any, count: depth) + own, tail: tail)
    }

    /// Returns a pattern of the table.
    func source(of pattern: ProofPattern) -> TableSource.RoutePattern {
        sources[pattern.table].routes[pattern.route].patterns[pattern.index]
    }
}
