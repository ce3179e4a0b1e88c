internal import LinkCoordinator

/// One way in which the rewrites of a link block may apply to a link: which of them do, one after another (N11).
struct RewriteFrame {
    /// Matchers of some segments of the link, from `depth` on.
    struct Prefix {
        /// Index of the first of the segments.
        var depth: Int
        /// What they are.
        var matchers: [Matcher]
    }

    /// Number of segments that are taken off.
    private(set) var shift = 0
    /// What is taken off.
    private(set) var inside: [Prefix] = []
    /// What is not there where another rule would look for it.
    private(set) var outside: [Prefix] = []
    /// Where the texts of captures stand in the link.
    private(set) var places: [String: CapturePlace] = [:]

    /// Above so many rules only such frames are made in which at most one applies.
    private static let maxRules = 6

    /// All ways for the rules of a block; of many rules not all.
    ///
    /// - Parameter start: How many segments of a link come before its path: one where the other table takes the
    ///   authority for a segment.
    static func all(of rules: [TableSource.Rewrite], from start: Int) -> (frames: [RewriteFrame], isWhole: Bool) {
        let isWhole = rules.count <= maxRules
        var first = RewriteFrame()
        first.shift = start
        var frames = [first]
        for rule in rules {
            frames = frames.flatMap { frame in
                isWhole || frame.inside.isEmpty ? [frame.without(rule), frame.with(rule)] : [frame.without(rule)]
            }
        }
        return (frames, isWhole)
    }

    private func prefix(_ rule: TableSource.Rewrite) -> Prefix {
        Prefix(depth: shift, matchers: Array(rule.pattern.matchers.prefix(rule.segmentCount)))
    }

    private func without(_ rule: TableSource.Rewrite) -> RewriteFrame {
        var next = self
        next.outside.append(prefix(rule))
        return next
    }

    private func with(_ rule: TableSource.Rewrite) -> RewriteFrame {
        var next = self
        next.inside.append(prefix(rule))
        if let name = rule.name, let capture = rule.pattern.captures.first {
            next.places[name] = CapturePlace(
                depth: shift + capture.segment, steps: [capture.affixes(in: rule.pattern)], capture: capture)
        }
        next.shift += rule.segmentCount
        return next
    }
}

extension PatternSpace {
    /// A prefix as a pattern that takes all links with it.
    mutating func pattern(_ prefix: RewriteFrame.Prefix, folds: Bool) -> ProofPattern {
        let own = prefix.matchers.map { segments.number(of: $0, folds: folds) }
        return ProofPattern(
            route: -1, index: 0, rule: 0, segments: Array(repeating: segments.any, count: prefix.depth) + own,
            tail: .star, constraints: [])
    }
}
