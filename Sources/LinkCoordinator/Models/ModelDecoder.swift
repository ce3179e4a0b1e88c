/// Decodes types of the app from the values of a model, without Foundation.
struct ModelDecoder: Decoder {
    /// The source of the values.
    enum Source {
        /// The fields of a model.
        case fields([String: ModelValue])
        /// A single value.
        case value(ModelValue)
    }

    let source: Source
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ source: Source, at path: [any CodingKey] = []) {
        self.source = source
        codingPath = path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .fields(let fields) = source else { throw Self.mismatch([String: ModelValue].self, codingPath) }
        return KeyedDecodingContainer(FieldContainer(fields: fields, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .value(.list(let items)) = source else { throw Self.mismatch([ModelValue].self, codingPath) }
        return ListContainer(items: items, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard case .value(let value) = source else { throw Self.mismatch(ModelValue.self, codingPath) }
        return ValueContainer(value: value, codingPath: codingPath)
    }

    /// Returns the error for a value that does not have the expected type.
    static func mismatch(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
        DecodingError.typeMismatch(
            type, DecodingError.Context(codingPath: path, debugDescription: "expected \(type)"))
    }

    /// Returns the text of an error, without the value, which may be personal data.
    static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(type(of: error))" }
        func place(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        switch error {
        case .keyNotFound(let key, _): return "field \(key.stringValue) is missing"
        case .typeMismatch(let type, let context):
            return "field \(place(context.codingPath)) is not of the type \(type)"
        case .valueNotFound(let type, let context):
            return "field \(place(context.codingPath)) is null, expected \(type)"
        case .dataCorrupted(let context): return "field \(place(context.codingPath)) cannot be decoded"
        @unknown default: return "cannot be decoded"
        }
    }
}

/// Reads a value as a type of the standard library, or as any other `Decodable` type.
private struct ValueReader {
    let value: ModelValue
    let path: [any CodingKey]

    func bool() throws -> Bool {
        guard case .bool(let value) = value else { throw ModelDecoder.mismatch(Bool.self, path) }
        return value
    }

    func string() throws -> String {
        guard case .text(let text) = value else { throw ModelDecoder.mismatch(String.self, path) }
        return text
    }

    func number<Number: LosslessStringConvertible>(_ type: Number.Type) throws -> Number {
        guard case .number(let text) = value, let number = Number(text) else {
            throw ModelDecoder.mismatch(type, path)
        }
        return number
    }

    func any<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: ModelDecoder(.value(value), at: path))
    }
}

private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [String: ModelValue]
    let codingPath: [any CodingKey]
    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try find(key) == .null }

    private func find(_ key: Key) throws -> ModelValue {
        guard let value = fields[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "no field"))
        }
        return value
    }

    private func reader(_ key: Key) throws -> ValueReader {
        ValueReader(value: try find(key), path: codingPath + [key])
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try reader(key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try reader(key).string() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try reader(key).number(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try reader(key).number(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try reader(key).number(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try reader(key).number(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try reader(key).number(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try reader(key).number(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try reader(key).number(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try reader(key).number(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try reader(key).number(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try reader(key).number(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try reader(key).number(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try reader(key).number(type) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try reader(key).any(type) }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try ModelDecoder(.value(find(key)), at: codingPath + [key]).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try ModelDecoder(.value(find(key)), at: codingPath + [key]).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { ModelDecoder(.fields(fields), at: codingPath) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ModelDecoder(.value(try find(key)), at: codingPath + [key])
    }
}

private struct ListContainer: UnkeyedDecodingContainer {
    let items: [ModelValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    init(items: [ModelValue], codingPath: [any CodingKey]) {
        self.items = items
        self.codingPath = codingPath
    }

    private mutating func next() throws -> ValueReader {
        guard !isAtEnd else { throw ModelDecoder.mismatch([ModelValue].self, codingPath) }
        defer { currentIndex += 1 }
        return ValueReader(value: items[currentIndex], path: codingPath)
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, items[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next().bool() }
    mutating func decode(_ type: String.Type) throws -> String { try next().string() }
    mutating func decode(_ type: Double.Type) throws -> Double { try next().number(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try next().number(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try next().number(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next().number(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next().number(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next().number(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next().number(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next().number(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next().number(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next().number(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next().number(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next().number(type) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().any(type) }

    mutating func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type
    ) throws -> KeyedDecodingContainer<Inner> { throw ModelDecoder.mismatch([String: ModelValue].self, codingPath) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw ModelDecoder.mismatch([ModelValue].self, codingPath)
    }

    mutating func superDecoder() throws -> any Decoder { ModelDecoder(.value(.list(items)), at: codingPath) }
}

private struct ValueContainer: SingleValueDecodingContainer {
    let value: ModelValue
    let codingPath: [any CodingKey]
    private var reader: ValueReader { ValueReader(value: value, path: codingPath) }

    init(value: ModelValue, codingPath: [any CodingKey]) {
        self.value = value
        self.codingPath = codingPath
    }

    func decodeNil() -> Bool { value == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try reader.bool() }
    func decode(_ type: String.Type) throws -> String { try reader.string() }
    func decode(_ type: Double.Type) throws -> Double { try reader.number(type) }
    func decode(_ type: Float.Type) throws -> Float { try reader.number(type) }
    func decode(_ type: Int.Type) throws -> Int { try reader.number(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try reader.number(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try reader.number(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try reader.number(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try reader.number(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try reader.number(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try reader.number(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try reader.number(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try reader.number(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try reader.number(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try reader.any(type) }
}
