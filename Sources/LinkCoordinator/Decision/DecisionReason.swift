extension Decision {
    /// The reason for which a request ended without the target of its route.
    ///
    /// The set of reasons is open: a newer server can send a reason that this version does not know.
    ///
    /// See DecisionReference, "Reasons".
    public struct Reason: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral,
        CustomStringConvertible
    {
        /// The stable code of the reason, as in the decision's JSON.
        public let rawValue: String

        /// Creates a reason from its code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a reason from its code.
        public init(stringLiteral value: String) { rawValue = value }

        /// The code of the reason.
        public var description: String { rawValue }

        /// A limit on bytes, segments, query items, or the stack is exceeded.
        public static let budget = Reason(rawValue: "budget")
        /// The link has forbidden bytes, or an escape that is malformed.
        public static let badEncoding = Reason(rawValue: "bad_encoding")
        /// The link has no scheme, or one that no block lists.
        public static let scheme = Reason(rawValue: "scheme")
        /// The authority is malformed, or its host is not listed.
        public static let host = Reason(rawValue: "host")
        /// The path has an empty segment, and the table rejects them.
        public static let emptySegment = Reason(rawValue: "empty_segment")
        /// The path has a segment `.` or `..`.
        public static let dotSegment = Reason(rawValue: "dot_segment")
        /// No pattern matches, or there is no route with this id.
        public static let noRoute = Reason(rawValue: "no_route")
        /// A route redirects for the second time, or the limit of redirects is exceeded.
        public static let redirectLimit = Reason(rawValue: "redirect_limit")
        /// The route is excluded.
        public static let excluded = Reason(rawValue: "excluded")
        /// The excluded route opens links externally, but the link is not on the allowlist.
        public static let externalRefused = Reason(rawValue: "external_refused")
        /// A segment of a coordinator path is not a screen.
        public static let unknownScreen = Reason(rawValue: "unknown_screen")
        /// The device does not support a screen.
        public static let unsupported = Reason(rawValue: "unsupported")
        /// A value does not have the type of its field.
        public static let paramInvalid = Reason(rawValue: "param_invalid")
        /// A value that a screen requires is missing.
        public static let paramMissing = Reason(rawValue: "param_missing")
        /// The stack violates a rule of presentation.
        public static let presentation = Reason(rawValue: "presentation")
        /// A payload contains neither a link nor a route.
        public static let noLink = Reason(rawValue: "no_link")
        /// A worker received the event after its `expires`.
        public static let expired = Reason(rawValue: "expired")
    }
}

extension Decision.Reason {
    /// Creates the reason for a code of the resolver.
    package init(_ code: ReasonCode) { self.init(rawValue: code.rawValue) }
}
