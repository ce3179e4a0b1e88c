internal import LinkCoordinator
internal import ByteStorage

/// The cheapest way to turn a path into one that a pattern takes: which segments fit, which are others, which are
/// too many and which are missing.
///
/// An edit distance over segments (Wagner and Fischer, 1974). Costs make a slip of the pen cheaper than another type,
/// that cheaper than another word, so that the pattern of least cost is the one that was most likely meant.
struct PatternAlignment {
    /// One step of the alignment.
    enum Step: Equatable {
        /// The segment fits the matcher.
        case fits(segment: Int, matcher: Int)
        /// The segment stands where the matcher wants another.
        case wrong(segment: Int, matcher: Int)
        /// The pattern has no place for the segment.
        case extra(segment: Int)
        /// The matcher wants a segment before this one that is not there.
        case missing(matcher: Int, before: Int)
    }

    /// The steps from the left.
    private(set) var steps: [Step] = []
    /// The sum of the steps' costs: 0 where the pattern takes the path.
    private(set) var cost = 0
    /// Number of steps that are no fit.
    var misses: Int { steps.count { if case .fits = $0 { false } else { true } } }

    /// Number of literals that fit.
    private(set) var literals = 0
    /// A Boolean value that indicates whether the pattern comes close: a segment of it fits, or was misspelled, or the
    /// pattern takes the whole path.
    private(set) var isNear = false

    /// Costs of steps; only their order counts.
    ///
    /// A slip of the pen costs less than another type, by its edits.
    enum Cost {
        static let slip = 2
        static let type = 7
        static let extra = 9
        static let missing = 10
        static let other = 12
    }

    /// Aligns a path with a pattern.
    init(_ pattern: Pattern, _ segments: [[UInt8]], foldsCase: Bool, coordinators: Set<[UInt8]>) {
        let count = pattern.segmentCount
        var costs = [[Int]](repeating: [Int](repeating: 0, count: segments.count + 1), count: count + 1)
        var own = [[Int]](repeating: [Int](repeating: 0, count: segments.count), count: count)
        for m in 0..<count {
            for s in segments.indices {
                // So far off the diagonal the path is another, whatever it is like.
                let isFar = abs(m - s) > Self.band
                own[m][s] = Self.cost(of: pattern.matchers[m], segments[s], foldsCase, comparing: !isFar)
            }
        }
        for m in 0...count {
            for s in 0...segments.count where m + s > 0 {
                var best = Int.max
                if m > 0, s > 0 { best = costs[m - 1][s - 1] + own[m - 1][s - 1] }
                if m > 0 { best = min(best, costs[m - 1][s] + Cost.missing) }
                if s > 0 { best = min(best, costs[m][s - 1] + Cost.extra) }
                costs[m][s] = best
            }
        }
        let terminal = pattern.matchers[count]
        var (end, tail) = (segments.count, Int.max)
        for s in (0...segments.count).reversed() {
            let rest = Self.cost(ofTail: terminal, segments, from: s, foldsCase, coordinators)
            if let rest, tail == .max || costs[count][s] + rest < tail { (end, tail) = (s, costs[count][s] + rest) }
        }
        cost = tail
        walk(back: costs, own, from: (count, end))
        isNear = cost == 0 || (1..<Cost.type).contains(cost - costs[count][end])
        for step in steps {
            switch step {
            case .fits(_, let matcher):
                isNear = isNear || pattern.matchers[matcher] != .any
                if case .literal = pattern.matchers[matcher] { literals += 1 }
            case .wrong(let segment, let matcher): isNear = isNear || own[matcher][segment] < Cost.type
            case .extra, .missing: continue
            }
        }
        if cost > costs[count][end] {
            steps.append(
                end < segments.count ? .wrong(segment: end, matcher: count) : .missing(matcher: count, before: end))
        }
    }

    private mutating func walk(back costs: [[Int]], _ own: [[Int]], from place: (m: Int, s: Int)) {
        var (m, s) = place
        while m > 0 || s > 0 {
            let cost = costs[m][s]
            if m > 0, s > 0, cost == costs[m - 1][s - 1] + own[m - 1][s - 1] {
                (m, s) = (m - 1, s - 1)
                steps.append(own[m][s] == 0 ? .fits(segment: s, matcher: m) : .wrong(segment: s, matcher: m))
            } else if m > 0, cost == costs[m - 1][s] + Cost.missing {
                m -= 1
                steps.append(.missing(matcher: m, before: s))
            } else {
                s -= 1
                steps.append(.extra(segment: s))
            }
        }
        steps.reverse()
    }

    /// Number of segments that may be too many or missing before a literal for it to be looked for misspelled.
    private static let band = 8

    private static func cost(
        of matcher: Matcher, _ segment: [UInt8], _ folds: Bool, comparing: Bool
    ) -> Int {
        if segment.withUnsafeBufferPointer({ matcher.takes(ByteView($0), foldsCase: folds) }) { return 0 }
        switch matcher {
        case .literal(let text): return comparing ? cost(ofSlip: segment, [text]) ?? Cost.other : Cost.other
        case .enumeration(let values): return cost(ofSlip: segment, values) ?? Cost.type
        default: return Cost.type
        }
    }

    /// Returns the cost of taking a text for a misspelling of one of several; nil where it is none.
    private static func cost(ofSlip text: [UInt8], _ known: some Sequence<[UInt8]>) -> Int? {
        known.compactMap { Misspelling.edits(text, $0) }.min().map { min(Cost.slip + $0, Cost.type - 1) }
    }

    /// Returns the cost of the tail from a segment on; nil where it cannot begin there.
    private static func cost(
        ofTail matcher: Matcher, _ segments: [[UInt8]], from index: Int, _ folds: Bool, _ coordinators: Set<[UInt8]>
    ) -> Int? {
        switch matcher {
        case .end: return index == segments.count ? 0 : nil
        case .restPlus: return index < segments.count ? 0 : Cost.missing
        case .coordinatorPath:
            guard index < segments.count else { return Cost.missing }
            if coordinators.contains(segments[index]) { return 0 }
            return cost(ofSlip: segments[index], coordinators) ?? Cost.other
        case .anySegment(let text):
            let takes = matcher.takesTail(segments, from: index, foldsCase: folds) { _ in false }
            if takes { return 0 }
            return segments.compactMap { cost(ofSlip: $0, [text]) }.min() ?? Cost.other
        default: return 0
        }
    }
}

/// Slips of the pen.
enum Misspelling {
    /// Longest text that is compared; longer ones are no slips of the pen.
    private static let maxLength = 64

    /// Returns the edits that make a known text of one that was most likely meant to be it; nil where it was not.
    ///
    /// That is an edit for each three characters, one in any case; case does not count, but one character is no
    /// misspelling of another.
    static func edits(_ text: [UInt8], _ known: [UInt8]) -> Int? {
        let limit = max(1, text.count / 3)
        guard text.count <= maxLength, known.count <= maxLength, abs(text.count - known.count) <= limit else {
            return nil
        }
        let (a, b) = (text.map(lowerASCII), known.map(lowerASCII))
        if a == b { return 0 }
        guard a.count > 1, b.count > 1 else { return nil }
        let edits = NearestName.edits(a, b)
        return edits <= limit && edits < b.count ? edits : nil
    }

    /// Returns whether a text that is another was most likely meant to be a known one.
    static func isNear(_ text: [UInt8], _ known: [UInt8]) -> Bool { edits(text, known) != nil }
}
