internal import LinkCoordinator

/// A combination of the rewrites of a link block that apply to a link, one after another.
///
/// See RouteTableReference, "Rewrites".
struct RewriteFrame {
    /// Matchers of consecutive segments of the link, from `depth` on.
    struct Prefix {
        /// The index of the first segment.
        var depth: Int
        /// The matchers of the segments.
        var matchers: [Matcher]
    }

    /// The number of segments that are removed.
    private(set) var shift = 0
    /// The prefixes that are removed.
    private(set) var inside: [Prefix] = []
    /// The prefixes that the link must not have, at the positions where other rules would match.
    private(set) var outside: [Prefix] = []
    /// The locations of captures in the link.
    ///
    /// The first rule with a name counts.
    private(set) var locations: [String: CaptureLocation] = [:]
    /// The offsets of the rules that apply, in the file.
    private(set) var rules: [Int] = []

    /// The maximum number of rules for which all combinations are made, beyond which at most one rule applies.
    private static let maxRules = 6

    /// Returns all combinations of the rules of a block, or with many rules some of them.
    ///
    /// - Parameter start: The number of segments before a link's path: one if the other table reads the authority as a
    ///   segment.
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
        next.rules.append(rule.offset)
        if let name = rule.name, next.locations[name] == nil, let capture = rule.pattern.captures.first {
            next.locations[name] = CaptureLocation(capture, in: rule.pattern, depth: shift + capture.segment)
        }
        next.shift += rule.segmentCount
        return next
    }
}
