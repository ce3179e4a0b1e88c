import ByteStorage
import Foundation
import LinkCoordinator
import LinkIngest
import StrictJSON
import TestSupport
import Testing

@Suite("Arbitrary messages of vendors are read without a trap, and without the state of earlier records")
struct VendorRobustnessTests {
    /// A record of a fixture.
    struct Record {
        var bytes: [UInt8]
        var key: [UInt8]?
        var headers: [(String, String)]
    }

    /// The records of all fixtures.
    static func records() throws -> [Record] {
        var records: [Record] = []
        for file in try VendorFixtureTests.files("vendors") {
            for line in try VendorFixtureTests.lines(file) {
                records.append(
                    Record(bytes: VendorFixtureTests.event(line, body: "payload"), key: nil, headers: []))
            }
        }
        for file in try VendorFixtureTests.files("envelopes") {
            for line in try VendorFixtureTests.lines(file) {
                records.append(Record(bytes: line.bytes("value"), key: line.key, headers: line.headers))
            }
        }
        return records
    }

    @Test("Changed records yield the same in a long-lived reader and in a new one")
    func mutated() throws {
        let records = try Self.records()
        let vendors = try VendorFixtureTests.table()
        let platforms = try VendorFixtureTests.platforms()
        var generator = SeededGenerator(seed: 0x7E4D)
        var used = EventReader(vendors: vendors, platforms: platforms)
        var counts = (read: 0, refused: 0)
        for round in 0..<20_000 {
            var record = generator.pick(records)
            for _ in 0..<Int.random(in: 0...3, using: &generator) { Self.mutate(&record.bytes, records, &generator) }
            let found = VendorFixtureTests.readRecord(record.bytes, record.key, record.headers, &used)
            var fresh = EventReader(vendors: vendors, platforms: platforms)
            let expected = VendorFixtureTests.readRecord(record.bytes, record.key, record.headers, &fresh)
            #expect(found == expected, "seed \(generator.seed) round \(round)")
            if found.count > 1 { counts.read += 1 } else { counts.refused += 1 }
        }
        #expect(counts.read > 4_000 && counts.refused > 1_000)
    }

    private static func mutate(_ bytes: inout [UInt8], _ records: [Record], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        let alphabet = Array(#"{}[]":,\/u0123456789abcnrt. "#.utf8) + [0, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[index] = generator.pick(alphabet)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(generator.pick(alphabet), at: index)
        case 3:
            // The members of another record, so that vendors and envelopes collide.
            let other = generator.pick(records).bytes
            guard let first = bytes.firstIndex(of: UInt8(ascii: "{")), other.first == UInt8(ascii: "{"),
                other.last == UInt8(ascii: "}"), other.count > 2
            else { return }
            bytes.insert(contentsOf: other.dropFirst().dropLast() + [UInt8(ascii: ",")], at: first + 1)
        default: bytes.removeSubrange(index..<min(bytes.count, index + 8))
        }
    }

    @Test("A message is read the same after messages with the same names and other texts")
    func texts() throws {
        let files = try VendorFixtureTests.files("vendors")
        let messages = try files.flatMap { try VendorFixtureTests.lines($0).map { $0.bytes("payload") } }
        let vendors = try VendorFixtureTests.table()
        let platforms = try VendorFixtureTests.platforms()
        let table = try VendorFixtureTests.bytes(of: "vendors.json")
        let odd = ["", " ", " shop:///p/new", "nolink", "\\u0001", "{}", "8030", String(repeating: "x", count: 200)]
        let words = odd.map { Array("\"\($0)\"".utf8) } + Self.texts(in: table).map { Array(table[$0]) }
        var generator = SeededGenerator(seed: 0x51A9)
        var links = 0
        for round in 0..<400 {
            let message = generator.pick(messages)
            var used = EventReader(vendors: vendors, platforms: platforms)
            for step in 0..<20 {
                let (start, end) = generator.pick(Self.envelopes)
                var bytes = Array(start.utf8) + message + Array(end.utf8)
                for _ in 0..<Int.random(in: 0...2, using: &generator) {
                    let texts = Self.texts(in: bytes)
                    if !texts.isEmpty { bytes.replaceSubrange(generator.pick(texts), with: generator.pick(words)) }
                }
                let found = Self.openings(bytes, &used)
                var fresh = EventReader(vendors: vendors, platforms: platforms)
                let expected = Self.openings(bytes, &fresh)
                #expect(found == expected, "seed \(generator.seed) round \(round) step \(step)")
                if found.contains(where: { $0.hasPrefix("[\"link ") }) { links += 1 }
            }
        }
        #expect(links > 1_500)
    }

    /// The beginnings and ends of records around one message, which then has the same shape in all of them.
    private static let envelopes: [(String, String)] = {
        let devices = ["ios", "android", "web", "x"].map { #"{"id":"\#($0)","platform":"\#($0)"}"# }
        let list = #"{"devices":[\#(devices.joined(separator: ","))],"#
        let event = #"{"specversion":"1.0","id":"i","source":"s","type":"t","data":"#
        return [
            ("", ""), (list + #""payload":"#, "}"), (list + #""payloadType":"apns","payload":"#, "}"),
            (list + #""payloadType":"fcm","payload":"#, "}"), (event, "}"), (list + #""action":"b","payload":"#, "}"),
        ]
    }()

    /// The ranges of the strings in a JSON text that are no names.
    private static func texts(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start: Int?
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\\") { index += 1 }
            if bytes[index] == UInt8(ascii: "\"") {
                if let first = start {
                    let isName = index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: ":")
                    if !isName { ranges.append(first..<index + 1) }
                }
                start = start == nil ? index : nil
            }
            index += 1
        }
        return ranges
    }

    /// Returns what a record opens for each device, as a worker reads it.
    private static func openings(_ bytes: [UInt8], _ reader: inout EventReader) -> [String] {
        let value = ExactBytes(bytes)
        let key = ExactBytes(Array("k".utf8))
        guard reader.readInPlace(value: value.view, key: key.view) else {
            return ["\(reader.failure) \(reader.failure.pointer(in: value.view) ?? "")"]
        }
        return (0..<reader.eventPointer.pointee.deviceCount).map { index in
            guard reader.selectDevice(at: index) else { return "\(reader.failure)" }
            let request = reader.eventPointer.pointee.request
            let openings = [request.found, request.tapped].map { "\($0.kind) \($0.link.string)" }
            let notes = request.notes.map { $0.code.string + $0.place.string }
            let context = reader.devicePointer.pointee.context.string
            let roots = request.roots.map(\.string)
            return "\(openings) \(request.text.string) \(notes) \(request.earlyNotes) \(context) \(roots)"
        }
    }

    /// Payloads with many values, long pointers, or much JSON in strings.
    static let hostile: [(String, [UInt8])] = {
        let members = (0..<30_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let buttons = (0..<20_000).map { "{\"identifier\":\"b\($0)\",\"action\":{}}" }.joined(separator: ",")
        let inner = String(repeating: "{\\\"a\\\":", count: 60) + "1" + String(repeating: "}", count: 60)
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        return [
            ("many members", "{\"aps\":{},\"itbl\":{},\(members)}"),
            ("many members of a vendor", "{\"aps\":{},\"itbl\":{\(members)},\"wzrk_pn\":1,\"ab\":{\(members)}}"),
            ("many buttons", "{\"aps\":{},\"itbl\":{\"actionButtons\":[\(buttons)]}}"),
            (
                "JSON in a string",
                "{\"message\":{\"data\":{\"itbl\":\"\(inner)\",\"custom\":\"\(inner)\",\"d\":\(deep)}}}"
            ),
            ("a long string", "{\"aps\":{},\"ab\":{},\"ab_uri\":\"\(String(repeating: " ", count: 900_000))\"}"),
            (
                "a long text with JSON",
                "{\"message\":{\"data\":{\"itbl\":\"[\(String(repeating: "1,", count: 300_000))1]\"}}}"
            ),
        ].map { ($0.0, Array($0.1.utf8)) }
    }()

    @Test("A payload with many values is read in a bounded time and in bounded memory", arguments: hostile.indices)
    func bounded(index: Int) throws {
        let (name, payload) = Self.hostile[index]
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        let devices = (0..<500).map { "{\"id\":\"d\($0)\",\"platform\":\"\(["ios", "android", "web", "x"][$0 % 4])\"}" }
        let head = "{\"action\":\"b19999\",\"devices\":[\(devices.joined(separator: ","))],\"payload\":"
        let bytes = ExactBytes(Array(head.utf8) + payload + Array("}".utf8))
        // More values than the limit are refused when the record is read, or when a device's strings are.
        let isRead = reader.readInPlace(value: bytes.view, key: nil)
        var isWhole = isRead
        for index in 0..<500 where isRead && !reader.selectDevice(at: index) { isWhole = false }
        #expect(isWhole == ["JSON in a string", "a long string"].contains(name), "\(name)")
        if !isWhole { #expect(reader.failure.reason == .tooManyValues, "\(name)") }
        guard isWhole else { return }
        let explanation = reader.selectDevice(at: 0) ? reader.explainMessage() : nil
        #expect(explanation != nil, "\(name)")
    }

    @Test("A refused event of CloudEvents has nothing of the record before it")
    func refusedEvent() throws {
        var reader = EventReader(vendors: try VendorFixtureTests.table())
        let headers = [("ce_id", "i"), ("ce_source", "/s"), ("ce_type", "t"), ("ce_specversion", "0.3")]
        let refusals: [([(String, String)], String)] = [
            (headers, "{}"), ([("content-type", "application/cloudevents+json")], "{"),
            ([("content-type", "application/cloudevents+json")], "{}"),
            ([("content-type", "application/cloudevents-batch+json")], "[]"),
            ([], #"{"specversion":"1.0","id":"i","source":"s","type":"t","data":5}"#),
        ]
        for (headers, value) in refusals {
            for round in 0..<3 {
                let event = #"{"id":"e-1","link":"a:b","device":{"id":"d"}}"#
                _ = VendorFixtureTests.readRecord(Array(event.utf8), nil, [], &reader)
                let found = VendorFixtureTests.readRecord(Array(value.utf8), nil, headers, &reader)
                #expect(found.count == 1 && found.first?["error"] != nil, "\(value) \(round)")
                let isFree = reader.failure.event != Array("e-1".utf8)
                #expect(isFree, "\(value)")
            }
        }
    }
}
