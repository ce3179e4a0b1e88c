internal import StrictJSON

/// The value of one field of a model, as a decision has it or as a link is to carry it.
///
/// Numbers are kept as their decimal text, so that nothing is lost between a link and an app. Literals stand for
/// values: `"B121…"`, `3`, `2.5`, `true`, `["a", "b"]`.
public enum ModelValue: Sendable, Hashable {
    /// An optional field without a value.
    case null
    /// A `bool`.
    case bool(Bool)
    /// An `int` or a `double`, as decimal text.
    case number(String)
    /// A `string`, `uuid`, `date`, `url` or a value of an `enum`.
    case text(String)
    /// A list; its items are none of them lists or nulls.
    case list([ModelValue])

    /// The value as text, as it stands in a link; nil for a null and for a list.
    var text: String? {
        switch self {
        case .null, .list: nil
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .text(let text): text
        }
    }
}

extension ModelValue {
    /// Reads a value of a decision; an object, which no field is, counts as null.
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
    /// Makes a text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Makes a number.
    public init(integerLiteral value: Int64) { self = .number("\(value)") }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .number("\(value)") }
    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes a list.
    public init(arrayLiteral elements: ModelValue...) { self = .list(elements) }
}
