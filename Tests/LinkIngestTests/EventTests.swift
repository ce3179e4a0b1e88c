import LinkCoordinator
import LinkIngest
import Testing

/// A valid record with the expected event.
struct GoodCase: CustomTestStringConvertible, Sendable {
    var name: String
    var value: String
    var key: String?
    var expected: @Sendable (inout Snapshot) -> Void

    init(
        _ name: String, _ value: String, key: String? = "d-1", _ expected: @escaping @Sendable (inout Snapshot) -> Void
    ) {
        self.name = name
        self.value = value
        self.key = key
        self.expected = expected
    }

    var testDescription: String { name }
}

@Suite("Valid events are read")
struct EventTests {
    static let cases: [GoodCase] = [
        GoodCase("A link only", #"{"link":"shop:///p/1"}"#) { $0.text = "shop:///p/1" },
        GoodCase("A link with an escape", #"{"link":"shop:\/\/\/p\/\u0031"}"#) {
            $0.text = "shop:///p/1"
        },
        GoodCase("A link with white space at both ends", #"{"link":" \t shop:///p/1 \r\n\f","device":{"id":"d-1"}}"#) {
            $0.text = "shop:///p/1"
        },
        GoodCase("A plain link with spaces at both ends", #"{"link":"  shop:///p/1 ","device":{"id":"d-1"}}"#) {
            $0.text = "shop:///p/1"
        },
        GoodCase("A link of spaces only", #"{"link":"  "}"#) { $0.text = "" },
        GoodCase("A path with spaces at both ends, which are kept", #"{"path":" /a "}"#) {
            $0.form = "path"
            $0.text = " /a "
        },
        GoodCase("An empty link", #"{"link":""}"#) { $0.text = "" },
        GoodCase("An absolute path", #"{"path":"/auth/a"}"#) {
            $0.form = "path"
            $0.text = "/auth/a"
        },
        GoodCase("A path with a mode", #"{"mode":"reuse","path":"auth/c"}"#) {
            $0.form = "path"
            $0.text = "auth/c"
            $0.mode = "reuse"
        },
        GoodCase("The mode replace", #"{"path":"a","mode":"replace"}"#) {
            $0.form = "path"
            $0.text = "a"
            $0.mode = "replace"
        },
        GoodCase("The mode append, with an escaped name", #"{"path":"a","m\u006fde":"app\u0065nd"}"#) {
            $0.form = "path"
            $0.text = "a"
            $0.mode = "append"
        },
        GoodCase("A mode is ignored for a link", #"{"link":"a:b","mode":"reuse"}"#) { $0.text = "a:b" },
        GoodCase("A route without parameters", #"{"route":"item"}"#) {
            $0.form = "route"
            $0.text = "item"
        },
        GoodCase("A route with parameters", #"{"route":"item","params":{"id":"x","n":5.0,"b":true,"z":null}}"#) {
            $0.form = "route"
            $0.text = "item"
            $0.params = #"{"id":"x","n":5.0,"b":true,"z":null}"#
        },
        GoodCase("Parameters are ignored for a path", #"{"path":"/","params":{"id":"x"}}"#) {
            $0.form = "path"
            $0.text = "/"
        },
        GoodCase(
            "Members that are null count as absent",
            #"{"link":"a:b","path":null,"route":null,"payload":null,"id":null,"device":null,"devices":null,"#
                + #""expires":null,"mode":null,"params":null,"application":null,"action":null,"payloadType":null,"#
                + #""headers":null}"#
        ) {
            $0.text = "a:b"
        },
        GoodCase(
            "An id, an application, and an action",
            #"{"id":"e-\"1","link":"a:b","application":"com.example","action":"buy"}"#
        ) {
            $0.text = "a:b"
            $0.id = "e-\"1"
            $0.application = "com.example"
            $0.action = "buy"
        },
        GoodCase("An empty application counts as present", #"{"link":"a:b","application":""}"#) {
            $0.text = "a:b"
            $0.application = ""
        },
        GoodCase("A time of expiry", #"{"link":"a:b","expires":"2026-11-21T10:00:00.5Z"}"#) {
            $0.text = "a:b"
            $0.expires = 1_795_255_200_500
        },
        GoodCase(
            "Unknown members are ignored",
            #"{"x":[{"a":1},[[]]],"link":"a:b","sent":5,"data":{},"aps":{},"message":{"apns":{}},"token":1}"#
        ) {
            $0.text = "a:b"
        },
        GoodCase("White space between tokens", " \n\u{0C}\t{ \"link\" : \"a:b\" , \"x\" : [ ] }\r\n ") {
            $0.text = "a:b"
        },
        GoodCase("A bare link", "https://shop.example/p?a=1#x") { $0.text = "https://shop.example/p?a=1#x" },
        GoodCase("A bare link with white space at both ends", " \r\n\tshop:x\u{0C}\n") { $0.text = "shop:x" },
        GoodCase("A bare link with a quotation mark, which needs an escape", "shop:\"x\\") {
            $0.text = "shop:\"x\\"
        },
        GoodCase("A bare link with only a scheme", "a+b-c.d0:") { $0.text = "a+b-c.d0:" },
        GoodCase("A bare link with characters beyond ASCII", "shop:é\u{85}") { $0.text = "shop:é\u{85}" },
    ]

    @Test("A valid record yields the expected event", arguments: cases)
    func good(_ test: GoodCase) {
        var expected = Snapshot(form: "link")
        expected.devices = [Snapshot.Device(id: "d-1")]
        test.expected(&expected)
        #expect(snapshot(test.value, key: test.key) == .success(expected))
    }

    @Test("One reader reads all events and failures in turn, and no record affects the next")
    func inTurn() {
        var reader = EventReader(passthrough: ["campaign", "id"])
        for _ in 0..<3 {
            for test in Self.cases {
                var fresh = EventReader(passthrough: ["campaign", "id"])
                let value = Array(test.value.utf8)
                let key = test.key.map { Array($0.utf8) }
                #expect(snapshot(value, key: key, with: &reader) == snapshot(value, key: key, with: &fresh))
                _ = snapshot(Array(#"{"campaign":5,"id":"x","aps":{},"link":"#.utf8), key: nil, with: &reader)
            }
        }
    }

    @Test("The public type yields the same event")
    func publicValue() throws {
        let text =
            #"{"id":"e","application":"a","route":"r","params":{"x":1},"expires":"1970-01-01T00:00:01Z","#
            + #""devices":[{"id":"d","platform":"ios","claims":["s"],"attributes":{"k":"v"},"app":5}]}"#
        let event = try LinkEvent.read(Array(text.utf8))
        #expect(event.id == "e" && event.application == "a" && event.expires == 1000)
        #expect(event.request == .route("r", params: ["x": 1]))
        #expect(event.devices.count == 1)
        var facts = DeviceFacts(platform: "ios", claims: ["s"], attributes: ["k": "v"])
        #expect(event.devices[0].id == "d" && event.devices[0].facts != facts)
        facts.unreadable = [.app]
        #expect(event.devices[0].facts == facts)
        #expect(event.devices[0].unreadable == ["app"])
        #expect(try LinkEvent.read(Array("a:b".utf8), key: [0x64]).request == .link("a:b"))
        #expect(
            try LinkEvent.read(Array(#"{"path":"/x","mode":"reuse"}"#.utf8), key: [0x64]).request
                == .path("/x", mode: .reuse))
        #expect(try LinkEvent.read(Array(#"{"payload":{"a":1}}"#.utf8), key: [0x64]).request == .payload(["a": 1]))
        #expect(
            throws: LinkEvent.Failure(
                reason: "bad_json", detail: "expected `link` to be a string", pointer: "/link")
        ) { try LinkEvent.read(Array(#"{"link":5}"#.utf8)) }
    }
}
