/// The canonical texts of a field's value, and the value that they are read back as.
///
/// See RouteTableReference, "Canonical forms".
struct FieldTexts {
    let field: TableSource.Field
    /// The field's name in errors: `Model.field`.
    let position: String

    init(_ field: TableSource.Field, of model: String) {
        self.field = field
        position = "\(model).\(field.name.value)"
    }

    /// The type of a single text.
    ///
    /// For a list, this is the type of its items.
    var itemType: FieldType {
        if case .list(let element, _, _) = field.type { element } else { field.type }
    }

    /// Returns the texts of a value: none for null or an empty list.
    func texts(_ value: ModelValue) throws(LinkError) -> [String] {
        if value == .null { return [] }
        guard case .list(_, let min, let max) = field.type else {
            guard let text = Self.text(value, field.type) else { throw LinkError(.value, position, field.type.text) }
            return [text]
        }
        guard case .list(let items) = value else { throw LinkError(.value, position, field.type.text) }
        if items.isEmpty { return [] }
        var texts: [String] = []
        for item in items {
            guard let text = Self.text(item, itemType) else { throw LinkError(.value, position, field.type.text) }
            texts.append(text)
        }
        guard items.count >= min, items.count <= max else { throw LinkError(.value, position, field.type.text) }
        return texts
    }

    /// Returns the canonical text of a value, or nil if the value is not of the type.
    private static func text(_ value: ModelValue, _ type: FieldType) -> String? {
        switch (value, type) {
        case (.bool, .bool), (.number, .int), (.number, .double), (.number, .decimal): break
        case (.text, .uuid), (.text, .string), (.text, .date), (.text, .enumeration), (.text, .url): break
        // A text has all digits of a decimal, unlike a floating-point literal.
        case (.text, .decimal), (.text, .dateTime): break
        default: return nil
        }
        return value.text.flatMap { type.canonicalText(nfc($0)) }
    }

    /// Returns the texts for a position in the link that this field shares with another one, or nil if the two fields
    /// need different texts.
    ///
    /// A UUID and the letters of a date and time are read as uppercase however they are written, and a Boolean value
    /// may be a digit. In these cases, the other field's spelling works for both.
    func agreeing(_ texts: [String], with other: [String]?) -> [String]? {
        guard let other, other != texts else { return texts }
        if field.type == .bool, other.count == 1, other[0] == otherSpelling(of: texts) { return other }
        guard texts.count == other.count, zip(texts, other).allSatisfy({ $0.equalsFolded($1) }) else { return nil }
        return itemType == .uuid || itemType == .dateTime ? other : texts
    }

    /// Returns another spelling of a single value that is read as the same value: `1` or `0`, or a lowercase UUID.
    func otherSpelling(of texts: [String]) -> String? {
        guard texts.count == 1 else { return nil }
        switch field.type {
        case .bool: return texts[0] == "true" ? "1" : "0"
        case .uuid: return texts[0].lowercased()
        default: return nil
        }
    }

    /// Returns the value that canonical texts are read as.
    ///
    /// There must be at least one text.
    func canonical(_ texts: [String]) -> ModelValue {
        if case .list = field.type { return .list(texts.map(itemType.value)) }
        return itemType.value(of: texts[0])
    }
}

extension TableSource.Field {
    /// The value of the field if nothing is bound to it.
    ///
    /// It is null for a required field.
    var absentValue: ModelValue {
        switch absence {
        case .required, .null: .null
        case .emptyList: .list([])
        case .value(let text): type.value(of: text)
        }
    }
}

extension FieldType {
    /// Returns the value that a canonical text represents.
    func value(of text: String) -> ModelValue {
        switch self {
        case .bool: .bool(text == "true")
        case .int, .double, .decimal: .number(text)
        default: .text(text)
        }
    }
}
