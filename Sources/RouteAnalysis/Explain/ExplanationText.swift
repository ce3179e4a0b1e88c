internal import LinkCoordinator
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

    /// The outcome with its reason, guard, or route; a fallback is marked.
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

    mutating func line(_ label: String, _ text: String) {
        lines.append((label.padded(to: 11) + text).trimmedEnd)
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
