package import StrictJSON

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

    /// Creates an error.
    public init(code: Code, model: String, detail: String) {
        self.code = code
        self.model = model
        self.detail = detail
    }

    /// The error as a sentence.
    public var description: String { "model \(model): \(detail) (\(code.rawValue))" }
}

/// The value of one field of a model, in a decision or for a link.
///
/// A number is stored as decimal text, so no precision is lost between a link and an app. You can write values as
/// literals: `"B121…"`, `3`, `2.5`, `true`, `["a", "b"]`. A value of a `decimal` can also be written as a text, such as
/// `"0.1"`, because a floating-point literal has about 16 digits.
public enum ModelValue: Sendable, Hashable {
    /// An optional field without a value.
    case null
    /// A `bool`.
    case bool(Bool)
    /// An `int`, a `double`, or a `decimal`, as decimal text.
    case number(String)
    /// A `string`, `uuid`, `date`, `datetime`, `url`, or a value of an `enum`.
    case text(String)
    /// A list, whose items are neither lists nor null.
    case list([ModelValue])

    /// The text of the value in a link, or nil for null and for lists.
    var text: String? {
        switch self {
        case .null, .list: nil
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .text(let text): text
        }
    }
}

extension ModelValue {
    /// Creates a value from a decision's JSON.
    ///
    /// An object, which no field can have, becomes null.
    package init(_ json: JSONValue) {
        switch json.kind {
        case .null, .object: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .string(let text): self = .text(text)
        case .array(let items): self = .list(items.map { ModelValue($0) })
        }
    }
}

extension ModelValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    /// Creates a text value.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates a number.
    public init(integerLiteral value: Int64) { self = .number("\(value)") }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .number(decimalText(value)) }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a list.
    public init(arrayLiteral elements: ModelValue...) { self = .list(elements) }
}

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
/// form than the field of the table. In models, the implementation of this protocol replaces the implementation of
/// `Codable`, also for optional properties and the items of arrays:
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

/// The field values of models, for a link or from an entry of a stack.
///
/// You can write a literal, `["Product": ["id": "B121…", "count": 3]]`, or use the app's own types:
/// `try Models(product)`.
///
/// An optional field is null or absent if it has no value. Both are equal.
public struct Models: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The fields of each model.
    public var fields: [String: [String: ModelValue]]

    /// Creates a collection of models.
    public init(_ fields: [String: [String: ModelValue]] = [:]) { self.fields = fields }

    /// Creates a collection of models from a literal.
    ///
    /// If a name occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, [String: ModelValue])...) {
        fields = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// Creates a collection from the app's own models.
    ///
    /// - Throws: A ``ModelError`` if a property has a value that a field cannot hold, such as a nested structure.
    public init(_ models: any (LinkModel & Encodable)...) throws(ModelError) {
        fields = [:]
        for model in models { fields[type(of: model).modelName] = try ModelEncoder.fields(of: model) }
    }

    /// The fields of a model, or nil if the model is absent.
    public subscript(model: String) -> [String: ModelValue]? {
        get { fields[model] }
        set { fields[model] = newValue }
    }

    /// Returns the text of a field in identities, or an empty text if the field has no single value.
    ///
    /// Generated code uses it.
    public func text(of field: String, in model: String) -> String { fields[model]?[field]?.text ?? "" }

    /// The value of a model's field, or nil if the model or the field is absent.
    ///
    /// Setting a value adds the model if it is absent.
    public subscript(model: String, field: String) -> ModelValue? {
        get { fields[model]?[field] }
        set { fields[model, default: [:]][field] = newValue }
    }

    /// Decodes a model as a type of the app.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The decoded model.
    /// - Throws: A ``ModelError`` if the model is absent, or a field is missing or does not have the type of its
    ///   property.
    public func model<Model: LinkModel>(_ type: Model.Type) throws(ModelError) -> Model {
        guard let values = fields[Model.modelName] else {
            let others = fields.keys.sorted().joined(separator: ", ")
            throw ModelError(
                code: .noModel, model: Model.modelName,
                detail: others.isEmpty ? "the entry has no data" : "the entry has \(others)")
        }
        do {
            return try Model(from: ModelDecoder(.fields(values), as: Model.self))
        } catch {
            throw ModelError(code: .field, model: Model.modelName, detail: ModelDecoder.text(of: error))
        }
    }
}

extension Models {
    /// Returns a Boolean value that indicates whether both collections have the same models with the same values.
    public static func == (a: Models, b: Models) -> Bool { a.values == b.values }

    /// Adds the models and their values to a hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }

    /// The fields of each model that have values.
    private var values: [String: [String: ModelValue]] {
        fields.mapValues { model in model.contains { $0.value == .null } ? model.filter { $0.value != .null } : model }
    }

    /// Creates a collection from the `data` of a decision's entry.
    ///
    /// Anything other than an object has no models.
    init(_ data: JSONValue?) {
        self.init()
        for model in data?.object ?? [] {
            let pairs = (model.value.object ?? []).map { ($0.name, ModelValue($0.value)) }
            fields[model.name] = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
    }
}
