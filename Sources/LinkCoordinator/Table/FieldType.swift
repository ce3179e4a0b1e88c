/// The type of a model's field.
///
/// See RouteTableReference, "Field types".
package indirect enum FieldType: Sendable, Hashable {
    /// A UUID, bound in uppercase.
    case uuid

    /// A 64-bit integer within the bounds.
    case int(min: Int64, max: Int64)

    /// A text of `min` to `max` UTF-8 bytes.
    case string(min: Int, max: Int)

    /// `true`, `false`, `1`, or `0`, bound as a JSON Boolean value.
    case bool

    /// A decimal number of at most 15 significant digits.
    case double

    /// A decimal number of at most 38 significant digits within the bounds, which are canonical texts.
    case decimal(min: String?, max: String?)

    /// A calendar date, `YYYY-MM-DD`.
    case date

    /// A date and time with an offset, bound in UTC.
    case dateTime

    /// One of these texts, in the order of the table.
    case enumeration([[UInt8]])

    /// An `https` URL whose host matches one of the rules.
    case url(hosts: [HostRule])

    /// From `min` to `max` values of a type that is not a list.
    case list(FieldType, min: Int, max: Int)
}

extension FieldType {
    /// The length of the longest text that any field accepts, in bytes.
    package static let maxTextBytes = 8192

    /// The maximum number of items of any list.
    package static let maxListCount = 128

    /// The type as written in a table, with bounds only if they differ from the defaults.
    package var text: String {
        switch self {
        case .uuid: "uuid"
        case .bool: "bool"
        case .double: "double"
        case .decimal(nil, nil): "decimal"
        case .decimal(let min, let max): "decimal(\(min ?? "")..\(max ?? ""))"
        case .date: "date"
        case .dateTime: "datetime"
        case .int(let min, let max):
            min == .min && max == .max
                ? "int" : "int(\(min == .min ? "" : "\(min)")..\(max == .max ? "" : "\(max)"))"
        case .string(let min, let max):
            min == 0 && max == Self.maxTextBytes
                ? "string" : "string(\(min)..\(max == Self.maxTextBytes ? "" : "\(max)"))"
        case .enumeration(let values):
            "enum(" + values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|") + ")"
        case .url(let hosts): "url(host in " + hosts.map(\.text).joined(separator: ", ") + ")"
        case .list(let element, let min, let max):
            min == 0 && max == Self.maxListCount
                ? "list<\(element.text)>" : "list<\(element.text)>(\(min)..\(max))"
        }
    }
}
