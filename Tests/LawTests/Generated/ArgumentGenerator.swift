import LinkCoordinator
import ByteStorage
import TestSupport

/// Generates values for the fields and captures of a route that its link can carry.
struct ArgumentGenerator: SeededChoices {
    var generator: SeededGenerator
    /// The characters of the classes that were used before, because a class stores them as bits.
    private var classes: [CharacterClass: [UInt8]] = [:]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// The models and captures for a route.
    struct Arguments {
        var models = Models()
        var captures: [String: String] = [:]
    }

    /// Returns values for every bound field, sometimes without optional ones, and for every capture without a field.
    ///
    /// Fields with the same source in the link get the value that one text has for each of them. If no text is
    /// valid for all of them, the fields for which it is invalid get no value.
    mutating func arguments(for route: TableSource.Route, in source: TableSource) -> Arguments {
        var result = Arguments()
        // The values fit one pattern. Captures of other patterns are left out.
        let pattern = pick(route.patterns).path
        var captured: [String: [String]] = [:]
        for bound in Self.boundSources(of: route, in: source) {
            guard let texts = texts(for: bound, pattern, source) else { continue }
            if case .path(let name) = bound.source { captured[name] = texts }
            for (model, field) in bound.fields {
                guard let value = Self.value(of: texts, field.type) else { continue }
                result.models.fields[model, default: [:]][field.name.value] = value
            }
        }
        let given = Self.removeParts(of: &result.models, route, source)
        for capture in pattern.captures where !given.contains(capture.name) {
            let texts = captured[capture.name] ?? self.texts(capture, source)
            if !texts.isEmpty { result.captures[capture.name] = texts.joined(separator: "/") }
        }
        return result
    }

    /// A source of values in the link and the fields that read it.
    private struct BoundSource {
        let source: TableSource.Binding.Source
        var fields: [(model: String, field: TableSource.Field)]
    }

    private static func boundSources(of route: TableSource.Route, in source: TableSource) -> [BoundSource] {
        var sources: [(name: String, bound: BoundSource)] = []
        for binding in route.bindings {
            guard let model = source.models.first(where: { $0.name.value == binding.model.value }),
                let field = model.field(named: binding.field.value)
            else { continue }
            let name = sourceName(binding.source.value)
            if let index = sources.firstIndex(where: { $0.name == name }) {
                sources[index].bound.fields.append((model.name.value, field))
            } else {
                sources.append((name, BoundSource(source: binding.source.value, fields: [(model.name.value, field)])))
            }
        }
        return sources.map(\.bound)
    }

    /// Removes incomplete models and returns the captures that the remaining fields supply.
    private static func removeParts(
        of models: inout Models, _ route: TableSource.Route, _ source: TableSource
    ) -> Set<String> {
        for model in source.models {
            guard let given = models[model.name.value] else { continue }
            let isWhole = model.fields.allSatisfy { field in
                field.absence != .required || given[field.name.value] != nil
                    || route.bindings.contains {
                        guard $0.model.value == model.name.value, $0.field.value == field.name.value else {
                            return false
                        }
                        if case .constant = $0.source.value { return true }
                        return false
                    }
            }
            if !isWhole { models[model.name.value] = nil }
        }
        var captures = Set<String>()
        for binding in route.bindings {
            guard case .path(let name) = binding.source.value,
                models[binding.model.value]?[binding.field.value] != nil
            else { continue }
            captures.insert(name)
        }
        return captures
    }

    /// Returns the name of a source, which is the same for all spellings of a query name.
    static func sourceName(_ source: TableSource.Binding.Source) -> String {
        switch source {
        case .path(let name): "path.\(name)"
        case .query(let name): "query.\(name.lowercased())"
        case .rewrite(let name): "rewrite.\(name)"
        case .payload(let path): "payload.\(path.text)"
        case .fragment: "fragment"
        case .constant(let text): "constant.\(text)"
        }
    }

    /// Returns texts for a source that are valid for all fields, if there are any, or nil if the source has no text.
    private mutating func texts(for bound: BoundSource, _ pattern: Pattern, _ source: TableSource) -> [String]? {
        var capture: Capture?
        switch bound.source {
        case .constant, .payload: return nil
        case .path(let name): capture = pattern.capture(named: name)
        case .rewrite(let name):
            capture = source.blocks.flatMap(\.rewrites).first { $0.name == name }?.pattern.captures.first
        case .query, .fragment:
            if bound.fields.allSatisfy({ $0.field.absence != .required }) && one(in: 3) { return nil }
        }
        if capture == nil {
            switch bound.source {
            case .path, .rewrite: return nil
            default: break
            }
        }
        var last: [String]?
        for _ in 0..<64 {
            guard let texts = self.texts(capture, bound.fields.map(\.field.type), source) else { continue }
            last = last ?? texts
            if bound.fields.allSatisfy({ Self.value(of: texts, $0.field.type) != nil }) { return texts }
        }
        return last
    }

    /// Returns texts that the capture matches, or that are of one of the types.
    private mutating func texts(_ capture: Capture?, _ types: [FieldType], _ source: TableSource) -> [String]? {
        guard let capture else { return value(of: pick(types)).asTexts }
        if one(in: 2) {
            let texts = self.texts(capture, source)
            return texts.isEmpty ? nil : texts
        }
        guard let texts = value(of: pick(types)).asTexts, !texts.isEmpty, texts.allSatisfy(Self.isSegment) else {
            return nil
        }
        // A tail is given as a path, in which a slash would separate segments.
        if capture.isTail { return texts.contains { $0.contains("/") } ? nil : texts }
        guard texts.count == 1 else { return nil }
        let isMatch = Array(texts[0].utf8).withUnsafeBufferPointer {
            capture.matcher.matches(ByteView($0), foldsCase: false)
        }
        return isMatch ? [Self.canonical(texts[0], of: capture.matcher)] : nil
    }

    private static func isSegment(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && !text.unicodeScalars.contains("\u{200D}")
    }

    /// Returns the canonical form of a captured text.
    private static func canonical(_ text: String, of matcher: Matcher) -> String {
        switch matcher {
        case .bool: text == "1" || text == "true" ? "true" : "false"
        case .uuid: text.uppercased()
        default: text
        }
    }

    /// Returns the value of texts for a field, or nil if they are not of its type.
    static func value(of texts: [String], _ type: FieldType) -> ModelValue? {
        if case .list(let element, let min, let max) = type {
            let items = texts.compactMap { value(of: [$0], element) }
            return items.count == texts.count && items.count >= min && items.count <= max ? .list(items) : nil
        }
        guard texts.count == 1, let text = type.canonicalText(nfc(texts[0])) else { return nil }
        switch type {
        case .bool: return .bool(text == "true")
        case .int, .double, .decimal: return .number(text)
        default: return .text(text)
        }
    }

    /// Returns a value of a type.
    mutating func value(of type: FieldType) -> ModelValue {
        switch type {
        case .uuid: return .text(uuid())
        case .int(let min, let max):
            return .number("\(one(in: 4) ? pick([min, max]) : Int64.random(in: min...max, using: &generator))")
        case .string(let min, let max): return .text(text(min: min, max: max))
        case .bool: return .bool(one(in: 2))
        case .double: return .number(pick(["0", "2.5", "-0.125", "100", "3.141592653589793".prefix(16).description]))
        case .decimal(let min, let max):
            let texts = [
                "0", "2.5", "-0.125", "100", "0.0015", "12345678901234567890.123456789", "-99999999999999999999",
            ]
            return .number(pick((texts + [min, max].compactMap(\.self)).filter { type.canonicalText($0) != nil }))
        case .date: return .text(pick(["2025-01-31", "2024-02-29", "1999-12-31", "0001-01-01"]))
        case .dateTime:
            return .text(
                pick([
                    "2025-01-31T14:00:00Z", "0001-01-01T00:00:00Z", "2024-02-29T23:59:59.120Z", "9999-12-31T23:59:59Z",
                ]))
        case .enumeration(let values): return .text(String(decoding: pick(values), as: UTF8.self))
        case .url(let hosts):
            let host = hosts.first.map { rule -> String in
                switch rule {
                case .any: "x.example"
                case .empty: ""
                case .exact(let host, let port): String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
                case .suffix(let suffix): "a." + String(decoding: suffix, as: UTF8.self)
                }
            }
            return .text("https://\(host ?? "x.example")/a%20b?c=d&e#f")
        case .list(let element, let min, let max):
            let count = Int.random(in: Swift.max(min, 1)...Swift.max(1, Swift.min(max, min + 3)), using: &generator)
            return .list((0..<count).map { _ in value(of: element) })
        }
    }

    /// Characters that have a meaning in links, need escapes, or are composed of several characters.
    static let characters = [
        "a", "b", "Z", "7", "-", "_", ".", "~", " ", "&", "=", "?", "#", "/", "%", "+", ",", ";", ":", "@", "\"", "'",
        "<", "é", "ж", "漢", "👩‍🚀", "ﬁ", "\u{1E9B}\u{323}", "%2", "%31", "&amp;", "¶", "\\", "|", "^",
    ]

    /// Returns a text of the given size with all sorts of characters.
    mutating func text(min: Int, max: Int) -> String {
        let targetCount = Int.random(in: min...Swift.min(max, min + 12), using: &generator)
        var text = ""
        while text.utf8.count < targetCount {
            let next = one(in: 2) ? pick(Self.characters) : pick(["a", "k", "0", "e"])
            let longer = text + next
            // A character that composes with the previous one may need fewer bytes than counted.
            if nfc(longer).utf8.count > max { text += "a" } else { text = longer }
            if nfc(text).utf8.count > max { return String(repeating: "a", count: min) }
        }
        return nfc(text).utf8.count >= min ? text : String(repeating: "a", count: min)
    }

    mutating func uuid() -> String {
        let digits = Array(one(in: 2) ? "0123456789abcdef" : "0123456789ABCDEF")
        return [8, 4, 4, 4, 12].map { length in String((0..<length).map { _ in pick(digits) }) }.joined(separator: "-")
    }

    /// Returns texts that a capture matches, with one text for each segment of a tail.
    mutating func texts(_ capture: Capture, _ source: TableSource) -> [String] {
        switch capture.matcher {
        case .restPlus: return (0..<Int.random(in: 1...3, using: &generator)).map { _ in segment() }
        case .restStar: return (0..<Int.random(in: 0...3, using: &generator)).map { _ in segment() }
        case .coordinatorPath:
            guard let owner = source.coordinators.randomElement(using: &generator) else { return [] }
            let count = Int.random(in: 0...3, using: &generator)
            return [owner.name.value]
                + (0..<count).compactMap { _ in owner.screens.randomElement(using: &generator)?.name.value }
        default: return [text(of: capture)]
        }
    }

    private mutating func segment() -> String {
        let text = text(min: 1, max: 12)
        // A tail is given as a path, in which a slash would separate segments.
        let safe = String(text.unicodeScalars.filter { $0 != "/" && $0 != "\u{200D}" }.map(Character.init))
        return safe.isEmpty || safe.allSatisfy { $0 == "." } ? "seg" : safe
    }

    private mutating func text(of capture: Capture) -> String {
        switch capture.matcher {
        case .enumeration: return String(decoding: pick(capture.spellings), as: UTF8.self)
        case .int(let min, let max): return "\(Int64.random(in: min...max, using: &generator))"
        case .bool: return one(in: 2) ? "true" : "false"
        case .date: return pick(["2025-01-31", "2024-02-29"])
        case .uuid: return uuid().uppercased()
        case .characters(let set, let min, let max):
            let count = Int.random(in: min...max, using: &generator)
            let characters = classes[set] ?? set.characters
            classes[set] = characters
            return String(decoding: (0..<count).map { _ in pick(characters) }, as: UTF8.self)
        default:
            // Joiners are rejected in paths, as all invisible characters are.
            let chosen = String(text(min: 1, max: 12).unicodeScalars.filter { $0 != "\u{200D}" }.map(Character.init))
            return chosen.allSatisfy { $0 == "." } ? "x" : chosen
        }
    }
}

extension ModelValue {
    /// The texts of a value, one for each item of a list.
    var asTexts: [String]? {
        switch self {
        case .null: nil
        case .list(let items): items.compactMap { $0.asTexts?.first }
        case .bool(let value): [value ? "true" : "false"]
        case .number(let text), .text(let text): [text]
        }
    }
}
