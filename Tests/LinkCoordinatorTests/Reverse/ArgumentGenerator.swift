import LinkCoordinator
import StrictJSON
import TestSupport

/// Makes values for the fields and captures of a route that its link could carry.
struct ArgumentGenerator {
    var generator: SeededGenerator
    /// Characters of the classes met so far: a class keeps them as bits.
    private var classes: [CharacterClass: [UInt8]] = [:]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: 0..<choices.count, using: &generator)]
    }

    /// Models and captures for a route.
    struct Arguments {
        var models = Models()
        var captures: [String: String] = [:]
    }

    /// Values for every bound field, optional ones now and then left out, and for every capture without a field.
    mutating func arguments(for route: TableSource.Route, in source: TableSource) -> Arguments {
        var made = Arguments()
        var bound = Set<String>()
        // One pattern is meant, so that the values fit it; what only others capture is left out.
        let pattern = pick(route.patterns).path
        var taken: [String: ModelValue] = [:]
        for binding in route.bindings {
            guard let model = source.models.first(where: { $0.name.value == binding.model.value }),
                let field = model.field(named: binding.field.value)
            else { continue }
            let place = sourceName(binding.source.value)
            if case .path(let name) = binding.source.value { bound.insert(name) }
            guard let value = taken[place] ?? self.value(field, binding.source.value, pattern, source) else { continue }
            taken[place] = value
            // Another field of the same source may be of a type that does not take the value.
            guard Self.fits(value, field.type) else { continue }
            made.models.fields[model.name.value, default: [:]][field.name.value] = value
        }
        // A model that is named must be whole: what cannot be given takes it away.
        for model in source.models {
            guard let given = made.models[model.name.value] else { continue }
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
            if !isWhole { made.models[model.name.value] = nil }
        }
        for capture in pattern.captures where !bound.contains(capture.name) {
            let texts = self.texts(capture, source)
            if !texts.isEmpty { made.captures[capture.name] = texts.joined(separator: "/") }
        }
        return made
    }

    private static func fits(_ value: ModelValue, _ type: FieldType) -> Bool {
        switch (value, type) {
        case (.bool, .bool), (.list, .list), (.number, .int), (.number, .double): true
        case (.text(let text), .uuid), (.text(let text), .string), (.text(let text), .date),
            (.text(let text), .enumeration), (.text(let text), .url):
            type.canonicalText(text) != nil
        default: false
        }
    }

    private func sourceName(_ source: TableSource.Binding.Source) -> String {
        switch source {
        case .path(let name): "path.\(name)"
        case .query(let name): "query.\(name.lowercased())"
        case .rewrite(let name): "rewrite.\(name)"
        case .payload(let path): "payload.\(path.text)"
        case .fragment: "fragment"
        case .constant(let text): "constant.\(text)"
        }
    }

    private mutating func value(
        _ field: TableSource.Field, _ from: TableSource.Binding.Source, _ pattern: Pattern, _ source: TableSource
    ) -> ModelValue? {
        switch from {
        case .constant, .payload: return nil
        case .path(let name):
            guard let capture = pattern.capture(named: name) else { return nil }
            let texts = self.texts(capture, source)
            if case .list(let element, _, _) = field.type {
                let items = texts.compactMap(element.canonicalText).map { modelValue($0, element) }
                return items.isEmpty ? nil : .list(items)
            }
            var text = texts.first
            // What the capture takes need not be of the field's type: a few tries more.
            for _ in 0..<32 where text.flatMap(field.type.canonicalText) == nil { text = fitting(capture, field.type) }
            guard let own = text.flatMap(field.type.canonicalText) else { return nil }
            return modelValue(own, field.type)
        case .rewrite(let name):
            for block in source.blocks {
                for rule in block.rewrites where rule.name == name {
                    guard let capture = rule.pattern.captures.first, let text = texts(capture, source).first,
                        let own = field.type.canonicalText(text)
                    else { return nil }
                    return modelValue(own, field.type)
                }
            }
            return nil
        case .query, .fragment:
            if field.absence != .required && one(in: 3) { return nil }
            return value(of: field.type)
        }
    }

    /// A text of the field's type, or of the capture, one of which may be the narrower.
    private mutating func fitting(_ capture: Capture, _ type: FieldType) -> String? {
        let text = one(in: 2) ? self.text(of: capture) : value(of: type).asText
        guard let text else { return nil }
        let takes = Array(text.utf8).withUnsafeBufferPointer { capture.matcher.takes(ByteView($0), foldsCase: false) }
        return takes && !text.isEmpty && text != "." && text != ".." ? text : nil
    }

    private func modelValue(_ text: String, _ type: FieldType) -> ModelValue {
        switch type {
        case .bool: .bool(text == "true" || text == "1")
        case .int, .double: .number(text)
        default: .text(text)
        }
    }

    /// A value of a type.
    mutating func value(of type: FieldType) -> ModelValue {
        switch type {
        case .uuid: return .text(uuid())
        case .int(let min, let max):
            return .number("\(one(in: 4) ? pick([min, max]) : Int64.random(in: min...max, using: &generator))")
        case .string(let min, let max): return .text(text(min: min, max: max))
        case .bool: return .bool(one(in: 2))
        case .double: return .number(pick(["0", "2.5", "-0.125", "100", "3.141592653589793".prefix(16).description]))
        case .date: return .text(pick(["2025-01-31", "2024-02-29", "1999-12-31", "0001-01-01"]))
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

    /// Characters that a link gives a meaning to, that want escapes, or that are composed of several.
    static let characters = [
        "a", "b", "Z", "7", "-", "_", ".", "~", " ", "&", "=", "?", "#", "/", "%", "+", ",", ";", ":", "@", "\"", "'",
        "<", "é", "ж", "漢", "👩‍🚀", "ﬁ", "\u{1E9B}\u{323}", "%2", "%31", "&amp;", "¶", "\\", "|", "^",
    ]

    /// Text of so many bytes, of all sorts of characters.
    mutating func text(min: Int, max: Int) -> String {
        let wanted = Int.random(in: min...Swift.min(max, min + 12), using: &generator)
        var text = ""
        while text.utf8.count < wanted {
            let next = one(in: 2) ? pick(Self.characters) : pick(["a", "k", "0", "e"])
            let longer = text + next
            // What joins with the character before it may need fewer bytes than were counted.
            if nfc(longer).utf8.count > max { text += "a" } else { text = longer }
            if nfc(text).utf8.count > max { return String(repeating: "a", count: min) }
        }
        return nfc(text).utf8.count >= min ? text : String(repeating: "a", count: min)
    }

    mutating func uuid() -> String {
        let digits = Array(one(in: 2) ? "0123456789abcdef" : "0123456789ABCDEF")
        return [8, 4, 4, 4, 12].map { length in String((0..<length).map { _ in pick(digits) }) }.joined(separator: "-")
    }

    /// Texts that a capture takes; of a tail one for each segment.
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
        // A tail is given as a path, so that a slash would divide it.
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
            // Joiners are refused in paths, as all that cannot be seen.
            let made = String(text(min: 1, max: 12).unicodeScalars.filter { $0 != "\u{200D}" }.map(Character.init))
            return made.allSatisfy { $0 == "." } ? "x" : made
        }
    }
}

extension ModelValue {
    /// The text of a single value.
    var asText: String? {
        switch self {
        case .null, .list: nil
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .text(let text): text
        }
    }
}
