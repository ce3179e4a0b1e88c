internal import StrictJSON

/// Values by model and field, for a link or from an entry of a stack.
///
/// You can write a literal, `["Product": ["id": "B121…", "count": 3]]`, or use the app's own types: `try
/// Models(product)`.
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

    /// Decodes a model as a type of the app.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The decoded model.
    /// - Throws: A ``ModelError`` if the model is absent, or a field is missing or does not have the type of its
    ///   property.
    public func extract<Model: LinkModel>(_ type: Model.Type) throws(ModelError) -> Model {
        guard let values = fields[Model.modelName] else {
            let others = fields.keys.sorted().joined(separator: ", ")
            throw ModelError(
                code: .noModel, model: Model.modelName,
                detail: others.isEmpty ? "the entry has no data" : "the entry has \(others)")
        }
        do {
            return try Model(from: ModelDecoder(.fields(values)))
        } catch {
            throw ModelError(code: .field, model: Model.modelName, detail: ModelDecoder.text(of: error))
        }
    }
}

/// The models of a decision, each bound to the entry of the stack that needs it.
public struct DecisionModels: Sendable {
    /// The models of each entry, from the bottom of the stack to the top.
    public let entries: [Models]

    /// Decodes a model of the entry at an index of ``Decision/stack``.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - entry: The index of the entry.
    /// - Returns: The decoded model.
    /// - Throws: A ``ModelError`` if there is no such entry or model, or a field does not have the type of its
    ///   property.
    public func extract<Model: LinkModel>(_ type: Model.Type, at entry: Int) throws(ModelError) -> Model {
        guard entries.indices.contains(entry) else {
            throw ModelError(
                code: .noEntry, model: Model.modelName,
                detail: "there is no entry \(entry), the number of entries is \(entries.count)")
        }
        return try entries[entry].extract(type)
    }

    /// Decodes a model of an entry of the stack.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - entry: The entry.
    /// - Returns: The decoded model.
    /// - Throws: A ``ModelError`` if the entry does not have the model, or a field does not have the type of its
    ///   property.
    public func extract<Model: LinkModel>(_ type: Model.Type, at entry: Decision.Entry) throws(ModelError) -> Model {
        try entry.models.extract(type)
    }

    /// Decodes a model of the topmost entry that has it.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The decoded model.
    /// - Throws: A ``ModelError`` if no entry has the model, or a field does not have the type of its property.
    public func extract<Model: LinkModel>(_ type: Model.Type) throws(ModelError) -> Model {
        guard let models = entries.last(where: { $0[Model.modelName] != nil }) else {
            throw ModelError(code: .noModel, model: Model.modelName, detail: "no entry of the stack has the model")
        }
        return try models.extract(type)
    }
}

extension Decision {
    /// The models of the stack's entries.
    public var models: DecisionModels { DecisionModels(entries: stack.map(\.models)) }
}

extension Decision.Entry {
    /// The models that are bound to the entry.
    public var models: Models {
        var models = Models()
        for model in value["data"]?.object ?? [] {
            let pairs = (model.value.object ?? []).map { ($0.name, ModelValue($0.value)) }
            models[model.name] = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
        return models
    }
}
