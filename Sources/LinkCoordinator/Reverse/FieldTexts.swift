/// The canonical texts of a field's value (route-table.md, 2.7): how they are made, and what comes back of them.
struct FieldTexts {
    let field: TableSource.Field
    /// `Model.field`.
    let place: String

    init(_ field: TableSource.Field, of model: String) {
        self.field = field
        place = "\(model).\(field.name.value)"
    }

    /// The type of one text: of a list that of its items.
    var itemType: FieldType {
        if case .list(let element, _, _) = field.type { element } else { field.type }
    }

    /// The texts of a value; none for a null or an empty list.
    func texts(_ value: ModelValue) throws(LinkError) -> [String] {
        if value == .null { return [] }
        guard case .list(_, let min, let max) = field.type else {
            guard let text = Self.text(value, field.type) else { throw LinkError(.value, place, field.type.text) }
            return [text]
        }
        guard case .list(let items) = value else { throw LinkError(.value, place, field.type.text) }
        if items.isEmpty { return [] }
        var texts: [String] = []
        for item in items {
            guard let text = Self.text(item, itemType) else { throw LinkError(.value, place, field.type.text) }
            texts.append(text)
        }
        guard items.count >= min, items.count <= max else { throw LinkError(.value, place, field.type.text) }
        return texts
    }

    /// The canonical text of a value that is of the type, by its kind too.
    private static func text(_ value: ModelValue, _ type: FieldType) -> String? {
        switch (value, type) {
        case (.bool, .bool), (.number, .int), (.number, .double): break
        case (.text, .uuid), (.text, .string), (.text, .date), (.text, .enumeration), (.text, .url): break
        default: return nil
        }
        return value.text.flatMap { type.canonicalText(nfc($0)) }
    }

    /// The texts for a place of the link that this field shares with another; nil where the two want different ones.
    ///
    /// A uuid is bound in capitals however it is written, and a truth value may be a digit, so that the other field's
    /// spelling serves both.
    func agreeing(_ texts: [String], with other: [String]?) -> [String]? {
        guard let other, other != texts else { return texts }
        if field.type == .bool, other.count == 1, other[0] == otherSpelling(of: texts) { return other }
        guard texts.count == other.count, zip(texts, other).allSatisfy({ $0.equalsFolded($1) }) else { return nil }
        return itemType == .uuid ? other : texts
    }

    /// Another spelling of a single value that is bound as the same: `1` and `0`, or a uuid in small letters.
    func otherSpelling(of texts: [String]) -> String? {
        guard texts.count == 1 else { return nil }
        switch field.type {
        case .bool: return texts[0] == "true" ? "1" : "0"
        case .uuid: return texts[0].lowercased()
        default: return nil
        }
    }

    /// The value that comes back of canonical texts, at least one.
    func canonical(_ texts: [String]) -> ModelValue {
        if case .list = field.type { return .list(texts.map(itemType.value)) }
        return itemType.value(of: texts[0])
    }
}

extension TableSource.Field {
    /// What the field is where nothing was bound; null for a required one.
    var absentValue: ModelValue {
        switch absence {
        case .required, .null: .null
        case .emptyList: .list([])
        case .value(let text): type.value(of: text)
        }
    }
}

extension FieldType {
    /// The value that a canonical text stands for.
    func value(of text: String) -> ModelValue {
        switch self {
        case .bool: .bool(text == "true")
        case .int, .double: .number(text)
        default: .text(text)
        }
    }
}
