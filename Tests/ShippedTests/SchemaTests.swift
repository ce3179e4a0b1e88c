import Foundation
import TestSupport
import Testing

/// The schemas in `config/schemas`, checked with an independent validator.
@Suite(.enabled(if: SchemaValidator.isAvailable, Comment(rawValue: SchemaValidator.unavailableReason)))
struct SchemaTests {
    @Test("Every sample event matches the schema", arguments: Shipped.eventFiles + [Shipped.userFile])
    func samplesAreEvents(file: String) throws {
        let subjects = try Shipped.samples(file).map { SchemaValidator.Subject(name: $0.name, text: $0.text) }
        #expect(subjects.count >= (file == Shipped.userFile ? 3 : 5))
        #expect(try SchemaValidator.errors(schema: "event", in: subjects) == [:])
    }

    @Test("Every shipped table matches the schema")
    func tablesAreTables() throws {
        let tables = try Shipped.tables() + Shipped.parityTables()
        let subjects = tables.map { SchemaValidator.Subject(name: $0.path, text: $0.text ?? "") }
        #expect(try SchemaValidator.errors(schema: "table", in: subjects) == [:])
    }

    /// Invalid documents for each schema.
    ///
    /// A schema that accepts everything would pass the tests above.
    static let refused: [(schema: String, text: String)] = [
        ("event", #"{}"#),
        ("event", #"[]"#),
        ("event", #"{"link":null}"#),
        ("event", #"{"link":7}"#),
        ("event", #"{"link":"a:b","path":"/a"}"#),
        ("event", #"{"route":"a","params":{"x":[{}]}}"#),
        ("event", #"{"route":"a","params":{"x":{}}}"#),
        ("event", #"{"path":"/a","mode":"push"}"#),
        ("event", #"{"payload":"text"}"#),
        ("event", #"{"payload":{},"payloadType":"web"}"#),
        ("event", #"{"payload":{},"action":7}"#),
        ("event", #"{"link":"a:b","id":""}"#),
        ("event", #"{"link":"a:b","device":{}}"#),
        ("event", #"{"link":"a:b","device":{"id":7}}"#),
        ("event", #"{"link":"a:b","devices":[]}"#),
        ("event", #"{"link":"a:b","device":{"id":"d"},"devices":[{"id":"d"}]}"#),
        ("event", #"{"link":"a:b","expires":"tomorrow"}"#),
        ("event", #"{"link":"a:b","user":""}"#),
        ("event", #"{"link":"a:b","user":"u","device":{"id":"d"}}"#),
        ("event", #"{"link":"a:b","user":"u","devices":[{"id":"d"}]}"#),
        ("device", #"[]"#),
        ("device", #"{"app":7}"#),
        ("device", #"{"claims":"session"}"#),
        ("device", #"{"user":""}"#),
        ("device", #"{"attributes":{"a":1}}"#),
        ("decision", #"{"outcome":"none","reason":"no_device"}"#),
        ("decision", #"{"user":"u","outcome":"none","reason":"expired"}"#),
        ("decision", #"{"device":"d","user":"u","outcome":"none","reason":"no_device"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"none","reason":"expired","facts":{}}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"none","reason":"expired","facts":{"app":null}}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"none","reason":"expired","facts":{"id":"d"}}"#),
        ("decision", #"{}"#),
        ("decision", #"{"table":"t@1","outcome":"none","reason":"expired"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"none"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"reject","reason":"because"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"navigate","path":"/","stack":[]}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"navigate","mode":"replace","path":"/"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"external"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"external","url":"https://a","path":"/"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"reject","reason":"host","notes":[]}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"reject","reason":"host","extra":1}"#),
        ("decision", #"{"table":"t@1+01234567","route":"a","outcome":"none","reason":"open_app"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"reject","reason":"needs_resolution"}"#),
        ("decision", #"{"table":"t@1+01234567","outcome":"none","reason":"no_link","context":{"push":{}}}"#),
        (
            "decision",
            #"{"table":"t@1+01234567","outcome":"none","reason":"no_link","#
                + #""context":{"push":{"vendor":"a","token":"t"}}}"#
        ),
        (
            "decision",
            #"{"table":"t@1+01234567","outcome":"none","reason":"no_link","#
                + #""context":{"push":{"vendor":"a","message":7}}}"#
        ),
        ("table", #"{}"#),
        ("table", #"{"schemaVersion":3,"table":{"id":"t","version":"1"},"link":\#(block),"routes":[]}"#),
        ("table", #"{"schemaVersion":1,"table":{"id":"7","version":"1"},"link":\#(block),"routes":[]}"#),
        ("table", #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"link":[],"routes":[]}"#),
        ("table", #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"link":\#(block),"routes":[{"id":"a"}]}"#),
        ("table", #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"link":\#(block),"routes":[],"model":{}}"#),
        (
            "table",
            #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"link":\#(block),"models":{"M":{"f":"integer"}},"#
                + #""routes":[]}"#
        ),
        (
            "table",
            #"{"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["a"],"host":"segment","#
                + #""hosts":["b"]},"routes":[]}"#
        ),
    ]

    static let block = #"{"schemes":["a"],"host":"segment"}"#

    @Test("The schemas refuse invalid documents", arguments: ["event", "decision", "table"])
    func wrongIsRefused(schema: String) throws {
        let subjects = Self.refused.filter { $0.schema == schema }
            .map { SchemaValidator.Subject(name: $0.text, text: $0.text) }
        let errors = try SchemaValidator.errors(schema: schema, in: subjects)
        #expect(subjects.map(\.name).filter { errors[$0] == nil } == [])
    }
}
