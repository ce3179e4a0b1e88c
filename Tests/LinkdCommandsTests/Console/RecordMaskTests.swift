internal import DecisionIndex
internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

/// The replacement of what identifies people.
@Suite struct RecordMaskTests {
    private static let mask = RecordMask(hash: KeyedHash(), isOn: true)
    /// A text that stands for everything personal in the records of these tests.
    private static let secret = "alice@example.com"

    private static func json(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }

    @Test(
        arguments: [
            #"{"outcome":"navigate","device":"S","event":"S","path":"/a(id=S)","stack":[{"coordinator":"c","#
                + #""screen":"s","present":"push","identity":"S","data":{"Product":{"id":"S","list":["S"]}}}]}"#,
            #"{"outcome":"external","url":"https://x.example/?mail=S","detail":"S","notice":"/S"}"#,
            #"{"outcome":"deferred","resume":{"claim":"login","link":"https://x/S","path":"/S","params":{"a":"S"},"#
                + #""payload":{"S":"S"},"action":"S","ttl":5}}"#,
            #"{"context":{"user":"S","nested":{"S":1},"push":{"vendor":"v","message":"S","campaign":"c"}}}"#,
            #"{"unknown":"S","another":{"S":"S"}}"#, #""S""#, #"["S"]"#,
        ])
    func `Nothing personal is left of a decision`(decision: String) throws {
        let text = Self.mask.decision(try Self.json(decision.replacing("S", with: Self.secret))).text
        #expect(!text.contains("alice"), "\(text)")
    }

    @Test(
        arguments: [
            #"{"id":"S","link":"https://shop.example/S/p?mail=S#S","device":{"id":"S","attributes":{"name":"S"}}}"#,
            #"{"link":"https://S:pw@shop.example/","devices":[{"id":"S","claims":["S"]},"S"]}"#,
            #"{"path":"/S","params":{"S":"S"},"headers":{"apns-id":"S"},"action":"S"}"#,
            #"{"payload":{"aps":{"alert":{"title":"S","S":[{"S":"S"}]}}},"campaign":"S","other":{"S":"S"}}"#,
            #"{"link":"S"}"#, #"{"link":["S"]}"#, #""S""#,
        ])
    func `Nothing personal is left of an event`(event: String) throws {
        let text = Self.mask.event(try Self.json(event.replacing("S", with: Self.secret))).text
        #expect(!text.contains("alice"), "\(text)")
    }

    @Test func `What explains a decision stays`() throws {
        let text =
            #"{"decision":"t-0-1-0","table":"shop@1+00000000","route":"item","outcome":"reject","reason":"host"}"#
        #expect(Self.mask.decision(try Self.json(text)).text == text)
        #expect(Self.mask.origin("https://shop.example/p/1?a=b") == "https://shop.example/…")
        #expect(Self.mask.header("dlq.reason", "bad_json") == "bad_json")
        #expect(Self.mask.header("user", "alice") == "…")
    }

    @Test func `Equal ids have equal masks, which can be filtered on`() {
        let masked = Self.mask.id(Self.secret)
        #expect(masked == Self.mask.id(Self.secret))
        #expect(masked != Self.mask.id("bob@example.com"))
        #expect(Self.mask.hash(ofTyped: masked) == Self.mask.hash(Self.secret))
        #expect(Self.mask.hash(ofTyped: Self.secret) == Self.mask.hash(Self.secret))
        #expect(RecordMask(hash: KeyedHash(), isOn: true).id(Self.secret) != masked)
    }

    @Test func `Without --mask, records stay as they are`() throws {
        let mask = RecordMask(hash: KeyedHash(), isOn: false)
        let value = try Self.json(#"{"device":"d","extra":{"a":[1]}}"#)
        #expect(mask.decision(value).text == value.text && mask.event(value).text == value.text)
        #expect(mask.id("d") == "d" && mask.text("t") == "t" && mask.header("a", "b") == "b")
    }
}
