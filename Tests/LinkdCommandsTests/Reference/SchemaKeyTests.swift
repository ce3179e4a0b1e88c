internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkCoordinator

/// The JSON schemas against the code, with the descriptions that editors show.
@Suite struct SchemaKeyTests {
    static func schema(_ name: String) throws -> JSONValue {
        let file = Checkout.root.appending(path: "config/schemas/\(name).schema.json")
        return try JSONValue.parse([UInt8](try Data(contentsOf: file)))
    }

    /// Returns the location of an object's properties in the schema of tables, as a JSON pointer.
    static func pointer(of object: TableObject) -> String {
        switch object {
        case .file: ""
        case .table: "/properties/table"
        case .canary: "/properties/table/properties/canary"
        case .linkBlock: "/$defs/firstBlock"
        case .pathOptions: "/$defs/blockMember/properties/path"
        case .queryOptions: "/$defs/blockMember/properties/query"
        case .payloadPointers: "/$defs/firstBlock/properties/payload"
        case .linkLimits: "/$defs/firstBlock/properties/limits"
        case .rewrite: "/$defs/blockMember/properties/rewrites/items"
        case .capability: "/properties/capabilities/additionalProperties"
        case .coordinator: "/$defs/coordinator"
        case .screen: "/$defs/screen"
        case .guardRule: "/properties/guards/additionalProperties"
        case .guardTarget: "/properties/guards/additionalProperties/properties/else"
        case .resumeOptions: "/properties/guards/additionalProperties/properties/else/properties/resume"
        case .externals: "/properties/externals"
        case .route: "/$defs/route"
        case .pattern: "/$defs/match/oneOf/1"
        case .target: "/$defs/target"
        case .variant: "/$defs/route/properties/variants/items"
        case .condition: "/$defs/when"
        case .exclusion: "/$defs/route/properties/exclude"
        case .unsupported: "/$defs/route/properties/unsupported/oneOf/1"
        case .constant: "/$defs/source/oneOf/2"
        case .fallbackRule: "/$defs/fallbackRule"
        case .example: "/$defs/example"
        case .exampleRequest: "/$defs/example/properties/request"
        case .deviceFacts: "/$defs/example/properties/device"
        }
    }

    /// Returns the value at a JSON pointer without escapes.
    static func value(at pointer: String, in root: JSONValue) -> JSONValue? {
        pointer.split(separator: "/").reduce(root) { value, step in
            Int(step).flatMap { index in value?.array?[index] } ?? value?[String(step)]
        }
    }

    @Test("The schemas of events, devices, and decisions have the facts of a device in their order")
    func facts() throws {
        let facts = DeviceFacts.Fact.allCases.map(\.name.description)
        let event = try Self.schema("event")["$defs"]?["device"]?["properties"]?.object?.map(\.name)
        #expect(event == ["id"] + facts)
        #expect(try Self.schema("device")["properties"]?.object?.map(\.name) == ["$schema", "user"] + facts)
        let decision = try Self.schema("decision")["properties"]?["facts"]?["properties"]?.object?.map(\.name)
        #expect(decision == facts)
    }

    @Test("The schema of tables has the keys of every object", arguments: TableObject.allCases)
    func keys(object: TableObject) throws {
        let definition = try #require(Self.value(at: Self.pointer(of: object), in: try Self.schema("table")))
        #expect(Set(definition["properties"]?.object?.map(\.name) ?? []) == Set(object.keys))
        #expect(Set(definition["required"]?.array?.compactMap(\.string) ?? []) == Set(object.required))
    }

    @Test("The schema of tables has the schema versions that the library supports")
    func schemaVersions() throws {
        let property = try Self.schema("table")["properties"]?["schemaVersion"]
        #expect(property?["minimum"]?.integer == Int64(RouteTable.supportedSchemaVersions.lowerBound))
        #expect(property?["maximum"]?.integer == Int64(RouteTable.supportedSchemaVersions.upperBound))
    }

    @Test("The schema of tables has the limits of a link")
    func limits() throws {
        let definition = Self.value(at: Self.pointer(of: .linkLimits), in: try Self.schema("table"))
        let limits = TableSource.LinkLimits()
        let expected = [
            ("maxBytes", limits.maxBytes, TableSource.LinkLimits.bytesBounds),
            ("maxSegments", limits.maxSegments, TableSource.LinkLimits.segmentsBounds),
            ("maxQueryItems", limits.maxQueryItems, TableSource.LinkLimits.queryItemsBounds),
        ]
        for (name, otherwise, bounds) in expected {
            let property = definition?["properties"]?[name]
            #expect(property?["default"]?.integer == Int64(otherwise))
            #expect(property?["minimum"]?.integer == bounds.lowerBound)
            #expect(property?["maximum"]?.integer == bounds.upperBound)
        }
    }

    @Test("The schema of tables and the parser accept every type in the reference")
    func fieldTypes() throws {
        let page = try ReferencePage(path: "Sources/LinkCoordinator/LinkCoordinator.docc/RouteTableReference.md")
        let pattern = try #require(Self.value(at: "/$defs/fieldType/pattern", in: try Self.schema("table"))?.string)
        let form = try Regex(pattern)
        let types = try #require(page.table("Field types", "Type")).names
        for type in types where type.first?.isLetter == true {
            let text = type.replacing("<T>", with: "<decimal(0.5..)>")
            #expect(text.wholeMatch(of: form) != nil, "\(text)")
            #expect(throws: Never.self, "\(text)") { try FieldTypeParser.parse(text) }
        }
        let values = ["decimal=-0.5", "datetime=2025-01-31T14:00:00Z", "list<datetime>(1..2)", "decimal(..-0.5)?"]
        #expect(values.allSatisfy { $0.wholeMatch(of: form) != nil })
        let invalid = ["decimal(5)", "decimal(1e3..)", "decimal(.5..)", "datetime(1..2)", "datetimes", "money"]
        #expect(invalid.allSatisfy { $0.wholeMatch(of: form) == nil })
    }

    @Test(
        "Every property of a schema has a description",
        arguments: ["table", "event", "decision", "vendors", "link-platforms"])
    func descriptions(name: String) throws {
        let root = try Self.schema(name)
        var missing: [String] = []
        Self.walk(root, "", root, &missing)
        #expect(missing == [])
    }

    /// Collects the properties without a description, in a schema and the schemas inside it.
    ///
    /// - Parameter known: The properties that an outer schema of the same object describes.
    private static func walk(
        _ schema: JSONValue, _ pointer: String, _ root: JSONValue, _ missing: inout [String], known: Set<String> = []
    ) {
        for property in schema["properties"]?.object ?? [] {
            let own = "\(pointer)/\(property.name)"
            // `false` forbids the property.
            guard property.value.object != nil else { continue }
            let target = property.value["$ref"]?.string.flatMap { value(at: String($0.dropFirst()), in: root) }
            let isDescribed = property.value["description"] != nil || target?["description"] != nil
            if !isDescribed, !known.contains(property.name) { missing.append(own) }
            walk(property.value, own, root, &missing)
        }
        for key in ["items", "additionalProperties"] {
            if let inner = schema[key] { walk(inner, "\(pointer)/\(key)", root, &missing) }
        }
        let names = known.union(schema["properties"]?.object?.map(\.name) ?? [])
        for key in ["oneOf", "prefixItems"] {
            for (index, inner) in (schema[key]?.array ?? []).enumerated() {
                walk(inner, "\(pointer)/\(key)/\(index)", root, &missing, known: key == "oneOf" ? names : [])
            }
        }
        for inner in schema["$defs"]?.object ?? [] {
            walk(inner.value, "\(pointer)/$defs/\(inner.name)", root, &missing)
        }
    }
}
