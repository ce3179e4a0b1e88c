/// Why no link was written for a route.
public struct LinkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, as a stable code.
    public enum Code: String, Sendable, CaseIterable {
        /// The table has no route of that id; `place` is the id.
        case unknownRoute = "unknown_route"
        /// A link of this route becomes another route's decision; `place` is where it leads.
        case redirects
        /// The route has no pattern: it is reached by its id only.
        case noPattern = "no_pattern"
        /// The table has no such model or field, or the route no such capture.
        case unknownName = "unknown_name"
        /// A value is not of its field's type, or its capture does not take it.
        case value
        /// A value is wanting that the link cannot do without.
        case wanting
        /// Two values were given for one place of the link.
        case conflict
        /// A value has no place in a link: nothing of the link is bound to its field, or the dialect cannot write it.
        case unwritable
        /// The table takes no link of a scheme and host that the route's patterns take.
        case origin
        /// The link that was written would not come back as this route with these values; `place` says as what.
        case lost
    }

    /// What went wrong.
    public let code: Code
    /// The place: `Model.field`, `path.name`, `query.name`, or what the code says.
    public let place: String
    /// What was expected there.
    public let expected: String

    init(_ code: Code, _ place: String, _ expected: String) {
        self.code = code
        self.place = place
        self.expected = expected
    }

    /// The error as a sentence; it says no values.
    public var description: String { "\(place): expected \(expected) (\(code.rawValue))" }
}
