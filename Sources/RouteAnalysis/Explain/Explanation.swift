public import LinkCoordinator

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

    /// A pattern that does not take the link, and what keeps it from doing so.
    public struct Rejected: Sendable, Equatable {
        /// The route.
        public let route: String
        /// The pattern, as the table has it.
        public let pattern: String
        /// The parts of the link that do not fit, in the order scheme, host, segments, query; never empty.
        public let misses: [Miss]
        /// A Boolean value that indicates whether the pattern comes close: one of its segments fits, or was misspelled.
        public let isNear: Bool

        /// Index of the first segment that does not fit; nil where only scheme, host or query do not.
        public var at: Int? { misses.first { $0.index != nil }?.index }
        /// What the pattern wants at its first miss, as the table writes it.
        public var want: String { misses.first?.want ?? "" }
    }

    /// What to write instead.
    public struct Suggestion: Sendable, Equatable {
        /// The whole link corrected, or a name where the request is no link.
        public let text: String
        /// The route that it was resolved to; nil where no route takes it either, and for names.
        public let route: String?
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
        /// What rewrites took off, in order: the name and the text, or the prefix alone where nothing is captured.
        public internal(set) var rewrites: [String] = []
        /// How the link block reads links, in words.
        public internal(set) var dialect = ""

        /// Whether both say the same.
        public static func == (a: Link, b: Link) -> Bool {
            a.scheme == b.scheme && a.host == b.host && a.segments == b.segments && a.rewrites == b.rewrites
                && a.dialect == b.dialect && a.query.map(\.name) == b.query.map(\.name)
                && a.query.map(\.value) == b.query.map(\.value)
        }
    }

    /// A redirect that was followed.
    public struct Redirect: Sendable, Equatable {
        /// The route that redirects.
        public let route: String
        /// Where to, as the table says it: a route's id or a path template.
        public let to: String
        /// The path that was selected again, as segments; nil where the redirect names a route.
        public internal(set) var segments: [String]?
        /// The route that this led to; nil if none.
        public internal(set) var leadsTo: String?
    }

    /// What a pattern captured.
    public struct Capture: Sendable, Equatable {
        /// The name.
        public let name: String
        /// The canonical text; of a tail its segments with `/` between them.
        public let value: String
    }

    /// An entry of the composed stack.
    public struct Composed: Sendable, Equatable {
        /// The coordinator.
        public let coordinator: String
        /// The screen.
        public let screen: String
        /// How it is presented.
        public let present: Presentation
        /// Whether it stands below the target as its parent.
        public let isParent: Bool
        /// Whether the device has the screen.
        public let isSupported: Bool
    }

    /// A field, where its value was looked for, and what came of it.
    public struct Binding: Sendable, Equatable {
        /// What became of a field.
        public enum Result: String, Sendable {
            /// It has the value that was found.
            case bound
            /// Nothing was found; it has its default, null or the empty list.
            case absent
            /// Nothing was found, and it is required.
            case missing
            /// What was found is not of its type.
            case invalid
            /// What was found is not of its type and counts as missing (`onInvalid`).
            case dropped
            /// What was found was damaged and could be repaired (N9).
            case repaired
        }

        /// `Model.field`.
        public let field: String
        /// Where the value is looked for, as the table says it, such as `query.count`.
        public let source: String
        /// The type of the field, as the table writes it, without `?` and default.
        public let type: String
        /// What stands there, as it came; empty if nothing does.
        public let raw: [String]
        /// What became of it.
        public let result: Result
        /// The value of the field; nil where it is missing or invalid.
        public let value: ModelValue?
    }

    /// A guard of an entry of the stack.
    public struct Guard: Sendable, Equatable {
        /// The coordinator that is guarded.
        public let coordinator: String
        /// The guard.
        public let name: String
        /// The claim that it wants.
        public let claim: String
        /// Whether the device has it.
        public let holds: Bool
    }

    /// Which of the five phases.
    public enum Phase: String, Sendable, CaseIterable, Comparable {
        /// The link is taken apart and decoded.
        case normalise
        /// A route is chosen.
        case select
        /// One of the route's variants is chosen.
        case variant
        /// The stack is put together.
        case compose
        /// Values are bound to the stack.
        case bind

        /// Returns whether a phase comes before another.
        public static func < (a: Phase, b: Phase) -> Bool {
            (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
        }
    }

    /// Where a request failed, and what the table wants then.
    public struct Failure: Sendable, Equatable {
        /// The phase that ended.
        public let phase: Phase
        /// Why: a stable code.
        public let reason: String
        /// More about the reason; may be empty.
        public let detail: String
        /// Index of the fallback rule that counts; nil where none names the reason.
        public let rule: Int?
        /// The reason in words, without a full stop.
        public let words: String
    }

    /// The decision.
    public let decision: Decision
    /// The parts of the link as it came, in their order; empty where there is no link.
    public internal(set) var parts: [LinkPart] = []
    /// The link as it came, or the one that a payload holds; nil where there is none.
    public internal(set) var input: String?
    /// The link as it was understood; nil where *normalise* failed or there was no link.
    public internal(set) var link: Link?
    /// Patterns that take the link, the best first.
    public internal(set) var candidates: [Candidate] = []
    /// Patterns that do not, the nearest first; at most `maxRejected`.
    ///
    /// Where the link's scheme or host is not listed, these are patterns for the link with one that is.
    public internal(set) var rejected: [Rejected] = []
    /// Number of all patterns that do not take the link.
    public internal(set) var rejectedCount = 0
    /// What to write instead where the request failed, the best first; each was resolved with this table.
    public internal(set) var suggestions: [Suggestion] = []
    /// What the table lists where the link's scheme or host, the route or the payload is not known to it.
    public internal(set) var listed: [String] = []
    /// The redirects that were followed, in their order.
    public internal(set) var redirects: [Redirect] = []
    /// What the pattern that took the link, or the path of the last redirect, captured.
    public internal(set) var captures: [Capture] = []
    /// The variants that were tried, in order; the last is the one that was taken.
    public internal(set) var trials: [Trial] = []
    /// The stack as *compose* made it, the lowest first, before a parent that lacks data was dropped.
    public internal(set) var composed: [Composed] = []
    /// The fields that the route binds, in their order.
    public internal(set) var bindings: [Binding] = []
    /// The guards of the stack, in its order.
    public internal(set) var guards: [Guard] = []
    /// Where the request failed; nil where it did not.
    public internal(set) var failure: Failure?

    /// Most rejected patterns that are kept.
    public static let maxRejected = 16

    init(decision: Decision) { self.decision = decision }
}
