internal import StrictJSON

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
    init(_ json: JSONValue) {
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
