/// Why a request ends without its route's target, in the order in which the reasons are found (route-table.md, 3.6).
package enum Reason: String, Sendable, CaseIterable {
    /// A bound on bytes, segments, query items or the stack was passed.
    case budget
    /// Bytes that are no text, or an escape that is none.
    case badEncoding = "bad_encoding"
    /// No scheme, or one that no block lists.
    case scheme
    /// An authority that is not one, or a host that is not listed.
    case host
    /// An empty segment, where the table rejects them.
    case emptySegment = "empty_segment"
    /// A segment `.` or `..`.
    case dotSegment = "dot_segment"
    /// No pattern matches, or there is no route of that id.
    case noRoute = "no_route"
    /// A route redirects twice, or there was a sixth redirect.
    case redirectLimit = "redirect_limit"
    /// The route is excluded.
    case excluded
    /// The route is excluded to outside, but the link is not on the allow list.
    case externalRefused = "external_refused"
    /// A segment of a coordinator path is no screen.
    case unknownScreen = "unknown_screen"
    /// The device lacks a screen.
    case unsupported
    /// A value does not fit its type.
    case paramInvalid = "param_invalid"
    /// A value that a screen needs is wanting.
    case paramMissing = "param_missing"
    /// The stack breaks a rule of presentation.
    case presentation
    /// A payload holds neither a link nor a route.
    case noLink = "no_link"
    /// What was read strictly before does not read again: a defect of this program, of which no decision may come.
    case internalError = "internal"
}
