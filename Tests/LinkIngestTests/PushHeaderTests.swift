import ByteStorage
import LinkCoordinator
import LinkIngest
import Testing

/// The headers of an APNs request in an event.
@Suite("Headers of APNs beside a body complete the event")
struct PushHeaderTests {
    /// The members of an event that come from its headers.
    struct Seen: Equatable {
        var id = ""
        var application: String?
        var expires: Int64?
        var opening = RequestOpening.Kind.link
        var notes: [String] = []
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var headers: String
        /// Further members of the event.
        var members = ""
        var payload = #"{"aps":{"alert":"Hi"},"ab":{},"ab_uri":"shop:///p"}"#
        var expected: @Sendable (inout Seen) -> Void = { _ in }

        var testDescription: String { headers + members }
    }

    static let cases = [
        Case(headers: "{}"), Case(headers: "null"),
        Case(headers: #"{"apns-topic":"com.example.shop"}"#) { $0.application = "com.example.shop" },
        Case(headers: #"{"apns-topic":"com.example.shop.voip"}"#) { $0.application = "com.example.shop" },
        Case(headers: #"{"apns-topic":"com.example.shop.push-type.liveactivity"}"#) {
            $0.application = "com.example.shop"
        },
        Case(headers: #"{"apns-topic":"com.example.shop.pushkit.fileprovider"}"#) {
            $0.application = "com.example.shop"
        },
        Case(headers: #"{"apns-topic":".voip"}"#) { $0.application = ".voip" },
        Case(headers: #"{"apns-topic":"com.a"}"#, members: #","application":"com.b""#) { $0.application = "com.b" },
        Case(headers: #"{"apns-topic":7.5}"#) { $0.application = "7.5" },
        Case(headers: #"{"apns-id":"123E4567-e89b"}"#) { $0.id = "123E4567-e89b" },
        Case(headers: #"{"apns-id":"a\"b"}"#) { $0.id = "a\"b" },
        Case(headers: #"{"apns-id":"a"}"#, members: #","id":"e-1""#) { $0.id = "e-1" },
        Case(headers: #"{"apns-expiration":"1795255200"}"#) { $0.expires = 1_795_255_200_000 },
        Case(headers: #"{"apns-expiration":1795255200}"#) { $0.expires = 1_795_255_200_000 },
        Case(headers: #"{"apns-expiration":"0"}"#), Case(headers: #"{"apns-expiration":null}"#),
        Case(headers: #"{"apns-expiration":"999999999999"}"#) { $0.expires = 999_999_999_999_000 },
        Case(headers: #"{"apns-expiration":"5"}"#, members: #","expires":"1970-01-01T00:00:01Z""#) {
            $0.expires = 1000
        },
        Case(headers: #"{"apns-push-type":"alert","apns-priority":10,"apns-collapse-id":"c","x":[{}]}"#),
        Case(headers: #"{"apns-push-type":"background"}"#) {
            $0.opening = .noLink
            $0.notes = ["silent"]
        },
        // Without a body of APNs they have no meaning.
        Case(
            headers: #"{"apns-id":"a","apns-push-type":"background","apns-expiration":"x"}"#,
            payload: #"{"data":{"_ab":"true","uri":"shop:///p"}}"#),
        // A value that cannot be read is skipped and noted.
        Case(
            headers: #"{"apns-push-type":true,"apns-expiration":"-1","apns-id":{},"apns-topic":[]}"#
        ) {
            $0.notes = ["topic", "id", "expiration", "push-type"].map { "header_unreadable /headers/apns-\($0)" }
        },
        Case(headers: #"{"apns-expiration":"1795255200.5","apns-topic":""}"#) {
            $0.notes = ["topic", "expiration"].map { "header_unreadable /headers/apns-\($0)" }
        },
        Case(headers: #"{"apns-expiration":"1000000000000"}"#) {
            $0.notes = ["header_unreadable /headers/apns-expiration"]
        },
        Case(headers: "{\"apns-id\":\"\(String(repeating: "a", count: 129))\"}") {
            $0.notes = ["header_unreadable /headers/apns-id"]
        },
        Case(headers: "{\"apns-topic\":\"\(String(repeating: "a", count: 257))\"}") {
            $0.notes = ["header_unreadable /headers/apns-topic"]
        },
    ]

    private static func read(_ text: String, _ reader: inout EventReader) -> Seen? {
        let bytes = ExactBytes(Array(text.utf8))
        guard reader.readInPlace(value: bytes.view, key: ByteView("k" as StaticString)), reader.selectDevice(at: 0)
        else { return nil }
        let event = reader.eventPointer.pointee
        return Seen(
            id: event.id.string, application: event.hasApplication ? event.application.string : nil,
            expires: event.expires, opening: event.request.found.kind,
            notes: event.request.notes.map { $0.code.string + $0.place.string })
    }

    @Test("Headers have their meaning, before or after the body, and no record affects the next", arguments: cases)
    func headers(test: Case) throws {
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        var expected = Seen()
        test.expected(&expected)
        let (headers, payload) = (#""headers":\#(test.headers)"#, #""payload":\#(test.payload)"#)
        for text in ["{\(headers),\(payload)\(test.members)}", "{\(payload),\(headers)\(test.members)}"] {
            #expect(Self.read(text, &reader) == expected)
            #expect(Self.read("{\(payload)}", &reader) == Seen())
        }
    }

    @Test("A body of APNs as a record has headers beside it")
    func record() throws {
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        let text = #"{"aps":{},"headers":{"apns-topic":"com.a","apns-id":"i"},"ab":{},"ab_uri":"shop:///p"}"#
        #expect(Self.read(text, &reader) == Seen(id: "i", application: "com.a"))
        let other = #"{"aps":{},"headers":"x","ab":{},"ab_uri":"shop:///p"}"#
        #expect(Self.read(other, &reader) == Seen())
    }

    @Test("The id of an event of CloudEvents precedes that of the headers, and follows that of the event")
    func cloudEvents() throws {
        var reader = EventReader()
        func id(_ members: String) -> String? {
            let data = #"{"payload":{"aps":{}},"headers":{"apns-id":"a"}\#(members)}"#
            return Self.read(
                #"{"specversion":"1.0","id":"ce","source":"s","type":"t","data":\#(data)}"#, &reader)?.id
        }
        #expect(id("") == "ce")
        #expect(id(#","id":"e""#) == "e")
    }

    @Test("Headers of another type are refused")
    func type() {
        for value in ["[]", "1", #""apns-id""#] {
            let text = #"{"payload":{"aps":{}},"headers":\#(value)}"#
            guard case .failure(let refusal) = snapshot(text, key: "k") else {
                Issue.record("\(value) was read")
                continue
            }
            #expect(refusal.reason == "bad_json" && refusal.pointer == "/headers")
        }
    }
}
