/// The values that a link of one route must carry, by their position in the link.
struct LinkArguments {
    /// The texts of captures by name.
    ///
    /// A tail has one text for each segment.
    private(set) var captures: [String: [String]] = [:]
    /// The query names in the order of the bindings, with their texts.
    private(set) var query: [(name: String, texts: [String])] = []
    /// The values that rewrites capture, by name.
    private(set) var rewrites: [String: String] = [:]
    /// The text of the fragment.
    private(set) var fragment: String?
    /// The value that each bound field must be read back as, by its number in the order of models and fields.
    private(set) var expected: [Int: ModelValue] = [:]
    /// The texts that captures must be read back as, even if no field is bound to them.
    private(set) var free: [String: [String]] = [:]
    /// Other spellings that are read back as the same value, for captures that do not accept the canonical spelling.
    private(set) var spellings: [String: String] = [:]

    /// The tails that were given as paths, including empty segments, which may reset a coordinator path.
    ///
    /// See RouteTableReference, "Empty segments".
    private(set) var paths: [String: [String]] = [:]

    /// Assigns every value to its position in the link.
    init(
        _ route: TableSource.Route, in source: TableSource, models: Models, captures given: [String: String]
    ) throws(LinkError) {
        try Self.checkNames(route, source, models, given)
        var number = 0
        var open: [(number: Int, source: TableSource.Binding.Source)] = []
        for model in source.models {
            for field in model.fields {
                defer { number += 1 }
                let binding = route.bindings.first {
                    $0.model.value == model.name.value && $0.field.value == field.name.value
                }
                let values = models[model.name.value]
                let value = FieldTexts(field, of: model.name.value)
                let texts = try value.texts(values?[field.name.value] ?? .null)
                if let binding {
                    expected[number] = try put(texts, value, binding.source.value)
                    if values?[field.name.value] == nil { open.append((number, binding.source.value)) }
                } else if !texts.isEmpty, value.canonical(texts) != field.absentValue {
                    throw LinkError(.unwritable, value.position, "no value, because the route does not bind the field")
                }
                if expected[number] ?? .null == .null, field.absence == .required, values != nil {
                    throw LinkError(.missing, value.position, "a value of type \(field.type.text)")
                }
            }
        }
        for (name, text) in given { try putCapture(name, text, route) }
        // A field without a given value gets the value of the field with which it shares a position.
        for (number, source) in open where holds(source) { expected[number] = nil }
    }

    /// Returns a Boolean value that indicates whether the position in the link has a value.
    private func holds(_ source: TableSource.Binding.Source) -> Bool {
        switch source {
        case .path(let name): captures[name] != nil
        case .query(let name): query.contains { $0.name.equalsFolded(name) }
        case .rewrite(let name): rewrites[name] != nil
        case .fragment: fragment != nil
        case .payload, .constant: false
        }
    }

    private static func checkNames(
        _ route: TableSource.Route, _ source: TableSource, _ models: Models, _ captures: [String: String]
    ) throws(LinkError) {
        for (name, fields) in models.fields.sorted(by: { $0.key < $1.key }) {
            guard let model = source.models.first(where: { $0.name.value == name }) else {
                throw LinkError(.unknownName, name, "a model of the table")
            }
            for field in fields.keys.sorted() where model.field(named: field) == nil {
                throw LinkError(.unknownName, "\(name).\(field)", "a field of the model")
            }
        }
        for name in captures.keys.sorted()
        where !route.patterns.contains(where: { $0.path.capture(named: name) != nil }) {
            throw LinkError(.unknownName, "path.\(name)", "a capture of the route's patterns")
        }
    }

    /// Assigns the texts of a field to the source of its binding, and returns the value that they are read back as.
    ///
    /// A default needs no query item, because an absent item is read as the default.
    private mutating func put(
        _ texts: [String], _ value: FieldTexts, _ source: TableSource.Binding.Source
    ) throws(LinkError) -> ModelValue {
        let result = texts.isEmpty ? value.field.absentValue : value.canonical(texts)
        let isDefault = result == value.field.absentValue
        switch source {
        case .constant(let text):
            let own = value.canonical([value.itemType.canonicalText(text) ?? text])
            if !texts.isEmpty && result != own { throw conflict(value.position, "the constant that the route binds") }
            return own
        case .payload:
            if !isDefault {
                throw LinkError(
                    .unwritable, value.position, "no value, because the route binds the field to a push payload")
            }
        case .path(let name):
            if texts.isEmpty { break }
            let isSpelled = texts.count == 1 && spellings[name] == texts[0]
            guard let one = isSpelled ? texts : value.agreeing(texts, with: captures[name]) else {
                throw conflict(value.position, "one value for path.\(name)")
            }
            // If two fields share a capture, another spelling must be valid for both.
            let other = value.otherSpelling(of: one)
            spellings[name] = captures[name] == nil || spellings[name] == other ? other : nil
            captures[name] = one
        case .rewrite(let name):
            if texts.isEmpty { break }
            guard let one = value.agreeing(texts, with: rewrites[name].map { [$0] }), one.count == 1 else {
                throw conflict(value.position, "one value for rewrite.\(name)")
            }
            rewrites[name] = one[0]
        case .fragment:
            if texts.isEmpty { break }
            guard let one = value.agreeing(texts, with: fragment.map { [$0] }), one.count == 1 else {
                throw conflict(value.position, "one value for the fragment")
            }
            fragment = one[0]
        case .query(let name):
            if texts.isEmpty || isDefault { break }
            let index = query.firstIndex { $0.name == name }
            guard let one = value.agreeing(texts, with: index.map { query[$0].texts }) else {
                throw conflict(value.position, "one value for query.\(name)")
            }
            if let index { query[index].texts = one } else { query.append((name, one)) }
        }
        return result
    }

    private func conflict(_ position: String, _ expected: String) -> LinkError {
        LinkError(.conflict, position, expected)
    }

    /// Assigns the text of a capture that was given by name.
    ///
    /// A tail is given as a path.
    private mutating func putCapture(
        _ name: String, _ text: String, _ route: TableSource.Route
    ) throws(LinkError) {
        let isTail = route.patterns.contains { $0.path.capture(named: name)?.isTail == true }
        let texts = isTail ? text.split(separator: "/").map { nfc(String($0)) } : [nfc(text)]
        if isTail { paths[name] = Self.segments(text) }
        if let known = captures[name], known != texts {
            throw conflict("path.\(name)", "the value of the field that is bound to the capture")
        }
        captures[name] = texts
        spellings[name] = nil
        free[name] = texts
    }

    /// Returns the segments of a path, starting with the first one that is not empty.
    ///
    /// A slash at the end results in an empty segment.
    private static func segments(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).drop(while: \.isEmpty).map { nfc(String($0)) }
    }
}
