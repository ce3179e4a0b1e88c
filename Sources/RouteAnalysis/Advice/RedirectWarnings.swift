internal import LinkCoordinator

extension TableAdvice {
    /// The maximum number of patterns of a route whose captures are tried in its template.
    private static let maxForms = 16

    /// Adds warnings about redirects by templates with captures whose paths match no route, or only the same route.
    ///
    /// A template without captures is resolved when the table is loaded. For the others, the possible paths of the
    /// template form a pattern, and the search of the proofs finds the patterns that overlap with it.
    mutating func addRedirectWarnings() {
        var trial = source
        var added: [(route: Int, own: Int)] = []
        for (index, route) in source.routes.enumerated() {
            guard case .redirect(.template(let template)) = route.action else { continue }
            if template.value.segments.allSatisfy({ $0.allSatisfy(\.isText) }) { continue }
            // A pattern that is not tried could match, so a warning could be wrong.
            if route.patterns.count > Self.maxForms { continue }
            var own = route
            own.patterns = route.patterns.map { pattern in
                var result = pattern
                result.path = path(of: template.value, captured: pattern.path)
                return result
            }
            if own.patterns.isEmpty { continue }
            added.append((index, trial.routes.count))
            trial.routes.append(own)
        }
        if added.isEmpty { return }
        let space = PatternSpace([trial])
        let index = PatternIndex(space)
        var search = LinkSearch(space, budget: budget)
        var numbers: [Int: [Int]] = [:]
        for (number, pattern) in space.patterns.enumerated() { numbers[pattern.route, default: []].append(number) }
        for (route, own) in added {
            let found = matchingRoutes(of: numbers[own] ?? [], beside: source.routes.count, index, &search)
            guard let found, found.isEmpty || found == [route] else { continue }
            warn(route, leadsBack: !found.isEmpty)
        }
    }

    private mutating func warn(_ index: Int, leadsBack: Bool) {
        let route = source.routes[index]
        guard case .redirect(.template(let template)) = route.action else { return }
        problems.warning(
            leadsBack ? .alwaysRejects : .redirectNowhere, at: template.offset,
            leadsBack
                ? "every link of `\(route.id.value)` is rejected: the template `\(template.value.text)` leads back"
                : "no route matches a path of the template `\(template.value.text)`",
            suggestion: "correct the template, or add a route that matches it", routes: [route.id.value])
    }

    /// Returns the routes that match a link of one of the patterns, or nil if the search exceeded its budget.
    private func matchingRoutes(
        of patterns: [Int], beside count: Int, _ index: PatternIndex, _ search: inout LinkSearch
    ) -> Set<Int>? {
        var found: Set<Int> = []
        do throws(WorkBudget.Exhausted) {
            for number in patterns {
                for other in try index.candidates(for: number, before: .max, &search) {
                    let pattern = search.space.patterns[other]
                    if pattern.route >= count || found.contains(pattern.route) { continue }
                    let pair = [search.space.patterns[number], pattern]
                    if try search.find(inside: pair, outside: []) != nil { found.insert(pattern.route) }
                }
            }
        } catch {
            return nil
        }
        return found
    }

    /// Returns a pattern that matches the paths of a template for the captures of a pattern.
    ///
    /// The result can match more than the template produces.
    private func path(of template: TableSource.PathTemplate, captured pattern: Pattern) -> Pattern {
        var matchers: [Matcher] = []
        for (index, parts) in template.segments.enumerated() {
            let isLast = index == template.segments.count - 1
            switch segment(parts, pattern) {
            case .nothing: continue
            case .one(let matcher): matchers.append(matcher)
            case .tail(let tail):
                // Text after a tail can occur at any position after it.
                return Pattern(matchers: matchers + [isLast ? tail : .restStar], captures: [], text: template.text)
            }
        }
        return Pattern(matchers: matchers + [.end], captures: [], text: template.text)
    }

    private enum SegmentForm {
        case nothing
        case one(Matcher)
        case tail(Matcher)
    }

    private func segment(_ parts: [TableSource.TemplatePart], _ pattern: Pattern) -> SegmentForm {
        var before: [UInt8] = []
        var after: [UInt8] = []
        var inner: Matcher?
        for part in parts {
            switch part {
            case .text(let text):
                let bytes = source.foldsPathCase ? text.utf8.map(lowerASCII) : Array(text.utf8)
                if inner == nil { before += bytes } else { after += bytes }
            case .query: return .tail(.restStar)
            case .name(let name):
                let isRewrite = source.blocks.contains { $0.rewrites.contains { $0.name == name.value } }
                guard let capture = pattern.capture(named: name.value) else {
                    // A rewrite can capture nothing, and a capture that the pattern omits is empty.
                    if isRewrite { return .tail(.restStar) }
                    continue
                }
                if capture.isTail { return .tail(capture.matcher) }
                if inner != nil { return .one(.any) }
                inner = capture.matcher
            }
        }
        guard let inner else { return before.isEmpty ? .nothing : .one(.literal(before)) }
        if before.isEmpty && after.isEmpty { return .one(inner) }
        if case .literal(let text) = inner { return .one(.literal(before + text + after)) }
        return .one(.affix(prefix: before, inner: inner, suffix: after))
    }
}

extension TableSource.TemplatePart {
    /// A Boolean value that indicates whether the part is literal text.
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}
