internal import LinkCoordinator

/// The result of following redirects for links that select one pattern, with the conditions for those links.
struct RedirectResult {
    /// Additional patterns that the links match.
    var inside: [ProofPattern] = []
    /// Patterns that the links do not match.
    var outside: [ProofPattern] = []
    /// The routes of the redirect chain, in order.
    ///
    /// The last one makes the decision, unless it redirects to a path that no route matches.
    var routes: [Int]
    /// The pattern that was selected last, or nil if a redirect matches none.
    var pattern: TableSource.RoutePattern?
    /// The locations of captures in the link; a name without one has the same text in all the links.
    var locations: [String: CaptureLocation] = [:]
    /// The maximum number of segments that the redirects add to a link; nil if no redirect keeps its remaining
    /// segments.
    var growth: Int?
    /// A Boolean value that indicates whether the patterns describe the links exactly.
    var isExact = true
}

/// A search that follows the redirects of a table.
///
/// It divides the links of every template by the patterns that its paths can select.
struct RedirectSearch {
    private let table: ProofTable
    /// The captures of rewrites.
    private let rewrites: [String: CaptureLocation]
    private let own: [ProofPattern]

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - rewrites: The locations of the rewrites' captures in the links.
    ///   - patterns: The table's patterns in order of precedence.
    init(_ table: ProofTable, rewrites: [String: CaptureLocation], patterns: [ProofPattern]) {
        self.table = table
        self.rewrites = rewrites
        own = patterns
    }

    /// Returns the results for the links that select a pattern, which begins at segment `shift` of the link.
    func results(of pattern: ProofPattern, from shift: Int, _ space: inout PatternSpace) -> [RedirectResult] {
        let source = space.source(of: pattern)
        let start = RedirectResult(routes: [], pattern: source, locations: locations(of: source.path, from: shift))
        return follow(pattern.route, start, &space)
    }

    private func locations(of path: Pattern, from shift: Int) -> [String: CaptureLocation] {
        var locations = rewrites
        for capture in path.captures {
            locations[capture.name] = CaptureLocation(
                depth: shift + capture.segment, steps: [capture.affixes(in: path)], isTail: capture.isTail,
                capture: capture.isTail ? nil : capture)
        }
        return locations
    }

    private func follow(_ route: Int, _ result: RedirectResult, _ space: inout PatternSpace) -> [RedirectResult] {
        var result = result
        // A route that redirects twice, or a sixth redirect, ends the chain.
        if result.routes.contains(route) || result.routes.count > 5 { return [result] }
        result.routes.append(route)
        guard case .redirect(let redirect) = table.source.routes[route].action else { return [result] }
        switch redirect {
        case .route(let id):
            return table.names.routes[id.value].map { follow($0, result, &space) } ?? [result]
        case .template(let template):
            guard let path = TemplatePath(template.value, result.locations) else {
                result.isExact = false
                result.pattern = nil
                return [result]
            }
            result.growth = [result.growth, path.growth].compactMap { $0 }.max()
            return choose(path, result, &space)
        }
    }

    private func choose(_ path: TemplatePath, _ result: RedirectResult, _ space: inout PatternSpace) -> [RedirectResult]
    {
        var found: [RedirectResult] = []
        var rest = result
        for pattern in own {
            let source = space.source(of: pattern)
            guard let preimage = path.preimage(of: source.path, pattern, table, &space) else { continue }
            for alternative in preimage.alternatives {
                var next = rest
                next.inside += alternative
                next.isExact = next.isExact && preimage.isExact
                next.pattern = source
                next.locations = path.locations(of: source.path, rewrites)
                found += follow(pattern.route, next, &space)
            }
            if preimage.isExact && preimage.alternatives.allSatisfy({ $0.count == 1 }) {
                rest.outside += preimage.alternatives.flatMap { $0 }
                // If the pattern matches every remaining link, none is left for the others.
                if preimage.matchesAll { return found }
            } else {
                rest.isExact = false
            }
        }
        rest.pattern = nil
        return found + [rest]
    }
}
