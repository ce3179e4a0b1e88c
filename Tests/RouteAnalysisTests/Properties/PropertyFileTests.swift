import LinkCoordinator
import RouteAnalysis
import StrictJSON
import TableSupport
import TestSupport
import Testing

@Suite("Files of properties")
struct PropertyFileTests {
    private static let table = #"""
        { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
          "link": { "schemes": ["s"], "host": "segment" },
          "capabilities": { "ar": {} },
          "coordinators": { "a.b": { "screens": { "c": {}, "d.e": {} } } },
          "routes": [ { "id": "r", "match": "/{r*}", "to": { "root": true } } ] }
        """#

    private func read(_ properties: String, table: String = "t") throws -> (PropertyFile?, [TableProblem]) {
        let file = #"{ "schemaVersion": 1, "table": "\#(table)", "properties": \#(properties) }"#
        let read = PropertyFile.read(Array(file.utf8), about: try RouteTable(json: Self.table.utf8))
        return (read.file, read.problems)
    }

    @Test("All members of a property are read")
    func members() throws {
        let (file, problems) = try read(
            #"""
            [ { "id": "p.1", "text": "A sentence.", "requests": ["link", "payload"],
                "links": ["/a/{b?}", { "anySegment": "x" }, { "path": "/c", "scheme": "s", "host": "*.h.example" }],
                "when": { "app": ">=4 <6", "os": "=1", "capability": "ar", "claim": "vip", "without": ["session", "x"],
                  "platform": "ios", "region": ["DE"], "locale": "de", "attributes": { "tier": "gold" },
                  "query": { "q": "*", "r": null } },
                "never": { "outcome": ["navigate", "deferred"], "screens": ["a.b.*", "a.b.c", "a.b.d.e"],
                  "present": ["push"], "in": ["stack", "view"], "external": "https://h.example",
                  "otherExternal": ["*.h.example", "i.example:8443"] } } ]
            """#)
        #expect(problems == [])
        let property = try #require(file?.properties.first)
        #expect(property.forms == [.link, .payload] && property.links.count == 4)
        #expect(property.withoutClaims == ["session", "x"] && property.when?.query.count == 2)
        #expect(property.result.screens?.map(\.coordinator) == ["a.b", "a.b", "a.b"])
        #expect(property.result.screens?.map(\.screen) == [nil, "c", "d.e"])
        #expect(property.result.external?.first?.scheme == "https" && property.result.otherExternal?.count == 2)
    }

    static let wrong: [(text: String, code: TableProblem.Code, pointer: String)] = [
        (#"[ { "id": "p", "never": {} } ]"#, .missingKey, "/properties/0/never"),
        (#"[ { "id": "p" } ]"#, .missingKey, "/properties/0"),
        (#"[ { "never": { "outcome": "none" } } ]"#, .missingKey, "/properties/0"),
        (
            #"[ { "id": "p", "never": { "outcome": "none" }, "always": { "outcome": "none" } } ]"#, .keyNotAllowed,
            "/properties/0"
        ),
        (#"[ { "id": "p", "nevr": {}, "never": { "outcome": "none" } } ]"#, .unknownKey, "/properties/0/nevr"),
        (#"[ { "id": "p q", "never": { "outcome": "none" } } ]"#, .badName, "/properties/0/id"),
        (#"[ { "id": "p", "never": { "outcome": "nope" } } ]"#, .badValue, "/properties/0/never/outcome"),
        (
            #"[ { "id": "p", "never": { "outcome": "none", "in": "stack" } } ]"#, .keyNotAllowed,
            "/properties/0/never/in"
        ),
        (#"[ { "id": "p", "never": { "screens": "a.b.x" } } ]"#, .unknownScreen, "/properties/0/never/screens"),
        (#"[ { "id": "p", "never": { "external": "a b" } } ]"#, .badValue, "/properties/0/never/external"),
        (
            #"[ { "id": "p", "when": { "wihout": "x" }, "never": { "outcome": "none" } } ]"#, .unknownKey,
            "/properties/0/when/wihout"
        ),
        (
            #"[ { "id": "p", "when": { "capability": "x" }, "never": { "outcome": "none" } } ]"#, .unknownCapability,
            "/properties/0/when/capability"
        ),
        (
            #"[ { "id": "p", "when": { "app": "4" }, "never": { "outcome": "none" } } ]"#, .badValue,
            "/properties/0/when/app"
        ),
        (#"[ { "id": "p", "links": "/{a", "never": { "outcome": "none" } } ]"#, .badPattern, "/properties/0/links"),
        (#"[ { "id": "p", "links": [], "never": { "outcome": "none" } } ]"#, .badValue, "/properties/0/links"),
        (
            #"[ { "id": "p", "links": "/", "requests": "path", "never": { "outcome": "none" } } ]"#, .keyNotAllowed,
            "/properties/0/requests"
        ),
        (
            #"[ { "id": "p", "never": { "outcome": "none" } }, { "id": "p", "never": { "outcome": "none" } } ]"#,
            .duplicate, "/properties/1/id"
        ),
        ("7", .wrongType, "/properties"),
        ("[", .json, "/properties"),
    ]

    @Test("A mistake is reported with its code and place, and nothing is used", arguments: wrong)
    func mistakes(text: String, code: TableProblem.Code, pointer: String) throws {
        let (file, problems) = try read(text)
        #expect(file == nil)
        #expect(problems.contains { $0.code == code && (code == .json || $0.pointer == pointer) }, "\(problems)")
    }

    @Test("Properties of another table are refused")
    func otherTable() throws {
        let (file, problems) = try read("[]", table: "u")
        #expect(file == nil && problems.map(\.pointer) == ["/table"])
    }

    @Test("A file has at most 1,000 properties of 64 patterns, and 1 MiB")
    func bounds() throws {
        func properties(_ count: Int, links: Int = 1) -> String {
            let all = Array(repeating: #""/a""#, count: links).joined(separator: ",")
            return "["
                + (0..<count).map { #"{ "id": "p\#($0)", "links": [\#(all)], "never": { "outcome": "none" } }"# }
                .joined(separator: ",") + "]"
        }
        #expect(try read(properties(1_000)).0?.properties.count == 1_000)
        #expect(try read(properties(1_001)).1.map(\.code) == [.tooLarge])
        #expect(try read(properties(1, links: 64)).0 != nil)
        #expect(try read(properties(1, links: 65)).1.map(\.code) == [.badValue])
        let large = try read("[]" + String(repeating: " ", count: PropertyFile.maxBytes))
        #expect(large.1.map(\.code) == [.tooLarge])
    }

    @Test("The schema has the keys of the reader")
    func schema() throws {
        let schema = try JSONValue.parse(TableFiles.shared("config/schemas/properties.schema.json"))
        let definitions = [schema, schema["$defs"]?["property"], schema["$defs"]?["result"]]
        for ((object, keys), own) in zip(PropertyFile.keys, definitions) {
            let listed = try #require(own?["properties"]?.object, "\(object)").map(\.name)
            #expect(Set(listed) == Set(keys), "\(object)")
        }
    }

    @Test("The reference has the keys of the reader")
    func reference() throws {
        let page = String(
            decoding: try TableFiles.shared("Sources/RouteAnalysis/RouteAnalysis.docc/Properties.md"), as: UTF8.self)
        for (object, keys) in PropertyFile.keys where object != "file" {
            for key in keys { #expect(page.contains("\n| `\(key)` |"), "\(object).\(key)") }
        }
    }

    @Test("The sample file has the form of the schema", .enabled(if: SchemaValidator.isAvailable))
    func sample() throws {
        let text = String(decoding: try TableFiles.shared("config/samples/tours-properties.json"), as: UTF8.self)
        #expect(try SchemaValidator.errors(schema: "properties", in: [.init(name: "tours", text: text)]) == [:])
        let table = String(decoding: try TableFiles.shared("config/samples/tours.json"), as: UTF8.self)
        #expect(try SchemaValidator.errors(schema: "table", in: [.init(name: "tours", text: table)]) == [:])
    }
}
