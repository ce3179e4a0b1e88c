internal import LinkCoordinator
internal import ByteStorage

/// The cheapest way to edit a path so that a pattern matches it.
///
/// The alignment is an edit distance over segments (Wagner and Fischer, 1974), with steps for segments that match,
/// differ, are superfluous, or are missing. A misspelling costs less than a different type, and a different type costs
/// less than a different word. The pattern with the least cost is therefore the most likely intended one.
struct PatternAlignment {
    /// One step of the alignment.
    enum Step: Equatable {
        /// The segment matches the matcher.
        case fits(segment: Int, matcher: Int)
        /// The segment differs from what the matcher expects.
        case wrong(segment: Int, matcher: Int)
        /// The segment is superfluous.
        case extra(segment: Int)
        /// A segment that the matcher expects is missing before this one.
        case missing(matcher: Int, before: Int)
    }

    /// The steps from left to right.
    private(set) var steps: [Step] = []
    /// The sum of the steps' costs, which is 0 if the pattern matches the path.
    private(set) var cost = 0
    /// The number of steps that do not match.
    var mismatchCount: Int { steps.count { if case .fits = $0 { false } else { true } } }

    /// The number of literals that match.
    private(set) var literals = 0
    /// A Boolean value that indicates whether the pattern is similar to the path.
    ///
    /// It is similar if a segment of it matches or is misspelled, or if the pattern matches the whole path.
    private(set) var isNear = false

    /// The costs of steps, chosen for their order.
    ///
    /// A misspelling costs `misspelling` plus one for each edit, but always less than a different type.
    enum Cost {
        static let misspelling = 2
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
                // Alignments this far from the diagonal are never similar, so they are not computed exactly.
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

    private mutating func walk(back costs: [[Int]], _ own: [[Int]], from position: (m: Int, s: Int)) {
        var (m, s) = position
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

    /// The maximum difference between the positions of a literal and a segment for which a misspelling is considered.
    private static let band = 8

    private static func cost(
        of matcher: Matcher, _ segment: [UInt8], _ folds: Bool, comparing: Bool
    ) -> Int {
        if segment.withUnsafeBufferPointer({ matcher.matches(ByteView($0), foldsCase: folds) }) { return 0 }
        switch matcher {
        case .literal(let text): return comparing ? cost(ofMisspelling: segment, [text]) ?? Cost.other : Cost.other
        case .enumeration(let values): return cost(ofMisspelling: segment, values) ?? Cost.type
        default: return Cost.type
        }
    }

    /// Returns the cost of the text as a misspelling of one of several texts, or nil if it is not similar to any.
    private static func cost(ofMisspelling text: [UInt8], _ known: some Sequence<[UInt8]>) -> Int? {
        known.compactMap { Misspelling.edits(text, $0) }.min().map { min(Cost.misspelling + $0, Cost.type - 1) }
    }

    /// Returns the cost of the tail from a segment on, or nil if it cannot begin there.
    private static func cost(
        ofTail matcher: Matcher, _ segments: [[UInt8]], from index: Int, _ folds: Bool, _ coordinators: Set<[UInt8]>
    ) -> Int? {
        switch matcher {
        case .end: return index == segments.count ? 0 : nil
        case .restPlus: return index < segments.count ? 0 : Cost.missing
        case .coordinatorPath:
            guard index < segments.count else { return Cost.missing }
            if coordinators.contains(segments[index]) { return 0 }
            return cost(ofMisspelling: segments[index], coordinators) ?? Cost.other
        case .anySegment(let text):
            let isMatched = matcher.matchesTail(segments, from: index, foldsCase: folds) { _ in false }
            if isMatched { return 0 }
            return segments.compactMap { cost(ofMisspelling: $0, [text]) }.min() ?? Cost.other
        default: return 0
        }
    }
}

/// Detection of misspellings.
enum Misspelling {
    /// The maximum length of a text to compare; longer ones are never misspellings.
    private static let maxLength = 64

    /// Returns the number of edits from a text to a known one, or nil if the text is not a likely misspelling.
    ///
    /// One edit is allowed for each three characters, and at least one. Case is ignored, and a single character is not
    /// a misspelling of another.
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

    /// Returns a Boolean value that indicates whether a text is a likely misspelling of a known one.
    static func isNear(_ text: [UInt8], _ known: [UInt8]) -> Bool { edits(text, known) != nil }
}
