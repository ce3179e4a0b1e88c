internal import LinkCoordinator

/// The models of a table as Swift types, with the enumerations of their fields.
struct SwiftModels {
    private let table: RouteTable
    private let names: SwiftTypeNames
    /// The types by the names of the models.
    private let types: [String: String]
    /// The enumerations of the file, which links and models share.
    let enumerations: SwiftEnumerations

    /// Creates the types, with names that differ from the names that the file refers to.
    init(_ table: RouteTable, names: SwiftTypeNames) {
        self.table = table
        self.names = names
        var typeNames = SwiftNames.names(reserving: SwiftNames.ofTypes.union(names.all))
        types = typeNames.assign(table.source.models.map(\.name.value), upper: true)
        enumerations = SwiftEnumerations(table.source, in: names.models, names: &typeNames)
    }

    /// Returns the type of a model, with the type that contains it.
    func type(of model: String) -> String { "\(names.models).\(types[model] ?? model)" }

    /// Returns the declarations of the models, without the declarations of ``enumerations`` and the brace that follow.
    func declarations() -> [String] {
        var lines = [
            "/// The models of the table `\(table.id)`, and the enumerations of their fields.",
            "public nonisolated enum \(names.models) {",
        ]
        lines += fieldName
        for (index, model) in table.source.models.enumerated() {
            if index > 0 { lines.append("") }
            lines += declaration(model)
        }
        return lines
    }

    private func declaration(_ model: TableSource.Model) -> [String] {
        let name = model.name.value
        var labelNames = SwiftNames.names(reserving: ["hashValue"])
        let labels = labelNames.assign(model.fields.map(\.name.value))
        let properties = model.fields.map { field in
            SwiftProperty(
                field, label: labels[field.name.value] ?? field.name.value,
                value: SwiftValue.field(field.type, enumerations))
        }
        var lines = [
            "    /// The model `\(name)`.",
            "    public nonisolated struct \(types[name] ?? name): LinkModel, Encodable, Sendable, Hashable {",
            "        public static let modelName = \(SwiftNames.literal(name))",
        ]
        for property in properties {
            lines.append("        /// The field `\(property.field)`, of the type `\(property.typeText)`.")
            lines.append("        public var \(SwiftNames.code(property.label)): \(property.type)")
        }
        lines += [""] + initializer(properties).map { "        " + $0 }
        // An own list of keys in each model would take half of the time to compile the file.
        if !properties.isEmpty { lines += coding(properties).map { $0.isEmpty ? "" : "        " + $0 } }
        return lines + ["    }"]
    }

    private func coding(_ properties: [SwiftProperty]) -> [String] {
        ["", "public init(from decoder: any Decoder) throws {"]
            + ["    let container = try decoder.container(keyedBy: FieldName.self)"]
            + properties.flatMap(\.decoding)
            + ["}", "", "public func encode(to encoder: any Encoder) throws {"]
            + ["    var container = encoder.container(keyedBy: FieldName.self)"] + properties.map(\.encoding) + ["}"]
    }

    /// The declaration of the names of fields, indented, or nothing if no model has a field.
    private var fieldName: [String] {
        guard table.source.models.contains(where: { !$0.fields.isEmpty }) else { return [] }
        return [
            "    private nonisolated struct FieldName: CodingKey, ExpressibleByStringLiteral {",
            "        let stringValue: String",
            "        var intValue: Int? { nil }", "",
            "        init(stringLiteral name: String) { stringValue = name }",
            "        init(stringValue name: String) { stringValue = name }",
            "        init?(intValue: Int) { nil }", "    }", "",
        ]
    }

    private func initializer(_ properties: [SwiftProperty]) -> [String] {
        if properties.isEmpty { return ["/// Creates the model.", "public init() {}"] }
        return ["/// Creates the model from its fields."]
            + SwiftLines.call("public init", properties.map(\.parameter), end: " {", indent: 0)
            + properties.map { "    self.\(SwiftNames.code($0.label)) = \(SwiftNames.code($0.label))" } + ["}"]
    }
}

/// A property of a model.
private struct SwiftProperty {
    let field: String
    let typeText: String
    let label: String
    /// The type, with `?` and `[]`.
    let type: String
    /// The value that the initializer uses by default, or nil if it requires one.
    let defaultValue: String?

    init(_ field: TableSource.Field, label: String, value: SwiftValue) {
        self.field = field.name.value
        self.label = label
        let text = Escaping.visible(field.type.text)
        typeText = text.count <= 60 ? text : text.prefix(59) + "…"
        let isList = if case .list = field.type { true } else { false }
        let plain = isList ? "[\(value.type)]" : value.type
        switch field.absence {
        case .null: (type, defaultValue) = (plain + "?", "nil")
        case .emptyList: (type, defaultValue) = (plain, "[]")
        case .required, .value: (type, defaultValue) = (plain, nil)
        }
    }

    var parameter: String {
        "\(SwiftNames.code(label)): \(type)" + (defaultValue.map { " = " + $0 } ?? "")
    }

    /// The statement that reads the property, on two lines if it is long.
    var decoding: [String] {
        let function = type.hasSuffix("?") ? "decodeIfPresent" : "decode"
        let plain = type.hasSuffix("?") ? String(type.dropLast()) : type
        let name = "self.\(SwiftNames.code(label)) ="
        let value = "try container.\(function)(\(plain).self, forKey: \(SwiftNames.literal(field)))"
        let isLong = name.count + value.count > 104
        return isLong ? ["    \(name)", "        \(value)"] : ["    \(name) \(value)"]
    }

    /// The statement that writes the property.
    var encoding: String {
        let function = type.hasSuffix("?") ? "encodeIfPresent" : "encode"
        return "    try container.\(function)(self.\(SwiftNames.code(label)), forKey: \(SwiftNames.literal(field)))"
    }
}

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
    static func field(_ type: FieldType, _ enumerations: SwiftEnumerations) -> SwiftValue {
        switch type {
        case .uuid: return SwiftValue("UUID", "$.uuidString")
        case .bool: return SwiftValue("Bool", "String($)")
        case .int: return SwiftValue("Int", "String($)")
        case .double: return SwiftValue("Double", "$.fieldText")
        case .decimal: return SwiftValue("Decimal", "$.fieldText")
        case .dateTime: return SwiftValue("Date", "$.fieldText")
        case .string, .date, .url: return SwiftValue("String", "$")
        case .enumeration(let values):
            return enumeration(values, enumerations)
        case .list(let element, _, _): return field(element, enumerations)
        }
    }

    /// Returns the value of a capture.
    ///
    /// If the matcher does not determine the type, the first bound field that is not a string does.
    static func capture(_ capture: Capture, bound: [FieldType], _ enumerations: SwiftEnumerations) -> SwiftValue {
        switch capture.matcher {
        case .int: return SwiftValue("Int", "String($)")
        case .bool: return SwiftValue("Bool", "String($)")
        case .uuid: return SwiftValue("UUID", "$.uuidString")
        case .date: return SwiftValue("String", "$")
        case .enumeration: return enumeration(capture.spellings, enumerations)
        default: return shared(bound, enumerations) ?? SwiftValue("String", "$")
        }
    }

    /// Returns the value of fields with the same source, or nil if there is no field.
    static func shared(_ types: [FieldType], _ enumerations: SwiftEnumerations) -> SwiftValue? {
        let special = types.first { if case .string = $0 { false } else { true } }
        return (special ?? types.first).map { field($0, enumerations) }
    }

    private static func enumeration(_ values: [[UInt8]], _ enumerations: SwiftEnumerations) -> SwiftValue {
        let texts = values.map { String(decoding: $0, as: UTF8.self) }
        return SwiftValue(enumerations.type(texts), "$.rawValue", values: texts)
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

/// The enumerations of a file, one for each set of values, whichever fields and captures have it.
struct SwiftEnumerations {
    /// An enumeration with its name inside the type that contains it.
    private struct Enumeration {
        var name: String
        var values: [String]
    }

    /// The name of the type that contains the enumerations.
    private let container: String
    /// The enumerations by their keys.
    private var all: [String: Enumeration] = [:]

    /// Creates the enumerations of a table's fields and captures, with names that the models do not have.
    ///
    /// An enumeration has the first name of its fields in alphabetical order, or else of its captures.
    init(_ source: TableSource, in container: String, names: inout CodeNames) {
        self.container = container
        var texts: [String: String] = [:]
        func add(_ values: [[UInt8]]) -> String {
            let values = values.map { String(decoding: $0, as: UTF8.self) }
            let key = Self.key(values)
            all[key] = all[key] ?? Enumeration(name: "", values: values)
            return key
        }
        for field in source.models.flatMap(\.fields) {
            guard let values = Self.values(field.type) else { continue }
            let key = add(values)
            texts[key] = min(texts[key] ?? field.name.value, field.name.value)
        }
        var captured: [String: String] = [:]
        for capture in source.routes.compactMap(\.casePattern).flatMap(\.path.captures) {
            guard case .enumeration = capture.matcher else { continue }
            let key = add(capture.spellings)
            captured[key] = min(captured[key] ?? capture.name, capture.name)
        }
        texts.merge(captured) { field, _ in field }
        for (key, name) in names.assign(texts, upper: true) { all[key]?.name = name }
    }

    private static func values(_ type: FieldType) -> [[UInt8]]? {
        switch type {
        case .enumeration(let values): values
        case .list(let element, _, _): values(element)
        default: nil
        }
    }

    /// Returns a text that is equal for the same values in another order.
    private static func key(_ values: [String]) -> String { values.sorted().joined(separator: "\0") }

    /// Returns the name of the type for these values.
    func type(_ values: [String]) -> String { "\(container).\(all[Self.key(values)]?.name ?? "")" }

    /// The declarations, indented, in the order of their names.
    var lines: [String] {
        all.values.sorted { $0.name < $1.name }.flatMap { one -> [String] in
            var caseNames = SwiftNames.names(reserving: SwiftNames.ofEnumerations)
            let cases = caseNames.assign(one.values)
            return [
                "", "    /// One of the values that the table lists.",
                "    public nonisolated enum \(one.name): String, Sendable, Hashable, CaseIterable, Codable {",
            ]
                + one.values.map {
                    "        case \(SwiftNames.code(cases[$0] ?? $0)) = \(SwiftNames.literal($0))"
                } + ["    }"]
        }
    }
}
