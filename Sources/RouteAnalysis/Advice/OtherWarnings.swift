internal import LinkCoordinator
internal import StrictJSON

extension TableAdvice {
    /// Adds warnings about fallback rules that no reason reaches.
    mutating func addFallbackWarnings() {
        var all: Int?
        var named: [ReasonCode: Int] = [:]
        for (index, rule) in source.fallback.enumerated() {
            let own = rule.on?.map(\.value)
            if let all {
                warnOfRule(
                    index, rule, "rule \(all) applies to every reason", "move it before rule \(all), or remove it")
            } else if let own, !own.isEmpty, own.allSatisfy({ named[$0] != nil }) {
                let earlierRules = Set(own.compactMap { named[$0] }).sorted().map(String.init)
                warnOfRule(
                    index, rule,
                    earlierRules.count == 1
                        ? "rule \(earlierRules[0]) names all of its reasons"
                        : "rules \(earlierRules.joined(separator: ", ")) together name all of its reasons",
                    "name each reason once, or remove the rule")
            }
            guard let own else {
                all = all ?? index
                continue
            }
            for reason in own where named[reason] == nil { named[reason] = index }
        }
    }

    private mutating func warnOfRule(
        _ index: Int, _ rule: TableSource.FallbackRule, _ cause: String, _ advice: String
    ) {
        problems.warning(
            .neverHolds, at: rule.offset, "rule \(index) of the fallback has no effect: \(cause)", suggestion: advice)
    }

    /// Adds warnings about examples that pass with any result.
    ///
    /// An example that requests a `path` gets no warning: it documents that such requests occur.
    mutating func addExampleWarnings() {
        for example in source.examples where example.expectations.isEmpty {
            if case .request(let request) = example.request, request["path"] != nil { continue }
            problems.warning(
                .expectsNothing, at: example.offset,
                "the example passes with any result, because it has no expected member",
                suggestion: "add the expected \"outcome\", and the \"route\" or the \"path\"")
        }
    }
}

// MARK: Rewrites

extension TableAdvice {
    /// Adds warnings about patterns whose prefix a rewrite removes from every link that matches them.
    ///
    /// It adds none if another scheme, a later rewrite, or a redirect can still lead to the pattern.
    mutating func addRewriteWarnings() {
        guard source.blocks.contains(where: { !$0.rewrites.isEmpty }) else { return }
        for route in source.routes {
            for pattern in route.patterns where !pattern.omitsOptionalPart {
                let blocks = source.blocks.filter { isRead($0, for: pattern) }
                let hiding = blocks.compactMap { block in
                    block.rewrites.last.flatMap { matches($0.pattern, theBeginningOf: pattern.path) ? $0 : nil }
                }
                guard let first = hiding.first, hiding.count == blocks.count, !isRedirectedTo(pattern.path) else {
                    continue
                }
                problems.warning(
                    .hiddenByRewrite, at: pattern.offset,
                    "no link matches the pattern `\(route.written(pattern))`: the rewrite "
                        + "`\(first.text)` removes its prefix first",
                    suggestion: "remove the prefix from the pattern, or remove the rewrite",
                    routes: [route.id.value])
            }
        }
    }

    /// Returns a Boolean value that indicates whether a block can read links of a pattern.
    private func isRead(_ block: TableSource.LinkBlock, for pattern: TableSource.RoutePattern) -> Bool {
        guard let scheme = pattern.scheme?.lowercased() else { return true }
        return block.acceptsOtherSchemes || block.schemes.contains { $0.value.lowercased() == scheme }
    }

    /// Returns a Boolean value that indicates whether a prefix matches the literals with which a pattern begins.
    ///
    /// A prefix segment that matches other than listed texts counts as no match.
    private func matches(_ prefix: Pattern, theBeginningOf pattern: Pattern) -> Bool {
        guard pattern.segmentCount >= prefix.segmentCount else { return false }
        return zip(prefix.matchers.dropLast(), pattern.matchers).allSatisfy { matcher, own in
            guard case .literal(let text) = own else { return false }
            return Self.matches(matcher, text)
        }
    }

    private static func matches(_ matcher: Matcher, _ text: [UInt8]) -> Bool {
        switch matcher {
        case .literal(let own): own == text
        case .enumeration(let values): values.contains(text)
        default: false
        }
    }

    /// Returns a Boolean value that indicates whether a redirect by a template can produce a path with the pattern's
    /// prefix.
    private func isRedirectedTo(_ pattern: Pattern) -> Bool {
        source.routes.contains { route in
            guard case .redirect(.template(let template)) = route.action else { return false }
            guard let parts = template.value.segments.first else { return false }
            guard parts.count == 1, case .text(let text) = parts[0], case .literal(let own) = pattern.matchers[0] else {
                return true
            }
            let bytes = source.foldsPathCase ? text.utf8.map(lowerASCII) : Array(text.utf8)
            return bytes == own
        }
    }
}
