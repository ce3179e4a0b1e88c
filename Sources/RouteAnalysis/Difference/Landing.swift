internal import LinkCoordinator

/// Where links that choose one pattern end up once redirects are followed, and what they must be for that.
struct Landing {
    /// Patterns that the links fit too.
    var inside: [ProofPattern] = []
    /// Patterns that they do not fit.
    var outside: [ProofPattern] = []
    /// The routes that are met, the last of which decides; for a redirect that leads nowhere those before it.
    var routes: [Int]
    /// The pattern that was chosen last; nil where a redirect leads to none.
    var pattern: TableSource.RoutePattern?
    /// Where captures stand in the link; a name that is not among them has the same text in all the links.
    var places: [String: CapturePlace] = [:]
    /// Most segments that the redirects add to a link of any length; nil where none takes all of its segments.
    var growth: Int?
    /// Whether the patterns say all about these links.
    var isExact = true
}

/// Follows the redirects of a table: every template is taken apart by the patterns that its paths may choose.
struct LandingSearch {
    private let table: ProofTable
    /// What rewrites took.
    private let rewrites: [String: CapturePlace]
    private let own: [ProofPattern]

    /// - Parameters:
    ///   - rewrites: Where names of rewrites stand in the links.
    ///   - patterns: The table's patterns, the best first.
    init(_ table: ProofTable, rewrites: [String: CapturePlace], patterns: [ProofPattern]) {
        self.table = table
        self.rewrites = rewrites
        own = patterns
    }

    /// The landings of the links that choose a pattern, which begins at a segment of the link.
    func landings(of pattern: ProofPattern, from shift: Int, _ space: inout PatternSpace) -> [Landing] {
        let source = space.source(of: pattern)
        let start = Landing(routes: [], pattern: source, places: places(of: source.path, from: shift))
        return follow(pattern.route, start, &space)
    }

    private func places(of path: Pattern, from shift: Int) -> [String: CapturePlace] {
        var places = rewrites
        for capture in path.captures {
            places[capture.name] = CapturePlace(
                depth: shift + capture.segment, steps: [capture.affixes(in: path)], isTail: capture.isTail,
                capture: capture.isTail ? nil : capture)
        }
        return places
    }

    private func follow(_ route: Int, _ landing: Landing, _ space: inout PatternSpace) -> [Landing] {
        var landing = landing
        // A route that redirects twice, or a sixth redirect, ends the chain.
        if landing.routes.contains(route) || landing.routes.count > 5 { return [landing] }
        landing.routes.append(route)
        guard case .redirect(let redirect) = table.source.routes[route].action else { return [landing] }
        switch redirect {
        case .route(let id):
            return table.names.routes[id.value].map { follow($0, landing, &space) } ?? [landing]
        case .template(let template):
            guard let path = TemplatePath(template.value, landing.places) else {
                landing.isExact = false
                landing.pattern = nil
                return [landing]
            }
            landing.growth = [landing.growth, path.growth].compactMap { $0 }.max()
            return choose(path, landing, &space)
        }
    }

    private func choose(_ path: TemplatePath, _ landing: Landing, _ space: inout PatternSpace) -> [Landing] {
        var found: [Landing] = []
        var rest = landing
        for pattern in own {
            let source = space.source(of: pattern)
            guard let preimage = path.preimage(of: source.path, pattern, table, &space) else { continue }
            for alternative in preimage.alternatives {
                var next = rest
                next.inside += alternative
                next.isExact = next.isExact && preimage.isExact
                next.pattern = source
                next.places = path.places(of: source.path, rewrites)
                found += follow(pattern.route, next, &space)
            }
            if preimage.isExact && preimage.alternatives.allSatisfy({ $0.count == 1 }) {
                rest.outside += preimage.alternatives.flatMap { $0 }
                // What takes every link of the landing leaves nothing to the others.
                if preimage.takesAll { return found }
            } else {
                rest.isExact = false
            }
        }
        rest.pattern = nil
        return found + [rest]
    }
}

extension Capture {
    /// What its segment has around it.
    func affixes(in path: Pattern) -> CapturePlace.Step {
        guard !isTail, case .affix(let prefix, _, let suffix) = path.matchers[segment] else {
            return .add(prefix: [], suffix: [])
        }
        return .add(prefix: prefix, suffix: suffix)
    }
}
