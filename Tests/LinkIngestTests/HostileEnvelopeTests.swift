import ByteStorage
import Foundation
import LinkCoordinator
import LinkIngest
import TestSupport
import Testing

@Suite("Hostile records are read in a bounded time and memory, in any order of devices and records")
struct HostileEnvelopeTests {
    /// A table whose forms read JSON in a string, another one for each class of devices, and buttons by name.
    static let table = #"""
        {"schemaVersion":1,"vendors":[{"id":"acme","name":"Acme","sources":["s"],"forms":[
        {"on":["apple"],"marks":[["/m"]],"embedded":["/a"],"links":["/a/url"],"message":["/a/id"],
        "buttons":[{"members":"/buttons","links":["/url"]}]},
        {"on":["android"],"marks":[["/m"]],"embedded":["/b"],"links":["/b/url"],"message":["/b/id"],
        "buttons":[{"numbered":{"from":0,"count":64},"id":"/b/{N}/id","links":["/b/{N}/url"]}]},
        {"on":["web"],"marks":[["/m"],["/"],[{"prefix":"~"}]],"embedded":["/c","/a/x"],"links":["//url","/c/url"]}
        ],"examples":[{"payload":{},"reason":"no_link"},{"payload":{},"reason":"no_link"}]}]}
        """#

    static func read(_ text: String, _ key: String? = nil, _ reader: inout EventReader) -> [[String: String]] {
        VendorFixtureTests.readRecord(Array(text.utf8), key.map { Array($0.utf8) }, [], &reader)
    }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        (0..<count).map(element).joined(separator: ",")
    }

    private static func event(_ platforms: [String], _ payload: String, action: String = "") -> String {
        let devices = list(platforms.count) { "{\"id\":\"\(platforms[$0])\",\"platform\":\"\(platforms[$0])\"}" }
        return "{\"action\":\"\(action)\",\"devices\":[\(devices)],\"payload\":\(payload)}"
    }

    // MARK: Order

    @Test("The result for a device does not depend on the other devices below the limit of values")
    func orderOfDevices() throws {
        let vendors = try VendorTable(json: Array(Self.table.utf8))
        let orders = [
            ["ios", "android", "web"], ["web", "android", "ios"], ["android", "ios", "x", "web"], ["x", "web", "ios"],
        ]
        for (first, second) in [(10_000, 10_000), (16_300, 5), (5, 16_300), (16_300, 16_300)] {
            let a = "{\\\"x\\\":[\(Self.list(first) { _ in "1" })],\\\"url\\\":\\\"s:\\u002fa\\\"}"
            let b = "{\\\"x\\\":[\(Self.list(second) { _ in "1" })],\\\"id\\\":\\\"i\\\",\\\"url\\\":\\\"s://b\\\"}"
            for end in ["", "]"] {
                let payload = #"{"message":{"data":{"m":1,"a":"\#(a)\#(end)","b":"\#(b)","c":"\#(b)"}}}"#
                var alone: [String: [String: String]] = [:]
                for platform in ["ios", "android", "web", "x"] {
                    var reader = EventReader(vendors: vendors)
                    alone[platform] = Self.read(Self.event([platform], payload), nil, &reader).last
                    #expect(alone[platform]?["error"] == nil, "\(first) \(second) \(end) \(platform)")
                }
                var used = EventReader(vendors: vendors)
                for order in orders {
                    let found = Self.read(Self.event(order, payload), nil, &used).dropFirst()
                    #expect(found.map { $0 } == order.map { alone[$0] }, "\(first) \(second) \(end) \(order)")
                }
                if first == 10_000 { #expect(alone["android"]?["link"] == "s://b") }
            }
        }
    }

    @Test("The request of a device has the same link and notes in each order of the devices")
    func orderOfRequests() throws {
        let vendors = try VendorTable(json: Array(Self.table.utf8))
        let text = "{\\\"x\\\":[\(Self.list(10_000) { _ in "1" })],\\\"url\\\":\\\"s://b\\\"}"
        let payload = #"{"message":{"data":{"m":1,"a":"\#(text)","b":"\#(text)","c":"\#(text)"}}}"#
        var reader = EventReader(vendors: vendors)
        for order in [["ios", "android", "web"], ["web", "ios", "android"]] {
            let value = ExactBytes(Array(Self.event(order, payload).utf8))
            let isRead = reader.readInPlace(value: value.view, key: nil)
            #expect(isRead)
            // Each device is selected twice, the second time after those of other classes.
            for index in [0, 1, 2, 0, 1, 2] {
                guard reader.selectDevice(at: index) else { throw reader.failure }
                let request = reader.eventPointer.pointee.request
                #expect(request.found.link.string == "s://b", "\(order[index])")
                #expect(request.notes.isEmpty, "\(order[index])")
            }
        }
    }

    // MARK: Devices

    @Test("A list of devices beyond the limit of values is refused, and no device is left out")
    func cutList() throws {
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        let ids = Self.list(300) { "\"d\($0)\"" }
        for (fillers, isRead) in [(10, true), (16_000, true), (16_200, false), (16_383, false), (20_000, false)] {
            let filler = Self.list(fillers) { _ in "0" }
            let text =
                "{\"app_id\":\"a\",\"contents\":{},\"x\":[\(filler)],\"include_subscription_ids\":[\(ids)]}"
            for key in [nil, "k"] {
                let found = Self.read(text, key, &reader)
                if isRead {
                    #expect(found.count == 301, "\(fillers)")
                } else {
                    #expect(found == [["error": "too_many_values"]], "\(fillers)")
                }
            }
        }
    }

    @Test("The list of devices of a request has the same limit as that of an event, and failures have its place")
    func longList() throws {
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        func failure(_ ids: String) -> String {
            let text = "{\"app_id\":\"a\",\"contents\":{},\"include_subscription_ids\":[\(ids)]}"
            let value = ExactBytes(Array(text.utf8))
            if reader.readInPlace(value: value.view, key: nil) {
                return "\(reader.eventPointer.pointee.deviceCount) devices"
            }
            let failure = reader.failure
            return "\(failure.reason.rawValue) \(failure.detail) \(failure.pointer(in: value.view) ?? "nowhere")"
        }
        #expect(failure(Self.list(500) { "\"d\($0)\"" }) == "500 devices")
        #expect(
            failure(Self.list(501) { "\"d\($0)\"" })
                == "too_many_devices expected at most 500 devices, found 501 /include_subscription_ids")
        #expect(
            failure("") == "missing_device expected at least one device in the list /include_subscription_ids")
        #expect(
            failure(#""a",7"#)
                == "bad_device expected each device to be a string of 1 to 256 bytes /include_subscription_ids/1")
    }

    // MARK: Notes

    @Test("Notes do not contain the id of a button", arguments: ["secret-4711", "", "a~/b", "[0]"])
    func buttonNotes(id: String) throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.table.utf8)))
        let long = id.isEmpty ? String(repeating: "q", count: 500_000) : id
        for (value, code) in [("5", "link_not_text"), ("\" s:x \"", "link_trimmed"), ("\"x\"", "link_without_scheme")] {
            let payload = "{\"aps\":{},\"m\":1,\"buttons\":{\"\(long)\":{\"url\":\(value)}}}"
            let found = Self.read(Self.event(["ios"], payload, action: long), nil, &reader)
            #expect(found.last?["notes"] == "[\"\(code) /buttons/*/url\"]")
        }
    }

    // MARK: Sizes

    private static func fcm(_ members: String) -> String { "{\"message\":{\"data\":{\"m\":1,\(members)}}}" }

    /// Payloads of about 1 MiB, each hostile in another way.
    static let large: [(String, String)] = {
        let quotes = String(repeating: #"\""#, count: 250_000)
        let open = String(repeating: "[", count: 63)
        let close = String(repeating: "]", count: 63)
        let inner = #"{\"a\":\"{}\"}"#
        return [
            ("long names", "{\"aps\":{},\"m\":1,\"\(String(repeating: "n", count: 900_000))\":1}"),
            ("escaped names", "{\"m\":1,\(list(60_000) { "\"\\u0061\($0)\":1" })}"),
            ("many strings with JSON", fcm(list(20_000) { "\"s\($0)\":\"\(inner)\"" })),
            ("much JSON in strings", fcm("\"a\":\"[\(list(80_000) { _ in #"\"x\""# })]\",\"b\":\"[\(quotes)\"")),
            ("depth", "{\"m\":1,\"a\":[\(list(7_000) { _ in String(open.dropFirst(2) + close.dropFirst(2)) })]}"),
            ("depth in strings", fcm("\"a\":\"\(open)[\(close)]\",\"b\":\"\(open)[[\(close)]]\"")),
            ("buttons", "{\"m\":1,\"buttons\":{\(list(60_000) { "\"\($0)\":{}" })}}"),
            ("numbered", "{\"data\":{\"m\":1,\"b\":{\(list(16_000) { "\"\($0)\":{}" })}}}"),
            ("an encoded link", "{\"m\":1,\"a\":{\"url\":\"s:\(String(repeating: "%41", count: 300_000))\"}}"),
            ("names of all marks", "{\"m\":1,\"\":{\"url\":\"a:b\"},\(list(50_000) { "\"~\($0)\":\"\"" })}"),
        ]
    }()

    @Test("A large payload is read for 500 devices with an action", arguments: large.indices)
    func sizes(index: Int) throws {
        let (name, payload) = Self.large[index]
        let platforms = (0..<500).map { ["ios", "android", "web", "x"][$0 % 4] }
        for table in [try VendorFixtureTests.table(), try VendorTable(json: Array(Self.table.utf8))] {
            var reader = EventReader(vendors: table, platforms: try VendorFixtureTests.platforms())
            for action in ["", "63", "15999"] {
                let value = ExactBytes(Array(Self.event(platforms, payload, action: action).utf8))
                guard reader.readInPlace(value: value.view, key: nil) else {
                    #expect(reader.failure.reason == .tooManyValues, "\(name): \(reader.failure.detail)")
                    continue
                }
                // No more than one reading for each class of devices.
                var places: Set<UnsafeRawPointer?> = []
                for device in 0..<500 {
                    guard reader.selectDevice(at: device) else {
                        #expect(reader.failure.reason == .tooManyValues, "\(name): \(reader.failure.detail)")
                        continue
                    }
                    let notes = reader.eventPointer.pointee.request.notes
                    places.insert(UnsafeRawPointer(notes.baseAddress))
                    #expect(notes.count < 64)
                }
                #expect(places.count <= 8, "\(name)")
            }
        }
    }

    @Test("An event of CloudEvents of 1 MiB is decoded", arguments: [true, false])
    func encoded(isEscaped: Bool) throws {
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        let event = #"{"id":"e","link":"a:b","device":{"id":"d"},"x":"\#(String(repeating: "x", count: 700_000))"}"#
        let text = Data(event.utf8).base64EncodedString().replacingOccurrences(of: "/", with: isEscaped ? #"\/"# : "/")
        for end in ["", "=", "A", "AA==AAAA", " ", "\\u0000"] {
            let record =
                #"{"specversion":"1.0","id":"i","source":"s","type":"t","data_base64":"\#(text)\#(end)"}"#
            for _ in 0..<2 {
                let found = Self.read(record, nil, &reader)
                #expect((found.count == 2) == end.isEmpty, "\(end)")
                let after = Self.read(#"{"link":"a:c","device":{"id":"f"}}"#, nil, &reader)
                #expect(after.last == ["link": "a:c", "device": "f"])
            }
        }
    }

    // MARK: Sequences

    @Test("Duplicate names are refused at all places")
    func duplicates() throws {
        var reader = EventReader(vendors: try VendorTable(json: Array(Self.table.utf8)))
        let filler = Self.list(17_000) { "\"f\($0)\":0" }
        for payload in [
            #"{"m":1,"m":1}"#, #"{"m":1,"x":{"a":1,"\u0061":2}}"#, #"{"m":1,\#(filler),"f16999":1}"#,
            #"{"m":1,\#(filler),"x":{"a":1,"a":1}}"#,
        ] {
            #expect(Self.read(Self.event(["ios"], payload), nil, &reader) == [["error": "bad_json"]])
            #expect(Self.read(payload, "k", &reader) == [["error": "bad_json"]])
        }
        let inner = Self.event(["web"], #"{"message":{"data":{"m":1,"c":"{\"url\":\"a:b\",\"url\":\"a:c\"}"}}}"#)
        #expect(Self.read(inner, nil, &reader).last?["notes"] == #"["json_text /message/data/c"]"#)
    }

    @Test("Cut and shuffled real messages are read alike by a long-lived reader and a new one")
    func sequences() throws {
        let vendors = try VendorFixtureTests.table()
        let platforms = try VendorFixtureTests.platforms()
        let lines = try VendorFixtureTests.lines(
            VendorFixtureTests.folder.appendingPathComponent("real-messages.jsonl"))
        let bodies = lines.map { line in
            let bytes = VendorFixtureTests.event(line, body: "body")
            return (event: bytes, body: line.bytes("body"), headers: line.headers)
        }
        var generator = SeededGenerator(seed: 0x5EED)
        var used = EventReader(vendors: vendors, platforms: platforms)
        for round in 0..<1_500 {
            let record = generator.pick(bodies)
            var bytes = round % 2 == 0 ? record.event : record.body
            if round % 3 == 0 { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))) }
            if round % 7 == 0 {
                let start = #"{"specversion":"1.0","id":"i","source":"s","type":"t","data":"#
                bytes = Array(start.utf8) + bytes + Array("}".utf8)
            }
            let key: [UInt8]? = round % 5 < 2 ? nil : Array("k".utf8)
            let headers = round % 11 < 9 ? record.headers : [("ce_specversion", "1.0")]
            let found = VendorFixtureTests.readRecord(bytes, key, headers, &used)
            var fresh = EventReader(vendors: vendors, platforms: platforms)
            #expect(found == VendorFixtureTests.readRecord(bytes, key, headers, &fresh), "round \(round)")
        }
    }
}
