/// A type of the app that stands for a model of the table.
///
/// Declare the fields with the names that the table gives them and let the compiler do the rest:
///
/// ```swift
/// struct Product: LinkModel, Encodable {
///     let id: UUID
///     let count: Int
/// }
/// ```
///
/// | Field in the table | Property |
/// |---|---|
/// | `uuid` | `UUID` of Foundation, or `String` (upper case) |
/// | `int`, `int(1..99)` | `Int` or any integer type that is wide enough |
/// | `double` | `Double` |
/// | `bool` | `Bool` |
/// | `string`, `date`, `url` | `String` |
/// | `enum(a\|b)` | `String`, or an `enum` of `String` that is `Decodable` |
/// | `list<T>` | an array |
/// | any of them with `?` | an optional |
///
/// A model that is `Encodable` too can be put into a link: ``RouteTable/link(route:models:captures:device:)``.
public protocol LinkModel: Decodable {
    /// The model's name in the table; by default the name of the type.
    static var modelName: String { get }
}

extension LinkModel {
    /// The name of the type, without its module and what it is nested in.
    public static var modelName: String { String(describing: Self.self) }
}

/// Why a model cannot be taken from a decision, or be put into a link.
public struct ModelError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, as a stable code.
    public enum Code: String, Sendable {
        /// The stack has no such entry.
        case noEntry = "no_entry"
        /// The entry has no such model.
        case noModel = "no_model"
        /// A field has no value, or one that the type does not take.
        case field
    }

    /// What went wrong.
    public let code: Code
    /// The model.
    public let model: String
    /// More: the field and what was expected of it, or which models there are.
    public let detail: String

    /// The error as a sentence.
    public var description: String { "model \(model): \(detail) (\(code.rawValue))" }
}
