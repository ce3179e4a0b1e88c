import LinkCoordinator
import LinkIngest
import Testing

@Suite("An event can name its JSON schema")
struct SchemaMemberTests {
    @Test(
        "The schema of an event is ignored, regardless of its type",
        arguments: [#""event.schema.json""#, "1", "null"])
    func schema(value: String) throws {
        let text = #"{"$schema":\#(value),"link":"shop:///p/1","device":{"id":"d-1"}}"#
        let event = try LinkEvent.read(Array(text.utf8))
        #expect(event.request == .link("shop:///p/1"))
    }
}
