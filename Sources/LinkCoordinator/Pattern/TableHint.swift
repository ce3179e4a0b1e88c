package import StrictJSON

/// A likely meaning of a part of a table that is not valid.
///
/// `RouteAnalysis` words a suggestion from it. An app only reports the problem.
package enum TableHint: Sendable, Equatable {
    /// The file is not JSON.
    case json(JSONError, file: [UInt8])
    /// An object cannot have the key. It can have the known keys, and does not have the unused ones.
    case key(String, known: [String], unused: [String])
    /// The value has another type than expected. For a list, the text is the number of its items.
    case value(type: String, text: String, expected: String)
    /// The text is none of the known words. A suggestion has the given text around the word.
    case word(String, known: [String], before: String = "", after: String = "")
    /// The table does not declare the name, but these ones.
    case reference(String, declared: [String])
    /// There is no such var, but these ones.
    case variable(String, known: [String])
    /// The path is malformed.
    case path(PathText)
    /// The text inside the braces of a capture has the syntax of another router.
    case capture(String, CaptureMistake)
    /// The text after the colon of a capture does not begin with the name of a type.
    case captureType(name: String, text: String)
    /// The text after a class of characters is not its lengths.
    case captureLengths(String, characters: String)
    /// The name is not a type of a field.
    case fieldType(String, next: UInt8?)
    /// The text is not a JSON pointer.
    case pointer(String)
    /// The text is not a source of a value.
    case source(String)
    /// The text is not a version.
    case version(String)
    /// The text is not comparisons with versions.
    case comparisons(String)
    /// The text is not a time with a unit.
    case time(String)

    /// Returns the suggestion to use one of these names, for a problem that has no better one.
    static func use(_ names: [String]) -> String { "use \(names.map { "`\($0)`" }.joined(separator: ", "))" }
}

/// A text of a table that is a path, with the rules for reading it.
package struct PathText: Sendable, Equatable {
    /// The role of the path in a table.
    package enum Role: Sendable, Equatable {
        /// A `match` or an alias.
        case pattern
        /// The `stripPrefix` of a rewrite.
        case prefix
        /// A `redirect`, with the names that it can use.
        case redirect(names: Set<String>)
    }

    /// The path.
    package var text: String

    /// The role of the path.
    package var role: Role

    /// A Boolean value that indicates whether the table folds the case of paths.
    package var foldsCase: Bool

    /// Creates a text with its role.
    package init(text: String, role: Role, foldsCase: Bool) {
        self.text = text
        self.role = role
        self.foldsCase = foldsCase
    }
}

/// A mistake in the braces of a capture, with its message.
///
/// Most are captures in the syntax of other routers.
package enum CaptureMistake: String, Sendable {
    case noName = "a capture needs a name"
    case tail = "the `*` of a tail must follow its name"
    case earlyTail = "a tail must be last, and its `*` must follow its name"
    case space = "a capture must not contain spaces"
    case colon = "a capture must not have `:` before its name"
    case brace = "a capture must have a single pair of braces"
    case standard = "a capture cannot have a default"

    /// Returns the mistake in the text inside braces, which can be the end of the pattern, or nil.
    static func find(in inside: String, isLast: Bool) -> CaptureMistake? {
        if inside.isEmpty { return .noName }
        if inside.hasPrefix("*") || inside.hasPrefix("...") || inside.hasSuffix("...") {
            return isLast ? .tail : .earlyTail
        }
        if inside.prefix(while: { $0 != ":" }).contains(" ") { return .space }
        if inside.hasPrefix(":") { return .colon }
        if inside.hasPrefix("{") { return .brace }
        return inside.contains("=") && !inside.contains("(") ? .standard : nil
    }
}
