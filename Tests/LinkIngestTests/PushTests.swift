import LinkIngest
import StrictJSON
import Testing

@Suite("Push bodies yield the kind, the roots, and the device")
struct PushTests {
    static let aps = #"{"aps":{"alert":"Hi","link":"shop:///x"},"message":{"data":{}}}"#
    static let android = #"{"data":{"deep_link":"shop:///a"}}"#
    static let inner = #"{"aps":{"alert":"Hi"},"deep_link":"shop:///i"}"#
    static let web = #"{"fcm_options":{"link":"https://shop.example/"}}"#
    static let message =
        #"{"token":"t-1","data":{"deep_link":"shop:///d"},"android":"# + android + #","apns":{"headers":{},"payload":"#
        + inner + #"},"webpush":"# + web + "}"
    static let wrapped = #"{"validate_only":false,"message":"# + message + "}"

    /// A body, the platform of the device, and the expected roots.
    static let rootCases: [(body: String, platform: String?, roots: [String])] = [
        (aps, "ios", [aps]), (aps, "android", [aps]), (aps, nil, [aps]),
        (message, nil, [message]), (message, "unheard-of", [message]), (message, "", [message]),
        (message, "ios", [inner, message]), (message, "iPadOS", [inner, message]),
        (message, "visionOS", [inner, message]),
        (message, "android", [android, message]), (message, "Android", [android, message]),
        (message, "web", [web, message]),
        (wrapped, nil, [message]), (wrapped, "ios", [inner, message]), (wrapped, "android", [android, message]),
        (wrapped, "web", [web, message]),
        (#"{"data":{"x":"y"}}"#, "ios", [#"{"data":{"x":"y"}}"#]),
        (#"{"apns":{"headers":{}},"data":{}}"#, "ios", [#"{"apns":{"headers":{}},"data":{}}"#]),
        (#"{"apns":{"payload":5},"data":{}}"#, "ios", [#"{"apns":{"payload":5},"data":{}}"#]),
        (#"{"android":7,"data":{}}"#, "android", [#"{"android":7,"data":{}}"#]),
        (#"{"notification":{"title":"x"}}"#, nil, [#"{"notification":{"title":"x"}}"#]),
        (
            #"{"android":{"priority":"high"}}"#, "android",
            [#"{"priority":"high"}"#, #"{"android":{"priority":"high"}}"#]
        ),
    ]

    @Test("The roots depend on the kind of the body and the platform of the device", arguments: rootCases)
    func roots(body: String, platform: String?, roots: [String]) {
        let facts = platform.map { ",\"platform\":\"\($0)\"" } ?? ""
        let device = "\"device\":{\"id\":\"d\"\(facts)}"
        guard case .success(let event) = snapshot("{\"payload\":\(body),\(device)}") else {
            Issue.record("refused")
            return
        }
        #expect(event.form == "payload")
        #expect(event.payload == body)
        #expect(event.devices.first?.roots == roots)
        let whole = String(body.dropLast()) + ",\(device)}"
        guard case .success(let record) = snapshot(whole) else {
            Issue.record("refused as a whole record")
            return
        }
        #expect(record.form == "payload")
        #expect(record.payload == whole)
        #expect(record.devices.first?.roots == roots.map { $0 == body ? whole : $0 })
    }

    @Test("Each device of a list has its own roots")
    func list() {
        let value =
            #"{"payload":\#(Self.wrapped),"devices":[{"id":"a","platform":"ios"},{"id":"b"},"#
            + #"{"id":"c","platform":"android"}]}"#
        guard case .success(let event) = snapshot(value) else {
            Issue.record("refused")
            return
        }
        #expect(
            event.devices.map(\.roots) == [
                [Self.inner, Self.message], [Self.message], [Self.android, Self.message],
            ])
    }

    @Test("A payload of an unknown kind has itself as root, and is not valid as a record")
    func unknown() {
        for body in ["{}", #"{"deep_link":"shop:///x"}"#, #"{"message":"text"}"#, #"{"aps":"x"}"#, #"{"token":"t"}"#] {
            guard case .success(let event) = snapshot("{\"payload\":\(body)}", key: "k") else {
                Issue.record("refused: \(body)")
                continue
            }
            #expect(event.devices.first?.roots == [body])
            guard case .failure(let failure) = snapshot(body, key: "k") else {
                Issue.record("read: \(body)")
                continue
            }
            #expect(failure.reason == "missing_link")
        }
    }

    @Test("The member payloadType determines the kind of a body")
    func named() {
        let both = #"{"aps":{},"android":{"data":{}}}"#
        let device = #""device":{"id":"d","platform":"android"}"#
        let cases: [(String, [String])] = [
            ("", [both]), (#","payloadType":"apns""#, [both]),
            (#","payloadType":"fcm""#, [#"{"data":{}}"#, both]), (#","payloadType":null"#, [both]),
        ]
        for (member, roots) in cases {
            guard case .success(let event) = snapshot("{\"payload\":\(both)\(member),\(device)}") else {
                Issue.record("refused: \(member)")
                continue
            }
            #expect(event.devices.first?.roots == roots)
        }
    }

    @Test("The device is that of the event, otherwise the key, otherwise the token of the message")
    func device() {
        func id(_ value: String, key: String?) -> String {
            switch snapshot(value, key: key) {
            case .success(let event): event.devices.first?.id ?? ""
            case .failure(let failure): failure.reason
            }
        }
        let own = #","device":{"id":"d"}}"#
        #expect(id(String(Self.wrapped.dropLast()) + own, key: "k") == "d")
        #expect(id(Self.wrapped, key: "k") == "k")
        #expect(id(Self.wrapped, key: nil) == "t-1")
        #expect(id(Self.message, key: nil) == "t-1")
        #expect(id("{\"payload\":\(Self.wrapped)}", key: nil) == "t-1")
        #expect(id("{\"payload\":\(Self.message)}", key: nil) == "t-1")
        #expect(id(Self.aps, key: nil) == "missing_device")
        #expect(id(#"{"aps":{},"token":"t"}"#, key: nil) == "missing_device")
        #expect(id(#"{"message":{"topic":"news"}}"#, key: nil) == "untargetable")
        #expect(id(#"{"message":{"condition":"'a' in topics"}}"#, key: nil) == "untargetable")
        #expect(id(#"{"payload":{"topic":"news","data":{}}}"#, key: nil) == "untargetable")
        #expect(id(#"{"message":{"topic":"news"}}"#, key: "k") == "k")
        #expect(id(#"{"message":{"topic":"news"}"# + own, key: nil) == "d")
        #expect(id(#"{"message":{"topic":5}}"#, key: nil) == "missing_device")
        #expect(id(#"{"message":{"data":{}}}"#, key: nil) == "missing_device")
        #expect(id(#"{"message":{"token":""}}"#, key: nil) == "bad_device")
        #expect(id("{\"message\":{\"token\":\"\(String(repeating: "t", count: 257))\"}}", key: nil) == "bad_device")
        #expect(id(#"{"message":{"token":"a\tb"}}"#, key: nil) == "a\tb")
        #expect(id(#"{"message":{"token":"t"}}"#, key: "") == "bad_device")
    }

    @Test("A push body as a record can have members that are invalid in an event")
    func ownMembers() {
        let value = #"{"aps":{},"id":42,"mode":"dark","device":"phone","expires":7,"params":[],"action":{}}"#
        guard case .success(let event) = snapshot(value, key: "k") else {
            Issue.record("refused")
            return
        }
        #expect(event.devices.map(\.id) == ["k"])
        #expect(event.id.isEmpty)
        guard case .success(let other) = snapshot(#"{"aps":{},"link":5}"#, key: "k") else {
            Issue.record("refused")
            return
        }
        #expect(other.form == "payload")
    }

    @Test("A link next to aps is the link of the event")
    func linkBesideAps() {
        guard case .success(let event) = snapshot(#"{"aps":{},"link":"shop:///x"}"#, key: "k") else {
            Issue.record("refused")
            return
        }
        #expect(event.form == "link" && event.text == "shop:///x")
        #expect(event.devices.first?.roots == [])
    }
}
