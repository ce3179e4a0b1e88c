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
