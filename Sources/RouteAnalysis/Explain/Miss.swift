internal import LinkCoordinator

extension Explanation {
    /// One part of a link that keeps a pattern from taking it, or the table from reading it.
    public struct Miss: Sendable, Equatable {
        /// A kind of part.
        public enum Part: String, Sendable {
            /// The scheme.
            case scheme
            /// The host.
            case host
            /// A segment of the path that is another, is missing, or is one too many.
            case segment
            /// A name of the query.
            case query
        }

        /// The kind of the part.
        public let part: Part
        /// Index of the segment, from 0, behind what rewrites took off; where one is missing, of the one that follows;
        /// nil for other parts.
        public let index: Int?
        /// The text that the table wants there, as it writes it.
        public let want: String
        /// The text that stands there; nil for nothing.
        public let found: String?
        /// The miss in words, without a full stop: "segment 1 is not `new`".
        public let text: String
        /// The same without the part's name, for a mark under the part: "not `new`".
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
            text: isEmpty ? "there is a host" : "the host is not `\(rule.text)`",
            label: isEmpty ? "none is wanted" : "not `\(rule.text)`")
    }

    static func query(_ constraint: TableSource.QueryConstraint) -> Self {
        let name = constraint.name.value
        let label =
            switch constraint.test {
            case .equals(let value): "not `\(value)`"
            case .present: "missing"
            case .absent: "one too many"
            }
        let want = constraint.name(holding: true)
        var text = "query `\(name)` is \(label)"
        if case .absent = constraint.test { text = "query `\(name)` is there" }
        return Self(part: .query, index: nil, want: want, found: nil, text: text, label: label)
    }

    /// A segment that is not what the pattern wants there.
    static func wrong(_ index: Int, want: String, found: String, hint: String? = nil) -> Self {
        let hint = hint.map { " (\($0))" } ?? ""
        return Self(
            part: .segment, index: index, want: want, found: found, text: "segment \(index) is not `\(want)`" + hint,
            label: "not `\(want)`" + hint)
    }

    /// A segment that the pattern has no place for.
    static func extra(_ index: Int, found: String, hint: String? = nil) -> Self {
        let hint = hint.map { "; \($0)" } ?? ""
        return Self(
            part: .segment, index: index, want: "", found: found, text: "segment \(index) is one too many" + hint,
            label: "one too many")
    }

    /// A segment that the pattern wants and the link lacks.
    static func missing(_ index: Int, want: String) -> Self {
        Self(
            part: .segment, index: index, want: want, found: nil, text: "segment \(index) is missing: `\(want)`",
            label: "`\(want)` is missing")
    }

    /// A tail that does not begin with a coordinator, or a path without the segment that it must contain.
    static func tail(_ index: Int, _ matcher: Matcher, found: String?) -> Self {
        let text: String
        var label = "not \(matcher.name)"
        switch matcher {
        case .coordinatorPath:
            text = "segment \(index) is not the name of a coordinator"
            label = "no coordinator"
        case .anySegment(let own):
            text = "no segment is `\(String(decoding: own, as: UTF8.self))`"
            label = "not `\(String(decoding: own, as: UTF8.self))`"
        default: text = "segment \(index) is not \(matcher.name)"
        }
        return Self(part: .segment, index: index, want: matcher.name, found: found, text: text, label: label)
    }
}
