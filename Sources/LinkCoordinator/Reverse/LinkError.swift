/// An error that occurs when no link can be written for a route.
public struct LinkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The stable code of an error.
    public enum Code: String, Sendable, CaseIterable {
        /// The table has no route with this id. `place` is the id.
        case unknownRoute = "unknown_route"
        /// The route redirects, so its links select another route. `place` is the destination of the redirect.
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
        /// The link that was written does not resolve to this route with these values. `place` describes the
        /// difference.
        case notRoundTripped
        /// The table of generated code cannot be loaded by this version of the library.
        case table
    }

    /// The code of the error.
    public let code: Code
    /// The position of the error: `Model.field`, `path.name`, `query.name`, or as described for the code.
    public let place: String
    /// A description of the expected value.
    public let expected: String

    init(_ code: Code, _ place: String, _ expected: String) {
        self.code = code
        self.place = place
        self.expected = expected
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
    public var description: String { "\(place): expected \(expected) (\(code.rawValue))" }
}
