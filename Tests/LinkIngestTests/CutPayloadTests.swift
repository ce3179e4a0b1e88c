import ByteStorage
import LinkCoordinator
import LinkIngest
import TestSupport
import Testing

@Suite("A payload that reaches a limit is refused, and what was not read never counts as absent")
struct CutPayloadTests {
    /// A table with a silent mark, JSON in a string, a second vendor, and a form for whole records.
    static let table = #"""
        {"schemaVersion":1,"vendors":[
        {"id":"first","name":"F","sources":["s"],"forms":[{"on":["apple","android"],"marks":[["/m"]],
        "embedded":["/s"],"silent":[["/quiet"],["/s/quiet"]],"links":["/better","/s/better","/url"]}],
        "examples":[]},
        {"id":"other","name":"O","sources":["s"],"forms":[{"on":["apple","android"],"marks":[["/o"]],
        "links":["/other"]}],"examples":[]},
        {"id":"req","name":"R","sources":["s"],"forms":[{"on":["record"],"envelope":"req","marks":[["/req"]],
        "links":["/url"],"event":["/no","/id"],"device":["/to","/user"],"platform":["/os"]}],"examples":[]}
        ]}
        """#

    private static func list(_ count: Int) -> String { (0..<count).map { _ in "0" }.joined(separator: ",") }

    private static func members(_ count: Int) -> String {
        (0..<count).map { "\"f\($0)\":0" }.joined(separator: ",")
    }

    /// Reads a record and its devices, and returns the failure, or a result for the last device.
    private static func read(
        _ text: String, _ reader: inout EventReader, key: String? = "k",
        result: (IngestedEvent, EventDevice) -> String = { event, _ in event.request.found.link.string }
    ) -> String {
        let value = ExactBytes(Array(text.utf8))
        let keyBytes = ExactBytes(Array((key ?? "").utf8))
        return withExtendedLifetime((value, keyBytes)) {
            guard reader.readInPlace(value: value.view, key: key == nil ? nil : keyBytes.view) else {
                return failure(reader.failure, value.view)
            }
            for index in 0..<reader.eventPointer.pointee.deviceCount where !reader.selectDevice(at: index) {
                return failure(reader.failure, value.view)
            }
            return result(reader.eventPointer.pointee, reader.devicePointer.pointee)
        }
    }

    private static func link(_ event: IngestedEvent, _: EventDevice) -> String { event.request.text.string }

    private static func notes(_ event: IngestedEvent) -> String {
        event.request.notes.map { $0.code.string + $0.place.string }.joined(separator: ", ")
    }

    private static func failure(_ failure: IngestFailure, _ value: ByteView) -> String {
        "\(failure.reason.rawValue) \(failure.pointer(in: value) ?? "nowhere")"
    }

    @Test(
        "A silent mark, a better link, and another vendor beyond the limit refuse the payload",
        arguments: [#""quiet":true"#, #""better":"s://better""#, #""o":1,"other":"s://other""#, #""x":0"#])
    func beyond(member: String) throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.table.utf8)))
        let fill = "\"x1\":[\(Self.list(16_379))]"
        for (head, tail, pointer) in [
            (#"{"payload":{"#, "}}", "/payload"),
            (#"{"device":{"id":"d","platform":"ios"},"payload":{"#, "}}", "/payload"), (#"{"aps":{},"#, "}", ""),
        ] {
            let text = head + #""m":1,"url":"s://a","# + fill + ","
            let whole = Self.read(text + #""y":0"# + tail, &reader)
            // The last member is the first value beyond the limit, or the second if the body has one more.
            let isAtLimit = pointer.isEmpty
            #expect(whole == (isAtLimit ? "too_many_values /y" : "s://a"), "\(head)")
            let name = member.prefix { $0 != ":" }.filter { $0 != "\"" }
            let found = Self.read(text + #""y":0,"# + member + tail, &reader)
            #expect(found == "too_many_values \(pointer)/\(isAtLimit ? "y" : String(name))", "\(head)")
        }
    }

    @Test("The limit holds inside lists, and the pointer leads to the first value that was not read")
    func pointers() throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.table.utf8)))
        let deep = "{\"m\":1,\"x\":{\"a/b\":[\(Self.list(20_000))]}}"
        #expect(Self.read("{\"payload\":\(deep)}", &reader) == "too_many_values /payload/x/a~1b/16380")
        #expect(Self.read("{\"req\":1,\(deep.dropFirst())", &reader) == "too_many_values /x/a~1b/16379")
        // The same record is read alike after others.
        #expect(Self.read(#"{"payload":{"m":1,"url":"s://a"}}"#, &reader) == "s://a")
        #expect(Self.read("{\"payload\":\(deep)}", &reader) == "too_many_values /payload/x/a~1b/16380")
    }

    @Test("A string with too many values, or with JSON that is nested too deep, refuses the payload of all devices")
    func strings() throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.table.utf8)))
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        func record(_ content: String) -> String {
            let devices = #"[{"id":"a","platform":"web"},{"id":"b","platform":"ios"},{"id":"c","platform":"ios"}]"#
            return #"{"id":"e-1","devices":\#(devices),"payload":{"m":1,"url":"s://a","s":"\#(content)"}}"#
        }
        let many = "{\\\"x\\\":[\(Self.list(20_000))],\\\"quiet\\\":true}"
        #expect(Self.read(record(many), &reader) == "too_many_values /payload/s")
        let deep = "{\\\"x\\\":\(nested(64)),\\\"quiet\\\":true}"
        #expect(Self.read(record(deep), &reader) == "too_many_values /payload/s")
        #expect(Self.read(record("{\\\"x\\\":\(nested(63))}"), &reader) == "s://a")
        // A string that is not escaped is located as well, and again on the second reading.
        for _ in 0..<2 { #expect(Self.read(record(nested(65)), &reader) == "too_many_values /payload/s") }
        // Text that is no JSON counts as absent, however long it is.
        #expect(Self.read(record("[\(Self.list(20_000))"), &reader) == "s://a")
        // The event's id is known, and a second selection fails as well.
        let value = ExactBytes(Array(record(many).utf8))
        let isRead = reader.readInPlace(value: value.view, key: nil)
        #expect(isRead)
        for index in [0, 1, 1, 2] {
            let isSelected = reader.selectDevice(at: index)
            #expect(isSelected == (index == 0))
        }
        #expect(reader.failure.event.map { String(decoding: $0, as: UTF8.self) } == "e-1")
    }

    @Test("The data of CloudEvents is counted by itself, and the outer members are complete")
    func cloudEvents() throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.table.utf8)))
        let start = #"{"specversion":"1.0","id":"i","source":"s","type":"t","#
        let devices = (0..<500).map { "{\"id\":\"d\($0)\",\"attributes\":{\(Self.members(40))}}" }
        let event = "{\"link\":\"s://a\",\"devices\":[\(devices.joined(separator: ","))]}"
        #expect(Self.read(start + "\"data\":\(event)}", &reader, result: Self.link) == "s://a")
        let fill = "\"x\":[\(Self.list(20_000))],"
        #expect(
            Self.read(start + fill + "\"data\":\(event)}", &reader).hasPrefix("too_many_values /x/163"))
        #expect(
            Self.read(start + "\"data\":{\"payload\":{\"m\":1,\"url\":\"s://a\",\(fill)\"quiet\":1}}}", &reader)
                == "too_many_values /data/payload/x/16380")
    }

    @Test("An event with a link is read, and its notes say that other envelopes may be missing")
    func notes() throws {
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        let text = "{\"link\":\"s://a\",\"aps\":{\"x\":[\(Self.list(20_000))]},\"device\":{\"id\":\"d\"}}"
        let found = Self.read(text, &reader) { event, _ in Self.notes(event) }
        #expect(found == "envelope_also:apns, too_many_values")
        // An answer of an API could be beyond the limit.
        let answer = #"{"link":"s://a","session_id":"1","data":"{}","x":[\#(Self.list(20_000))]}"#
        #expect(Self.read(answer, &reader) == "too_many_values /x/16379")
    }

    @Test("An id, a device, or a platform of a vendor's record that is too long is told")
    func longFacts() throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.table.utf8)))
        let long = String(repeating: "x", count: 257)
        let start = #"{"req":1,"url":"s://a","#
        #expect(Self.read(start + #""to":"\#(long)","user":"u"}"#, &reader, key: nil) == "bad_device nowhere")
        let text = start + #""to":"d","no":"\#(long)","id":"e","os":"\#(long)"}"#
        let found = Self.read(text, &reader, key: nil) { event, device in
            "\(event.id.string) \(event.request.found.link.string) \(device.facts.unreadable) \(Self.notes(event))"
        }
        #expect(found == "e s://a 1 id_too_long /no")
    }

    @Test("A link that a table may accept is unwrapped, and a destination that is too long opens nothing else")
    func links() throws {
        let platforms = try LinkPlatforms.rules(
            #"{"hosts":["c.ex"],"unwrap":["a","b"],"origin":"https://a-long-host.shop.example"}"#)
        var reader = EventReader(platforms: platforms)
        func opened(_ fill: Int) -> String {
            let link = "https://c.ex/?x=\(String(repeating: "y", count: fill))&b=s%3A%2F%2Fp"
            return Self.read("{\"link\":\"\(link)\",\"device\":{\"id\":\"d\"}}", &reader, result: Self.link)
        }
        #expect(opened(8_100) == "s://p")
        #expect(opened(8_200) == "s://p")
        #expect(opened(65_000) == "s://p")
        #expect(opened(66_000).hasPrefix("https://c.ex/"))
        let link = "https://c.ex/?a=\(String(repeating: "y", count: 60))&b=s%3A%2F%2Fp"
        let short = platforms.snapshot(link, limit: link.utf8.count)
        #expect(short.kind == "no_link" && short.notes == ["too_long"])
        #expect(platforms.snapshot(link, limit: 200).to?.hasPrefix("https://a-long-host.shop.example/yyy") == true)
    }
}
