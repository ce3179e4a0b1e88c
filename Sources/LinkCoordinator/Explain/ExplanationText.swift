internal import StrictJSON

extension Explanation {
    /// The trace for people: the link with its parts marked, then a phase after the other, aligned.
    public var text: String {
        var page = TracePage()
        if let input, !parts.isEmpty {
            for line in PartMarks(input, parts, label: \.label).lines { page.line("", line) }
        }
        normaliseLines(&page)
        selectLines(&page)
        for trial in trials {
            page.line(
                trial.index == 0 ? "variant" : "",
                "\(trial.index) \(trial.holds ? "yes" : "no ")  \(trial.because)")
        }
        composeLines(&page)
        bindLines(&page)
        for (index, one) in guards.enumerated() {
            let verdict = one.holds ? "holds" : "does not hold: the device lacks it"
            page.line(index == 0 ? "guard" : "", "\(one.name) of \(one.coordinator)  claim \(one.claim)  \(verdict)")
        }
        failureLines(&page)
        if let path = decision.path { page.line("stack", path) }
        if let url = decision.url { page.line("url", url) }
        var end = decision.outcome.rawValue
        if let reason = decision.reason { end += "  \(reason)" + (decision.detail.map { ": \($0)" } ?? "") }
        if let name = decision.guard { end += "  guard \(name)" }
        page.line("decision", end)
        return page.lines.joined(separator: "\n")
    }

    private func normaliseLines(_ page: inout TracePage) {
        if let link {
            var parts = ["scheme \(link.scheme)"]
            if let host = link.host { parts.append("host \(host.isEmpty ? "none" : host)") }
            parts.append("path /" + link.segments.joined(separator: " / "))
            page.line("normalise", parts.joined(separator: " · "))
            page.line("", link.dialect)
            for item in link.query {
                page.line("", "query \(item.name)" + (item.value.map { " = \($0)" } ?? " (null)"))
            }
            for rewrite in link.rewrites { page.line("", "rewrite takes off \(rewrite)") }
        }
        for note in decision.notes { page.line("", "note: \(note)") }
    }

    private func selectLines(_ page: inout TracePage) {
        let width = (candidates.map(\.route.count) + rejected.map(\.route.count)).max() ?? 0
        let patternWidth = (candidates.map(\.pattern.count) + rejected.map(\.pattern.count)).max() ?? 0
        var label = "select"
        func row(_ route: String, _ pattern: String, _ verdict: String) {
            page.line(label, route.padded(to: width + 2) + pattern.padded(to: patternWidth + 2) + verdict)
            label = ""
        }
        for one in candidates {
            row(one.route, one.pattern, one.chosen ? "chosen" : "also takes it, later in the order")
        }
        for one in rejected {
            row(one.route, one.pattern, "no, \(one.at.map { "segment \($0): " } ?? "")wanted \(one.want)")
        }
        if rejectedCount > rejected.count {
            page.line("", "and \(rejectedCount - rejected.count) more that do not take it")
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
            var words = [one.present.rawValue]
            if one.isParent { words.append("parent") }
            if !one.isSupported { words.append("the device lacks it") }
            page.line(
                index == 0 ? "compose" : "",
                "\(one.coordinator).\(one.screen)".padded(to: width + 2) + words.joined(separator: ", "))
        }
    }

    private func bindLines(_ page: inout TracePage) {
        let width = bindings.map(\.field.count).max() ?? 0
        let sourceWidth = bindings.map(\.source.count).max() ?? 0
        for (index, one) in bindings.enumerated() {
            let raw = one.raw.isEmpty ? "nothing" : one.raw.joined(separator: ", ")
            let value = one.value.map { " " + $0.json.text } ?? ""
            page.line(
                index == 0 ? "bind" : "",
                one.field.padded(to: width + 2) + one.source.padded(to: sourceWidth + 2)
                    + "\(raw)  \(one.result.rawValue)\(value)")
        }
    }

    private func failureLines(_ page: inout TracePage) {
        guard let failure else { return }
        let detail = failure.detail.isEmpty ? "" : ": \(failure.detail)"
        page.line("failed", "in \(failure.phase.rawValue)  \(failure.reason)\(detail)")
        page.line("fallback", failure.rule.map { "rule \($0)" } ?? "no rule names the reason: reject")
    }
}

extension LinkPart {
    /// What is written under the part.
    fileprivate var label: String {
        switch kind {
        case .scheme, .host, .port: kind.rawValue
        case .userinfo: "userinfo, dropped"
        case .segment: use ?? "not taken"
        case .query, .fragment: use ?? "unused"
        }
    }
}

/// Lines with a label in front, aligned.
private struct TracePage {
    private(set) var lines: [String] = []

    mutating func line(_ label: String, _ text: String) {
        lines.append((label.padded(to: 11) + text).trimmedEnd)
    }
}

extension String {
    /// The text with blanks after it up to a width in characters.
    fileprivate func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }

    /// The text without blanks at its end.
    fileprivate var trimmedEnd: String {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == " " { end = index(before: end) }
        return String(self[..<end])
    }
}
