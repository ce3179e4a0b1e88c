import ByteStorage
import DispatchWorker
import Foundation
import KafkaClient
import LinkCoordinator
import LinkIngest
import TestSupport
import Testing
import LinkDecider

/// The schemas of the vendor table, of events with push messages, and of their decisions, checked with an independent
/// validator.
@Suite(.enabled(if: SchemaValidator.isAvailable, Comment(rawValue: SchemaValidator.unavailableReason)))
struct VendorSchemaTests {
    private static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Checkout.root.appending(path: path)))
    }

    /// A line of a fixture.
    private struct Line {
        /// The name of the file and the number of the line.
        var name: String
        var members: [String: Any]
    }

    /// Returns the lines of all fixtures in a folder of LinkIngestTests.
    private static func fixtures(_ folder: String) throws -> [Line] {
        let start = "Tests/LinkIngestTests/Fixtures/\(folder)/"
        let files = try Checkout.trackedFiles().filter { $0.path.hasPrefix(start) && $0.suffix == "jsonl" }
        return try files.flatMap { file in
            try (file.text ?? "").split(separator: "\n").enumerated().map { number, line in
                let members = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return Line(name: file.path.dropFirst(start.count) + ":\(number + 1)", members: members ?? [:])
            }
        }
    }

    private static func text(_ value: Any) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: value, options: [.withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: The vendor table

    @Test("The shipped vendor table matches its schema")
    func vendorTable() throws {
        let text = String(decoding: try Self.bytes("config/vendors.json"), as: UTF8.self)
        let subject = SchemaValidator.Subject(name: "vendors", text: text)
        #expect(try SchemaValidator.errors(schema: "vendors", in: [subject]) == [:])
    }

    /// Members of a form that the schema and the program refuse.
    static let faultyForms = [
        #""marks":[]"#, #""marks":[[]]"#, #""marks":[["a"]]"#, #""marks":[[""]]"#, #""marks":[["/a~2"]]"#,
        #""marks":[["/1/2/3/4/5/6/7/8/9"]]"#, #""marks":[["/a"]],"markz":1"#, #""marks":"/a""#,
        #""marks":[[{"at":"/a","is":"text"}]]"#, #""marks":[[{"at":"/a","equals":[]}]]"#,
        #""marks":[[{"at":"/a","absent":true,"empty":true}]]"#, #""marks":[[{"at":"/a","absent":false}]]"#,
        #""marks":[[{"at":"/a","equals":"x"}]]"#, #""marks":[[{"prefix":""}]]"#,
        #""marks":[["/a"]],"silent":[[{"prefix":"a"}]]"#, #""marks":[["/a"]],"links":[{"when":["/a"]}]"#,
        #""marks":[["/a"]],"links":[{"at":"/b","platform":"apple"}]"#, #""marks":[["/a"]],"links":["b"]"#,
        #""marks":[["/a"]],"links":[{"at":"/b","wrapped":{"scheme":"a"}}]"#,
        #""marks":[["/a"]],"buttons":[{"list":"/b"}]"#, #""marks":[["/a"]],"buttons":[{"id":"/b"}]"#,
        #""marks":[["/a"]],"buttons":[{"list":"/b","members":"/c","id":"/d"}]"#,
        #""marks":[["/a"]],"buttons":[{"members":"/b","otherwise":"link"}]"#,
        #""marks":[["/a"]],"buttons":[{"numbered":{"from":0,"count":65},"id":"/b{N}"}]"#,
        #""marks":[["/a"]],"envelope":"x""#, #""marks":[["/a"]],"device":["/d"]"#, #""marks":[["/a"]],"message":"/m""#,
        #""marks":[[{"at":"/a","absent":true}]]"#, #""marks":[[{"at":"/a","notEquals":[]}]]"#,
        #""marks":[["/a"]],"links":[{"at":"/b","when":[]}]"#, #""marks":[["/a"]],"links":["/b{N}"]"#,
        #""marks":[["/a"]],"links":[{"at":"/b","when":["/c{N}"]}]"#, #""marks":[["/a{N}"]]"#,
        #""marks":[["/a"]],"message":["/{N}"]"#, #""marks":[["/a"]],"buttons":[{"list":"/b","id":"/id{N}"}]"#,
        #""marks":[["/a"]],"buttons":[{"members":"/b","links":["/u{N}"]}]"#,
        #""marks":[["/a"]],"buttons":[{"numbered":{"from":0,"count":2},"id":"/b"}]"#,
        #""marks":[["/a"]],"buttons":[{"numbered":{"from":1000,"count":2},"id":"/b{N}"}]"#,
        #""marks":[["/a"]],"buttons":[{"object":"/b"}]"#, #""marks":[["/a"]],"buttons":[{"object":"/b","list":"/c"}]"#,
        #""marks":[["/a"]],"buttons":[{"list":"/b","id":"/id","limit":0}]"#,
        #""marks":[["/a"]],"buttons":[{"members":"/b","limit":3}]"#,
        #""marks":[["/a"]],"buttons":[{"members":"/b","links":[{"at":"/u","platform":"apple"}]}]"#,
        #""marks":[["/a"]],"customActions":[[{"at":"/a","absent":true}]]"#, #""marks":[[{"shown":true}]]"#,
        #""marks":[["/a"]],"customActions":[[{"shown":true}]]"#, #""marks":[["/a"]],"silent":[[{"shown":1}]]"#,
        #""marks":[["/a"]],"links":[{"at":"/b","wrapped":{"scheme":"1a","after":"b"}}]"#,
        #""marks":[["/\#(letters(256))"]]"#, #""marks":[[{"prefix":"\#(letters(65))"}]]"#,
        #""marks":[[{"at":"/a","equals":["\#(letters(257))"]}]]"#,
        #""marks":[[{"at":"/a","startsWith":"\#(letters(257))"}]]"#,
        #""marks":[[{"at":"/a","equals":[\#(list(65, #""x""#))]}]]"#,
    ]

    /// Members of a form that the schema and the program accept, at the limits of lengths and numbers.
    static let largeForms = [
        #""marks":[["/\#(ascii(255))"]]"#, #""marks":[[{"prefix":"\#(ascii(64))"}]]"#,
        #""marks":[[{"at":"/a","equals":["\#(ascii(256))"]}]]"#, #""marks":[[{"at":"/a","equals":["{N}","{N}"]}]]"#,
        #""marks":[["/a"]],"message":["/b","/b"],"silent":[["/b",{"shown":false}]]"#,
        #""marks":[["/a"]],"buttons":[{"numbered":{"from":999,"count":64},"id":"/{N}","links":["/u{N}"]}]"#,
        #""marks":[["/a"]],"buttons":[{"list":"/b","id":"/id","limit":64},{"object":"/b","id":"/id"}]"#,
        #""marks":[["/a"]],"customActions":[[{"at":"/b","absent":true},{"at":"/a","notEquals":["x"]}]]"#,
    ]

    /// Members of a vendor that the schema and the program refuse.
    static let faultyVendors = [
        #""sources":[""]"#, #""sources":["\#(letters(513))"]"#, #""sources":[\#(list(65, #""s""#))]"#,
        #""remark":"""#, #""remark":"\#(letters(513))""#, #""remark":["r"]"#,
        #""name":"""#, #""name":"\#(letters(129))""#,
        #""examples":[\#(list(65, example))]"#, #""forms":[]"#,
        #""examples":[\#(example),{"payload":{"a":1},"reason":"no_link","notes":[\#(list(65, #""n""#))]}]"#,
    ]

    private static let example = #"{"payload":{"a":1},"reason":"no_link"}"#

    /// Returns a text with a number of characters of two bytes.
    private static func letters(_ count: Int) -> String { String(repeating: "\u{E9}", count: count) }

    private static func ascii(_ count: Int) -> String { String(repeating: "e", count: count) }

    private static func list(_ count: Int, _ element: String) -> String {
        Array(repeating: element, count: count).joined(separator: ",")
    }

    /// Returns a table with one vendor, some of whose members are given.
    private static func vendor(_ given: String) -> String {
        let members = [
            "name": #""A""#, "sources": #"["s"]"#, "examples": "[\(example),\(example)]",
            "forms": #"[{"on":["apple"],"marks":[["/a"]]}]"#,
        ]
        let others = members.filter { !given.hasPrefix("\"\($0.key)\"") }.map { "\"\($0.key)\":\($0.value)" }
        return #"{"schemaVersion":1,"vendors":[{"id":"a",\#((others.sorted() + [given]).joined(separator: ","))}]}"#
    }

    private static func form(_ members: String) -> String { vendor(#""forms":[{"on":["apple"],\#(members)}]"#) }

    @Test("The schema of vendors refuses forms and vendors that the program refuses, and accepts large ones")
    func faultyForms() throws {
        let faulty = Self.faultyForms.map(Self.form) + Self.faultyVendors.map(Self.vendor)
        let large = Self.largeForms.map(Self.form)
        for text in faulty {
            #expect(throws: RuleFileFailure.self, "\(text)") { try VendorTable(json: Array(text.utf8)) }
        }
        for text in large {
            #expect(throws: Never.self, "\(text)") { try VendorTable(json: Array(text.utf8)) }
        }
        let subjects = (faulty + large).map { SchemaValidator.Subject(name: $0, text: $0) }
        let errors = try SchemaValidator.errors(schema: "vendors", in: subjects)
        #expect(faulty.filter { errors[$0] == nil } == [])
        #expect(large.filter { errors[$0] != nil } == [])
    }

    // MARK: Events

    @Test("The messages of the fixtures in an event, and the events of the fixtures, match the schema")
    func events() throws {
        var subjects: [SchemaValidator.Subject] = []
        for line in try Self.fixtures("vendors") {
            guard let event = try Self.event(line.members) else { continue }
            subjects.append(SchemaValidator.Subject(name: line.name, text: event))
        }
        #expect(subjects.count > 200)
        #expect(try SchemaValidator.errors(schema: "event", in: subjects) == [:])
        // The schema refuses exactly the events that are refused.
        let events = try Self.fixtures("envelopes").filter { $0.name.hasPrefix("native") && $0.members["value"] != nil }
        let errors = try SchemaValidator.errors(
            schema: "event",
            in: events.map { SchemaValidator.Subject(name: $0.name, text: try Self.text($0.members["value"] ?? 0)) })
        let refused = events.filter { ($0.members["expect"] as? [String: Any])?["error"] != nil }
        #expect(Set(errors.keys) == Set(refused.map(\.name)) && !refused.isEmpty && refused.count < events.count)
    }

    /// Returns the event with the message of a fixture, or nil if the message is not JSON.
    private static func event(_ line: [String: Any]) throws -> String? {
        guard let payload = line["payload"] as? [String: Any] else { return nil }
        var device = ["id": "d-0042"]
        device["platform"] = line["platform"] as? String
        var event: [String: Any] = ["device": device, "payload": payload]
        event["action"] = line["action"]
        return try text(event)
    }

    // MARK: Decisions

    /// A table that accepts the links of the fixtures.
    private static let table = #"""
        {"schemaVersion":1,"table":{"id":"fixtures","version":"1"},
         "link":{"schemes":["shop","myapp"],"host":"segment"},
         "coordinators":{"home":{"initial":"feed","screens":{"feed":{}}}},
         "routes":[{"id":"all","match":"/{path+}","to":{"path":"/home/feed"}}]}
        """#

    /// Returns the decisions that a worker publishes for values, with their names.
    private static func decisions(
        _ values: [SchemaValidator.Subject], hasOtherTable: Bool = false
    ) throws -> [SchemaValidator.Subject] {
        let other = table.replacing("\"fixtures\"", with: "\"others\"")
            .replacing("\"shop\",\"myapp\"", with: "\"other\"")
        var decider = Decider(
            DeciderConfiguration(
                tables: TableSet(try (hasOtherTable ? [table, other] : [table]).map { try RouteTable(json: $0.utf8) }),
                passthrough: ["about"],
                vendors: try VendorTable(json: bytes("config/vendors.json")),
                platforms: try LinkPlatforms(file: bytes("config/link-platforms.json"))))
        var arena = OutputArena(chunkBytes: 4096)
        var subjects: [SchemaValidator.Subject] = []
        let key = Array("d-0042".utf8)
        for value in values {
            var produced: [ProducedDecision] = []
            Array(value.text.utf8).withUnsafeBufferPointer { bytes in
                key.withUnsafeBufferPointer { key in
                    let record = ConsumedRecord(
                        topic: 0, partition: 3, offset: 7, timestamp: 1000, key: ByteView(key), value: ByteView(bytes),
                        index: 0, hasHeaders: false)
                    _ = decider.decide(
                        record, topicName: ByteView("link-events" as StaticString), into: &arena, decisions: &produced)
                    subjects += produced.map { SchemaValidator.Subject(name: value.name, text: $0.value.string) }
                }
            }
        }
        return subjects
    }

    @Test("The published decisions for all fixtures match the schema, and have the context and the notes of messages")
    func decisions() throws {
        var values = try Self.fixtures("vendors").compactMap { line in
            try Self.event(line.members).map { SchemaValidator.Subject(name: line.name, text: $0) }
        }
        for line in try Self.fixtures("envelopes") where line.members["headers"] == nil {
            guard let value = line.members["value"] else { continue }
            values.append(SchemaValidator.Subject(name: line.name, text: try Self.text(value)))
        }
        let withoutTable = try Self.decisions(values, hasOtherTable: true).filter { !$0.text.contains("\"table\":") }
        #expect(withoutTable.count > 50)
        let subjects = try Self.decisions(values) + withoutTable
        #expect(subjects.count > 300)
        #expect(try SchemaValidator.errors(schema: "decision", in: subjects) == [:])
        for part in [
            #""context":{"push":{"vendor":""#, #""reason":"open_app""#, #""reason":"needs_resolution""#,
            #""reason":"no_link""#, #""notes":["vendor_also:"#, #""link_without_scheme /"#, #""json_text /"#,
            #""platform_needed /"#, #""silent""#, #""button_unknown""#, #""envelope_also:"#,
        ] {
            #expect(subjects.contains { $0.text.contains(part) }, "\(part)")
        }
    }

    @Test("The schema accepts every note of the reference, and no other one")
    func notes() throws {
        let page = try ReferencePage(path: "Sources/LinkCoordinator/LinkCoordinator.docc/DecisionReference.md")
        let tables = ["Notes", "Notes about the record"].compactMap { page.table($0, "Note") }
        let placeholders = [
            ("POINTER", "/data/x~1y/0"), ("ENVELOPE", "web_push"), ("VENDOR", "braze-currents"),
            ("PLATFORM.PARAMETER", "adjust.adj_deep_link"), ("FACT unknown", "app unknown"), ("FACT", "platform"),
            ("FILE LINK DESTINATION", "0123456789abcdef go.example/a shop://a"),
        ]
        func decision(_ note: String) throws -> String {
            let note = placeholders.reduce(note) { $0.replacing($1.0, with: $1.1) }
            return try Self.text(["table": "t@1+01234567", "outcome": "reject", "reason": "host", "notes": [note]])
        }
        let names = tables.flatMap(\.names)
        #expect(names.count > 30)
        let valid = try names.map { SchemaValidator.Subject(name: $0, text: try decision($0)) }
        #expect(try SchemaValidator.errors(schema: "decision", in: valid) == [:])
        let others = [
            "because", "link_trimmed", "link_trimmed data", "vendor_also:", "envelope_also:FCM", "silent /aps",
            "short_link:0123 go.example/a shop://a", "short_link:0123456789abcdef go.example/a",
        ]
        let invalid = try others.map { SchemaValidator.Subject(name: $0, text: try decision($0)) }
        #expect(Set(try SchemaValidator.errors(schema: "decision", in: invalid).keys) == Set(others))
    }
}
