/// Decodes types of the app from the values of a model, without Foundation.
struct ModelDecoder: Decoder {
    /// The source of the values.
    enum Source {
        /// The fields of a model.
        case fields([String: ModelValue])
        /// A single value.
        case value(ModelValue)
    }

    /// The integers of the standard library that are read and written as numbers.
    static let integers: [any (FixedWidthInteger & Sendable).Type] = [
        Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self,
        UInt64.self,
    ]

    let source: Source
    /// The type that is decoded.
    let declared: Any.Type
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ source: Source, as declared: Any.Type, at path: [any CodingKey] = []) {
        self.source = source
        self.declared = declared
        codingPath = path
    }

    private var site: FieldSite { FieldSite(path: codingPath, declared: declared) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch source {
        case .fields(let fields):
            KeyedDecodingContainer(FieldContainer(fields: fields, declared: declared, codingPath: codingPath))
        case .value(let value): throw Self.mismatch(site.nested(value), site)
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch source {
        case .value(.list(let items)): ListContainer(items: items, declared: declared, codingPath: codingPath)
        case .value(let value):
            throw Self.mismatch(
                codingPath.last is ListIndex ? site.nested(value) : site.mismatch(value, expected: "a list"), site)
        case .fields: throw Self.mismatch(Self.noStructure(declared), site)
        }
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard case .value(let value) = source else { throw Self.mismatch(Self.noStructure(declared), site) }
        return ValueContainer(value: value, declared: declared, codingPath: codingPath)
    }

    /// Returns the error for a model that is not read from fields.
    private static func noStructure(_ type: Any.Type) -> FieldFault {
        FieldFault(
            detail: "the type `\(type)` is not read from fields; declare the model as a structure with a property "
                + "for each field")
    }

    /// Returns the error for a value of the wrong kind.
    static func mismatch(_ fault: FieldFault, _ site: FieldSite) -> DecodingError {
        .typeMismatch(site.declared, context(fault, site))
    }

    /// Returns the context of an error.
    static func context(_ fault: FieldFault, _ site: FieldSite) -> DecodingError.Context {
        DecodingError.Context(codingPath: site.path, debugDescription: fault.detail, underlyingError: fault)
    }

    /// Returns the text of an error, without the value, which may be personal data.
    ///
    /// The description of an error of another type is never used, because it may contain the value.
    static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError else {
            return "`init(from:)` threw an error of type `\(type(of: error))`"
        }
        let context: DecodingError.Context
        let detail: String
        switch error {
        case .keyNotFound(let key, let found): (context, detail) = (found, "has no value for `\(key.stringValue)`")
        case .typeMismatch(let type, let found): (context, detail) = (found, "is not of the type `\(type)`")
        case .valueNotFound(let type, let found): (context, detail) = (found, "is null, expected `\(type)`")
        case .dataCorrupted(let found): (context, detail) = (found, "cannot be decoded")
        @unknown default: return "cannot be decoded"
        }
        if let fault = context.underlyingError as? FieldFault { return fault.detail }
        return "\(FieldSite.name(of: context.codingPath)) \(detail)"
    }
}

/// Reads a value as a type of the standard library, or as any other `Decodable` type.
private struct ValueReader {
    let value: ModelValue
    let site: FieldSite

    init(_ value: ModelValue, as declared: Any.Type, at path: [any CodingKey]) {
        self.value = value
        site = FieldSite(path: path, declared: declared)
    }

    private func mismatch(_ expected: String) -> DecodingError {
        if value == .null { return .valueNotFound(site.declared, ModelDecoder.context(site.null, site)) }
        return ModelDecoder.mismatch(site.mismatch(value, expected: expected), site)
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let standard: Any? =
            if type == Bool.self {
                try bool()
            } else if type == String.self {
                try string()
            } else if type == Double.self {
                try number(Double.self)
            } else if type == Float.self {
                try number(Float.self)
            } else if let integer = ModelDecoder.integers.first(where: { $0 == type }) {
                try number(integer)
            } else {
                nil
            }
        // The unwrapped value, because nil can be cast to an optional type.
        if let standard, let value = standard as? Value { return value }
        return try any(type)
    }

    private func bool() throws -> Bool {
        guard case .bool(let value) = value else { throw mismatch("a Boolean value") }
        return value
    }

    private func string() throws -> String {
        guard case .text(let text) = value else { throw mismatch("a string") }
        return text
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard case .number(let text) = value else { throw mismatch("a whole number") }
        if let number = Number(text) ?? Self.wholeNumber(text) { return number }
        let fault = site.outOfRange(
            text, minimum: Int64(clamping: Number.min), maximum: Int64(clamping: Number.max))
        throw ModelDecoder.mismatch(fault, site)
    }

    /// Returns the whole number that a text with a fraction or an exponent represents exactly, or nil.
    private static func wholeNumber<Number: FixedWidthInteger>(_ text: String) -> Number? {
        if text.contains(where: { $0 == "e" || $0 == "E" }) {
            // A `Double` distinguishes all numbers with 15 digits. With more, another number could be read.
            guard text.prefix(while: { $0 != "e" && $0 != "E" }).count(where: \.isNumber) <= 15 else { return nil }
            return Double(text).flatMap { Number(exactly: $0) }
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].allSatisfy({ $0 == "0" }) else { return nil }
        return Number(parts[0])
    }

    private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Number.Type) throws -> Number {
        guard case .number(let text) = value, let number = Number(text) else { throw mismatch("a number") }
        guard number.isFinite else { throw ModelDecoder.mismatch(site.infinite, site) }
        return number
    }

    private func any<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let type = type as? any ModelFieldValue.Type, let value = try fieldValue(type) as? Value { return value }
        if let fault = FieldSite(path: site.path, declared: type).unsupported(value) {
            throw ModelDecoder.mismatch(fault, site)
        }
        do {
            return try Value(from: ModelDecoder(.value(value), as: site.declared, at: site.path))
        } catch DecodingError.dataCorrupted(let context) where !(context.underlyingError is FieldFault) {
            // The description of the standard library contains the value.
            throw DecodingError.dataCorrupted(ModelDecoder.context(site.rejected(value), site))
        }
    }

    private func fieldValue<Value: ModelFieldValue>(_ type: Value.Type) throws -> Value {
        let text: String
        switch (type.fieldKind, value) {
        case (.number, .number(let found)), (.text, .text(let found)): text = found
        case (.number, _): throw mismatch("a number")
        case (.text, _): throw mismatch("a string")
        }
        if let value = Value(fieldText: text) { return value }
        throw DecodingError.dataCorrupted(ModelDecoder.context(site.rejected(value), site))
    }
}

private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [String: ModelValue]
    let declared: Any.Type
    let codingPath: [any CodingKey]
    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try find(key, as: Never?.self) == .null }

    private func find(_ key: Key, as type: Any.Type) throws -> ModelValue {
        if let value = fields[key.stringValue] { return value }
        let site = FieldSite(path: codingPath + [key], declared: type)
        let fault = site.missing(Array(fields.keys))
        throw DecodingError.keyNotFound(
            key,
            DecodingError.Context(codingPath: codingPath, debugDescription: fault.detail, underlyingError: fault))
    }

    private func reader(_ key: Key, _ type: Any.Type) throws -> ValueReader {
        ValueReader(try find(key, as: type), as: type, at: codingPath + [key])
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try reader(key, type).read(type) }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { ModelDecoder(.fields(fields), as: declared, at: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> ModelDecoder {
        ModelDecoder(.value(try find(key, as: declared)), as: declared, at: codingPath + [key])
    }
}

private struct ListContainer: UnkeyedDecodingContainer {
    let items: [ModelValue]
    let declared: Any.Type
    let codingPath: [any CodingKey]
    var currentIndex = 0
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    private mutating func next(_ type: Any.Type) throws -> ValueReader {
        guard !isAtEnd else {
            let site = FieldSite(path: codingPath, declared: type)
            let fault = FieldFault(
                detail: "\(site.name) has \(count == 1 ? "1 item" : "\(items.count) items"), "
                    + "but the type `\(declared)` reads more")
            throw DecodingError.valueNotFound(type, ModelDecoder.context(fault, site))
        }
        defer { currentIndex += 1 }
        return ValueReader(items[currentIndex], as: type, at: codingPath + [ListIndex(currentIndex)])
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, items[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next(type).read(type) }

    mutating func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type
    ) throws -> KeyedDecodingContainer<Inner> { try nextDecoder().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nextDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try nextDecoder() }

    private mutating func nextDecoder() throws -> ModelDecoder {
        let item = try next(declared)
        return ModelDecoder(.value(item.value), as: declared, at: item.site.path)
    }
}

private struct ValueContainer: SingleValueDecodingContainer {
    let value: ModelValue
    let declared: Any.Type
    let codingPath: [any CodingKey]

    /// Reads the value as the declared type of the property.
    ///
    /// Errors name this type, even if it reads another one itself.
    private var reader: ValueReader { ValueReader(value, as: declared, at: codingPath) }

    func decodeNil() -> Bool { value == .null }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try reader.read(type) }
}

/// An error for a property whose value cannot be read from a field of a model, or written into one.
///
/// It names the field, the type, and the kind of the value. It never contains the value, which may be personal data.
struct FieldFault: Error, Equatable {
    /// The description, with the action that corrects the property or the table.
    let detail: String
}

/// The position of an item in a list, as a coding key.
struct ListIndex: CodingKey {
    let index: Int
    var intValue: Int? { index }
    var stringValue: String { "[\(index)]" }

    init(_ index: Int) { self.index = index }
    init(intValue: Int) { self.init(intValue) }
    init?(stringValue: String) { nil }
}

/// A field, or an item of a list, with the declared type of its property.
struct FieldSite {
    /// The coding path of the value.
    let path: [any CodingKey]
    /// The declared type of the property, or of the items of an array, without `Optional`.
    let declared: Any.Type

    init(path: [any CodingKey], declared: Any.Type) {
        self.path = path
        self.declared = (declared as? any OptionalType.Type)?.wrapped ?? declared
    }

    /// The name of the field, as in `field `tags[0]``.
    var name: String { Self.name(of: path) }

    /// The name of the declared type.
    private var type: String { "`\(Self.typeName(declared))`" }

    /// Returns the name of the field at a coding path, or of the model for an empty path.
    static func name(of path: [any CodingKey]) -> String {
        let text = path.reduce("") { text, key in
            text + (text.isEmpty || key is ListIndex ? "" : ".") + key.stringValue
        }
        return text.isEmpty ? "the model" : "field `\(text)`"
    }

    /// Returns the error for a field that the model does not have.
    func missing(_ fields: [String]) -> FieldFault {
        let key = path.last?.stringValue ?? ""
        let others = fields.sorted().map { "`\($0)`" }.joined(separator: ", ")
        let model = others.isEmpty ? "the model has no fields" : "the model has \(others)"
        let advice =
            NearestName.of(key, among: fields).map { "did you mean `\($0)`?" }
            ?? "rename the property, declare it optional, or add the field to the model in the table"
        return FieldFault(detail: "\(name) is missing for a property of type \(type): \(model); \(advice)")
    }

    /// Returns the error for a null value of a type that is not optional.
    var null: FieldFault {
        FieldFault(
            detail: "\(name) is null, but the type \(type) is not optional; "
                + "declare the property optional, or make the field required in the table")
    }

    /// Returns the error for a value of another kind than the type is read from.
    ///
    /// - Parameters:
    ///   - found: The value.
    ///   - expected: The description of the kind that the type is read from.
    func mismatch(_ found: ModelValue, expected: String) -> FieldFault {
        if found == .null { return null }
        return FieldFault(
            detail: "\(name) is \(found.kindText), but the type \(type) is read from \(expected); "
                + "\(advice(for: found))\(foundationAdvice), or change the type of the field in the table")
    }

    /// Returns the error for a structure, a dictionary, or a nested list, which no field can have.
    func nested(_ found: ModelValue) -> FieldFault {
        if found == .null { return null }
        return FieldFault(
            detail: "\(name) is \(found.kindText), but the type \(type) is read from several values; "
                + "a field has a single value or a list of single values: \(advice(for: found))\(foundationAdvice)")
    }

    /// Returns the error for a number that an integer type cannot represent.
    func outOfRange(_ number: String, minimum: Int64, maximum: Int64) -> FieldFault {
        // The text decides, because a large `Double` has no fraction.
        let fraction = number.split(separator: ".", maxSplits: 1).dropFirst().joined()
        if fraction.contains(where: { $0 != "0" }), Double(number)?.isFinite == true {
            return FieldFault(
                detail: "\(name) is a number with a fraction, but the type \(type) is read from a whole number; "
                    + "declare the property as `Double`, or the field as `int` in the table")
        }
        return FieldFault(
            detail: "\(name) is a number outside the range \(minimum) to \(maximum) of the type \(type); "
                + "declare the property with a wider type, or declare the field as `int(\(minimum)..\(maximum))` "
                + "in the table")
    }

    /// Returns the error for a number that a floating-point type cannot represent.
    var infinite: FieldFault {
        FieldFault(
            detail: "\(name) is a number outside the range of the type \(type); declare the property as `Double`")
    }

    /// Returns the error for a value that the type does not accept.
    func rejected(_ found: ModelValue) -> FieldFault {
        if found == .null { return null }
        let start = "\(name) is \(found.kindText) that is not"
        if declared is any RawRepresentable.Type {
            return FieldFault(
                detail: "\(start) a raw value of the type \(type); add a case for it, "
                    + "or allow only raw values of \(type) in the table")
        }
        return FieldFault(
            detail: "\(start) a value of the type \(type); "
                + "\(advice(for: found)), or change the type of the field in the table")
    }

    /// Returns the error for a type of Foundation that the library supports only with LinkCoordinatorFoundation, or
    /// nil.
    func unsupported(_ found: ModelValue?) -> FieldFault? {
        guard isFoundation(["Date"]) else { return nil }
        return FieldFault(
            detail: "\(name) has the type \(type), which fields do not support; "
                + advice(for: found ?? .text("")) + foundationAdvice)
    }

    /// Returns the error for a value that encodes itself as a structure, a dictionary, or a list of lists.
    var severalValues: FieldFault {
        let advice =
            foundationAdvice.isEmpty
            ? "declare its parts as properties of the model, or adopt ModelFieldValue in \(type)"
            : "declare the property as `String`\(foundationAdvice)"
        return FieldFault(
            detail: "\(name) has several values in the type \(type), but a field has a single value or a list of "
                + "single values; \(advice)")
    }

    /// Returns the error for an item of a list that has no value.
    var nullItem: FieldFault {
        FieldFault(detail: "\(name) is null, but a list has only values; remove nil from the array of \(type)")
    }

    /// Returns the error for a number that is infinite or not a number.
    var notFinite: FieldFault {
        FieldFault(detail: "\(name) is infinite or not a number in the type \(type); use a finite number")
    }

    /// Returns the advice to declare a property for values of this kind.
    private func advice(for found: ModelValue) -> String {
        let subject = path.last is ListIndex ? "the items of the array" : "the property"
        switch found {
        case .null: return "declare \(subject) optional"
        case .bool: return "declare \(subject) as `Bool`"
        case .number: return "declare \(subject) as `Int` or `Double`"
        case .text: return "declare \(subject) as `String`"
        case .list: return "declare \(subject) as an array of single values"
        }
    }

    /// The advice to import the product that supports the declared type, or an empty text.
    private var foundationAdvice: String {
        isFoundation(["Date", "Decimal", "NSDecimal", "URL"])
            ? ", or import LinkCoordinatorFoundation, which supports \(type)" : ""
    }

    /// Returns a Boolean value that indicates whether the declared type is one of these types of Foundation and does
    /// not conform to ``ModelFieldValue``.
    private func isFoundation(_ names: [String]) -> Bool {
        guard names.contains(String(describing: declared)), !(declared is any ModelFieldValue.Type) else {
            return false
        }
        let module = String(reflecting: declared).prefix { $0 != "." }
        return ["Foundation", "FoundationEssentials", "__C"].contains(module)
    }

    private static func typeName(_ type: Any.Type) -> String {
        let name = String(describing: type)
        return name == "NSDecimal" ? "Decimal" : name
    }
}

/// The type `Optional` for any type of values.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}

extension ModelValue {
    /// The kind of the value in words.
    var kindText: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean value"
        case .number: "a number"
        case .text: "a string"
        case .list: "a list"
        }
    }
}
