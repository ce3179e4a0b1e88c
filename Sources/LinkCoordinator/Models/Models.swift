internal import StrictJSON

/// The field values of models, for a link or from an entry of a stack.
///
/// You can write a literal, `["Product": ["id": "B121…", "count": 3]]`, or use the app's own types:
/// `try Models(product)`.
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
    public func model<Model: LinkModel>(_ type: Model.Type) throws(ModelError) -> Model {
        guard let values = fields[Model.modelName] else {
            let others = fields.keys.sorted().joined(separator: ", ")
            throw ModelError(
                code: .noModel, model: Model.modelName,
                detail: others.isEmpty ? "the entry has no data" : "the entry has \(others)")
        }
        do {
            return try Model(from: ModelDecoder(.fields(values), as: Model.self))
        } catch {
            throw ModelError(code: .field, model: Model.modelName, detail: ModelDecoder.text(of: error))
        }
    }
}

extension Models {
    /// Creates a collection from the `data` of a decision's entry.
    ///
    /// Anything other than an object has no models.
    init(_ data: JSONValue?) {
        self.init()
        for model in data?.object ?? [] {
            let pairs = (model.value.object ?? []).map { ($0.name, ModelValue($0.value)) }
            fields[model.name] = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
    }
}
