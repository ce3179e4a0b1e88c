/// What a link of one route is to carry, by the place in the link where it goes.
struct LinkArguments {
    /// Texts of captures by name; of a tail one for each segment.
    private(set) var captures: [String: [String]] = [:]
    /// Query names in the order of the bindings, each with its texts.
    private(set) var query: [(name: String, texts: [String])] = []
    /// What rewrites must take off, by name.
    private(set) var rewrites: [String: String] = [:]
    /// The fragment.
    private(set) var fragment: String?
    /// What each bound field must come back as, by its number in the order of models and fields.
    private(set) var expected: [Int: ModelValue] = [:]
    /// Captures that must come back as these texts, though no field may be bound to them.
    private(set) var free: [String: [String]] = [:]
    /// Other spellings of captured values that come back the same, for captures that do not take the canonical ones.
    private(set) var spellings: [String: String] = [:]

    /// Tails that were given as paths, empty segments included, which may reset a coordinator path (N6).
    private(set) var paths: [String: [String]] = [:]

    /// Finds the place of every value.
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
                    throw LinkError(.unwritable, value.place, "no value, for the route binds nothing to this field")
                }
                if expected[number] ?? .null == .null, field.absence == .required, values != nil {
                    throw LinkError(.wanting, value.place, "a value of type \(field.type.text)")
                }
            }
        }
        for (name, text) in given { try putCapture(name, text, route) }
        // A field of which nothing is said takes what the place that it shares with another one holds.
        for (number, source) in open where holds(source) { expected[number] = nil }
    }

    /// Whether something stands at a place of the link.
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

    /// Puts a field's texts where its binding reads them, and says what comes back.
    ///
    /// A default needs no place in the query: it comes back by itself.
    private mutating func put(
        _ texts: [String], _ value: FieldTexts, _ source: TableSource.Binding.Source
    ) throws(LinkError) -> ModelValue {
        let result = texts.isEmpty ? value.field.absentValue : value.canonical(texts)
        let isDefault = result == value.field.absentValue
        switch source {
        case .constant(let text):
            let own = value.canonical([value.itemType.canonicalText(text) ?? text])
            if !texts.isEmpty && result != own { throw conflict(value.place, "the constant that the route binds") }
            return own
        case .payload:
            if !isDefault {
                throw LinkError(.unwritable, value.place, "no value, for it comes from a push payload, not from a link")
            }
        case .path(let name):
            if texts.isEmpty { break }
            let isSpelled = texts.count == 1 && spellings[name] == texts[0]
            guard let one = isSpelled ? texts : value.agreeing(texts, with: captures[name]) else {
                throw conflict(value.place, "one value for path.\(name)")
            }
            // Of two fields only what both would read alike has another spelling.
            let other = value.otherSpelling(of: one)
            spellings[name] = captures[name] == nil || spellings[name] == other ? other : nil
            captures[name] = one
        case .rewrite(let name):
            if texts.isEmpty { break }
            guard let one = value.agreeing(texts, with: rewrites[name].map { [$0] }), one.count == 1 else {
                throw conflict(value.place, "one value for rewrite.\(name)")
            }
            rewrites[name] = one[0]
        case .fragment:
            if texts.isEmpty { break }
            guard let one = value.agreeing(texts, with: fragment.map { [$0] }), one.count == 1 else {
                throw conflict(value.place, "one value for the fragment")
            }
            fragment = one[0]
        case .query(let name):
            if texts.isEmpty || isDefault { break }
            let place = query.firstIndex { $0.name == name }
            guard let one = value.agreeing(texts, with: place.map { query[$0].texts }) else {
                throw conflict(value.place, "one value for query.\(name)")
            }
            if let place { query[place].texts = one } else { query.append((name, one)) }
        }
        return result
    }

    private func conflict(_ place: String, _ expected: String) -> LinkError { LinkError(.conflict, place, expected) }

    /// A capture given by name; a tail is given as a path.
    private mutating func putCapture(
        _ name: String, _ text: String, _ route: TableSource.Route
    ) throws(LinkError) {
        let isTail = route.patterns.contains { $0.path.capture(named: name)?.isTail == true }
        let texts = isTail ? text.split(separator: "/").map { nfc(String($0)) } : [nfc(text)]
        if isTail { paths[name] = Self.segments(text) }
        if let known = captures[name], known != texts {
            throw conflict("path.\(name)", "the value of the field that is bound to it")
        }
        captures[name] = texts
        spellings[name] = nil
        free[name] = texts
    }

    /// The segments of a path from the first that is not empty on: a slash at the end leaves an empty one.
    private static func segments(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).drop(while: \.isEmpty).map { nfc(String($0)) }
    }
}
