import StrictJSON
import Testing

/// The builder of small JSON texts.
@Suite struct JSONTextTests {
    @Test("An array of objects has one object for each item, also inside of others")
    func objects() {
        var json = JSONText()
        json.beginObject()
        json.objects("a", of: 0..<3) { json, count in
            json.number("count", Int64(count))
            json.objects("b", of: 0..<count) { json, item in json.number("item", Int64(item)) }
        }
        json.objects("none", of: [String]()) { json, name in json.text("name", name) }
        json.boolean("end", true)
        json.endObject()
        let text = json.finish()
        let first = #"{"count":0,"b":[]},{"count":1,"b":[{"item":0}]},{"count":2,"b":[{"item":0},{"item":1}]}"#
        #expect(text == "{\"a\":[\(first)],\"none\":[],\"end\":true}")
    }
}
