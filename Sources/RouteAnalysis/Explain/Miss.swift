internal import LinkCoordinator

extension Explanation {
    /// A part of a link that does not match a pattern, or that the table cannot read.
    public struct Miss: Sendable, Equatable {
        /// The kind of a part.
        public enum Part: String, Sendable {
            /// The scheme.
            case scheme
            /// The host.
            case host
            /// A segment of the path that differs, is missing, or is superfluous.
            case segment
            /// A name of the query.
            case query
        }

        /// The kind of the part.
        public let part: Part
        /// The index of the segment, starting at 0 after the segments that rewrites removed.
        ///
        /// For a missing segment it is the index of the one that follows. It is nil for other parts.
        public let index: Int?
        /// The expected text, in the table's notation.
        public let want: String
        /// The text of the link, or nil if there is none.
        public let found: String?
        /// A description of the mismatch, without a period: "segment 1 is not `new`".
        public let text: String
        /// The description without the part's name, for a label under the part: "not `new`".
        public let label: String
    }
}

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

    /// Returns a mismatch for a tail that does not begin with a coordinator, or for a path without the required
    /// segment.
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
