/// The type of a model's field, as `models` writes it (route-table.md, 3.0, Types).
package indirect enum FieldType: Sendable, Hashable {
    /// A UUID, bound in upper case.
    case uuid

    /// A 64-bit number within the bounds.
    case int(min: Int64, max: Int64)

    /// Text of `min` to `max` bytes of UTF-8.
    case string(min: Int, max: Int)

    /// `true`, `false`, `1` or `0`; a JSON boolean when bound.
    case bool

    /// A decimal number of at most 15 significant digits.
    case double

    /// A date of the calendar, `YYYY-MM-DD`.
    case date

    /// One of these texts, in the order of the table.
    case enumeration([[UInt8]])

    /// An https URL whose host falls under one of the rules.
    case url(hosts: [HostRule])

    /// `min` to `max` values of a type that is no list itself.
    case list(FieldType, min: Int, max: Int)
}

extension FieldType {
    /// Longest text in bytes that any field may take.
    package static let maxTextBytes = 8192

    /// Most items that any list may take.
    package static let maxListCount = 128

    /// How the table writes the type, with bounds only where they differ from the defaults.
    package var text: String {
        switch self {
        case .uuid: "uuid"
        case .bool: "bool"
        case .double: "double"
        case .date: "date"
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
