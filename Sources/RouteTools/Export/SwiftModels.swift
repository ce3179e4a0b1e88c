internal import LinkCoordinator

/// The models of a table as Swift types, with the enumerations of their fields.
struct SwiftModels {
    private let table: RouteTable
    private let names: SwiftTypeNames
    /// The types by the names of the models.
    private var types: [String: String] = [:]
    /// The enumerations of the file, which links and models share.
    var enumerations: SwiftEnumerations

    /// Creates the types, whose names differ from those that the file refers to.
    init(_ table: RouteTable, names: SwiftTypeNames) {
        self.table = table
        self.names = names
        var typeNames = SwiftNames(reserving: SwiftNames.ofTypes.union(names.all))
        for model in table.source.models { types[model.name.value] = typeNames.next(model.name.value, upper: true) }
        enumerations = SwiftEnumerations(in: names.models, names: typeNames)
    }

    /// Returns the type of a model, with the type that contains it.
    func type(of model: String) -> String { "\(names.models).\(types[model] ?? model)" }

    /// Returns the declarations of the models, to which those of ``enumerations`` and a brace are added.
    mutating func declarations() -> [String] {
        var lines = [
            "/// The models of the table `\(table.id)`, and the enumerations of their fields.",
            "public nonisolated enum \(names.models) {",
        ]
        for (index, model) in table.source.models.enumerated() {
            if index > 0 { lines.append("") }
            lines += declaration(model)
        }
        return lines
    }

    private mutating func declaration(_ model: TableSource.Model) -> [String] {
        let name = model.name.value
        var labels = SwiftNames(reserving: ["hashValue"])
        var properties: [SwiftProperty] = []
        for field in model.fields {
            let value = SwiftValue.field(field.type, enumerations: &enumerations, name: field.name.value)
            properties.append(SwiftProperty(field, label: labels.next(field.name.value), value: value))
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
        if properties.contains(where: { $0.field != $0.label }) {
            lines += ["", "        private nonisolated enum CodingKeys: String, CodingKey {"]
            lines += properties.map {
                "            case \(SwiftNames.code($0.label)) = \(SwiftNames.literal($0.field))"
            }
            lines.append("        }")
        }
        return lines + [""] + initializer(properties).map { "        " + $0 } + ["    }"]
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
}
