/// An error that occurs when no link can be written for a route.
public struct LinkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The stable code of an error.
    public enum Code: String, Sendable, CaseIterable {
        /// The table has no route with this id. `position` is the id.
        case unknownRoute = "unknown_route"
        /// The route redirects, so its links select another route. `position` is the destination of the redirect.
        case redirects
        /// The route has no pattern. It can only be requested by its id.
        case noPattern = "no_pattern"
        /// The table has no such model or field, or the route has no such capture.
        case unknownName = "unknown_name"
        /// A value does not have the type of its field, or its capture does not accept it.
        case value
        /// A value that the link needs is missing.
        case missing
        /// Two different values were given for the same position in the link.
        case conflict
        /// A value cannot be written: the route does not bind its field to a part of the link, or links of this scheme
        /// cannot encode it.
        case unwritable
        /// The table accepts no link with a scheme and host that the route's patterns match.
        case origin
        /// The link that was written does not resolve to this route with these values. `position` describes the
        /// difference.
        case notRoundTripped = "not_round_tripped"
        /// The table of generated code cannot be loaded by this version of the library.
        case table
    }

    /// The code of the error.
    public let code: Code
    /// The position of the error: `Model.field`, `path.name`, `query.name`, or as described for the code.
    public let position: String
    /// A description of the expected value.
    public let expected: String
    /// The difference that `position` describes, for the code ``Code/notRoundTripped``.
    package let difference: Difference?

    /// A difference between the resolution of a link and the route and values that it was written for.
    package enum Difference: Sendable, Equatable {
        /// No route matches the link.
        case noRoute
        /// The link selects the route with this id, directly or by redirects.
        case route(String)
        /// The field, as `Model.field`, has another value.
        case field(String)
        /// The capture with this name has another text.
        case capture(String)
        /// The link does not resolve, for this reason.
        case reason(ReasonCode, detail: String?)

        fileprivate var text: String {
            switch self {
            case .noRoute: "no route"
            case .route(let id): "route \(id)"
            case .field(let name): "another value of \(name)"
            case .capture(let name): "another value of path.\(name)"
            case .reason(let reason, let detail): reason.rawValue + (detail.map { " " + $0 } ?? "")
            }
        }
    }

    init(_ code: Code, _ position: String, _ expected: String) {
        self.code = code
        self.position = position
        self.expected = expected
        difference = nil
    }

    /// Creates the error of a link that does not resolve to the route and values that it was written for.
    init(_ difference: Difference, expected: String) {
        code = .notRoundTripped
        position = difference.text
        self.expected = expected
        self.difference = difference
    }

    /// Creates the error of a link whose table cannot be loaded.
    ///
    /// Generated code uses it. An exported table loads, unless the app has an older version of the library.
    public init(_ error: RouteTableError) {
        let problem = error.problems.first.map { ": " + $0.message } ?? ""
        self.init(.table, "table", "a table that this version of the library accepts\(problem)")
    }

    /// The position of the error, the expected value, and the code.
    ///
    /// The text contains no given values, which may be personal data.
    public var description: String { "\(position): expected \(expected) (\(code.rawValue))" }
}
