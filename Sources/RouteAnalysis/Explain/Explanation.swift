public import LinkCoordinator
internal import ByteStorage

/// An explanation of a decision: the decision, and the results of each phase.
public struct Explanation: Sendable {
    /// A pattern that matches the link.
    public struct Candidate: Sendable, Equatable {
        /// The route's id.
        public let route: String
        /// The pattern in the table's notation.
        public let pattern: String
        /// A Boolean value that indicates whether this candidate was chosen, because it has the highest precedence.
        public let isChosen: Bool
    }

    /// A pattern that does not match the link, and its mismatches.
    public struct Rejected: Sendable, Equatable {
        /// The route's id.
        public let route: String
        /// The pattern in the table's notation.
        public let pattern: String
        /// The parts of the link that do not match, at least one, in the order scheme, host, segments, query.
        public let mismatches: [Mismatch]
        /// A Boolean value that indicates whether the pattern is similar to the link.
        ///
        /// A pattern is similar if one of its segments matches or is misspelled.
        public let isNear: Bool

        /// The index of the first segment that does not match, or nil if only the scheme, host, or query does not.
        public var firstMismatchedSegment: Int? { mismatches.first { $0.index != nil }?.index }
        /// The expected text at the first mismatch, in the table's notation.
        public var expected: String { mismatches.first?.expected ?? "" }
    }

    /// A suggested correction.
    public struct Suggestion: Sendable, Equatable {
        /// The whole corrected link, or a name if the request is not a link.
        public let text: String
        /// The route that the correction resolves to, or nil if there is none or if the correction is a name.
        public let route: String?
    }

    /// A variant of the chosen route with the result of its condition.
    public struct VariantResult: Sendable, Equatable {
        /// The variant's index.
        public let index: Int
        /// A Boolean value that indicates whether the variant's condition holds.
        public let holds: Bool
        /// The condition that holds, or the first part that does not.
        public let because: String
    }

    /// A link after the phase `normalize`.
    public struct Link: Sendable, Equatable {
        /// The scheme as received.
        public let scheme: String
        /// The host in lowercase, or nil if the table reads it as the first segment, or if the request is not a link.
        public let host: String?
        /// The decoded segments after rewrites.
        public let segments: [String]
        /// The decoded names and values of the query, with nil for a name without a value.
        public let query: [(name: String, value: String?)]
        /// The text that rewrites removed, in order: the name and the text, or only the prefix if nothing is captured.
        public internal(set) var rewrites: [String] = []
        /// The rules by which the link block reads links, as text.
        public internal(set) var dialect = ""

        /// Returns a Boolean value that indicates whether two links are equal.
        public static func == (a: Link, b: Link) -> Bool {
            a.scheme == b.scheme && a.host == b.host && a.segments == b.segments && a.rewrites == b.rewrites
                && a.dialect == b.dialect && a.query.map(\.name) == b.query.map(\.name)
                && a.query.map(\.value) == b.query.map(\.value)
        }
    }

    /// A redirect that was followed.
    public struct Redirect: Sendable, Equatable {
        /// The id of the route that redirects.
        public let route: String
        /// The target in the table's notation: a route's id or a path template.
        public let to: String
        /// The segments of the path that was matched again, or nil if the redirect names a route.
        public internal(set) var segments: [String]?
        /// The id of the resulting route, or nil if there is none.
        public internal(set) var leadsTo: String?
    }

    /// A captured value of a pattern.
    public struct Capture: Sendable, Equatable {
        /// The capture's name.
        public let name: String
        /// The canonical text, or the segments of a tail, joined by `/`.
        public let value: String
    }

    /// An entry of the composed stack.
    public struct ComposedEntry: Sendable, Equatable {
        /// The coordinator's name.
        public let coordinator: String
        /// The screen's name.
        public let screen: String
        /// The presentation of the screen.
        public let present: Presentation
        /// A Boolean value that indicates whether the entry is a parent of the target.
        public let isParent: Bool
        /// A Boolean value that indicates whether the device supports the screen.
        public let isSupported: Bool
    }

    /// A field with the source and the result of its binding.
    public struct Binding: Sendable, Equatable {
        /// The result of binding a field.
        public enum Result: String, Sendable {
            /// The field has the value of its source.
            case bound
            /// The source has no value. The field has its default, null, or the empty list.
            case absent
            /// The source has no value, and the field is required.
            case missing
            /// The value does not match the field's type.
            case invalid
            /// The value does not match the field's type and counts as missing (`onInvalid`).
            case dropped
            /// The value was damaged and was repaired.
            ///
            /// See RouteTableReference, "Repair".
            case repaired
        }

        /// The field in the form `Model.field`.
        public let field: String
        /// The source of the value in the table's notation, such as `query.count`.
        public let source: String
        /// The type of the field in the table's notation, without `?` and default.
        public let type: String
        /// The texts of the source as received, or empty if there are none.
        public let raw: [String]
        /// The result of the binding.
        public let result: Result
        /// The value of the field, or nil if it is missing or invalid.
        public let value: ModelValue?
    }

    /// A guard of an entry of the stack.
    public struct Guard: Sendable, Equatable {
        /// The guarded coordinator.
        public let coordinator: String
        /// The guard's name.
        public let name: String
        /// The claim that the guard requires.
        public let claim: String
        /// A Boolean value that indicates whether the device has the claim.
        public let holds: Bool
    }

    /// One of the five phases.
    public enum Phase: String, Sendable, CaseIterable, Comparable {
        /// Parses and decodes the link.
        case normalize
        /// Selects a route.
        case select
        /// Selects one of the route's variants.
        case variant
        /// Composes the stack.
        case compose
        /// Binds values to the stack.
        case bind

        /// Returns a Boolean value that indicates whether a phase precedes another.
        public static func < (a: Phase, b: Phase) -> Bool {
            (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
        }
    }

    /// The failure of a request, with the fallback rule that applies.
    public struct Failure: Sendable, Equatable {
        /// The phase that failed.
        public let phase: Phase
        /// The reason.
        public let reason: Decision.Reason
        /// More about the reason, which can be empty.
        public let detail: String
        /// The index of the fallback rule that applies, or nil if none names the reason.
        public let rule: Int?
        /// A description of the failure, without a period.
        public let text: String
    }

    /// The decision.
    public let decision: Decision
    /// The parts of the link as received, in order, or empty if there is no link.
    public internal(set) var parts: [LinkPart] = []
    /// The link as received or as found in a payload, or nil if there is none.
    public internal(set) var input: String?
    /// The normalized link, or nil if the phase failed or if there is no link.
    public internal(set) var link: Link?
    /// The patterns that match the link, in order of precedence.
    public internal(set) var candidates: [Candidate] = []
    /// The patterns that do not match the link, the most similar first, at most `maxRejected`.
    ///
    /// If the link's scheme or host is not listed, these are the patterns for the link with a listed one.
    public internal(set) var rejected: [Rejected] = []
    /// The number of all patterns that do not match the link.
    public internal(set) var rejectedCount = 0
    /// Suggested corrections for a failed request, all resolved with this table, the best first.
    public internal(set) var suggestions: [Suggestion] = []
    /// The schemes, hosts, or payload pointers that the table lists, if the request has none of them.
    public internal(set) var listed: [String] = []
    /// The redirects that were followed, in order.
    public internal(set) var redirects: [Redirect] = []
    /// The captures of the pattern that matched the link, or the path of the last redirect.
    public internal(set) var captures: [Capture] = []
    /// The variants that were tried, in order, ending with the selected one.
    public internal(set) var variants: [VariantResult] = []
    /// The stack after the phase `compose`, the lowest entry first, including parents that are dropped later for
    /// missing data.
    public internal(set) var composed: [ComposedEntry] = []
    /// The fields that the route binds, in order.
    public internal(set) var bindings: [Binding] = []
    /// The guards of the stack, in its order.
    public internal(set) var guards: [Guard] = []
    /// The failure of the request, or nil if it succeeded.
    public internal(set) var failure: Failure?

    /// The maximum number of rejected patterns in an explanation.
    public static let maxRejected = 16

    init(decision: Decision) { self.decision = decision }

    /// A part of a link that does not match a pattern, or that the table cannot read.
    public struct Mismatch: Sendable, Equatable {
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
        public let expected: String
        /// The text of the link, or nil if there is none.
        public let found: String?
        /// A description of the mismatch, without a period: "segment 1 is not `new`".
        public let text: String
        /// The description without the part's name, for a label under the part: "not `new`".
        public let label: String
    }
}

extension RouteTable {
    /// Resolves a request and explains the decision with the results of each phase.
    public func explain(_ request: LinkRequest, device: DeviceFacts = DeviceFacts()) -> Explanation {
        var explanation = Explanation(decision: resolve(request, device: device))
        device.withFacts { facts in
            request.withRequest { request in
                var tracer = Tracer(self, request, facts)
                tracer.explain(into: &explanation)
            }
        }
        return explanation
    }

    /// Explains a request with facts that are borrowed from a record's reader.
    package func explain(
        _ request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>
    ) -> Explanation {
        Tracer.explained(request, facts, by: self)
    }
}

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

/// A pattern that does not match the link.
struct RejectedPattern {
    /// The route's index in the table.
    var route: Int
    /// The pattern's index in the route.
    var pattern: Int
    /// The alignment of the pattern with the link's path.
    var alignment: PatternAlignment
    /// The other mismatches: scheme, host, and query constraints.
    var others: [Explanation.Mismatch]

    /// The distance from the link.
    ///
    /// Each other mismatch costs as much as a different type.
    private var cost: Int { alignment.cost + others.count * PatternAlignment.Cost.type }

    /// A sort key: the more similar of two patterns has the lesser rank.
    var rank: [Int] { [alignment.isNear ? 0 : 1, cost, -alignment.literals, route, pattern] }
}

/// A part of a link as received, identified by its byte range.
public struct LinkPart: Sendable, Equatable {
    /// The kind of a part.
    public enum Kind: String, Sendable {
        /// The scheme, without its colon.
        case scheme
        /// The text before the last `@` of the authority.
        case userinfo
        /// The host, if the table reads one.
        case host
        /// The port, without its colon.
        case port
        /// A segment of the path that is not empty. With `host: segment`, the authority is one too.
        case segment
        /// One item of the query, or the whole query if the dialect does not split it at fixed characters.
        case query
        /// The fragment, without its `#`.
        case fragment
        /// An empty range where something is missing, or bytes that belong to no other part.
        case position = "place"
    }

    /// The kind of the part.
    public let kind: Kind
    /// The start, in bytes of UTF-8.
    public let offset: Int
    /// The length, in bytes of UTF-8.
    public let count: Int
    /// The use of the part: the literal or capture that matched it, the rewrite, or the fields that read it.
    ///
    /// It is nil if nothing uses the part.
    public internal(set) var use: String?
    /// A remark, such as a similar name, or nil for none.
    public internal(set) var hint: String?
    /// The fault that made the request fail, as text, or nil for none.
    public internal(set) var fault: String?
}

/// The parts of a link, found by the rules of the phase `normalize`, with their byte ranges.
///
/// See RouteTableReference, "Normalization".
struct LinkParts {
    private let link: [UInt8]
    private let hostIsSegment: Bool
    private let separators: [UInt8]
    private let splitsQuery: Bool
    private(set) var parts: [LinkPart] = []
    /// The start of the authority, or the offset at which it is missing.
    private(set) var authorityStart = 0
    private(set) var pathEnd = 0
    /// The end of the query, or the offset at which it is missing.
    private(set) var queryEnd = 0
    /// The offset of the first empty segment in the path, or nil if there is none.
    private(set) var emptySegment: Int?

    /// Finds the parts of any text by the rules of a block, as a path if it has no scheme.
    init(_ link: [UInt8], _ block: TableSource.LinkBlock) {
        self.link = link
        hostIsSegment = block.hostRole == .segment
        separators = block.query.pairSeparators
        splitsQuery = block.query.decode != .before && !block.query.flatten
        let colon = link.withUnsafeBufferPointer { Resolver.schemeLength(ByteView($0)) }
        add(.scheme, 0, colon)
        var end = link.firstIndex(of: UInt8(ascii: "#")) ?? link.count
        let fragment = end
        let query = link[..<end].firstIndex(of: UInt8(ascii: "?"))
        end = query ?? end
        var at = colon > 0 ? colon + 1 : 0
        authorityStart = at
        if link[at..<end].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
            let stop = link[(at + 2)..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
            authorityStart = at + 2
            addAuthority(at + 2, stop)
            at = stop
        }
        (pathEnd, queryEnd) = (end, fragment)
        emptySegment =
            zip(at..<end, (at..<end).dropFirst()).first {
                link[$0] == UInt8(ascii: "/") && link[$1] == UInt8(ascii: "/")
            }?.1
        addParts(.segment, at, end, [UInt8(ascii: "/")])
        if let query {
            if splitsQuery {
                addParts(.query, query + 1, fragment, separators)
            } else {
                add(.query, query + 1, fragment)
            }
        }
        if fragment < link.count { add(.fragment, fragment + 1, link.count) }
    }

    private mutating func add(_ kind: LinkPart.Kind, _ from: Int, _ to: Int) {
        if to > from { parts.append(LinkPart(kind: kind, offset: from, count: to - from)) }
    }

    private mutating func addAuthority(_ from: Int, _ to: Int) {
        var start = from
        if let at = link[from..<to].lastIndex(of: UInt8(ascii: "@")) {
            add(.userinfo, from, at)
            start = at + 1
        }
        var end = to
        let bracket = link[start..<to].lastIndex(of: UInt8(ascii: "]")) ?? start
        if let colon = link[bracket..<to].lastIndex(of: UInt8(ascii: ":")) { end = colon }
        add(hostIsSegment ? .segment : .host, start, end)
        if end < to { add(.port, end + 1, to) }
    }

    private mutating func addParts(_ kind: LinkPart.Kind, _ from: Int, _ to: Int, _ separators: [UInt8]) {
        var start = from
        for index in from...to where index == to || separators.contains(link[index]) {
            add(kind, start, index)
            start = index + 1
        }
    }
}
