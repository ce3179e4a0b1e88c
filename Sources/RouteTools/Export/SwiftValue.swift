internal import LinkCoordinator

/// A value of a link or a model in Swift: its type, and its text in a link.
///
/// This is the only place that maps the types of fields and captures to types of Swift.
struct SwiftValue {
    /// The type, without `?` and `[]`.
    var type: String
    /// An expression for the text of the value, in which `$` represents the value.
    var text: String
    /// The texts of the enumeration's values, or nil for another type.
    var values: [String]?

    private init(_ type: String, _ text: String, values: [String]? = nil) {
        self.type = type
        self.text = text
        self.values = values
    }

    /// Returns the expression with the name of the value.
    static func put(_ name: String, into expression: String) -> String { expression.replacing("$", with: name) }

    /// Returns a value of a field, or of an item of a list.
    static func field(_ type: FieldType, enumerations: inout SwiftEnumerations, name: String) -> SwiftValue {
        switch type {
        case .uuid: return SwiftValue("UUID", "$.uuidString")
        case .bool: return SwiftValue("Bool", "String($)")
        case .int: return SwiftValue("Int", "String($)")
        case .double: return SwiftValue("Double", "$.fieldText")
        case .decimal: return SwiftValue("Decimal", "$.fieldText")
        case .dateTime: return SwiftValue("Date", "$.fieldText")
        case .string, .date, .url: return SwiftValue("String", "$")
        case .enumeration(let values):
            return enumeration(values.map { String(decoding: $0, as: UTF8.self) }, &enumerations, name: name)
        case .list(let element, _, _): return field(element, enumerations: &enumerations, name: name)
        }
    }

    /// Returns the value of a capture.
    ///
    /// If the matcher does not determine the type, it is that of the first bound field that is not a string.
    static func capture(
        _ capture: Capture, bound: [FieldType], enumerations: inout SwiftEnumerations
    ) -> SwiftValue {
        switch capture.matcher {
        case .int: return SwiftValue("Int", "String($)")
        case .bool: return SwiftValue("Bool", "String($)")
        case .uuid: return SwiftValue("UUID", "$.uuidString")
        case .date: return SwiftValue("String", "$")
        case .enumeration:
            return enumeration(
                capture.spellings.map { String(decoding: $0, as: UTF8.self) }, &enumerations, name: capture.name)
        default:
            return shared(bound, enumerations: &enumerations, name: capture.name) ?? SwiftValue("String", "$")
        }
    }

    /// Returns the value of fields with the same source, or nil if there is no field.
    static func shared(
        _ types: [FieldType], enumerations: inout SwiftEnumerations, name: String
    ) -> SwiftValue? {
        let special = types.first { if case .string = $0 { false } else { true } }
        return (special ?? types.first).map { field($0, enumerations: &enumerations, name: name) }
    }

    private static func enumeration(
        _ values: [String], _ enumerations: inout SwiftEnumerations, name: String
    ) -> SwiftValue {
        SwiftValue(enumerations.type(values, name: name), "$.rawValue", values: values)
    }

    /// Returns an expression for the `ModelValue` of a field, in which `$` represents the value.
    func modelValue(as type: FieldType) -> String {
        switch type {
        case .bool where self.type == "Bool": ".bool($)"
        case .bool: ".bool([\"true\", \"1\"].contains(\(text)))"
        case .int, .double, .decimal: ".number(\(text))"
        case .uuid, .string, .date, .dateTime, .enumeration, .url: ".text(\(text))"
        case .list(let element, _, _): modelValue(as: element)
        }
    }

    /// Returns an expression for a value with the given text in links.
    func expression(_ text: String) -> String {
        switch type {
        case "Int", "Double", "Bool": text
        case "UUID": "UUID(uuidString: \(SwiftNames.literal(text)))!"
        case "Decimal", "Date": "\(type)(fieldText: \(SwiftNames.literal(text)))!"
        case "String": SwiftNames.literal(text)
        default: "\(type)(rawValue: \(SwiftNames.literal(text)))!"
        }
    }
}

extension FieldType {
    /// Returns the `ModelValue` of a text in a link.
    func modelValue(_ text: String) -> ModelValue {
        switch self {
        case .bool: .bool(text == "true" || text == "1")
        case .int, .double, .decimal: .number(text)
        case .uuid, .string, .date, .dateTime, .enumeration, .url: .text(text)
        case .list(let element, _, _): element.modelValue(text)
        }
    }
}

/// The enumerations of a file, one for each list of values.
struct SwiftEnumerations {
    /// An enumeration with its name inside the type that contains it.
    private struct Enumeration {
        var name: String
        var values: [String]
    }

    /// The name of the type that contains the enumerations.
    private let container: String
    private var all: [Enumeration] = []
    private var names: SwiftNames

    /// Creates enumerations with names that differ from those of the models.
    init(in container: String, names: SwiftNames) {
        self.container = container
        self.names = names
    }

    /// Returns the name of the type for these values.
    mutating func type(_ values: [String], name: String) -> String {
        if let known = all.first(where: { $0.values == values }) { return "\(container).\(known.name)" }
        let type = names.next(name, upper: true)
        all.append(Enumeration(name: type, values: values))
        return "\(container).\(type)"
    }

    /// The declarations, indented.
    var lines: [String] {
        all.flatMap { one -> [String] in
            var cases = SwiftNames(reserving: SwiftNames.ofEnumerations)
            return [
                "", "    /// One of the values that the table lists.",
                "    public nonisolated enum \(one.name): String, Sendable, Hashable, CaseIterable, Codable {",
            ]
                + one.values.map {
                    "        case \(SwiftNames.code(cases.next($0))) = \(SwiftNames.literal($0))"
                } + ["    }"]
        }
    }
}
