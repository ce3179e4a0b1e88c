internal import LinkCoordinator
internal import ByteStorage

// Marks for the part of the link with the fault.
extension Tracer {
    /// Marks the parts of the link for which the request failed, in any phase.
    mutating func markFault(_ rejection: Rejection, in explanation: inout Explanation) {
        guard explanation.input != nil, let linkParts else { return }
        let detail = rejection.detail
        switch rejection.reason {
        case .scheme: mark(.scheme, "not listed", orAt: 0, "no scheme", in: &explanation)
        case .host: markHost(detail, linkParts, in: &explanation)
        case .budget: markBudget(detail, in: &explanation)
        case .badEncoding: markEncoding(detail, in: &explanation)
        case .emptySegment:
            if let offset = linkParts.emptySegment { add("an empty segment", at: offset, in: &explanation) }
        case .dotSegment: markSegment(Self.number(detail), "only dots", in: &explanation)
        case .noRoute: markMismatches(linkParts, in: &explanation)
        case .redirectLimit: markPath("too many redirects, or a cycle", linkParts, in: &explanation)
        case .externalRefused:
            let isScheme = !table.source.externals.schemes.contains(explanation.link?.scheme.lowercased() ?? "")
            let fault = "not allowed by `externals`"
            mark(isScheme ? .scheme : .host, fault, orAt: linkParts.authorityStart, fault, in: &explanation)
        case .unknownScreen: markScreen(in: &explanation)
        case .paramInvalid: markValue(detail, in: &explanation)
        case .paramMissing: markMissing(detail, linkParts, in: &explanation)
        // Failures that no part of the link causes.
        default: return
        }
    }

    /// Returns the number at the end of a detail such as `segment 3`.
    private static func number(_ detail: String) -> Int? { detail.split(separator: " ").last.flatMap { Int($0) } }

    /// Marks a part of a kind, or the offset at which it is missing.
    private func mark(
        _ kind: LinkPart.Kind, _ fault: String, orAt offset: Int, _ missing: String, in explanation: inout Explanation
    ) {
        guard let index = explanation.parts.firstIndex(where: { $0.kind == kind }) else {
            return add(missing, at: offset, in: &explanation)
        }
        explanation.parts[index].fault = fault
    }

    /// Adds an empty part with a fault.
    private func add(_ fault: String, at offset: Int, count: Int = 0, in explanation: inout Explanation) {
        let index = explanation.parts.firstIndex { $0.offset > offset } ?? explanation.parts.count
        explanation.parts.insert(
            LinkPart(kind: .position, offset: offset, count: count, fault: fault), at: index)
    }

    private func markHost(_ detail: String, _ linkParts: LinkParts, in explanation: inout Explanation) {
        let start = linkParts.authorityStart
        switch detail {
        case "userinfo": mark(.userinfo, "not allowed here", orAt: start, "userinfo", in: &explanation)
        case "port": mark(.port, "not a port number", orAt: start, "a port is missing", in: &explanation)
        case "syntax": mark(.host, "not a valid host name", orAt: start, "a host is missing", in: &explanation)
        case "unlisted": mark(.host, "not listed", orAt: start, "a host is missing", in: &explanation)
        default: mark(.host, detail, orAt: start, "a host is missing", in: &explanation)
        }
    }

    private func markBudget(_ detail: String, in explanation: inout Explanation) {
        let limits = table.source.limits
        let (kind, limit): (LinkPart.Kind, Int) =
            detail == "query items" ? (.query, limits.maxQueryItems) : (.segment, limits.maxSegments)
        if detail == "bytes" {
            return add("more than \(limits.maxBytes) bytes", at: limits.maxBytes, in: &explanation)
        }
        let own = explanation.parts.indices.filter { explanation.parts[$0].kind == kind }
        if own.count > limit { explanation.parts[own[limit]].fault = "more than \(limit)" }
    }

    private func markEncoding(_ detail: String, in explanation: inout Explanation) {
        guard let number = Self.number(detail), let input = explanation.input.map({ Array($0.utf8) }) else { return }
        if detail.hasPrefix("byte ") {
            let faultText =
                switch number < input.count ? input[number] : 0 {
                case UInt8(ascii: "\\"): "a backslash"
                case 0..<0x20, 0x7F: "a control character"
                default: "not UTF-8"
                }
            return add(faultText, at: number, count: 1, in: &explanation)
        }
        let segments = explanation.parts.indices.filter { explanation.parts[$0].kind == .segment }
        guard segments.indices.contains(number) else { return }
        let part = explanation.parts[segments[number]]
        let raw = Array(input[part.offset..<(part.offset + part.count)])
        explanation.parts[segments[number]].fault = Self.encodingFault(raw)
    }

    private static func encodingFault(_ raw: [UInt8]) -> String {
        for index in raw.indices where raw[index] == UInt8(ascii: "%") {
            let digits = raw[(index + 1)...].prefix(2)
            if digits.count < 2 || digits.contains(where: { hexDigit($0) == nil }) {
                return "`%` is not followed by two hexadecimal digits; write `%25`"
            }
        }
        return "an invisible or control character, or not UTF-8"
    }

    /// Marks a segment by its number, without counting empty ones.
    private func markSegment(_ number: Int?, _ fault: String, in explanation: inout Explanation) {
        let segments = explanation.parts.indices.filter { explanation.parts[$0].kind == .segment }
        guard let number, segments.indices.contains(number) else { return }
        explanation.parts[segments[number]].fault = fault
    }

    /// Marks all remaining segments of the path.
    private func markPath(_ fault: String, _ linkParts: LinkParts, in explanation: inout Explanation) {
        let own = explanation.parts.indices.filter {
            explanation.parts[$0].kind == .segment && explanation.parts[$0].use != "rewrite"
        }
        guard let first = own.first else { return add(fault, at: linkParts.pathEnd, in: &explanation) }
        for index in own { explanation.parts[index].fault = index == first ? fault : "" }
    }
}

// Faults of the phase `select`.
extension Tracer {
    /// Marks the mismatches of the most similar pattern, or the whole path if none is similar.
    private mutating func markMismatches(_ linkParts: LinkParts, in explanation: inout Explanation) {
        let segments = explanation.parts.indices.filter { explanation.parts[$0].kind == .segment }
        for index in segments.prefix(resolver.selection.path.first) { explanation.parts[index].use = "rewrite" }
        if !explanation.redirects.isEmpty {
            return markPath("redirected to a path that no route matches", linkParts, in: &explanation)
        }
        guard let nearest = explanation.rejected.first, nearest.isNear, let one = rejectedPatterns.first else {
            return markPath("no route matches this path", linkParts, in: &explanation)
        }
        let own = Array(segments.dropFirst(resolver.selection.path.first))
        let pattern = table.source.routes[one.route].patterns[one.pattern].path
        var labels = nearest.mismatches.filter { $0.index != nil }.map(\.label)[...]
        var missing: [(offset: Int, label: String)] = []
        var end = 0
        for step in one.alignment.steps {
            switch step {
            case .fits(let segment, let matcher):
                explanation.parts[own[segment]].use = use(of: matcher, in: pattern)
                end = segment + 1
            case .wrong(let segment, _), .extra(let segment):
                explanation.parts[own[segment]].fault = labels.popFirst() ?? ""
                end = segment + 1
            case .missing(_, let next):
                let offset = own.indices.contains(next) ? explanation.parts[own[next]].offset : linkParts.pathEnd
                missing.append((offset, labels.popFirst() ?? ""))
            }
        }
        for segment in own.indices.dropFirst(end) {
            explanation.parts[own[segment]].use = use(of: max(segment, pattern.segmentCount), in: pattern)
        }
        for mismatch in nearest.mismatches where mismatch.part != .segment {
            mark(mismatch, linkParts, in: &explanation)
        }
        for position in missing { add(position.label, at: position.offset, in: &explanation) }
    }

    private mutating func mark(
        _ mismatch: Explanation.Mismatch, _ linkParts: LinkParts, in explanation: inout Explanation
    ) {
        switch mismatch.part {
        case .scheme: mark(.scheme, mismatch.label, orAt: 0, mismatch.label, in: &explanation)
        case .host: mark(.host, mismatch.label, orAt: linkParts.authorityStart, mismatch.label, in: &explanation)
        case .segment: return
        case .query:
            let name = mismatch.expected.dropFirst("query.".count).prefix { $0 != " " }
            let queries = explanation.parts.indices.filter { explanation.parts[$0].kind == .query }
            let names = explanation.link?.query.map(\.name) ?? []
            let own = zip(queries, names).filter { $0.1 == name }.map(\.0)
            guard let first = own.first else {
                return add("`\(mismatch.expected)` is expected", at: linkParts.queryEnd, in: &explanation)
            }
            explanation.parts[first].fault = mismatch.label
        }
    }
}

// Faults of the phases `compose` and `bind`.
extension Tracer {
    /// Marks the first segment of the coordinator path that is neither a coordinator nor one of its screens.
    private mutating func markScreen(in explanation: inout Explanation) {
        let segments = explanation.parts.indices.filter { explanation.parts[$0].kind == .segment }
        let texts = (0..<resolver.segments.count).map { resolver.segments[$0].text.string }
        // A redirect changes the path. The link's own segments keep their position relative to its end.
        let shift = segments.count - texts.count
        var current = resolver.startCoordinator.flatMap { coordinator($0.string) }
        for (index, text) in texts.enumerated().dropFirst(coordinatorPathStart) {
            if let next = coordinator(text) {
                current = next
            } else if current?.screen(named: text) == nil {
                guard segments.indices.contains(index + shift) else { return }
                explanation.parts[segments[index + shift]].fault = "neither a screen nor a coordinator"
                return
            }
        }
    }

    private func coordinator(_ name: String) -> TableSource.Coordinator? {
        table.source.coordinators.first { $0.name.value == name }
    }

    private func binding(_ field: String, _ explanation: Explanation) -> Explanation.Binding? {
        explanation.bindings.first { $0.field == field && ($0.result == .invalid || $0.result == .missing) }
    }

    /// Marks the parts from which the value of a field was read.
    private func markValue(_ field: String, in explanation: inout Explanation) {
        guard let binding = binding(field, explanation) else { return }
        let advice = hasPlusForSpace(binding) ? ": write `%2B` for `+`, which is a space" : ""
        let fault = "not `\(binding.type)`" + advice
        let name = binding.source.split(separator: ".", maxSplits: 1).last.map(String.init) ?? ""
        for index in explanation.parts.indices {
            let part = explanation.parts[index]
            let isRead =
                switch part.kind {
                case .query: part.use?.split(separator: ", ").contains(Substring(field)) ?? false
                case .segment: binding.source.hasPrefix("path.") && part.use == "{\(name)}"
                case .fragment: binding.source == "fragment"
                default: false
                }
            let isRewrite = binding.source.hasPrefix("rewrite.") && part.use == "rewrite"
            if isRead || isRewrite { explanation.parts[index].fault = fault }
        }
    }

    /// Returns a Boolean value that indicates whether a date and time in the query has a `+` that is read as a space.
    private func hasPlusForSpace(_ binding: Explanation.Binding) -> Bool {
        binding.source.hasPrefix("query.") && table.source.blocks[blockNumber].query.plus == .space
            && (binding.type.hasPrefix("datetime") || binding.type.hasPrefix("list<datetime"))
            && binding.raw.contains { $0.contains("+") }
    }

    private func markMissing(_ field: String, _ linkParts: LinkParts, in explanation: inout Explanation) {
        guard let binding = explanation.bindings.first(where: { $0.field == field }) else { return }
        let parts = explanation.parts
        if let index = parts.firstIndex(where: {
            $0.kind == .query && $0.use?.split(separator: ", ").contains(Substring(field)) == true
        }) {
            explanation.parts[index].fault = "no value"
        } else if binding.source.hasPrefix("query.") {
            let name = binding.source.dropFirst("query.".count)
            if let index = parts.firstIndex(where: { $0.hint?.contains("`\(name)`") == true }) {
                explanation.parts[index].fault = "did you mean `\(name)`?"
            } else {
                add("`\(name)` is missing", at: linkParts.queryEnd, in: &explanation)
            }
        } else if binding.source.hasPrefix("path.") {
            add("`\(binding.source)` is missing", at: linkParts.pathEnd, in: &explanation)
        } else if binding.source == "fragment" {
            add("a fragment is missing", at: linkParts.queryEnd, in: &explanation)
        }
    }
}

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
