internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

/// The texts that a person tries.
@Suite struct TriedInputTests {
    private static let facts = [
        JSONMember(name: "platform", value: JSONValue(.string("ios"))),
        JSONMember(name: "app", value: JSONValue(.string("6.0.0"))),
    ]

    @Test(
        "The kind of an input is found",
        arguments: [
            ("https://shop.example/p/new", "link"), ("  shop:///p/new\n", "link"), ("hello", "link"),
            (#"{"link":"shop:///p/new"}"#, "event"), (#"{"payload":{"aps":{}}}"#, "event"),
            (#"{"aps":{"alert":"Sale"},"link":"shop:///p/new"}"#, "push"),
            (#"{"message":{"data":{}}}"#, "push"), ("{", "push"),
        ])
    func kinds(text: String, kind: String) {
        #expect(TriedInput(text).kind.rawValue == kind)
    }

    @Test("Without facts, a record is the input itself")
    func unchanged() {
        for text in ["shop:///p/new", #"{"link":"shop:///p/new","device":{"id":"d-1"}}"#, #"{"aps":{}}"#, "{"] {
            #expect(TriedInput(" \(text)\n").record(facts: []) == Array(text.utf8))
        }
    }

    @Test(
        "Facts become those of the device",
        arguments: [
            (
                "shop:///p/new",
                #"{"link":"shop:///p/new","device":{"id":"device","platform":"ios","app":"6.0.0"}}"#
            ),
            (
                #"{"aps":{"alert":1}}"#,
                #"{"payload":{"aps":{"alert":1}},"#
                    + #""device":{"id":"device","platform":"ios","app":"6.0.0"}}"#
            ),
            (
                #"{"id":"e","link":"x:y","application":"b","device":{"id":"d-1","app":"1.0","os":"18"}}"#,
                #"{"id":"e","link":"x:y","application":"b","#
                    + #""device":{"id":"d-1","os":"18","platform":"ios","app":"6.0.0"}}"#
            ),
            (
                #"{"link":"x:y","devices":[{"id":"d-1","os":"18"},{"id":"d-2"}]}"#,
                #"{"link":"x:y","device":{"id":"d-1","os":"18","platform":"ios","app":"6.0.0"}}"#
            ),
        ])
    func facts(text: String, record: String) {
        let bytes = TriedInput(text).record(facts: Self.facts)
        #expect(String(decoding: bytes, as: UTF8.self) == record)
    }

    @Test(
        "A text that is no link stays one, whatever the facts are",
        arguments: ["hello", "a b:c", "{", "[1]", "shop:\u{7F}"])
    func invalid(text: String) {
        #expect(TriedInput(text).record(facts: Self.facts) == Array(text.utf8))
    }
}
