import LinkIngest
import Testing

/// A record that is no event, and what its dead letter says.
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

@Suite("What is no event says why and where")
struct RefusalTests {
    static let twoForms = "expected one of link, path, route and payload"
    static let noForm = "expected one of link, path, route and payload, or a push body"
    static let badID = "expected a device's id as text of 1 to 256 bytes"
    static let id = "expected id as text of 1 to 128 bytes"
    static let expires = "expected expires as text with an RFC 3339 time"
    static let mode = "expected mode replace, append or reuse"
    static let kind = "expected payloadType apns or fcm"
    static let scalar = "expected a string, a number or a boolean"
    static let param = "expected a string, a number, a boolean or a list of these"
    static let twice = "expected each name once in an object"
    static let neither = "expected an object or a link"

    static let neitherCases: [BadCase] = [
        BadCase("", "bad_json", neither),
        BadCase(" \n ", "bad_json", neither),
        BadCase("null", "bad_json", neither),
        BadCase("[]", "bad_json", neither),
        BadCase("\"https://shop.example/\"", "bad_json", neither),
        BadCase("hello", "bad_json", neither),
        BadCase("/p/1", "bad_json", neither),
        BadCase(":x", "bad_json", neither),
        BadCase("1a:x", "bad_json", neither),
        BadCase("a_b:x", "bad_json", neither),
        BadCase("shop:a b", "bad_json", neither),
        BadCase("shop:a\u{7F}b", "bad_json", neither),
        BadCase("shop:a\u{0}b", "bad_json", neither),
        BadCase("shop:a\nb", "bad_json", neither),
        BadCase("\u{FEFF}{\"link\":\"a:b\"}", "bad_json", neither),
        BadCase("\u{B}shop:x", "bad_json", neither),
    ]

    static let syntaxCases: [BadCase] = [
        BadCase("{", "bad_json", "the text ends inside a value", ""),
        BadCase(#"{"link":"a:b""#, "bad_json", "the text ends inside a value", ""),
        BadCase(#"{"link":"a:b"}x"#, "bad_json", "expected one value and nothing after it", ""),
        BadCase(#"{"link":"a:b",}"#, "bad_json", "expected a name in quotes", ""),
        BadCase(#"{link:"a:b"}"#, "bad_json", "expected a name in quotes", ""),
        BadCase(#"{"id":"e1","link":tru}"#, "bad_json", "expected true, false or null", "/link", event: "e1"),
        BadCase(#"{"link":"a:b","link":"a:b"}"#, "bad_json", twice, "/link"),
        BadCase(#"{"link":"a:b","l\u0069nk":"a:b"}"#, "bad_json", twice, "/link"),
        BadCase(#"{"link":"a:b","x":{"y/":1,"y/":2}}"#, "bad_json", twice, "/x/y~1"),
        BadCase(
            #"{"link":"a:b","device":{"id":"d","id":"d"}}"#, "bad_json", twice,
            "/device/id"),
        BadCase(
            #"{"link":"a:b","device":{"id":"d","zz":1,"zz":2}}"#, "bad_json", twice,
            "/device/zz"),
        BadCase(#"{"link":"a:b","x":"\ud800"}"#, "bad_json", "expected both halves of a surrogate pair", "/x"),
        BadCase(#"{"link":"a:b","x":[1,01]}"#, "bad_json", "expected a comma or the closing bracket", "/x"),
        BadCase(#"{"link":"a:b","x":-}"#, "bad_json", "expected a number as RFC 8259 writes it", "/x"),
        BadCase("{\"link\":\"a:\tb\"}", "bad_json", "expected control characters to be escaped", "/link"),
        BadCase(#"{"link":nul}"#, "bad_json", "expected true, false or null", "/link"),
        BadCase(
            #"{"payload":{"aps":{"x":1,"x":2}}}"#, "bad_json", twice, "/payload/aps/x"),
    ]

    static let typesCases: [BadCase] = [
        BadCase(#"{"link":5}"#, "bad_json", "expected link as text", "/link"),
        BadCase(#"{"link":["a:b"]}"#, "bad_json", "expected link as text", "/link"),
        BadCase(#"{"path":{}}"#, "bad_json", "expected path as text", "/path"),
        BadCase(#"{"route":true}"#, "bad_json", "expected route as text", "/route"),
        BadCase(#"{"payload":"{}"}"#, "bad_json", "expected payload as an object", "/payload"),
        BadCase(#"{"payload":[]}"#, "bad_json", "expected payload as an object", "/payload"),
        BadCase(#"{"payload":{},"payloadType":"gcm"}"#, "bad_json", kind, "/payloadType"),
        BadCase(#"{"payload":{},"payloadType":1}"#, "bad_json", kind, "/payloadType"),
        BadCase(#"{"link":"a:b","id":5}"#, "bad_json", id, "/id"),
        BadCase(#"{"link":"a:b","id":""}"#, "bad_json", id, "/id"),
        BadCase(#"{"link":"a:b","application":5}"#, "bad_json", "expected application as text", "/application"),
        BadCase(#"{"link":"a:b","action":{}}"#, "bad_json", "expected action as text", "/action"),
        BadCase(#"{"path":"/","mode":"push"}"#, "bad_json", mode, "/mode"),
        BadCase(#"{"path":"/","mode":1}"#, "bad_json", mode, "/mode"),
        BadCase(#"{"route":"r","params":[]}"#, "bad_json", "expected params as an object", "/params"),
        BadCase(#"{"route":"r","params":{"a":[1],"b":[1,[2]]}}"#, "bad_json", scalar, "/params/b/1"),
        BadCase(#"{"route":"r","params":{"b":[true,null]}}"#, "bad_json", scalar, "/params/b/1"),
        BadCase(#"{"route":"r","params":{"b":{}}}"#, "bad_json", param, "/params/b"),
        BadCase(#"{"link":"a:b","expires":1}"#, "bad_json", expires, "/expires"),
        BadCase(#"{"link":"a:b","expires":"tomorrow"}"#, "bad_json", expires, "/expires"),
        BadCase(#"{"link":"a:b","device":"d"}"#, "bad_json", "expected device as an object", "/device"),
        BadCase(#"{"link":"a:b","devices":{"id":"d"}}"#, "bad_json", "expected devices as an array", "/devices"),
        BadCase(
            #"{"link":"a:b","devices":[{"id":"d"},"e"]}"#, "bad_json", "expected a device as an object", "/devices/1"),
        BadCase(#"{"link":"a:b","devices":[null]}"#, "bad_json", "expected a device as an object", "/devices/0"),
        BadCase(#"{"id":"e","mode":1,"link":2}"#, "bad_json", mode, "/mode", event: "e"),
        BadCase(#"{"link":"a:b","path":5,"id":"late"}"#, "bad_json", "expected path as text", "/path", event: "late"),
    ]

    static let meaningCases: [BadCase] = [
        BadCase(#"{"link":"a:b","path":"/x"}"#, "ambiguous_event", twoForms, "/path"),
        BadCase(#"{"payload":{},"id":"e","link":"a:b"}"#, "ambiguous_event", twoForms, "/link", event: "e"),
        BadCase(#"{"route":"r","path":"/","link":"a:b"}"#, "ambiguous_event", twoForms, "/path"),
        BadCase(
            #"{"link":"a:b","devices":[{"id":"d"}],"device":{"id":"d"}}"#, "ambiguous_event",
            "expected device or devices, not both", "/device"),
        BadCase(
            #"{"link":"a:b","device":{"id":"d"},"devices":[]}"#, "ambiguous_event",
            "expected device or devices, not both", "/devices"),
        BadCase("{}", "missing_link", noForm),
        BadCase(#"{"id":"e1","device":{"id":"d"}}"#, "missing_link", noForm, event: "e1"),
        BadCase(#"{"url":"https://shop.example/"}"#, "missing_link", noForm),
        BadCase(#"{"aps":5,"message":"x","token":"t","topic":"n","data":"d"}"#, "missing_link", noForm),
        BadCase(#"{"link":"a:b"}"#, "missing_device", "expected a device, devices or a key", key: nil),
        BadCase("a:b", "missing_device", "expected a device, devices or a key", key: nil),
        BadCase(
            #"{"link":"a:b","devices":[]}"#, "missing_device", "expected at least one device in devices", "/devices"),
        BadCase(#"{"link":"a:b"}"#, "bad_device", "expected a key of 1 to 256 bytes of UTF-8, or a device", key: ""),
        BadCase(#"{"link":"a:b","device":{}}"#, "bad_device", badID, "/device"),
        BadCase(#"{"link":"a:b","device":{"id":null}}"#, "bad_device", badID, "/device"),
        BadCase(#"{"link":"a:b","device":{"platform":"ios","id":5}}"#, "bad_device", badID, "/device/id"),
        BadCase(#"{"link":"a:b","device":{"id":""}}"#, "bad_device", badID, "/device/id"),
        BadCase(#"{"link":"a:b","device":{"id":["d"]}}"#, "bad_device", badID, "/device/id"),
        BadCase(#"{"link":"a:b","devices":[{"id":"d"},{"id":7},{}]}"#, "bad_device", badID, "/devices/1/id"),
        BadCase(#"{"link":"a:b","path":"x","device":{}}"#, "ambiguous_event", twoForms, "/path"),
        BadCase(#"{"device":{}}"#, "missing_link", noForm),
    ]

    @Test("neither an object nor a link", arguments: neitherCases)
    func neitherOfBoth(_ test: BadCase) { check(test) }

    @Test("JSON that is not strict", arguments: syntaxCases)
    func notStrict(_ test: BadCase) { check(test) }

    @Test("a member of a wrong type or over its limit", arguments: typesCases)
    func wrongType(_ test: BadCase) { check(test) }

    @Test("members that do not make an event", arguments: meaningCases)
    func noEvent(_ test: BadCase) { check(test) }

    private func check(_ test: BadCase) {
        #expect(snapshot(test.value, key: test.key) == .failure(test.expected))
    }

    @Test("bytes that are not UTF-8 have a code of their own")
    func notUTF8() {
        let inText = snapshot(Array("{\"link\":\"a:".utf8) + [0xC3, 0x28] + Array("\"}".utf8), key: [0x64])
        #expect(
            inText == .failure(Snapshot.Refusal(reason: "not_utf8", detail: "expected UTF-8", pointer: "/link")))
        let bare = snapshot([0xFF, 0xFE, 0x61], key: [0x64])
        #expect(
            bare
                == .failure(
                    Snapshot.Refusal(reason: "not_utf8", detail: "expected UTF-8: an object or a link")))
        guard case .success(let link) = snapshot(Array("shop:".utf8) + [0xFF], key: [0x64]) else {
            Issue.record("a scheme, a colon and no white space are a link, whatever follows")
            return
        }
        #expect(link.form == "link")
    }

    @Test("a key that is no UTF-8 or too long is no device", arguments: [[0xFF], [UInt8](repeating: 0x61, count: 257)])
    func keys(_ key: [UInt8]) {
        let expected = Snapshot.Refusal(
            reason: "bad_device", detail: "expected a key of 1 to 256 bytes of UTF-8, or a device")
        #expect(snapshot(Array("a:b".utf8), key: key) == .failure(expected))
        guard case .success = snapshot(Array(#"{"link":"a:b","device":{"id":"d"}}"#.utf8), key: key) else {
            Issue.record("a key that is not needed does not matter")
            return
        }
    }

    @Test("a pointer longer than 512 bytes is cut to whole steps")
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
