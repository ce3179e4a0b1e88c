internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

extension Explanation {
    /// The trace as aligned text.
    ///
    /// The decision and the most likely correction come first, then the link with its parts marked, then one phase
    /// after another.
    public var text: String {
        var page = TracePage()
        page.line("decision", headline)
        adviceLines(&page)
        if let input, !parts.isEmpty {
            let isUnread = failure.map { $0.phase <= .select } ?? false
            for line in PartMarks(input, parts, label: { $0.label(isUnread) }).lines { page.line("", line) }
        }
        normalizeLines(&page)
        selectLines(&page)
        for variant in variants {
            page.line(
                variant.index == 0 ? "variant" : "",
                "\(variant.index) \(variant.holds ? "yes" : "no ")  \(variant.because)")
        }
        composeLines(&page)
        bindLines(&page)
        for (index, one) in guards.enumerated() {
            let verdict = one.holds ? "holds" : "does not hold: the device lacks the claim"
            page.line(index == 0 ? "guard" : "", "\(one.name) of \(one.coordinator)  claim \(one.claim)  \(verdict)")
        }
        if let failure {
            let rule = failure.rule.map { "rule \($0) of the table" }
            page.line("fallback", rule ?? "no rule names the reason, so the link is rejected")
        }
        if let path = decision.path { page.line("stack", path) }
        if let url = decision.url { page.line("url", url) }
        if let notice = decision.notice { page.line("notice", notice) }
        return page.lines.joined(separator: "\n")
    }

    /// The maximum number of patterns in the text that do not match the link.
    private static let maxShown = 6

    /// The outcome with its reason, guard, or route, and with a mark for a fallback.
    private var headline: String {
        var line = decision.outcome.rawValue + (decision.isFallback ? " by fallback" : "")
        if let reason = decision.reason { line += "  \(reason)" + (decision.detail.map { ": \($0)" } ?? "") }
        if let name = decision.guard { line += "  until guard \(name) holds" }
        if failure == nil, let route = decision.route { line += "  by \(route)" }
        return line
    }

    /// Adds the failure, the most similar pattern, and the suggestions.
    private func adviceLines(_ page: inout TracePage) {
        if let failure {
            page.line("because", "\(failure.text) (in \(failure.phase.rawValue))")
            if failure.phase <= .select, redirects.isEmpty, let nearest = rejected.first, nearest.isNear {
                page.line(
                    "nearest",
                    "\(nearest.route)  \(nearest.pattern)  \(Self.mismatchText(nearest.mismatches, only: true))")
            }
        }
        switch decision.reason {
        case .noLink? where !listed.isEmpty:
            page.line("because", "the payload contains neither a link nor a route at the table's pointers")
        case .opensApp?: page.line("because", "the message or its button only opens the app")
        case .needsResolution?: page.line("because", "only the platform of the short link knows its destination")
        default: break
        }
        for (index, one) in suggestions.enumerated() {
            let isLink = input != nil
            let route = isLink ? " (\(one.route ?? "no route matches it either"))" : ""
            page.line("", "\(index == 0 ? "did you mean" : "or") \(one.text)\(route)?")
        }
        guard !listed.isEmpty else { return }
        page.line("listed", listed.map { $0.isEmpty ? "(no host)" : $0 }.joined(separator: ", "))
    }

    /// Returns the mismatches of a pattern.
    private static func mismatchText(_ mismatches: [Mismatch], only: Bool = false) -> String {
        let shown = mismatches.prefix(3).map(\.text).joined(separator: "; ")
        if mismatches.count > 3 { return "\(shown); and \(mismatches.count - 3) more" }
        return only && mismatches.count == 1 ? "the only mismatch: \(shown)" : shown
    }

    private func normalizeLines(_ page: inout TracePage) {
        if let link {
            var parts = ["scheme \(link.scheme)"]
            if let host = link.host { parts.append("host \(host.isEmpty ? "none" : host)") }
            parts.append("path /" + link.segments.joined(separator: " / "))
            page.line("normalize", parts.joined(separator: " · "))
            page.line("", link.dialect)
            for item in link.query {
                page.line("", "query \(item.name)" + (item.value.map { " = \($0)" } ?? " (null)"))
            }
            for rewrite in link.rewrites { page.line("", "rewrite removes \(rewrite)") }
        }
        for note in decision.notes { page.line("", "note: \(note)") }
    }

    private func selectLines(_ page: inout TracePage) {
        let shown = rejected.filter(\.isNear).prefix(Self.maxShown)
        let width = (candidates.map(\.route.count) + shown.map(\.route.count)).max() ?? 0
        let patternWidth = (candidates.map(\.pattern.count) + shown.map(\.pattern.count)).max() ?? 0
        var label = "select"
        func row(_ route: String, _ pattern: String, _ verdict: String) {
            page.line(label, route.padded(to: width + 2) + pattern.padded(to: patternWidth + 2) + verdict)
            label = ""
        }
        for one in candidates {
            row(one.route, one.pattern, one.isChosen ? "chosen" : "also matches, with lower precedence")
        }
        for one in shown { row(one.route, one.pattern, "no: " + Self.mismatchText(one.mismatches)) }
        if rejectedCount > shown.count {
            page.line(
                label,
                shown.isEmpty && candidates.isEmpty
                    ? (rejectedCount == 1
                        ? "the table's only pattern is not similar"
                        : "none of the table's \(rejectedCount) patterns is similar")
                    : "and \(rejectedCount - shown.count) more that do not match")
            label = ""
        }
        for capture in captures { page.line("", "{\(capture.name)} = \(capture.value)") }
        for (index, one) in redirects.enumerated() {
            let path = one.segments.map { "  /" + $0.joined(separator: "/") } ?? ""
            page.line(
                index == 0 ? "redirect" : "", "\(one.route) > \(one.to)\(path)  to \(one.leadsTo ?? "no route")")
        }
    }

    private func composeLines(_ page: inout TracePage) {
        let width = composed.map { $0.coordinator.count + $0.screen.count + 1 }.max() ?? 0
        for (index, one) in composed.enumerated() {
            var remarks = [one.present.rawValue]
            if one.isParent { remarks.append("parent") }
            if !one.isSupported { remarks.append("the device lacks the screen") }
            page.line(
                index == 0 ? "compose" : "",
                "\(one.coordinator).\(one.screen)".padded(to: width + 2) + remarks.joined(separator: ", "))
        }
    }

    private func bindLines(_ page: inout TracePage) {
        let width = bindings.map(\.field.count).max() ?? 0
        let sourceWidth = bindings.map(\.source.count).max() ?? 0
        for (index, one) in bindings.enumerated() {
            let raw = one.raw.isEmpty ? "(none)" : one.raw.map { $0.isEmpty ? "(empty)" : $0 }.joined(separator: ", ")
            var value = one.value.map { " " + $0.json.text } ?? ""
            if one.result == .invalid || one.result == .dropped { value = ": not \(one.type)" + value }
            page.line(
                index == 0 ? "bind" : "",
                one.field.padded(to: width + 2) + one.source.padded(to: sourceWidth + 2)
                    + "\(raw)  \(one.result.rawValue)\(value)")
        }
    }
}

extension LinkPart {
    /// Returns the label under the part.
    ///
    /// - Parameter isUnread: A Boolean value that indicates whether nothing read the query, because no route was
    ///   selected.
    fileprivate func label(_ isUnread: Bool) -> String {
        if let fault { return fault }
        return switch kind {
        case .scheme, .host, .port: kind.rawValue
        case .userinfo: "userinfo, ignored"
        case .segment, .position: use ?? ""
        case .query, .fragment: use ?? hint ?? (isUnread ? "" : "unused")
        }
    }
}

/// Lines of text, aligned after their labels.
private struct TracePage {
    private(set) var lines: [String] = []

    /// Adds one line, in which the text of others cannot begin another one.
    mutating func line(_ label: String, _ text: String) {
        lines.append((label.padded(to: 11) + TerminalControl.visible(text)).trimmedEnd)
    }
}

extension String {
    /// Returns the text padded with spaces to a width in characters.
    fileprivate func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }

    /// The text without trailing spaces.
    fileprivate var trimmedEnd: String {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == " " { end = index(before: end) }
        return String(self[..<end])
    }
}

// Descriptions of reasons.
extension Tracer {
    /// Returns a description of a failure, without a period.
    mutating func failureText(_ rejection: Rejection, _ explanation: Explanation) -> String {
        let detail = rejection.detail
        let limits = table.source.limits
        switch (rejection.reason, detail) {
        case (.budget, "bytes"): return "the link has more than \(limits.maxBytes) bytes"
        case (.budget, "segments"): return "the path has more than \(limits.maxSegments) segments"
        case (.budget, "query items"): return "the query has more than \(limits.maxQueryItems) items"
        case (.budget, _): return "the stack has more than \(StaticStack.maxEntries) screens"
        case (.badEncoding, _): return "\(detail) is not valid in a link"
        case (.scheme, ""): return "the link has no scheme"
        case (.scheme, _): return "the scheme `\(detail)` is not listed"
        case (.host, _): return hostText(detail, explanation)
        case (.emptySegment, _): return "the path has an empty segment, which the table rejects"
        case (.dotSegment, _): return "\(detail) consists only of dots"
        case (.noRoute, ""): return noRouteText(explanation)
        case (.noRoute, _): return "there is no route `\(detail)`"
        case (.redirectLimit, _): return "the route `\(detail)` would redirect twice, or be the sixth redirect"
        case (.excluded, _): return "the route is excluded"
        case (.externalRefused, _): return "`externals` does not allow the link's scheme or host"
        case (.unknownScreen, _): return "`\(detail)` is neither a screen of its coordinator nor a coordinator"
        case (.unsupported, _): return "the device lacks the screen `\(detail)`"
        case (.paramInvalid, _): return valueText(detail, "has the wrong type", explanation)
        case (.paramMissing, _): return valueText(detail, "is missing", explanation)
        case (.presentation, _): return "`\(detail)` cannot be presented at its position in the stack"
        default:
            return rejection.reason == .noLink
                ? "the payload contains neither a link nor a route" : "the request could not be resolved"
        }
    }

    private func hostText(_ detail: String, _ explanation: Explanation) -> String {
        let host = explanation.parts.first { $0.kind == .host }
        let text = host.flatMap { part in
            explanation.input.map {
                String(decoding: Array($0.utf8)[part.offset..<(part.offset + part.count)], as: UTF8.self)
            }
        }
        switch detail {
        case "userinfo": return "an http or https link must not contain a user name"
        case "port": return "the port is not a number from 0 to 65535"
        case "syntax": return "`\(text ?? "")` is not a valid host name"
        case "unlisted": return text.map { "the host `\($0)` is not listed" } ?? "the link has no host"
        case "missing": return "http and https links must have a host, even if the table lists links without one"
        default: return "the link has no host"
        }
    }

    private func noRouteText(_ explanation: Explanation) -> String {
        if let last = explanation.redirects.last {
            return "`\(last.route)` redirects to a path that no pattern matches"
        }
        return "no pattern matches the link"
    }

    /// Returns a description such as "`Product.count` from `query.count` is not `int(1..99)`".
    private mutating func valueText(_ field: String, _ fault: String, _ explanation: Explanation) -> String {
        guard let binding = explanation.bindings.first(where: { $0.field == field }) else {
            return field.hasPrefix("path.") ? parameterText(field, fault) : "`\(field)` \(fault)"
        }
        let isWrong = binding.result == .invalid
        let sourceText = binding.source.hasPrefix("const") ? "a constant" : "`\(binding.source)`"
        if isWrong { return "`\(field)` from \(sourceText) is not `\(binding.type)`" }
        return "`\(field)` \(fault): it is read from \(sourceText)"
    }

    /// Returns a description of a parameter of a route request, with the given parameters.
    private mutating func parameterText(_ field: String, _ fault: String) -> String {
        let given = (0..<resolver.record.params.count).map { "`\(resolver.record.params.name(Int32($0)).string)`" }
        let parameters =
            given.isEmpty ? "no parameters were given" : "given: \(given.prefix(8).joined(separator: ", "))"
        return "the parameter `\(field.dropFirst(5))` \(fault); \(parameters)"
    }
}

// Texts of conditions and blocks.

extension TableSource.QueryConstraint {
    /// Returns the constraint as text if it holds, or its negation otherwise.
    func text(holding: Bool) -> String {
        switch test {
        case .equals(let value): "query.\(name.value) \(holding ? "=" : "!=") \(value)"
        case .present: "query.\(name.value) \(holding ? "present" : "absent")"
        case .absent: "query.\(name.value) \(holding ? "absent" : "present")"
        }
    }
}

extension TableSource.Condition.VersionTest {
    /// Returns the comparison as text if it holds, or its negation otherwise.
    ///
    /// An unknown version is lower than every version.
    func text(holding: Bool) -> String {
        let opposite: String =
            switch relation {
            case .atLeast: "<"
            case .above: "<="
            case .atMost: ">"
            case .below: ">="
            case .equal: "!="
            }
        return "\(holding ? relation.rawValue : opposite) \(version.text)"
    }
}

extension TableSource.Condition {
    /// The parts of the condition as single conditions, in the order of their evaluation.
    var tests: [TableSource.Condition] {
        var tests: [TableSource.Condition] = []
        func add(_ change: (inout TableSource.Condition) -> Void) {
            var one = TableSource.Condition(offset: offset)
            change(&one)
            tests.append(one)
        }
        for test in app { add { $0.app = [test] } }
        for test in os { add { $0.os = [test] } }
        for capability in capabilities { add { $0.capabilities = [capability] } }
        for claim in claims { add { $0.claims = [claim] } }
        if let platforms { add { $0.platforms = platforms } }
        if let regions { add { $0.regions = regions } }
        if let locales { add { $0.locales = locales } }
        for attribute in attributes { add { $0.attributes = [attribute] } }
        for constraint in query { add { $0.query = [constraint] } }
        return tests
    }
}

extension TableSource.LinkBlock {
    /// The rules by which the block reads a link.
    ///
    /// Rules with their default value are omitted, except for the host, the separators, and the decoding.
    var dialectText: String {
        var parts = [hostRole == .segment ? "the host is the first segment" : "the host must be listed"]
        let separators = query.pairSeparators.map { "`\(String(UnicodeScalar($0)))`" }.joined(separator: " and ")
        parts.append("query split at \(separators)")
        switch query.decode {
        case .once: parts.append("percent-decoded once")
        case .none: parts.append("not percent-decoded")
        case .before: parts.append("percent-decoded before and after the split")
        }
        if query.names == .insensitive { parts.append("query names case-insensitive") }
        switch query.duplicates {
        case .first: break
        case .last: parts.append("the last of several equal names counts")
        case .reject: parts.append("a repeated name is invalid")
        }
        if query.plus == .space { parts.append("`+` is a space") }
        if query.nulls == .erase { parts.append("a name without `=` counts like one with a value") }
        if query.flatten { parts.append("names and values are one list") }
        switch emptySegments {
        case .collapse: break
        case .reject: parts.append("empty segments are rejected")
        case .reset: parts.append("an empty segment discards the screens before it")
        }
        if repair { parts.append("damaged query values are repaired") }
        return parts.joined(separator: ", ")
    }
}
