import LinkIngest
import StrictJSON
import TestSupport
import Testing

/// A bound of a file with rules.
struct FileBound: Sendable, CustomTestStringConvertible {
    /// The first cell of its row in the article.
    var name: String
    /// The place of the bound in the schema.
    var place: [String]
    /// Returns a file with a number of these parts, or bytes, or with this number.
    var file: @Sendable (Int) -> String

    init(_ name: String, _ place: [String], _ file: @escaping @Sendable (Int) -> String) {
        (self.name, self.place, self.file) = (name, place, file)
    }

    var testDescription: String { name }

    /// Returns an array of an element that is written several times.
    ///
    /// `#` in it stands for the number of the element.
    static func list(_ count: Int, _ element: String) -> String {
        "[" + (0..<max(count, 0)).map { element.replacing("#", with: "\($0)") }.joined(separator: ",") + "]"
    }

    /// Returns an object with members of one value.
    static func object(_ count: Int, _ value: String) -> String {
        "{" + (0..<max(count, 0)).map { "\"n\($0)\":\(value)" }.joined(separator: ",") + "}"
    }

    static func text(_ count: Int) -> String { String(repeating: "a", count: max(count, 0)) }

    /// Compares the article, the schema, and the reader.
    ///
    /// - Parameter isAccepted: Returns a Boolean value that indicates whether the reader accepts a file.
    func check(_ table: ReferencePage.Table, _ schema: JSONValue, isAccepted: (String) -> Bool) throws {
        let row = try #require(table.rows.first { $0.first == name }, "\(name) is not in the article")
        let most = try #require(Int(row.last ?? ""))
        let value = place.reduce(schema) { value, step in
            Int(step).flatMap { value[step] ?? value.array?[$0] } ?? value[step] ?? JSONValue(.null)
        }
        // The segments of a pointer are counted by a pattern.
        let written = value.string?.firstMatch(of: #/\{1,(\d+)\}\$$/#).map { String($0.1) } ?? value.text
        #expect(written == "\(most)", "\(name): the schema has \(written)")
        #expect(isAccepted(file(most)), "\(name): \(most) is refused")
        #expect(!isAccepted(file(most + 1)), "\(name): \(most + 1) is accepted")
    }
}

@Suite("The reader of vendor tables, their schema, and the article have the same bounds")
struct VendorBoundTests {
    /// Returns a file with one vendor, whose members replace the plain ones.
    private static func vendor(_ members: [String: String]) -> String {
        var all = ["id": #""a""#, "name": #""A""#, "sources": "[]", "examples": "[]", "forms": "[\(form([:]))]"]
        all.merge(members) { $1 }
        return #"{"schemaVersion":1,"vendors":[\#(object(all))]}"#
    }

    private static func object(_ members: [String: String]) -> String {
        "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private static func form(_ members: [String: String]) -> String {
        object(["on": #"["apple"]"#, "marks": #"[["/m"]]"#].merging(members) { $1 })
    }

    /// Returns a file with one form.
    private static func file(_ members: [String: String]) -> String { vendor(["forms": "[\(form(members))]"]) }

    private static func buttons(_ from: Int, _ count: Int) -> String {
        file(["buttons": #"[{"numbered":{"from":\#(from),"count":\#(count)},"id":"/b{N}"}]"#])
    }

    private static let example = #"{"payload":{"m":1},"reason":"no_link"}"#
    private static let inVendor = ["$defs", "vendor", "properties"]
    private static let inForm = ["$defs", "form", "properties"]
    private static let inCondition = ["$defs", "condition", "oneOf", "1", "properties"]
    private static let inNumbered = ["$defs", "buttons", "properties", "numbered", "properties"]
    private static let inWrapped = [
        "$defs", "links", "items", "oneOf", "1", "properties", "wrapped", "properties",
    ]

    static let bounds: [FileBound] = [
        FileBound("vendors", ["properties", "vendors", "maxItems"]) { count in
            let row = #"{"id":"a#","name":"A","sources":[],"examples":[],"forms":[{"on":["web"],"marks":[["/m"]]}]}"#
            return #"{"schemaVersion":1,"vendors":\#(FileBound.list(count, row))}"#
        },
        FileBound("bytes of a vendor's `name`", inVendor + ["name", "maxLength"]) {
            vendor(["name": "\"\(FileBound.text($0))\""])
        },
        FileBound("`sources` of a vendor", inVendor + ["sources", "maxItems"]) {
            vendor(["sources": FileBound.list($0, #""s""#)])
        },
        FileBound("bytes of a source", inVendor + ["sources", "items", "maxLength"]) {
            vendor(["sources": "[\"\(FileBound.text($0))\"]"])
        },
        FileBound("bytes of a remark", inVendor + ["remark", "maxLength"]) {
            vendor(["remark": "\"\(FileBound.text($0))\""])
        },
        FileBound("forms of a vendor", inVendor + ["forms", "maxItems"]) {
            vendor(["forms": FileBound.list($0, form([:]))])
        },
        FileBound("`examples` of a vendor", inVendor + ["examples", "maxItems"]) {
            vendor(["examples": FileBound.list($0, example)])
        },
        FileBound("`notes` of an example", ["$defs", "example", "properties", "notes", "maxItems"]) {
            vendor(["examples": #"[{"payload":{"m":1},"reason":"no_link","notes":\#(FileBound.list($0, #""n""#))}]"#])
        },
        FileBound("lists in rules", ["$defs", "rules", "maxItems"]) {
            file(["silent": FileBound.list($0, #"["/a"]"#), "opensApp": FileBound.list($0, #"["/a"]"#)])
        },
        FileBound("lists in rules", ["$defs", "marks", "maxItems"]) { file(["marks": FileBound.list($0, #"["/a"]"#)]) },
        FileBound("conditions in a list", ["$defs", "conditions", "maxItems"]) {
            file(["silent": "[\(FileBound.list($0, #""/a""#))]"])
        },
        FileBound("conditions in a list", ["$defs", "marks", "items", "maxItems"]) {
            file(["marks": "[\(FileBound.list($0, #""/a""#))]"])
        },
        FileBound("texts of `equals`", inCondition + ["equals", "maxItems"]) {
            file(["silent": #"[[{"at":"/a","equals":\#(FileBound.list($0, #""x""#))}]]"#])
        },
        FileBound("texts of `equals`", inCondition + ["notEquals", "maxItems"]) {
            file(["silent": #"[[{"at":"/a","notEquals":\#(FileBound.list($0, #""x""#))}]]"#])
        },
        FileBound("bytes of a text in a condition", inCondition + ["notEquals", "items", "maxLength"]) {
            file(["silent": #"[[{"at":"/a","notEquals":["\#(FileBound.text($0))"]}]]"#])
        },
        FileBound("lists in rules", ["$defs", "silent", "maxItems"]) {
            file(["silent": FileBound.list($0, #"["/a"]"#)])
        },
        FileBound("conditions in a list", ["$defs", "silent", "items", "maxItems"]) {
            file(["silent": "[\(FileBound.list($0, #"{"shown":true}"#))]"])
        },
        FileBound("`limit` of buttons", ["$defs", "buttons", "properties", "limit", "maximum"]) {
            file(["buttons": #"[{"list":"/b","id":"/i","limit":\#($0)}]"#])
        },
        FileBound("bytes of a text in a condition", inCondition + ["equals", "items", "maxLength"]) {
            file(["silent": #"[[{"at":"/a","equals":["\#(FileBound.text($0))"]}]]"#])
        },
        FileBound("bytes of a text in a condition", inCondition + ["startsWith", "maxLength"]) {
            file(["silent": #"[[{"at":"/a","startsWith":"\#(FileBound.text($0))"}]]"#])
        },
        FileBound(
            "bytes of a `prefix`",
            ["$defs", "marks", "items", "items", "oneOf", "1", "properties", "prefix", "maxLength"]
        ) { file(["marks": #"[[{"prefix":"\#(FileBound.text($0))"}]]"#]) },
        FileBound("places of a link", ["$defs", "links", "maxItems"]) { file(["links": FileBound.list($0, #""/a""#)]) },
        FileBound("bytes of a text in `wrapped`", inWrapped + ["scheme", "maxLength"]) {
            file(["links": #"[{"at":"/a","wrapped":{"scheme":"\#(FileBound.text($0))","after":"x"}}]"#])
        },
        FileBound("bytes of a text in `wrapped`", inWrapped + ["after", "maxLength"]) {
            file(["links": #"[{"at":"/a","wrapped":{"scheme":"x","after":"\#(FileBound.text($0))"}}]"#])
        },
        FileBound("objects in `buttons`", inForm + ["buttons", "maxItems"]) {
            file(["buttons": FileBound.list($0, #"{"members":"/a"}"#)])
        },
        FileBound("first number of `numbered`", inNumbered + ["from", "maximum"]) { buttons($0, 1) },
        FileBound("numbers of `numbered`", inNumbered + ["count", "maximum"]) { buttons(0, $0) },
        FileBound("pointers in `embedded`", inForm + ["embedded", "maxItems"]) {
            file(["embedded": FileBound.list($0, #""/a#""#)])
        },
        FileBound("other pointers of a key", ["$defs", "pointers", "maxItems"]) {
            file(["message": FileBound.list($0, #""/a""#), "campaign": FileBound.list($0, #""/a""#)])
        },
        FileBound("segments of a pointer", ["$defs", "pointer", "pattern"]) {
            file(["links": "[\"\(String(repeating: "/a", count: $0))\"]"])
        },
        FileBound("bytes of a pointer", ["$defs", "pointer", "maxLength"]) {
            file(["links": "[\"/\(FileBound.text($0 - 1))\"]"])
        },
        FileBound("names in `platformNames`", inForm + ["platformNames", "maxProperties"]) {
            file([
                "on": #"["record"]"#, "envelope": #""e""#, "platformNames": FileBound.object($0, #""ios""#),
            ])
        },
    ]

    private static func isAccepted(_ file: String) -> Bool { (try? VendorTable(json: Array(file.utf8))) != nil }

    @Test("A file at the bound is read, one above it is refused, and the schema and the article state it")
    func bounds() throws {
        let page = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/VendorTable.md")
        let table = try #require(page.table("Bounds of the file", "Bound"))
        let schema = try JSONValue.parse(IngestFixture.shipped("schemas/vendors.schema.json"))
        for bound in Self.bounds { try bound.check(table, schema, isAccepted: Self.isAccepted) }
        #expect(Set(table.column("Bound")) == Set(Self.bounds.map(\.name)))
    }

    @Test("The schema has no bound that is not compared")
    func complete() throws {
        let schema = try JSONValue.parse(IngestFixture.shipped("schemas/vendors.schema.json"))
        #expect(Set(Self.places(in: schema)) == Set(Self.bounds.map { $0.place }.filter { $0.last != "pattern" }))
    }

    /// Returns the places of upper bounds in a schema, with `maxProperties` of conditional parts left out.
    static func places(in schema: JSONValue, _ steps: [String] = []) -> [[String]] {
        let bounds = ["maxItems", "maxLength", "maximum", "maxProperties"]
        var found: [[String]] = []
        for member in schema.object ?? [] where !["dependentSchemas", "then"].contains(member.name) {
            if bounds.contains(member.name) { found.append(steps + [member.name]) }
            found += places(in: member.value, steps + [member.name])
        }
        for (index, element) in (schema.array ?? []).enumerated() { found += places(in: element, steps + ["\(index)"]) }
        return found
    }
}

@Suite("The reader of link platforms, their schema, and the article have the same bounds")
struct LinkPlatformBoundTests {
    private static func platform(_ members: String) -> String {
        #"{"schemaVersion":1,"platforms":[{"id":"p","name":"P",\#(members)}]}"#
    }

    private static let rule = #"{"hosts":["a.example"],"unwrap":["u"]}"#

    private static func rule(_ member: String) -> String { platform(#""rules":[{"hosts":["a.example"],\#(member)}]"#) }

    private static let inPlatform = ["$defs", "platform", "properties"]

    static let bounds: [FileBound] = [
        FileBound("platforms", ["properties", "platforms", "maxItems"]) { count in
            let row = #"{"id":"p#","name":"P","rules":[\#(rule)]}"#
            return #"{"schemaVersion":1,"platforms":\#(FileBound.list(count, row))}"#
        },
        FileBound("`rules` of all platforms", inPlatform + ["rules", "maxItems"]) {
            platform(#""rules":"# + FileBound.list($0, rule))
        },
        FileBound("`examples` of a platform", inPlatform + ["examples", "maxItems"]) {
            let example = #"{"link":"b://c","result":"itself"}"#
            return platform(#""rules":[\#(rule)],"examples":"# + FileBound.list($0, example))
        },
        FileBound("names, texts, and hosts in a list", ["$defs", "names", "maxItems"]) {
            rule(#""unwrap":["u"],"marks":"# + FileBound.list($0, #""m""#))
        },
        FileBound("names, texts, and hosts in a list", ["$defs", "rule", "properties", "hosts", "maxItems"]) {
            platform(#""rules":[{"unwrap":["u"],"hosts":\#(FileBound.list($0, #""a.example""#))}]"#)
        },
        FileBound("items of `unwrap`", ["$defs", "parameters", "maxItems"]) {
            rule(#""unwrap":"# + FileBound.list($0, #""u""#))
        },
        FileBound("bytes of a text", ["$defs", "text", "maxLength"]) { rule(#""unwrap":["\#(FileBound.text($0))"]"#) },
    ]

    @Test("A file at the bound is read, one above it is refused, and the schema and the article state it")
    func bounds() throws {
        let page = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/LinkPlatforms.md")
        let table = try #require(page.table("Bounds of the file", "Bound"))
        let schema = try JSONValue.parse(IngestFixture.shipped("schemas/link-platforms.schema.json"))
        for bound in Self.bounds {
            try bound.check(table, schema) { (try? LinkPlatforms(file: Array($0.utf8))) != nil }
        }
        #expect(Set(table.column("Bound")) == Set(Self.bounds.map(\.name)))
        #expect(Set(VendorBoundTests.places(in: schema)) == Set(Self.bounds.map(\.place)))
        // The rules of several platforms count together.
        let rows = [600, 425].map { #"{"id":"p\#($0)","name":"P","rules":\#(FileBound.list($0, Self.rule))}"# }
        let file = #"{"schemaVersion":1,"platforms":[\#(rows.joined(separator: ","))]}"#
        #expect(LinkPlatforms.check(Array(file.utf8)).problems.map(\.code) == [.tooMany])
    }

    @Test("The article about the vendor table has the codes of problems")
    func codes() throws {
        let page = try ReferencePage(path: "Sources/LinkIngest/LinkIngest.docc/VendorTable.md")
        #expect(page.table("Problems", "Code")?.names == RuleFileProblem.Code.allCases.map(\.rawValue))
    }
}
