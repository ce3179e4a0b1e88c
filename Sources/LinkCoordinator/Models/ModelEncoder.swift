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
    private var hasNesting = false
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
        if encoder.hasNesting {
            throw ModelError(code: .field, model: name, detail: "a field cannot contain nested containers")
        }
        switch encoder.result {
        case .fields(let fields): return fields
        case .nothing: return [:]
        case .value: throw ModelError(code: .field, model: name, detail: "the type has no fields")
        }
    }

    private static func text(of error: any Error) -> String {
        guard case .invalidValue(_, let context)? = error as? EncodingError else { return "\(type(of: error))" }
        let place = context.codingPath.map(\.stringValue).joined(separator: ".")
        return "field \(place): \(context.debugDescription)"
    }

    /// Returns a single value in the form of a field.
    fileprivate static func value<Value: Encodable>(
        of value: Value, at path: [any CodingKey]
    ) throws -> ModelValue {
        let encoder = ModelEncoder(at: path)
        try value.encode(to: encoder)
        switch encoder.result {
        case .value(let value) where !encoder.hasNesting: return value
        case .nothing where !encoder.hasNesting: return .null
        default:
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: path, debugDescription: "a field cannot contain a structure"))
        }
    }

    /// Records that a container is nested in another one, which no field can hold, and returns an encoder whose result
    /// is discarded.
    fileprivate func refuseNesting() -> ModelEncoder {
        hasNesting = true
        return ModelEncoder(at: codingPath)
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
    func encode(_ value: Bool, forKey key: Key) throws { encoder.put(.bool(value), for: key) }
    func encode(_ value: String, forKey key: Key) throws { encoder.put(.text(value), for: key) }
    func encode(_ value: Double, forKey key: Key) throws { encoder.put(.number(decimal(value)), for: key) }
    func encode(_ value: Float, forKey key: Key) throws { encoder.put(.number(decimal(Double(value))), for: key) }
    func encode(_ value: Int, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: Int8, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: Int16, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: Int32, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: Int64, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: UInt, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: UInt8, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: UInt16, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: UInt32, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }
    func encode(_ value: UInt64, forKey key: Key) throws { encoder.put(.number("\(value)"), for: key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        encoder.put(try ModelEncoder.value(of: value, at: codingPath + [key]), for: key)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> { encoder.refuseNesting().container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.refuseNesting().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.refuseNesting() }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.refuseNesting() }
}

private struct ListWriter: UnkeyedEncodingContainer {
    let encoder: ModelEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    func encodeNil() throws { encoder.append(.null) }
    func encode(_ value: Bool) throws { encoder.append(.bool(value)) }
    func encode(_ value: String) throws { encoder.append(.text(value)) }
    func encode(_ value: Double) throws { encoder.append(.number(decimal(value))) }
    func encode(_ value: Float) throws { encoder.append(.number(decimal(Double(value)))) }
    func encode(_ value: Int) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: Int8) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: Int16) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: Int32) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: Int64) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: UInt) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: UInt8) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: UInt16) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: UInt32) throws { encoder.append(.number("\(value)")) }
    func encode(_ value: UInt64) throws { encoder.append(.number("\(value)")) }

    func encode<T: Encodable>(_ value: T) throws {
        encoder.append(try ModelEncoder.value(of: value, at: codingPath))
    }

    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
        encoder.refuseNesting().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.refuseNesting().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.refuseNesting() }
}

private struct ValueWriter: SingleValueEncodingContainer {
    let encoder: ModelEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { encoder.put(.null) }
    func encode(_ value: Bool) throws { encoder.put(.bool(value)) }
    func encode(_ value: String) throws { encoder.put(.text(value)) }
    func encode(_ value: Double) throws { encoder.put(.number(decimal(value))) }
    func encode(_ value: Float) throws { encoder.put(.number(decimal(Double(value)))) }
    func encode(_ value: Int) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: Int8) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: Int16) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: Int32) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: Int64) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: UInt) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: UInt8) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: UInt16) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: UInt32) throws { encoder.put(.number("\(value)")) }
    func encode(_ value: UInt64) throws { encoder.put(.number("\(value)")) }
    func encode<T: Encodable>(_ value: T) throws { try value.encode(to: encoder) }
}

/// Returns a number as text, without `.0` for a whole number, as in the canonical form of a table.
private func decimal(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
