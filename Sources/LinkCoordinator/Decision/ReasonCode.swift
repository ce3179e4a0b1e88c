/// The reasons for which a request ends without the target of its route.
///
/// They are in the order in which they are found, except for the last two.
///
/// The set is closed, so that the resolver handles every reason. ``Decision/Reason`` is the open set of the public API.
///
/// See DecisionReference, "Reasons".
package enum ReasonCode: String, Sendable, CaseIterable {
    /// A limit on bytes, segments, query items, or the stack is exceeded.
    case budget
    /// The link has forbidden bytes, or an escape that is malformed.
    case badEncoding = "bad_encoding"
    /// The link has no scheme, or one that no block lists.
    case scheme
    /// The authority is malformed, or its host is not listed.
    case host
    /// The path has an empty segment, and the table rejects them.
    case emptySegment = "empty_segment"
    /// The path has a segment `.` or `..`.
    case dotSegment = "dot_segment"
    /// No pattern matches, or there is no route with this id.
    case noRoute = "no_route"
    /// A route redirects for the second time, or the limit of redirects is exceeded.
    case redirectLimit = "redirect_limit"
    /// The route is excluded.
    case excluded
    /// The excluded route opens links externally, but the link is not on the allowlist.
    case externalRefused = "external_refused"
    /// A segment of a coordinator path is not a screen.
    case unknownScreen = "unknown_screen"
    /// The device does not support a screen.
    case unsupported
    /// A value does not have the type of its field.
    case paramInvalid = "param_invalid"
    /// A value that a screen requires is missing.
    case paramMissing = "param_missing"
    /// The stack violates a rule of presentation.
    case presentation
    /// A payload contains neither a link nor a route.
    case noLink = "no_link"
    /// Strictly validated data cannot be read again.
    ///
    /// This is a defect of the program. Its record must not become a decision.
    case internalError = "internal"
}
