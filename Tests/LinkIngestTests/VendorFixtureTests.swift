import ByteStorage
import Foundation
import LinkCoordinator
import LinkIngest
import StrictJSON
import TestSupport
import Testing

/// The fixtures of vendors and envelopes.
///
/// `Fixtures/README.md` describes their members.
@Suite("The messages of the fixtures are read as expected")
struct VendorFixtureTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// Returns the bytes of a file that is shipped.
    static func bytes(of name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: folder.appendingPathComponent("../../../config/\(name)").standardized))
    }

    /// The table that is shipped.
    static func table() throws -> VendorTable { try VendorTable(json: try bytes(of: "vendors.json")) }

    static func files(_ name: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder.appendingPathComponent(name), includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "jsonl" }.sorted { $0.path < $1.path }
    }

    /// A line of a fixture.
    struct Line {
        var name: String
        var value: JSONValue

        var expected: JSONValue { value["expect"] ?? JSONValue(.null) }
        var key: [UInt8]? { value["key"]?.string.map { Array($0.utf8) } }
        var headers: [(String, String)] {
            value["headers"]?.object?.map { ($0.name, $0.value.string ?? "") } ?? []
        }

        /// The bytes of a member that is written as JSON, as text, or in hexadecimal.
        func bytes(_ name: String) -> [UInt8] {
            if let value = value[name] { return Array(value.text.utf8) }
            if let text = value["text"]?.string { return Array(text.utf8) }
            let digits = Array((value["hex"]?.string ?? "").utf8)
            return stride(from: 0, to: digits.count - 1, by: 2).map {
                (hexDigit(digits[$0]) ?? 0) << 4 | (hexDigit(digits[$0 + 1]) ?? 0)
            }
        }
    }

    static func lines(_ file: URL) throws -> [Line] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").enumerated().map { number, line in
            let value = try JSONValue.parse(Array(line.utf8), maxDepth: 512)
            return Line(name: "\(file.lastPathComponent):\(number + 1) \(value["name"]?.string ?? "")", value: value)
        }
    }

    /// The result for one device, in the form of the fixtures.
    static func result(_ explanation: MessageExplanation) -> [String: String] {
        var result: [String: String] = [:]
        result["vendor"] = explanation.vendor
        result["others"] = explanation.others.isEmpty ? nil : "\(explanation.others)"
        result["link"] = explanation.link
        result["reason"] = explanation.reason
        result["pointer"] = explanation.pointer
        result["message"] = explanation.message
        result["campaign"] = explanation.campaign
        result["notes"] = explanation.notes.isEmpty ? nil : "\(explanation.notes)"
        return result
    }

    static func expected(_ value: JSONValue) -> [String: String] {
        var result: [String: String] = [:]
        for member in value.object ?? [] {
            result[member.name] = member.value.string ?? "\((member.value.array ?? []).map { $0.string ?? "" })"
        }
        return result
    }

    @Test("Each message opens what its vendor's app opens")
    func vendors() throws {
        let table = try Self.table()
        var reader = EventReader(vendors: table)
        var count = 0
        for file in try Self.files("vendors") {
            for line in try Self.lines(file) {
                count += 1
                let bytes = Self.event(line, body: "payload")
                #expect(Self.read(bytes, nil, [], &reader).first == Self.expected(line.expected), "\(line.name)")
            }
        }
        #expect(count > 100)
    }

    @Test("Each record is read as its envelope")
    func envelopes() throws {
        let table = try Self.table()
        var reader = EventReader(vendors: table)
        var count = 0
        for file in try Self.files("envelopes") {
            for line in try Self.lines(file) {
                count += 1
                let expected: [[String: String]]
                if let results = line.expected["results"]?.array {
                    var head = line.expected.object ?? []
                    head.removeAll { $0.name == "results" }
                    expected = [Self.expected(JSONValue(.object(head)))] + results.map { Self.expected($0) }
                } else {
                    expected = [Self.expected(line.expected)]
                }
                let found = Self.readRecord(line.bytes("value"), line.key, line.headers, &reader)
                #expect(found == expected, "\(line.name)")
            }
        }
        #expect(count > 50)
    }

    @Test("The messages of the vendors' own tests open what their SDKs open")
    func realMessages() throws {
        var reader = EventReader(vendors: try Self.table(), platforms: try Self.platforms())
        let lines = try Self.lines(Self.folder.appendingPathComponent("real-messages.jsonl"))
        #expect(lines.count == 194)
        for line in lines {
            let (outcome, link) = Self.outcome(of: line, &reader)
            let number = line.value["n"]?.text ?? ""
            #expect(Self.isExpected(outcome, link, line.expected), "\(number): \(outcome) \(link ?? "")")
        }
    }

    @Test("The messages of the vendors' own tests are whole records, and open the same without a platform")
    func realRecords() throws {
        var reader = EventReader(vendors: try Self.table())
        for line in try Self.lines(Self.folder.appendingPathComponent("real-messages.jsonl")) {
            let body = line.value["body"]
            let bytes = body?.string.map { Array($0.utf8) } ?? Array((body?.text ?? "").utf8)
            let found = Self.readRecord(bytes, Array("k".utf8), line.headers, &reader)
            let results = found.dropFirst()
            #expect(results.allSatisfy { $0["device"] == "k" }, "\(line.value["n"]?.text ?? "")")
            var record = (found.first ?? [:]).filter { ["envelope", "error"].contains($0.key) }
            for name in ["link", "reason"] { record[name] = results.first?[name] }
            #expect(record == Self.expected(line.value["record"] ?? JSONValue(.null)), "\(line.value["n"]?.text ?? "")")
        }
    }

    /// Returns a Boolean value that indicates whether the outcome of a real message is the expected or an accepted one.
    ///
    /// If the expectation names a link, no other one is accepted.
    private static func isExpected(_ outcome: String, _ link: String?, _ expected: JSONValue) -> Bool {
        let accepted = expected["accept"]?.array?.compactMap(\.string) ?? []
        if outcome == "link", let wanted = expected["link"]?.string { return link == wanted }
        return expected[outcome] != nil || accepted.contains(outcome)
    }

    @Test(
        "An outcome of a real message is compared with the expected one",
        arguments: [
            ("link", "a:b", #"{"link":"a:b"}"#, true), ("link", "a:c", #"{"link":"a:b"}"#, false),
            ("link", "a:c", #"{"link":"a:b","none":"x","accept":["link"]}"#, false),
            ("link", "a:b", #"{"none":"x"}"#, false), ("link", "a:b", #"{"none":"x","accept":["none"]}"#, false),
            ("link", "a:b", #"{"none":"x","accept":["link"]}"#, true), ("none", nil, #"{"link":"a:b"}"#, false),
            ("none", nil, #"{"link":"a:b","accept":["none"]}"#, true), ("error", nil, #"{"none":"x"}"#, false),
        ])
    func comparison(outcome: String, link: String?, expected: String, isExpected: Bool) throws {
        let value = try JSONValue.parse(Array(expected.utf8))
        #expect(Self.isExpected(outcome, link, value) == isExpected)
    }

    /// The rules of link platforms that are shipped.
    static func platforms() throws -> LinkPlatforms { try LinkPlatforms(file: try bytes(of: "link-platforms.json")) }

    /// Returns `link`, `none`, or `error`, and the link that a real message opens.
    private static func outcome(of line: Line, _ reader: inout EventReader) -> (outcome: String, link: String?) {
        let shape = line.value["shape"]?.string ?? ""
        let isMessage = ["apns", "fcm-v1", "web-push", "send-api", "fcm-data"].contains(shape)
        var bytes: [UInt8]
        if isMessage {
            bytes = event(line, body: "body", isData: shape == "fcm-data")
        } else {
            let body = line.value["body"]
            bytes = body?.string.map { Array($0.utf8) } ?? Array((body?.text ?? "").utf8)
        }
        let value = ExactBytes(bytes)
        let key = ExactBytes(Array("k".utf8))
        let texts = line.headers.map { (ExactBytes(Array($0.0.utf8)), ExactBytes(Array($0.1.utf8))) }
        let headers = texts.map { HeaderView(name: $0.0.view, value: $0.1.view) }
        guard reader.readInPlace(value: value.view, key: isMessage ? nil : key.view, headers: headers),
            reader.selectDevice(at: 0)
        else { return ("error", nil) }
        defer { withExtendedLifetime((value, key, texts)) {} }
        let request = reader.eventPointer.pointee.request
        let opening = request.tapped.kind == .unknown ? request.found : request.tapped
        switch opening.kind {
        case .link: return ("link", opening.link.string)
        case .unknown: return ("link", request.text.string)
        case .noLink, .opensApp, .needsResolution: return ("none", nil)
        }
    }

    /// Returns the event with a message as its payload.
    static func event(_ line: Line, body: String, isData: Bool = false) -> [UInt8] {
        var event = #"{"device":{"id":"d""#
        if let platform = line.value["platform"] { event += ",\"platform\":\(platform.text)" }
        event += "}"
        if let action = line.value["action"] { event += ",\"action\":\(action.text)" }
        if let type = line.value["payloadType"] { event += ",\"payloadType\":\(type.text)" }
        let payload = line.bytes(body)
        let wrapped = isData ? Array(#"{"message":{"data":"#.utf8) + payload + Array("}}".utf8) : payload
        return Array((event + ",\"payload\":").utf8) + wrapped + Array("}".utf8)
    }

    /// `LINKD_VENDOR_MUTATIONS` names a longer list.
    @Test("Mutated messages are read as by a second implementation of the vendor table")
    func mutations() throws {
        let longer = ProcessInfo.processInfo.environment["LINKD_VENDOR_MUTATIONS"]
        let table = try Self.table()
        var reader = EventReader(vendors: table)
        let file = longer.map { URL(fileURLWithPath: $0) } ?? Self.folder.appendingPathComponent("mutations.jsonl")
        let lines = try Self.lines(file)
        #expect(lines.count >= 500)
        for line in lines {
            let bytes = Self.event(line, body: "payload")
            let expected = Self.expected(line.expected)
            #expect(Self.read(bytes, nil, [], &reader).first == expected, "\(line.name) \(line.value.text)")
            var fresh = EventReader(vendors: table)
            #expect(Self.read(bytes, nil, [], &fresh).first == expected, "\(line.name), fresh")
        }
    }

    /// Reads a record and returns the results of its devices, or the failure.
    static func read(
        _ bytes: [UInt8], _ key: [UInt8]?, _ headers: [(String, String)], _ reader: inout EventReader
    ) -> [[String: String]] {
        let found = readRecord(bytes, key, headers, &reader)
        if found.count == 1 { return found }
        return found.dropFirst().map { result in result.filter { !["device", "platform"].contains($0.key) } }
    }

    /// Reads a record and returns its properties and then the results of its devices, or the failure.
    static func readRecord(
        _ bytes: [UInt8], _ key: [UInt8]?, _ headers: [(String, String)], _ reader: inout EventReader
    ) -> [[String: String]] {
        let value = ExactBytes(bytes)
        let keyBytes = ExactBytes(key ?? [])
        let texts = headers.map { (ExactBytes(Array($0.0.utf8)), ExactBytes(Array($0.1.utf8))) }
        let views = texts.map { HeaderView(name: $0.0.view, value: $0.1.view) }
        guard reader.readInPlace(value: value.view, key: key == nil ? nil : keyBytes.view, headers: views) else {
            _ = reader.failure.pointer(in: value.view)
            return [["error": reader.failure.reason.rawValue]]
        }
        let event = reader.eventPointer
        var record: [String: String] = [:]
        record["id"] = event.pointee.id.isEmpty ? nil : event.pointee.id.string
        record["cloudevents"] = reader.cloudEventsMode
        record["envelope"] = reader.envelope
        var results: [[String: String]] = []
        for index in 0..<event.pointee.deviceCount {
            guard reader.selectDevice(at: index) else { return [["error": "internal"]] }
            let device = reader.devicePointer
            let request = event.pointee.request
            var result: [String: String] = [:]
            if let explanation = reader.explainMessage() {
                record["notes"] = explanation.recordNotes.isEmpty ? nil : "\(explanation.recordNotes)"
                result = Self.result(explanation)
            } else {
                let notes = request.notes.prefix(request.earlyNotes).map { $0.code.string + $0.place.string }
                record["notes"] = notes.isEmpty ? nil : "\(notes)"
                result["\(request.form)"] = request.text.string
            }
            result["device"] = device.pointee.id.string
            if device.pointee.facts.has(.platform) { result["platform"] = device.pointee.facts.platform.string }
            results.append(result)
        }
        return [record] + results
    }
}
