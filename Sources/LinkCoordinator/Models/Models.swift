internal import StrictJSON

/// Values by model and field: what a link is to carry, or what an entry of a stack has.
///
/// Written as a literal, `["Product": ["id": "B121…", "count": 3]]`, or made of the app's own types:
/// `try Models(product)`.
public struct Models: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The fields of each model.
    public var fields: [String: [String: ModelValue]]

    /// Makes a collection of models.
    public init(_ fields: [String: [String: ModelValue]] = [:]) { self.fields = fields }

    /// Makes a collection of models; of a name that stands twice the last counts.
    public init(dictionaryLiteral elements: (String, [String: ModelValue])...) {
        fields = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// Makes a collection of the app's own models.
    ///
    /// - Throws: `ModelError` where a value is none that a table knows, such as a nested structure.
    public init(_ models: any (LinkModel & Encodable)...) throws(ModelError) {
        fields = [:]
        for model in models { fields[type(of: model).modelName] = try ModelEncoder.fields(of: model) }
    }

    /// The fields of a model, or nil.
    public subscript(model: String) -> [String: ModelValue]? {
        get { fields[model] }
        set { fields[model] = newValue }
    }

    /// Takes a model out as a type of the app.
    ///
    /// - Throws: `ModelError` where the model is not there, or a field is wanting or does not fit.
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
    /// The models of each entry, from the bottom of the stack up.
    public let entries: [Models]

    /// Takes a model of the entry at an index of ``Decision/stack``.
    ///
    /// - Throws: `ModelError` where there is no such entry or model, or a field does not fit the type.
    public func extract<Model: LinkModel>(_ type: Model.Type, at entry: Int) throws(ModelError) -> Model {
        guard entries.indices.contains(entry) else {
            throw ModelError(
                code: .noEntry, model: Model.modelName,
                detail: "no entry \(entry) in a stack of \(entries.count)")
        }
        return try entries[entry].extract(type)
    }

    /// Takes a model of an entry of the stack.
    ///
    /// - Throws: `ModelError` where the entry has no such model, or a field does not fit the type.
    public func extract<Model: LinkModel>(_ type: Model.Type, at entry: Decision.Entry) throws(ModelError) -> Model {
        try entry.models.extract(type)
    }

    /// Takes a model of the highest entry that has it.
    ///
    /// - Throws: `ModelError` where no entry has the model, or a field does not fit the type.
    public func extract<Model: LinkModel>(_ type: Model.Type) throws(ModelError) -> Model {
        guard let models = entries.last(where: { $0[Model.modelName] != nil }) else {
            throw ModelError(code: .noModel, model: Model.modelName, detail: "no entry of the stack has it")
        }
        return try models.extract(type)
    }
}

extension Decision {
    /// The data of the stack, entry by entry: never that of another link.
    public var models: DecisionModels { DecisionModels(entries: stack.map(\.models)) }
}

extension Decision.Entry {
    /// The entry's data.
    public var models: Models {
        var models = Models()
        for model in value["data"]?.object ?? [] {
            let pairs = (model.value.object ?? []).map { ($0.name, ModelValue($0.value)) }
            models[model.name] = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
        return models
    }
}
