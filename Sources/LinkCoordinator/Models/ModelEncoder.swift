/// Encodes types of the app as the values of a model, without Foundation.
///
/// The encoder is a class because all of its containers write into the same result.
final class ModelEncoder: Encoder {

    /// The encoded result.
    private enum Result {
        case nothing
        case value(ModelValue)
        case fields([String: ModelValue])
    }

    private var result = Result.nothing
    /// The path of the first nested container, which no field can hold.
    private var nesting: [any CodingKey]?
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(at path: [any CodingKey]) { codingPath = path }

    /// Returns the fields of a model.
    static func fields(of model: any (LinkModel & Encodable)) throws(ModelError) -> [String: ModelValue] {
        let name = type(of: model).modelName
        let encoder = ModelEncoder(at: [])
        do {
            try model.encode(to: encoder)
        } catch {
            throw ModelError(code: .field, model: name, detail: text(of: error))
        }
        if let path = encoder.nesting {
            throw ModelError(
                code: .field, model: name,
                detail: "\(FieldSite.name(of: path)) is encoded as a nested container, but a field has a single value "
                    + "or a list of single values")
        }
        switch encoder.result {
        case .fields(let fields): return fields
        case .nothing: return [:]
        case .value:
            throw ModelError(code: .field, model: name, detail: "the type is not encoded as a structure with fields")
        }
    }

    /// Returns the text of an error, without the value, which may be personal data.
    private static func text(of error: any Error) -> String {
        guard case .invalidValue(_, let context)? = error as? EncodingError else {
            return "`encode(to:)` threw an error of type `\(type(of: error))`"
        }
        if let fault = context.underlyingError as? FieldFault { return fault.detail }
        return "\(FieldSite.name(of: context.codingPath)) cannot be encoded"
    }

    /// Returns the error for a value that no field can hold.
    private static func invalid(_ value: Any, _ fault: FieldFault, at path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            value, EncodingError.Context(codingPath: path, debugDescription: fault.detail, underlyingError: fault))
    }

    /// Returns a single value in the form of a field, or of an item of a list if the path ends with an index.
    fileprivate static func value<Value: Encodable>(
        of value: Value, at path: [any CodingKey]
    ) throws -> ModelValue {
        switch value {
        case let value as Bool where Value.self == Bool.self: return .bool(value)
        case let text as String where Value.self == String.self: return .text(text)
        case let value as Double where Value.self == Double.self: return try number(value, as: Value.self, at: path)
        case let value as Float where Value.self == Float.self:
            return try number(Double("\(value)") ?? .nan, as: Value.self, at: path)
        case _ where ModelDecoder.integers.contains { $0 == Value.self }: return .number("\(value)")
        case let value as any ModelFieldValue: return value.modelValue
        default: break
        }
        let site = FieldSite(path: path, declared: Value.self)
        if let fault = site.unsupported(nil) { throw invalid(value, fault, at: path) }
        let encoder = ModelEncoder(at: path)
        try value.encode(to: encoder)
        let isItem = path.last is ListIndex
        switch encoder.result {
        case _ where encoder.nesting != nil: throw invalid(value, site.severalValues, at: path)
        case .value(.list) where isItem: throw invalid(value, site.severalValues, at: path)
        case .value(.null) where isItem, .nothing where isItem: throw invalid(value, site.nullItem, at: path)
        case .value(let value): return value
        case .nothing: return .null
        case .fields: throw invalid(value, site.severalValues, at: path)
        }
    }

    /// Returns a number, which must be finite.
    private static func number(_ value: Double, as type: Any.Type, at path: [any CodingKey]) throws -> ModelValue {
        guard value.isFinite else {
            throw invalid(value, FieldSite(path: path, declared: type).notFinite, at: path)
        }
        return .number(decimalText(value))
    }

    /// Records that a container is nested in another one, which no field can hold.
    ///
    /// Returns an encoder whose result is discarded.
    fileprivate func refuseNesting(_ path: [any CodingKey]) -> ModelEncoder {
        nesting = nesting ?? path
        return ModelEncoder(at: path)
    }

    fileprivate func put(_ value: ModelValue) { result = .value(value) }

    fileprivate func put(_ value: ModelValue, for key: any CodingKey) {
        guard case .fields(var fields) = result else { return }
        result = .nothing
        fields[key.stringValue] = value
        result = .fields(fields)
    }

    fileprivate func append(_ value: ModelValue) {
        guard case .value(.list(var items)) = result else { return }
        result = .nothing
        items.append(value)
        result = .value(.list(items))
    }

    fileprivate var count: Int {
        if case .value(.list(let items)) = result { return items.count }
        return 0
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .fields = result {} else { result = .fields([:]) }
        return KeyedEncodingContainer(FieldWriter(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        result = .value(.list([]))
        return ListWriter(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(encoder: self) }
}

private struct FieldWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ModelEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws { encoder.put(.null, for: key) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        encoder.put(try ModelEncoder.value(of: value, at: codingPath + [key]), for: key)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> { encoder.refuseNesting(codingPath + [key]).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.refuseNesting(codingPath + [key]).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.refuseNesting(codingPath) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.refuseNesting(codingPath + [key]) }
}

private struct ListWriter: UnkeyedEncodingContainer {
    let encoder: ModelEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }
    private var itemPath: [any CodingKey] { codingPath + [ListIndex(count)] }

    func encodeNil() throws { encoder.append(try ModelEncoder.value(of: String?.none, at: itemPath)) }
    func encode<T: Encodable>(_ value: T) throws {
        encoder.append(try ModelEncoder.value(of: value, at: itemPath))
    }

    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
        encoder.refuseNesting(itemPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.refuseNesting(itemPath).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.refuseNesting(itemPath) }
}

private struct ValueWriter: SingleValueEncodingContainer {
    let encoder: ModelEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { encoder.put(.null) }
    func encode<T: Encodable>(_ value: T) throws { encoder.put(try ModelEncoder.value(of: value, at: codingPath)) }
}
