/// A type of the app that represents a model of the table.
///
/// Declare properties with the names of the table's fields. The compiler synthesizes the rest:
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
/// | `uuid` | `UUID` of Foundation, or `String` (uppercase) |
/// | `int`, `int(1..99)` | `Int`, or any integer type that is wide enough |
/// | `double` | `Double` |
/// | `decimal` | `Decimal` with the product `LinkCoordinatorFoundation`, or `Double`, which rounds |
/// | `bool` | `Bool` |
/// | `string`, `date`, `url` | `String` |
/// | `datetime` | `Date` with the product `LinkCoordinatorFoundation`, or `String` |
/// | `enum(a\|b)` | `String`, or a `Decodable` enumeration with `String` raw values |
/// | `list<T>` | An array |
/// | Any of them with `?` | An optional |
/// | Any single value | A type that conforms to ``ModelFieldValue`` |
///
/// A model that also conforms to `Encodable` can be written into a link with
/// ``RouteTable/link(route:models:captures:scheme:host:device:)``.
public protocol LinkModel: Decodable {
    /// The name of the model in the table.
    ///
    /// The default is the name of the type.
    static var modelName: String { get }
}

extension LinkModel {
    /// The name of the type, without its module and enclosing types.
    public static var modelName: String { String(describing: Self.self) }
}

/// An error that occurs when a model is read from a decision or written into a link.
public struct ModelError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The stable code of an error.
    public enum Code: String, Sendable {
        /// The entry does not have the model.
        case noModel = "no_model"
        /// A field has no value, or a value that the type does not accept.
        case field
    }

    /// The code of the error.
    public let code: Code
    /// The name of the model.
    public let model: String
    /// The models that are available, or the field with the type of its property, the kind of its value, and the
    /// action to take.
    ///
    /// The text never contains a value of a link, so it can be logged.
    public let detail: String

    /// The error as a sentence.
    public var description: String { "model \(model): \(detail) (\(code.rawValue))" }
}
