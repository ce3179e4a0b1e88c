import LinkIngest
import Testing

@Suite("Events that name their JSON schema")
struct SchemaMemberTests {
    @Test(
        "the reader ignores the schema of an event, whatever its type",
        arguments: [#""event.schema.json""#, "1", "null"])
    func schema(value: String) throws {
        let text = #"{"$schema":\#(value),"link":"shop:///p/1","device":{"id":"d-1"}}"#
        let event = try LinkEvent.read(Array(text.utf8))
        #expect(event.request == .link("shop:///p/1"))
    }
}
