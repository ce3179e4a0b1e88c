import LinkIngest
import StrictJSON
import TestSupport
import Testing

/// The article about the vendor table against the schema and the reader.
@Suite("The article about the vendor table has the keys and the bounds of the file")
struct VendorArticleTests {
    let page: ReferencePage
    let schema: JSONValue

    init() throws {
        page = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/VendorTable.md")
        schema = try JSONValue.parse(IngestFixture.shipped("schemas/vendors.schema.json"))
    }

    /// The sections with keys, and the places of their objects in the schema.
    static let sections = [
        ("The file", []), ("Keys of a vendor", ["$defs", "vendor"]), ("Keys of a form", ["$defs", "form"]),
        ("Conditions", ["$defs", "condition", "oneOf", "1"]), ("Links", ["$defs", "links", "items", "oneOf", "1"]),
        ("Buttons", ["$defs", "buttons"]), ("Examples", ["$defs", "example"]),
    ]

    /// Returns a value in the schema.
    private func value(_ steps: [String]) -> JSONValue? {
        steps.reduce(schema) { value, step in Int(step).flatMap { value?.array?[$0] } ?? value?[step] }
    }

    @Test("The article and the schema have the same keys, and the same of them are required", arguments: sections)
    func keys(section: String, steps: [String]) throws {
        let table = try #require(page.table(section, "Key"))
        let object = try #require(value(steps))
        #expect(table.names == object["properties"]?.object?.map(\.name))
        let required = table.names.filter { table.cell($0, "Default") == "required" }
        #expect(Set(required) == Set(object["required"]?.array?.compactMap(\.string) ?? []))
    }

    // MARK: Keys and examples

    /// Returns a file with a single form, which is one for records if it is to have such a key.
    private func file(_ key: String, _ value: String, isRecord: Bool = false) -> [UInt8] {
        var members = ["on": isRecord ? #"["record"]"# : #"["apple"]"#, "marks": #"[["/acme"]]"#]
        if isRecord { members["envelope"] = #""acme_event""# }
        members[key] = value
        let form = members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return Array(
            (#"{"schemaVersion":1,"vendors":[{"id":"acme","name":"A","sources":["s"],"forms":[{"# + form
                + #"}],"examples":\#(VendorTableTests.examples)}]}"#).utf8)
    }

    /// Returns a file in which a key of a section has a value.
    private func file(_ section: String, _ key: String, _ value: String) -> [UInt8] {
        switch section {
        case "Conditions":
            return file("silent", key == "at" ? "[[{\"at\":\(value)}]]" : "[[{\"at\":\"/acme\",\"\(key)\":\(value)}]]")
        case "Links":
            let link = key == "at" ? "{\"at\":\(value)}" : "{\"at\":\"/acme\",\"\(key)\":\(value)}"
            return file("links", "[\(link)]", isRecord: true)
        case "Buttons":
            let others = [
                "list": "\"id\":\"/id\",", "object": "\"id\":\"/id\",", "members": "",
                "numbered": "\"id\":\"/id{N}\",", "id": "\"list\":\"/b\",",
            ]
            let other = others[key] ?? "\"list\":\"/b\",\"id\":\"/id\","
            return file("buttons", "[{\(other)\"\(key)\":\(value)}]")
        default:
            let isRecord = page.table(section, "Key")?.cell(key, "Meaning")?.contains("`record` only") ?? false
            return file(key, value, isRecord: isRecord)
        }
    }

    /// Returns the problems of a file.
    private func problems(_ file: [UInt8]) -> [RuleFileProblem] {
        do {
            _ = try VendorTable(json: file)
            return []
        } catch {
            return error.problems
        }
    }

    @Test(
        "The reader knows the keys of the article, and accepts their examples",
        arguments: ["Keys of a form", "Conditions", "Links", "Buttons"])
    func examples(section: String) throws {
        let table = try #require(page.table(section, "Key"))
        for key in table.names {
            let unknown = problems(file(section, key, "0")).map(\.code)
            #expect(!unknown.isEmpty && !unknown.contains(.unknownMember), "\(key)")
            guard let example = ReferencePage.code(table.cell(key, "Example") ?? "").first else { continue }
            #expect(problems(file(section, key, example)) == [], "\(key): \(example)")
        }
        #expect(problems(file(section, "linkz", "0")).map(\.code) == [.unknownMember])
    }

    // MARK: A new vendor

    @Test("The complete row of the article can be added to the shipped file, and its examples hold")
    func added() throws {
        let row = try #require(page.blocks("A complete row").first).text
        let shipped = try JSONValue.parse(IngestFixture.shipped("vendors.json"))
        let vendors = (shipped["vendors"]?.array ?? []).map(\.text) + [row]
        let file = #"{"schemaVersion":1,"vendors":["# + vendors.joined(separator: ",") + "]}"
        #expect(VendorTable.problems(of: Array(file.utf8)) == [])
        #expect(try VendorTable(json: Array(file.utf8)).vendors.last?.examples.count == 4)
    }

    @Test("The event reference has the envelopes of the fixtures")
    func envelopes() throws {
        let events = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/EventReference.md")
        let column = events.table("Envelopes", "Order")?.column("Envelope").flatMap(ReferencePage.code) ?? []
        let forms = events.table("Events and requests of vendors", "Envelope")?.names ?? []
        var found: Set<String> = []
        for file in try VendorFixtureTests.files("envelopes") {
            for line in try VendorFixtureTests.lines(file) {
                if line.expected["cloudevents"] != nil { found.insert("cloudevents") }
                if let name = line.expected["envelope"]?.string { found.insert(name) }
            }
        }
        #expect(found == Set(column + forms))
    }
}
