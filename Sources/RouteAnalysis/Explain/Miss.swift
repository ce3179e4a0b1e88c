internal import LinkCoordinator

extension Explanation.Miss {
    static func scheme(_ want: String, found: String) -> Self {
        Self(
            part: .scheme, index: nil, want: want, found: found, text: "the scheme is not `\(want)`",
            label: "not `\(want)`")
    }

    static func host(_ rule: HostRule, found: String?) -> Self {
        let isEmpty = rule == .empty
        return Self(
            part: .host, index: nil, want: rule.text, found: found,
            text: isEmpty ? "the link has a host, but the pattern requires none" : "the host is not `\(rule.text)`",
            label: isEmpty ? "must be absent" : "not `\(rule.text)`")
    }

    static func query(_ constraint: TableSource.QueryConstraint) -> Self {
        let name = constraint.name.value
        let label =
            switch constraint.test {
            case .equals(let value): "not `\(value)`"
            case .present: "missing"
            case .absent: "must be absent"
            }
        let want = constraint.name(holding: true)
        var text = "query `\(name)` is \(label)"
        if case .absent = constraint.test { text = "query `\(name)` must be absent" }
        return Self(part: .query, index: nil, want: want, found: nil, text: text, label: label)
    }

    /// Returns a mismatch for a segment that differs from the expected one.
    static func wrong(_ index: Int, want: String, found: String, hint: String? = nil) -> Self {
        let hint = hint.map { " (\($0))" } ?? ""
        return Self(
            part: .segment, index: index, want: want, found: found, text: "segment \(index) is not `\(want)`" + hint,
            label: "not `\(want)`" + hint)
    }

    /// Returns a mismatch for a superfluous segment.
    static func extra(_ index: Int, found: String, hint: String? = nil) -> Self {
        let hint = hint.map { "; \($0)" } ?? ""
        return Self(
            part: .segment, index: index, want: "", found: found, text: "segment \(index) is unexpected" + hint,
            label: "unexpected")
    }

    /// Returns a mismatch for a missing segment.
    static func missing(_ index: Int, want: String) -> Self {
        Self(
            part: .segment, index: index, want: want, found: nil, text: "segment \(index) is missing: `\(want)`",
            label: "`\(want)` is missing")
    }

    /// Returns a mismatch for a tail that does not begin with a coordinator, or for a path without the segment that
    /// `anySegment` requires.
    static func tail(_ index: Int, _ matcher: Matcher, found: String?) -> Self {
        let text: String
        var label = "not \(matcher.name)"
        switch matcher {
        case .coordinatorPath:
            text = "segment \(index) is not the name of a coordinator"
            label = "not a coordinator"
        case .anySegment(let own):
            text = "no segment is `\(String(decoding: own, as: UTF8.self))`"
            label = "not `\(String(decoding: own, as: UTF8.self))`"
        default: text = "segment \(index) is not \(matcher.name)"
        }
        return Self(part: .segment, index: index, want: matcher.name, found: found, text: text, label: label)
    }
}
