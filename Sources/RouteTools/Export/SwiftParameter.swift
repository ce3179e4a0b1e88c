internal import LinkCoordinator

/// A parameter of a case of the link enumeration: a value that is written into links.
struct SwiftParameter {
    /// An argument of `RouteTable.link` that gets the value.
    enum Use {
        /// A field of a model.
        case field(model: String, field: String, type: FieldType)
        /// A capture that no field is bound to.
        case capture(String)
        /// A tail that no field is bound to.
        case tail(String)
    }

    /// The number of values in a parameter.
    enum Form {
        /// One value.
        case single
        /// At most one value.
        case optional
        /// A list, which is empty if it is omitted and `canBeOmitted` is true.
        case list(canBeOmitted: Bool)
    }

    /// The values of a link by the parameters of `RouteTable.link`.
    struct Arguments {
        /// The fields of the models.
        var models: [String: [String: ModelValue]] = [:]
        /// The texts of captures.
        var captures: [String: String] = [:]
    }

    /// The label.
    var label: String
    /// The type of the value, or of an item of a list.
    var value: SwiftValue
    /// The number of values.
    var form: Form
    /// The arguments that get the value.
    var uses: [Use]
    /// Lists of texts that links can probably have as the value.
    var candidates: [[String]] = []

    /// A description of the parameter, for the comment.
    var documentation: String {
        let fields = uses.compactMap { use in
            if case .field(let model, let field, _) = use { "`\(model).\(field)`" } else { nil }
        }
        return fields.isEmpty ? "captured" : fields.joined(separator: ", ")
    }

    /// The declaration of the parameter.
    var declaration: String {
        let name = SwiftNames.code(label)
        return switch form {
        case .single: "\(name): \(value.type)"
        case .optional: "\(name): \(value.type)? = nil"
        case .list(let canBeOmitted): "\(name): [\(value.type)]" + (canBeOmitted ? " = []" : "")
        }
    }

    /// The statements that add the value to `fields` and `captures`.
    var statements: [String] {
        let name = SwiftNames.code(label)
        let lines = uses.flatMap { SwiftLines.assignment(statement($0, name), indent: 16) }
        switch form {
        case .single, .list(canBeOmitted: false): return lines
        case .optional: return ["if let \(name) {"] + lines.map { "    " + $0 } + ["}"]
        case .list(canBeOmitted: true):
            if case .tail? = uses.first { return lines }
            return ["if !\(name).isEmpty {"] + lines.map { "    " + $0 } + ["}"]
        }
    }

    /// Returns the expression for the field of a model in `fields`.
    static func fieldExpression(_ model: String, _ field: String) -> String {
        "fields[\(SwiftNames.literal(model)), default: [:]][\(SwiftNames.literal(field))]"
    }

    private func statement(_ use: Use, _ name: String) -> String {
        switch use {
        case .field(let model, let field, let type):
            let target = Self.fieldExpression(model, field)
            if case .list = form {
                let item = SwiftValue.put("$0", into: value.modelValue(as: type))
                return "\(target) = .list(\(name).map { \(item) })"
            }
            let item = SwiftValue.put(name, into: value.modelValue(as: type))
            // A field that shares its source with a field that is not a list has one item.
            if case .list = type { return "\(target) = .list([\(item)])" }
            return "\(target) = \(item)"
        case .capture(let capture):
            return "captures[\(SwiftNames.literal(capture))] = " + SwiftValue.put(name, into: value.text)
        case .tail(let capture):
            let literal = SwiftNames.literal(capture)
            return "captures[\(literal)] = try RouteTable.tail(\(name), of: \(literal))"
        }
    }
}

extension SwiftParameter {
    /// Returns the texts of a sample, or nil to omit the parameter.
    ///
    /// - Parameters:
    ///   - attempt: The number of the sample.
    ///   - isFull: A Boolean value that indicates whether parameters that can be omitted have values.
    func sample(_ attempt: Int, isFull: Bool) -> [String]? {
        switch form {
        case .optional where !isFull, .list(canBeOmitted: true) where !isFull: nil
        default: candidates.isEmpty ? nil : candidates[attempt % candidates.count]
        }
    }

    /// Adds the texts of a sample to the arguments of a link, as the statements do.
    func add(_ texts: [String]?, to arguments: inout Arguments) {
        for use in uses {
            switch use {
            case .field(let model, let field, let type):
                guard let texts else { continue }
                if case .list = type {
                    arguments.models[model, default: [:]][field] = .list(texts.map(type.modelValue))
                } else if let text = texts.first {
                    arguments.models[model, default: [:]][field] = type.modelValue(text)
                }
            case .capture(let name): arguments.captures[name] = texts?.first
            case .tail(let name): arguments.captures[name] = (texts ?? []).joined(separator: "/")
            }
        }
    }

    /// Returns the argument for a sample in source code, or nil if it is omitted.
    func expression(_ texts: [String]?) -> String? {
        guard let texts else { return nil }
        let items = texts.map(value.expression)
        let argument = if case .list = form { "[" + items.joined(separator: ", ") + "]" } else { items.first ?? "" }
        return "\(SwiftNames.label(label)): \(argument)"
    }
}
