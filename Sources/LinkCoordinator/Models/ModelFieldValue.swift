/// The form in which a field is published in a decision.
public enum ModelFieldKind: Sendable, Hashable {
    /// A JSON number, as of `int`, `double`, and `decimal`.
    case number
    /// A JSON string, as of `string`, `uuid`, `date`, `datetime`, `url`, and `enum`.
    case text
}

/// A type that a property of a ``LinkModel`` can have, which reads and writes a field as a single text.
///
/// Adopt this protocol in a type whose `Codable` implementation does not use a single string or number, or uses another
/// form than the field of the table. The implementation of this protocol replaces that of `Codable` in models,
/// including optional properties and the items of arrays:
///
/// ```swift
/// struct Cents: Codable, ModelFieldValue {
///     static var fieldKind: ModelFieldKind { .number }
///     var count: Int
///
///     init?(fieldText: String) {
///         guard let count = Int(fieldText) else { return nil }
///         self.count = count
///     }
///
///     var fieldText: String { String(count) }
/// }
/// ```
public protocol ModelFieldValue {
    /// The form of the fields that hold values of the type.
    static var fieldKind: ModelFieldKind { get }

    /// Creates a value from the text of a field.
    ///
    /// - Parameter fieldText: The text of the field without quotation marks, or the decimal digits of a number.
    /// - Returns: The value, or nil if the text does not represent a value of the type.
    init?(fieldText: String)

    /// The text of the value, which ``init(fieldText:)`` reads back as an equal value.
    ///
    /// The text of a number is a JSON number.
    var fieldText: String { get }
}

extension ModelFieldValue {
    /// The value as the value of a field.
    var modelValue: ModelValue {
        switch Self.fieldKind {
        case .number: .number(fieldText)
        case .text: .text(fieldText)
        }
    }
}
