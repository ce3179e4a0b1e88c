internal import LinkCoordinator
internal import StrictJSON

extension DecisionContract {
    /// The contract as a JSON Schema (draft 2020-12), with a line for each definition.
    ///
    /// What the table declares is closed. Everywhere else a member can be added, as later versions do.
    package var jsonSchema: String {
        var head = JSONText()
        head.beginObject()
        head.text("$schema", "https://json-schema.org/draft/2020-12/schema")
        head.text("title", "A decision of the table \(table.identity)")
        head.text("type", "object")
        references("allOf", ["About"], &head)
        references("anyOf", outcomes.map { "outcome/" + $0.name }, &head)
        variantRules(&head)
        var text = head.finish()
        let definitions =
            [definition("About", about, absent: [])]
            + union(outcomes).map { definition("outcome/" + $0.name, $0, absent: $1) }
            + union(screens).map { definition("screen/" + $0.name, $0, absent: $1) }
            + [
                JSONText.object { json in
                    json.object("Entry") { entry in
                        if screens.isEmpty { entry.object("not") { _ in } }
                        references("anyOf", screens.map { "screen/" + $0.name }, &entry)
                    }
                }
            ]
            + models.map { definition("model/" + $0.name, $0, absent: []) }
            + others.map { definition($0.name, $0, absent: []) }
        text += ",\n\"$defs\":{\n" + definitions.map { String($0.dropFirst().dropLast()) }.joined(separator: ",\n")
        return text + "\n}}\n"
    }

    /// Returns objects that the members with one word tell apart, each with the members that only others have.
    private func union(_ objects: [ContractObject]) -> [(ContractObject, absent: [String])] {
        let all = Set(objects.flatMap { $0.members.map(\.name) })
        return objects.map { ($0, all.subtracting($0.members.map(\.name)).sorted()) }
    }

    /// Writes that a variant is one of its route's.
    private func variantRules(_ json: inout JSONText) {
        json.object("dependentSchemas") { json in
            json.object("variant") { json in
                json.beginArray("anyOf")
                if variants.isEmpty { json.boolean(nil, false) }
                for (count, routes) in variants.sorted(by: { $0.key < $1.key }) {
                    json.object(nil) { json in
                        json.texts("required", ["route"])
                        json.object("properties") { json in
                            json.object("route") { $0.texts("enum", routes) }
                            json.object("variant") { $0.number("maximum", Int64(count - 1)) }
                        }
                    }
                }
                json.endArray()
            }
        }
    }

    private func references(_ name: String, _ definitions: [String], _ json: inout JSONText) {
        if definitions.isEmpty { return }
        json.objects(name, of: definitions) { $0.text("$ref", Self.reference($1)) }
    }

    /// Returns the reference to a definition, whose name is part of a JSON pointer in a URI.
    private static func reference(_ definition: String) -> String {
        "#/$defs/" + definition.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    private func definition(_ name: String, _ object: ContractObject, absent: [String]) -> String {
        JSONText.object { json in
            json.object(name) { json in
                json.text("description", object.about)
                json.text("type", "object")
                json.texts("required", object.members.filter(\.isRequired).map(\.name))
                if object.isClosed { json.boolean("additionalProperties", false) }
                json.object("properties") { json in
                    for member in object.members {
                        json.object(member.name) { json in
                            json.text("description", member.about)
                            write(member.type, &json)
                        }
                    }
                    for name in absent { json.boolean(name, false) }
                }
                if !object.oneOf.isEmpty {
                    json.objects("oneOf", of: object.oneOf) { $0.texts("required", [$1]) }
                }
            }
        }
    }

    private func write(_ type: ContractType, _ json: inout JSONText) {
        switch type {
        case .text(let min, let max, let pattern):
            json.text("type", "string")
            if min > 0 { json.number("minLength", Int64(min)) }
            if let max { json.number("maxLength", Int64(max)) }
            if let pattern { json.text("pattern", pattern) }
        case .table(let id): write(.text(pattern: "^\(id)@[\\s\\S]*\\+[0-9a-f]{8}$"), &json)
        case .words(let words, _):
            if words.isEmpty { json.object("not") { _ in } } else { json.texts("enum", words) }
        case .reason:
            json.text("type", "string")
            json.text("pattern", "^[a-z_]+$")
            json.texts("examples", Self.reasons)
        case .integer(let min):
            json.text("type", "integer")
            json.number("minimum", Int64(min))
        case .flag: json.boolean("const", true)
        case .field(let type, let isNullable): write(type, isNullable: isNullable, &json)
        case .models(let models):
            json.text("type", "object")
            json.texts("required", models)
            json.boolean("additionalProperties", false)
            json.object("properties") { json in
                for model in models { json.object(model) { $0.text("$ref", Self.reference("model/" + model)) } }
            }
        case .object(let name): json.text("$ref", Self.reference(name))
        case .entry: json.text("$ref", Self.reference("Entry"))
        case .list(let element, let min, let max):
            json.text("type", "array")
            if min > 0 { json.number("minItems", Int64(min)) }
            if let max { json.number("maxItems", Int64(max)) }
            json.object("items") { write(element, &$0) }
        case .map(let value):
            json.text("type", "object")
            json.object("additionalProperties") { write(value, &$0) }
        case .any: break
        }
    }

    /// Writes the schema of a field's value.
    private func write(_ type: FieldType, isNullable: Bool, _ json: inout JSONText) {
        func kind(_ name: String) {
            if isNullable { json.texts("type", [name, "null"]) } else { json.text("type", name) }
        }
        func text(_ pattern: String) {
            kind("string")
            json.text("pattern", pattern)
        }
        switch type {
        case .uuid: text("^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$")
        case .int(let min, let max):
            kind("integer")
            json.number("minimum", min)
            json.number("maximum", max)
        case .string(let min, let max):
            kind("string")
            // The bounds are in bytes, and a character has up to 4.
            if min > 0 { json.number("minLength", Int64((min + 3) / 4)) }
            json.number("maxLength", Int64(max))
        case .bool: kind("boolean")
        case .double: kind("number")
        case .decimal(let min, let max):
            kind("number")
            if let min = Self.exact(min) { json.raw("minimum", min) }
            if let max = Self.exact(max) { json.raw("maximum", max) }
        case .date: text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
        case .dateTime: text("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$")
        case .enumeration(let values):
            json.beginArray("enum")
            for value in values { json.text(nil, String(decoding: value, as: UTF8.self)) }
            if isNullable { json.text(nil, nil) }
            json.endArray()
        case .url: text("^[Hh][Tt][Tt][Pp][Ss]://")
        case .list(let element, let min, let max):
            kind("array")
            json.number("minItems", Int64(min))
            json.number("maxItems", Int64(max))
            json.object("items") { write(element, isNullable: false, &$0) }
        }
    }

    /// Returns a bound that a validator with binary numbers compares exactly, or nil.
    private static func exact(_ bound: String?) -> [UInt8]? {
        guard let bound, bound.utf8.count <= 15 else { return nil }
        return Array(bound.utf8)
    }
}
