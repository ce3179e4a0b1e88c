internal import LinkCoordinator

extension Explanation.Mismatch {
    static func scheme(_ expected: String, found: String) -> Self {
        Self(
            part: .scheme, index: nil, expected: expected, found: found, text: "the scheme is not `\(expected)`",
            label: "not `\(expected)`")
    }

    static func host(_ rule: HostRule, found: String?) -> Self {
        let isEmpty = rule == .empty
        return Self(
            part: .host, index: nil, expected: rule.text, found: found,
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
        let expected = constraint.text(holding: true)
        var text = "query `\(name)` is \(label)"
        if case .absent = constraint.test { text = "query `\(name)` must be absent" }
        return Self(part: .query, index: nil, expected: expected, found: nil, text: text, label: label)
    }

    /// Returns a mismatch for a segment that differs from the expected one.
    static func wrong(_ index: Int, expected: String, found: String, hint: String? = nil) -> Self {
        let hint = hint.map { " (\($0))" } ?? ""
        return Self(
            part: .segment, index: index, expected: expected, found: found,
            text: "segment \(index) is not `\(expected)`" + hint,
            label: "not `\(expected)`" + hint)
    }

    /// Returns a mismatch for a superfluous segment.
    static func extra(_ index: Int, found: String, hint: String? = nil) -> Self {
        let hint = hint.map { "; \($0)" } ?? ""
        return Self(
            part: .segment, index: index, expected: "", found: found, text: "segment \(index) is unexpected" + hint,
            label: "unexpected")
    }

    /// Returns a mismatch for a missing segment.
    static func missing(_ index: Int, expected: String) -> Self {
        Self(
            part: .segment, index: index, expected: expected, found: nil,
            text: "segment \(index) is missing: `\(expected)`",
            label: "`\(expected)` is missing")
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
        return Self(part: .segment, index: index, expected: matcher.name, found: found, text: text, label: label)
    }
}
