internal import StrictJSON

/// Why a link became what it became: the decision, and what each phase saw (`route-table`, 3.6).
public struct Explanation: Sendable {
    /// A pattern that takes the link.
    public struct Candidate: Sendable, Equatable {
        /// The route.
        public let route: String
        /// The pattern, as the table has it.
        public let pattern: String
        /// Whether it is the one that was chosen: the least in the order of 2.3.
        public let chosen: Bool
    }

    /// A pattern that does not take the link, and where it parts from it.
    public struct Rejected: Sendable, Equatable {
        /// The route.
        public let route: String
        /// The pattern, as the table has it.
        public let pattern: String
        /// Index of the first segment that does not fit; nil where scheme, host or query do not.
        public let at: Int?
        /// What the pattern wants there.
        public let want: String
    }

    /// A variant of the chosen route, and why it was taken or not.
    public struct Trial: Sendable, Equatable {
        /// Index of the variant.
        public let index: Int
        /// Whether its condition holds.
        public let holds: Bool
        /// What held, or the first thing that did not.
        public let because: String
    }

    /// What *normalise* made of a link.
    public struct Link: Sendable, Equatable {
        /// The scheme as it came.
        public let scheme: String
        /// The host in lower case; nil where the table reads it as the first segment, or the request is no link.
        public let host: String?
        /// The decoded segments, after rewrites.
        public let segments: [String]
        /// The query's names and values, decoded; nil for a name without a value.
        public let query: [(name: String, value: String?)]

        /// Whether both say the same.
        public static func == (a: Link, b: Link) -> Bool {
            a.scheme == b.scheme && a.host == b.host && a.segments == b.segments
                && a.query.map(\.name) == b.query.map(\.name) && a.query.map(\.value) == b.query.map(\.value)
        }
    }

    /// The decision.
    public let decision: Decision
    /// The link as it was understood; nil where *normalise* failed or there was no link.
    public internal(set) var link: Link?
    /// Patterns that take the link, the best first.
    public internal(set) var candidates: [Candidate] = []
    /// Patterns that do not, those that go furthest first; at most `maxRejected`.
    public internal(set) var rejected: [Rejected] = []
    /// Number of all patterns that do not take the link.
    public internal(set) var rejectedCount = 0
    /// The variants that were tried, in order; the last is the one that was taken.
    public internal(set) var trials: [Trial] = []

    /// Most rejected patterns that are kept.
    public static let maxRejected = 16

    init(decision: Decision) { self.decision = decision }

    /// The trace as JSON, the member `explain` of 3.6.
    public var json: [UInt8] { [UInt8](value.text.utf8) }

    var value: JSONValue {
        JSONValue(
            .object([
                JSONMember(name: "candidates", value: JSONValue(.array(candidates.map(\.value)))),
                JSONMember(name: "rejected", value: JSONValue(.array(rejected.map(\.value)))),
                JSONMember(name: "variants", value: JSONValue(.array(trials.map(\.value)))),
            ]))
    }

    /// The decision's JSON with the trace as its last member.
    public var decisionJSON: [UInt8] {
        var bytes = decision.json
        bytes.removeLast()
        return bytes + [UInt8](",\"explain\":".utf8) + json + [UInt8(ascii: "}")]
    }
}

extension JSONValue {
    fileprivate static func text(_ text: String) -> JSONValue { JSONValue(.string(text)) }
}

extension Explanation.Candidate {
    fileprivate var value: JSONValue {
        var members = [
            JSONMember(name: "route", value: .text(route)), JSONMember(name: "pattern", value: .text(pattern)),
        ]
        if chosen { members.append(JSONMember(name: "chosen", value: JSONValue(.bool(true)))) }
        return JSONValue(.object(members))
    }
}

extension Explanation.Rejected {
    fileprivate var value: JSONValue {
        var members = [JSONMember(name: "route", value: .text(route))]
        if let at { members.append(JSONMember(name: "at", value: JSONValue(.number("\(at)")))) }
        members.append(JSONMember(name: "want", value: .text(want)))
        return JSONValue(.object(members))
    }
}

extension Explanation.Trial {
    fileprivate var value: JSONValue {
        JSONValue(
            .object([
                JSONMember(name: "index", value: JSONValue(.number("\(index)"))),
                JSONMember(name: holds ? "ok" : "failed", value: .text(because)),
            ]))
    }
}
