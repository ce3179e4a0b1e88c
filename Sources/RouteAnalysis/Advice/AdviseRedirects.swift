internal import LinkCoordinator

extension TableAdvice {
    /// Most ways to read one template; more are taken for granted.
    private static let maxForms = 16

    /// Warns of redirects by a template with captures whose paths no route takes, or only the route itself.
    ///
    /// A template without captures is looked up when the table is loaded. Here the paths that a template may give are
    /// a pattern of a route of their own, and the search of the proofs finds whether another pattern takes one.
    mutating func adviseRedirects() {
        var trial = source
        var added: [(route: Int, own: Int)] = []
        for (index, route) in source.routes.enumerated() {
            guard case .redirect(.template(let template)) = route.action else { continue }
            if template.value.segments.allSatisfy({ $0.allSatisfy(\.isText) }) { continue }
            var own = route
            own.patterns = route.patterns.prefix(Self.maxForms).map { pattern in
                var made = pattern
                made.path = path(of: template.value, captured: pattern.path)
                return made
            }
            if own.patterns.isEmpty { continue }
            added.append((index, trial.routes.count))
            trial.routes.append(own)
        }
        if added.isEmpty { return }
        let space = PatternSpace([trial])
        let index = PatternIndex(space)
        var search = LinkSearch(space)
        var numbers: [Int: [Int]] = [:]
        for (number, pattern) in space.patterns.enumerated() { numbers[pattern.route, default: []].append(number) }
        for (route, own) in added {
            let takers = takers(of: numbers[own] ?? [], beside: source.routes.count, index, &search)
            guard let takers, takers.isEmpty || takers == [route] else { continue }
            warn(route, leadsBack: !takers.isEmpty)
        }
    }

    private mutating func warn(_ index: Int, leadsBack: Bool) {
        let route = source.routes[index]
        guard case .redirect(.template(let template)) = route.action else { return }
        problems.warning(
            leadsBack ? .alwaysRejects : .redirectNowhere, at: template.offset,
            leadsBack
                ? "every link of '\(route.id.value)' is rejected: no other route takes '\(template.value.text)'"
                : "no route takes a path '\(template.value.text)', whatever is captured",
            suggestion: "mend the template, or add a route that takes it", routes: [route.id.value])
    }

    /// Routes of the table that take a link of one of the patterns; nil where that could not be found out.
    private func takers(
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

    /// What the paths of a template look like, where a pattern captured its names; wider where that is not known.
    private func path(of template: TableSource.PathTemplate, captured pattern: Pattern) -> Pattern {
        var matchers: [Matcher] = []
        for (index, parts) in template.segments.enumerated() {
            let isLast = index == template.segments.count - 1
            switch segment(parts, pattern) {
            case .nothing: continue
            case .one(let matcher): matchers.append(matcher)
            case .tail(let tail):
                // What follows a tail may stand anywhere behind it.
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
                    // A rewrite may have taken nothing; what a pattern leaves out is empty.
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
    /// Whether the part is text as it stands.
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}
