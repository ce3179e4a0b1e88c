internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

// The patterns that match the link, and the mismatches of the others.
extension Tracer {
    /// Adds the patterns that match the link in order of precedence, and the others by similarity.
    mutating func traceCandidates(into explanation: inout Explanation) {
        let segments = resolver.path.map(\.text.array)
        var matching: [(precedence: Precedence, route: String, pattern: String)] = []
        var rejected: [RejectedPattern] = []
        for (number, route) in table.source.routes.enumerated() {
            let constraints = failingConstraints(of: route)
            for (index, pattern) in route.patterns.enumerated() {
                let origin = originMismatches(pattern)
                let alignment = PatternAlignment(
                    pattern.path, segments, foldsCase: table.source.foldsPathCase, coordinators: coordinators)
                if alignment.cost == 0, origin.isEmpty, constraints.isEmpty {
                    matching.append((route.precedence(of: pattern), route.id.value, pattern.text))
                } else {
                    rejected.append(
                        RejectedPattern(
                            route: number, pattern: index, alignment: alignment, others: origin + constraints))
                }
            }
        }
        matching.sort { Precedence.compare($0.precedence, $1.precedence) < 0 }
        explanation.candidates = matching.enumerated().map {
            Explanation.Candidate(route: $0.element.route, pattern: $0.element.pattern, isChosen: $0.offset == 0)
        }
        rejected.sort { $0.rank.lexicographicallyPrecedes($1.rank) }
        // A route can have the same pattern more than once.
        var seen = Set<[String]>()
        rejected = rejected.filter { seen.insert(texts(of: $0)).inserted }
        explanation.rejectedCount = rejected.count
        rejectedPatterns = Array(rejected.prefix(Explanation.maxRejected))
        explanation.rejected = rejectedPatterns.map { rejection(of: $0, segments) }
    }

    /// Returns the texts that identify a pattern in the trace.
    private func texts(of one: RejectedPattern) -> [String] {
        let route = table.source.routes[one.route]
        return [route.id.value, route.patterns[one.pattern].text]
    }

    private mutating func originMismatches(_ pattern: TableSource.RoutePattern) -> [Explanation.Mismatch] {
        var mismatches: [Explanation.Mismatch] = []
        if let scheme = pattern.scheme, compiler.schemeNumbers[scheme] != resolver.link.schemeNumber {
            mismatches.append(.scheme(scheme, found: resolver.link.scheme.string))
        }
        if let host = pattern.host, host != .any {
            let found = resolver.link.host
            if !(found.map { host.matches(host: $0.array, port: resolver.link.port) } ?? false) {
                mismatches.append(.host(host, found: found?.string))
            }
        }
        return mismatches
    }

    private mutating func failingConstraints(of route: TableSource.Route) -> [Explanation.Mismatch] {
        route.query.compactMap { constraint in
            let storedConstraints = compiler.storage.store([compiler.compile(constraint)])
            return resolver.holds(storedConstraints.at(0)) ? nil : .query(constraint)
        }
    }

    /// Returns the explanation of a pattern that does not match the link.
    private mutating func rejection(of one: RejectedPattern, _ segments: [[UInt8]]) -> Explanation.Rejected {
        let route = table.source.routes[one.route]
        let pattern = route.patterns[one.pattern]
        let path = pattern.path
        let written = WrittenPattern(path)
        var mismatches: [Explanation.Mismatch] = []
        let isOnlyMismatch = one.others.isEmpty && one.alignment.mismatchCount == 1
        for step in one.alignment.steps {
            switch step {
            case .fits: continue
            case .extra(let index):
                let hint = isOnlyMismatch ? prefixHint(index) : nil
                mismatches.append(.extra(index, found: Self.text(segments[index]), hint: hint))
            case .missing(let matcher, let index):
                mismatches.append(.missing(index, expected: written.segment(matcher, path.matchers[matcher])))
            case .wrong(let index, let number):
                let matcher = path.matchers[number]
                let found = Self.text(segments[index])
                if matcher.isTerminal {
                    mismatches.append(.tail(index, matcher, found: found))
                } else {
                    let hint = Self.hint(segments[index], matcher)
                    mismatches.append(
                        .wrong(index, expected: written.expectedText(number, matcher), found: found, hint: hint))
                }
            }
        }
        return Explanation.Rejected(
            route: route.id.value, pattern: pattern.text, mismatches: Self.ordered(one.others, mismatches),
            isNear: one.alignment.isNear)
    }

    private static func ordered(
        _ others: [Explanation.Mismatch], _ path: [Explanation.Mismatch]
    ) -> [Explanation.Mismatch] {
        others.filter { $0.part != .query } + path + others.filter { $0.part == .query }
    }

    private static func hint(_ segment: [UInt8], _ matcher: Matcher) -> String? {
        if case .literal(let text) = matcher {
            return segment != text && segment.map(lowerASCII) == text.map(lowerASCII) ? "the case differs" : nil
        }
        return matcher.hint(for: segment)
    }

    /// Returns a hint with the prefixes that rewrites remove, or nil if there are none.
    private mutating func prefixHint(_ index: Int) -> String? {
        guard index == 0, resolver.selection.path.first == 0 else { return nil }
        let rules = table.source.blocks[blockNumber].rewrites
        guard !rules.isEmpty else { return nil }
        let prefixes = rules.prefix(3).map { "`\($0.pattern.text)`" }.joined(separator: " or ")
        return "the path can begin with the prefix \(prefixes)"
    }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
