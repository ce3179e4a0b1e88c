import LinkIngest
import Testing

/// An invalid record with the expected failure.
struct BadCase: CustomTestStringConvertible, Sendable {
    var value: String
    var key: String?
    var expected: Snapshot.Refusal

    init(
        _ value: String, _ reason: String, _ detail: String, _ pointer: String? = nil, key: String? = "d-1",
        event: String? = nil
    ) {
        self.value = value
        self.key = key
        expected = Snapshot.Refusal(reason: reason, detail: detail, pointer: pointer, event: event)
    }

    var testDescription: String { "\(expected.reason) \(String(value.prefix(60)).debugDescription)" }
}

@Suite("Invalid records fail with a reason and a location")
struct RefusalTests {
    static let twoForms = "expected only one of `link`, `path`, `route`, and `payload`"
    static let noForm = "expected `link`, `path`, `route`, or `payload`, or a push body"
    static let badID = "expected the device's `id` to be a string of 1 to 256 bytes"
    static let id = "expected `id` to be a string of 1 to 128 bytes"
    static let expires = "expected `expires` to be a string with an RFC 3339 time"
    static let mode = "expected `mode` to be `replace`, `append`, or `reuse`"
    static let kind = "expected `payloadType` to be `apns` or `fcm`"
    static let scalar = "expected a string, a number, or a Boolean"
    static let param = "expected a string, a number, a Boolean, or a list of these"
    static let twice = "the object has two members with this name"
    static let neither = "expected a JSON object or a link, which begins with a scheme such as https:"
    static let space =
        "expected a JSON object or a link without white space or control bytes: write %20 for a space"

    static let neitherCases: [BadCase] = [
        BadCase("", "bad_json", neither),
        BadCase(" \n ", "bad_json", neither),
        BadCase("null", "bad_json", neither),
        BadCase("[", "bad_json", "the text ends inside a value", "/0"),
        BadCase(#"[{"to":"a",}]"#, "bad_json", "expected a member name in double quotes", "/0"),
        BadCase("\"https://shop.example/\"", "bad_json", neither),
        BadCase("hello", "bad_json", neither),
        BadCase("/p/1", "bad_json", neither),
        BadCase(":x", "bad_json", neither),
        BadCase("1a:x", "bad_json", neither),
        BadCase("a_b:x", "bad_json", neither),
        BadCase("shop:a b", "bad_json", space),
        BadCase("shop:a\u{7F}b", "bad_json", space),
        BadCase("shop:a\u{0}b", "bad_json", space),
        BadCase("shop:a\nb", "bad_json", space),
        BadCase("\u{FEFF}{\"link\":\"a:b\"}", "bad_json", neither),
        BadCase("\u{B}shop:x", "bad_json", neither),
    ]

    static let list = "expected a JSON object, or a list of 1 to 100 messages that a rule knows"
    static let listCases: [BadCase] = [
        BadCase("[]", "batch_unsupported", list),
        BadCase(#" [{"to":"ExponentPushToken[a]"},{"to":"ExponentPushToken[b]"}] "#, "batch_unsupported", list),
        BadCase(#"[{"audience":"all","device_types":"all","notification":{}}]"#, "batch_unsupported", list),
        BadCase("\u{0}\u{0}\u{0}\u{0}\u{7}[{}]", "batch_unsupported", list),
        BadCase("\u{0}\u{0}\u{0}\u{0}\u{7}[{}", "schema_unsupported", "expected JSON after schema id 7"),
    ]

    static let syntaxCases: [BadCase] = [
        BadCase("{", "bad_json", "the text ends inside a value", ""),
        BadCase(#"{"link":"a:b""#, "bad_json", "the text ends inside a value", ""),
        BadCase(#"{"link":"a:b"}x"#, "bad_json", "more text follows the value; expected only one value", ""),
        BadCase(#"{"link":"a:b",}"#, "bad_json", "expected a member name in double quotes", ""),
        BadCase(#"{link:"a:b"}"#, "bad_json", "expected a member name in double quotes", ""),
        BadCase(#"{"id":"e1","link":tru}"#, "bad_json", "expected true, false, or null", "/link", event: "e1"),
        BadCase(#"{"link":"a:b","link":"a:b"}"#, "bad_json", twice, "/link"),
        BadCase(#"{"link":"a:b","l\u0069nk":"a:b"}"#, "bad_json", twice, "/link"),
        BadCase(#"{"link":"a:b","x":{"y/":1,"y/":2}}"#, "bad_json", twice, "/x/y~1"),
        BadCase(
            #"{"link":"a:b","device":{"id":"d","id":"d"}}"#, "bad_json", twice,
            "/device/id"),
        BadCase(
            #"{"link":"a:b","device":{"id":"d","zz":1,"zz":2}}"#, "bad_json", twice,
            "/device/zz"),
        BadCase(
            #"{"link":"a:b","x":"\ud800"}"#, "bad_json",
            "a surrogate is not part of a pair; write both escapes, or the character itself", "/x"),
        BadCase(#"{"link":"a:b","x":[1,01]}"#, "bad_json", "expected `,` or the closing bracket", "/x"),
        BadCase(
            #"{"link":"a:b","x":-}"#, "bad_json",
            "the number is not valid JSON; expected a form such as 0, -1.5, or 2e3", "/x"),
        BadCase(
            "{\"link\":\"a:\tb\"}", "bad_json",
            "a control character is not escaped; write an escape such as \\n or \\u0007", "/link"),
        BadCase(#"{"link":nul}"#, "bad_json", "expected true, false, or null", "/link"),
        BadCase(
            #"{"payload":{"aps":{"x":1,"x":2}}}"#, "bad_json", twice, "/payload/aps/x"),
    ]

    static let typesCases: [BadCase] = [
        BadCase(#"{"link":5}"#, "bad_json", "expected `link` to be a string", "/link"),
        BadCase(#"{"link":["a:b"]}"#, "bad_json", "expected `link` to be a string", "/link"),
        BadCase(#"{"path":{}}"#, "bad_json", "expected `path` to be a string", "/path"),
        BadCase(#"{"route":true}"#, "bad_json", "expected `route` to be a string", "/route"),
        BadCase(#"{"payload":"{}"}"#, "bad_json", "expected `payload` to be an object", "/payload"),
        BadCase(#"{"payload":[]}"#, "bad_json", "expected `payload` to be an object", "/payload"),
        BadCase(#"{"payload":{},"payloadType":"gcm"}"#, "bad_json", kind, "/payloadType"),
        BadCase(#"{"payload":{},"payloadType":1}"#, "bad_json", kind, "/payloadType"),
        BadCase(#"{"link":"a:b","id":5}"#, "bad_json", id, "/id"),
        BadCase(#"{"link":"a:b","id":""}"#, "bad_json", id, "/id"),
        BadCase(
            #"{"link":"a:b","application":5}"#, "bad_json",
            "expected `application` to be a string", "/application"),
        BadCase(#"{"link":"a:b","action":{}}"#, "bad_json", "expected `action` to be a string", "/action"),
        BadCase(#"{"path":"/","mode":"push"}"#, "bad_json", mode, "/mode"),
        BadCase(#"{"path":"/","mode":1}"#, "bad_json", mode, "/mode"),
        BadCase(#"{"route":"r","params":[]}"#, "bad_json", "expected `params` to be an object", "/params"),
        BadCase(#"{"route":"r","params":{"a":[1],"b":[1,[2]]}}"#, "bad_json", scalar, "/params/b/1"),
        BadCase(#"{"route":"r","params":{"b":[true,null]}}"#, "bad_json", scalar, "/params/b/1"),
        BadCase(#"{"route":"r","params":{"b":{}}}"#, "bad_json", param, "/params/b"),
        BadCase(#"{"link":"a:b","expires":1}"#, "bad_json", expires, "/expires"),
        BadCase(#"{"link":"a:b","expires":"tomorrow"}"#, "bad_json", expires, "/expires"),
        BadCase(#"{"link":"a:b","device":"d"}"#, "bad_json", "expected `device` to be an object", "/device"),
        BadCase(#"{"link":"a:b","devices":{"id":"d"}}"#, "bad_json", "expected `devices` to be an array", "/devices"),
        BadCase(
            #"{"link":"a:b","devices":[{"id":"d"},"e"]}"#, "bad_json",
            "expected the device to be an object", "/devices/1"),
        BadCase(#"{"link":"a:b","devices":[null]}"#, "bad_json", "expected the device to be an object", "/devices/0"),
        BadCase(#"{"id":"e","mode":1,"link":2}"#, "bad_json", mode, "/mode", event: "e"),
        BadCase(
            #"{"link":"a:b","path":5,"id":"late"}"#, "bad_json",
            "expected `path` to be a string", "/path", event: "late"),
    ]

    static let meaningCases: [BadCase] = [
        BadCase(#"{"link":"a:b","path":"/x"}"#, "ambiguous_event", twoForms, "/path"),
        BadCase(#"{"payload":{},"id":"e","link":"a:b"}"#, "ambiguous_event", twoForms, "/link", event: "e"),
        BadCase(#"{"route":"r","path":"/","link":"a:b"}"#, "ambiguous_event", twoForms, "/path"),
        BadCase(
            #"{"link":"a:b","devices":[{"id":"d"}],"device":{"id":"d"}}"#, "ambiguous_event",
            "expected `device` or `devices`, not both", "/device"),
        BadCase(
            #"{"link":"a:b","device":{"id":"d"},"devices":[]}"#, "ambiguous_event",
            "expected `device` or `devices`, not both", "/devices"),
        BadCase("{}", "missing_link", noForm),
        BadCase(#"{"id":"e1","device":{"id":"d"}}"#, "missing_link", noForm, event: "e1"),
        BadCase(#"{"url":"https://shop.example/"}"#, "missing_link", noForm),
        BadCase(#"{"aps":5,"message":"x","token":"t","topic":"n","data":"d"}"#, "missing_link", noForm),
        BadCase(#"{"link":"a:b"}"#, "missing_device", "expected `device`, `devices`, or a key", key: nil),
        BadCase("a:b", "missing_device", "expected `device`, `devices`, or a key", key: nil),
        BadCase(
            #"{"link":"a:b","devices":[]}"#, "missing_device", "expected at least one device in `devices`", "/devices"),
        BadCase(#"{"link":"a:b"}"#, "bad_device", "expected a device, or a key of 1 to 256 bytes of UTF-8", key: ""),
        BadCase(#"{"link":"a:b","device":{}}"#, "bad_device", badID, "/device"),
        BadCase(#"{"link":"a:b","device":{"id":null}}"#, "bad_device", badID, "/device"),
        BadCase(#"{"link":"a:b","device":{"platform":"ios","id":5}}"#, "bad_device", badID, "/device/id"),
        BadCase(#"{"link":"a:b","device":{"id":""}}"#, "bad_device", badID, "/device/id"),
        BadCase(#"{"link":"a:b","device":{"id":["d"]}}"#, "bad_device", badID, "/device/id"),
        BadCase(#"{"link":"a:b","devices":[{"id":"d"},{"id":7},{}]}"#, "bad_device", badID, "/devices/1/id"),
        BadCase(#"{"link":"a:b","path":"x","device":{}}"#, "ambiguous_event", twoForms, "/path"),
        BadCase(#"{"device":{}}"#, "missing_link", noForm),
    ]

    @Test("A record that is neither an object nor a link is refused", arguments: neitherCases)
    func neitherOfBoth(_ test: BadCase) { check(test) }

    @Test("A list of messages is refused as such", arguments: listCases)
    func lists(_ test: BadCase) { check(test) }

    @Test("JSON that is not strict is refused", arguments: syntaxCases)
    func notStrict(_ test: BadCase) { check(test) }

    @Test("A member with the wrong type or above its limit is refused", arguments: typesCases)
    func wrongType(_ test: BadCase) { check(test) }

    @Test("Members that do not form an event are refused", arguments: meaningCases)
    func noEvent(_ test: BadCase) { check(test) }

    private func check(_ test: BadCase) {
        #expect(snapshot(test.value, key: test.key) == .failure(test.expected))
    }

    @Test("A value that is not UTF-8 has the reason not_utf8")
    func notUTF8() {
        let inText = snapshot(Array("{\"link\":\"a:".utf8) + [0xC3, 0x28] + Array("\"}".utf8), key: [0x64])
        #expect(
            inText
                == .failure(
                    Snapshot.Refusal(reason: "not_utf8", detail: "the bytes are not valid UTF-8", pointer: "/link")))
        let bare = snapshot([0xFF, 0xFE, 0x61], key: [0x64])
        #expect(
            bare
                == .failure(
                    Snapshot.Refusal(reason: "not_utf8", detail: "expected UTF-8 with a JSON object or a link")))
        guard case .success(let link) = snapshot(Array("shop:".utf8) + [0xFF], key: [0x64]) else {
            Issue.record("a scheme, a colon, and no white space form a link")
            return
        }
        #expect(link.form == "link")
    }

    @Test(
        "A value in UTF-16 is told with the command that converts it, and is no schema id",
        arguments: [[0xFF, 0xFE], [0xFE, 0xFF], [] as [UInt8]], [true, false])
    func utf16(mark: [UInt8], isLittleEndian: Bool) {
        for text in [#"{"link":"shop:///p/new"}"#, "shop:///p/new"] {
            guard mark.isEmpty || (mark[0] == 0xFF) == isLittleEndian else { continue }
            let units: [UInt8] = text.utf8.flatMap { isLittleEndian ? [$0, 0] : [0, $0] }
            #expect(
                snapshot(mark + units, key: [0x64])
                    == .failure(
                        Snapshot.Refusal(
                            reason: "not_utf8",
                            detail: "the value is UTF-16; send UTF-8: `iconv -f UTF-16 -t UTF-8`")))
        }
        let framed = snapshot([0, 0, 0, 1, 2, 0x61], key: [0x64])
        #expect(
            framed
                == .failure(
                    Snapshot.Refusal(reason: "schema_unsupported", detail: "expected JSON after schema id 258")))
    }

    @Test(
        "A key that is too long or not UTF-8 is not a device",
        arguments: [[0xFF], [UInt8](repeating: 0x61, count: 257)])
    func keys(_ key: [UInt8]) {
        let expected = Snapshot.Refusal(
            reason: "bad_device", detail: "expected a device, or a key of 1 to 256 bytes of UTF-8")
        #expect(snapshot(Array("a:b".utf8), key: key) == .failure(expected))
        guard case .success = snapshot(Array(#"{"link":"a:b","device":{"id":"d"}}"#.utf8), key: key) else {
            Issue.record("an invalid key is accepted if the event names a device")
            return
        }
    }

    @Test("A pointer of more than 512 bytes is shortened to whole steps")
    func longPointer() {
        let name = String(repeating: "n", count: 600)
        guard case .failure(let failure) = snapshot("{\"link\":\"a:b\",\"x\":{\"y\":{\"\(name)\":tru}}}", key: "d")
        else {
            Issue.record("read")
            return
        }
        #expect(failure.pointer == "/x/y")
    }
}
