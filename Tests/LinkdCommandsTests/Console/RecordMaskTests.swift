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
            #"{"context":{"campaign":{"user":"S"},"application":["S"],"push":{"vendor":{"S":1},"campaign":["S"]}}}"#,
            #"{"notes":["rewrite:lang=S","skipped:/a(id=S)","truncated:S","unwrapped:S",7,{"S":1}]}"#,
            #"{"notes":"S","stack":"S","context":"S","resume":"S"}"#,
            #"{"stack":["S",7,{"data":"S","nav":"push"},[["S"]],{"data":{"P":"S"}}]}"#,
            #"{"user":"S","outcome":"none","reason":"no_device"}"#, #"{"user":["S"],"facts":"S"}"#,
            #"{"facts":{"platform":["S"],"claims":["S"],"attributes":{"S":"S"},"coordinator":"S","S":"S"}}"#,
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
            #"{"application":["S"],"mode":{"S":1},"device":{"app":["S"],"locale":{"S":"S"}}}"#,
            #"{"link":"S"}"#, #"{"link":["S"]}"#, #"{"user":"S"}"#, #"{"user":{"S":"S"}}"#, #""S""#,
        ])
    func `Nothing personal is left of an event`(event: String) throws {
        let text = Self.mask.event(try Self.json(event.replacing("S", with: Self.secret))).text
        #expect(!text.contains("alice"), "\(text)")
    }

    @Test(
        arguments: [
            ("shop://product/alice", "shop://…"), ("shop://alice@example.com/p", "shop://…"),
            ("shop://alice", "shop://…"), ("x-1.a+b:///p/alice", "x-1.a+b://…"),
            ("HTTPS://shop.example/p/alice", "HTTPS://shop.example/…"), ("alice smith://shop/p", "…"), ("alice:p", "…"),
            ("://alice", "…"), ("1a://alice", "…"), ("älice://x", "…"), ("https://alice:pw@shop.example/", "…"),
            ("https://shop.example?alice", "https://shop.example/…"), ("", "…"),
        ])
    func `Only the scheme of a link stays, and the host of a web link`(link: String, shown: String) {
        #expect(Self.mask.origin(link) == shown)
    }

    @Test func `The messages of a worker's errors are masked, and the rest of its state stays`() throws {
        let page =
            #"{"ready":true,"lanes":[{"lane":0,"last_errors":[{"event":"e","code":"c","message":"S","age_ms":1}]}]}"#
        let value = try Self.json(page.replacing("S", with: Self.secret))
        #expect(Self.mask.status(value).text == page.replacing("S", with: "…"))
        #expect(RecordMask(hash: KeyedHash(), isOn: false).status(value).text == value.text)
    }

    @Test func `Of the order of a replay, the numbers of devices stay`() throws {
        let summary = #"{"chosen":2,"order":{"devices":2,"later":1,"example":"S: o-1-7 (in-0-4-0)"},"seconds":0.5}"#
        let value = try Self.json(summary.replacing("S", with: Self.secret))
        #expect(
            ReplayRoute.shown(value, masks: true).text
                == #"{"chosen":2,"order":{"devices":2,"later":1},"seconds":0.5}"#)
        #expect(ReplayRoute.shown(value, masks: false).text == value.text)
    }

    @Test func `What explains a decision stays`() throws {
        let text =
            #"{"decision":"t-0-1-0","table":"shop@1+00000000","route":"item","outcome":"reject","reason":"host","#
            + #""notes":["device.app unreadable","dropped:Product.id","userinfo dropped"]}"#
        #expect(Self.mask.decision(try Self.json(text)).text == text)
        let notes = try Self.json(#"{"notes":["rewrite:lang=de","skipped:/a"]}"#)
        #expect(Self.mask.decision(notes).text == #"{"notes":["rewrite:lang=…","skipped:…"]}"#)
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
