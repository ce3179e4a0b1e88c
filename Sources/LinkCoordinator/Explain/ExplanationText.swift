internal import StrictJSON

extension Explanation {
    /// The trace for people: a phase a line, details beneath, aligned.
    public var text: String {
        var lines: [String] = []
        func line(_ label: String, _ text: String) {
            lines.append(label.padded(to: Self.labelWidth) + text)
        }
        if let link { line("normalise", Self.describe(link)) }
        for note in decision.notes { line("", "note: \(note)") }
        selectLines(line)
        for trial in trials {
            line(trial.index == 0 ? "variant" : "", "\(trial.index) \(trial.holds ? "yes" : "no ")  \(trial.because)")
        }
        if !decision.via.isEmpty { line("redirect", "via " + decision.via.joined(separator: " > ")) }
        if let path = decision.path { line("compose", path) }
        for entry in decision.stack {
            guard let data = entry.value["data"] else { continue }
            line("bind", "\(entry.coordinator).\(entry.screen) \(data.text)")
        }
        if let url = decision.url { line("url", url) }
        var end = decision.outcome.rawValue
        if let reason = decision.reason { end += "  \(reason)" + (decision.detail.map { ": \($0)" } ?? "") }
        if let name = decision.guard { end += "  guard \(name)" }
        line("decision", end)
        return lines.joined(separator: "\n")
    }

    private static let labelWidth = 11

    private static func describe(_ link: Link) -> String {
        var parts = ["scheme \(link.scheme)"]
        if let host = link.host { parts.append("host \(host.isEmpty ? "none" : host)") }
        parts.append("path /" + link.segments.joined(separator: " / "))
        if !link.query.isEmpty {
            parts.append(
                "query " + link.query.map { $0.name + ($0.value.map { "=\($0)" } ?? "") }.joined(separator: ", "))
        }
        return parts.joined(separator: " · ")
    }

    private func selectLines(_ line: (String, String) -> Void) {
        let width = (candidates.map(\.route.count) + rejected.map(\.route.count)).max() ?? 0
        let patternWidth = (candidates.map(\.pattern.count) + rejected.map(\.pattern.count)).max() ?? 0
        var label = "select"
        for candidate in candidates {
            let verdict = candidate.chosen ? "chosen" : "also takes it, later in the order"
            line(
                label, candidate.route.padded(to: width + 2) + candidate.pattern.padded(to: patternWidth + 2) + verdict)
            label = ""
        }
        for other in rejected {
            let place = other.at.map { "segment \($0): " } ?? ""
            line(
                label,
                other.route.padded(to: width + 2) + other.pattern.padded(to: patternWidth + 2)
                    + "no, \(place)wanted \(other.want)")
            label = ""
        }
        if rejectedCount > rejected.count { line("", "and \(rejectedCount - rejected.count) more that do not take it") }
    }
}

extension String {
    /// The text with blanks after it up to a width in characters.
    fileprivate func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }
}
