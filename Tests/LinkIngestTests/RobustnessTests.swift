import Foundation
import LinkIngest
import ByteStorage
import StrictJSON
import TestSupport
import Testing

@Suite("Arbitrary bytes yield an event or a failure, and never trap")
struct RobustnessTests {
    static let samples: [String] = [
        #"{"id":"e-20261120-000017","application":"com.example.shop","link":"https://shop.example/p/B121D5E7?count=3","#
            + #""device":{"id":"d-0042","platform":"ios","app":"6.1.0","os":"18.2","locale":"en-GB","region":"GB","#
            + #""capabilities":["ar"],"claims":["session"],"attributes":{"a":"\u00e9\ud83d\ude00"},"#
            + #""coordinator":"home"},"#
            + #""campaign":"spring-sale","sent":"2026-11-20T10:00:00Z","expires":"2026-11-21T10:00:00.25+01:00"}"#,
        #"{"route":"item","params":{"id":"x","n":5.0e-1,"b":true},"devices":[{"id":"a","app":"1"},{"id":"b\n"}]}"#,
        #"{"path":"auth/c","mode":"append","id":"é","device":{"id":"d","region":"e\u0301"}}"#,
        PushTests.wrapped, PushTests.message, PushTests.aps,
        #"{"payload":\#(PushTests.wrapped),"payloadType":"fcm","device":{"id":"d","platform":"web"}}"#,
        "https://shop.example/p/1?count=3",
    ]

    @Test("A truncated event is a failure", arguments: samples.dropLast())
    func cut(sample: String) {
        let bytes = Array(sample.utf8)
        for count in 0..<bytes.count {
            guard case .failure(let failure) = snapshot(Array(bytes.prefix(count)), key: [0x6B]) else {
                Issue.record("read the first \(count) bytes")
                continue
            }
            #expect(["bad_json", "not_utf8"].contains(failure.reason))
        }
        guard case .success = snapshot(bytes, key: [0x6B]) else {
            Issue.record("the whole event is refused")
            return
        }
    }

    @Test("100,000 events with changed, removed, inserted, and repeated bytes yield an event or a failure")
    func mutated() {
        var generator = SeededGenerator(seed: 0x1461)
        var reader = EventReader(passthrough: ["campaign", "aps", "x"])
        let alphabet = Array(#"{}[]":,\u0123456789abcdefnrtl.-+eE "#.utf8) + [0, 0x1F, 0x7F, 0x80, 0xC3, 0xED, 0xFF]
        var read = 0
        var pointers = 0
        for round in 0..<100_000 {
            var bytes = Array(Self.samples[round % Self.samples.count].utf8)
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                mutate(&bytes, alphabet, &generator)
            }
            let value = ExactBytes(bytes)
            switch reader.read(value: value.view, key: round % 3 == 0 ? nil : value.view.slice(0, min(bytes.count, 9)))
            {
            case .event(let event):
                read += 1
                for index in 0..<event.deviceCount {
                    guard let device = try? reader.device(at: index) else {
                        Issue.record("seed \(generator.seed) round \(round)")
                        continue
                    }
                    if device.id.isEmpty || device.id.count > 256 {
                        Issue.record("seed \(generator.seed) round \(round)")
                    }
                }
            case .failure(let failure):
                if round % 16 == 0, failure.pointer(in: value.view) != nil { pointers += 1 }
            }
        }
        #expect(read > 10_000 && pointers > 1000)
    }

    private func mutate(_ bytes: inout [UInt8], _ alphabet: [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes[index] = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)], at: index)
        case 4: bytes.removeSubrange(index..<min(bytes.count, index + 12))
        default:
            let end = min(bytes.count, index + Int.random(in: 1...40, using: &generator))
            bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &generator))
        }
    }

    /// Messages from the test suites of vendors, if they are next to the checkout.
    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/fixtures/envelopes.jsonl").standardized

    @Test(
        "Messages of vendors are read as payloads and as records",
        .enabled(if: FileManager.default.fileExists(atPath: fixtures.path), "the fixtures are not beside the checkout"))
    func realMessages() throws {
        let lines = try String(contentsOf: Self.fixtures, encoding: .utf8).split(separator: "\n")
        var shapes: [String: Int] = [:]
        for line in lines {
            let fixture = try JSONValue.parse(Array(line.utf8), maxDepth: 128)
            guard let shape = fixture["shape"]?.string, let body = fixture["body"], body.object != nil else { continue }
            let text = try Self.text(of: "body", in: Array(line.utf8))
            shapes[shape, default: 0] += 1
            guard case .success(let payload) = snapshot(Array("{\"payload\":".utf8) + text + [0x7D], key: [0x6B]) else {
                Issue.record("refused as payload: \(line.prefix(200))")
                continue
            }
            #expect(payload.form == "payload" && payload.devices.first?.roots.isEmpty == false)
            if case .failure(let failure) = snapshot(text, key: [0x6B]) {
                let expected = ["missing_link", "bad_json", "schema_unsupported"]
                #expect(expected.contains(failure.reason), "\(failure) \(line.prefix(200))")
            } else if shape == "apns" || shape == "fcm-v1" {
                shapes[shape + " whole", default: 0] += 1
            }
        }
        #expect(shapes["apns", default: 0] > 60 && shapes["fcm-v1", default: 0] >= 9)
        #expect(shapes["apns whole", default: 0] >= 31 && shapes["fcm-v1 whole", default: 0] >= 9)
    }

    private static func text(of name: String, in line: [UInt8]) throws -> [UInt8] {
        var cursor = JSONCursor(maxDepth: 128)
        return try line.withUnsafeBufferPointer { bytes in
            cursor.open(ByteView(bytes))
            var scope = try cursor.enterObject()
            while try cursor.nextMember(&scope) {
                let isMatch = scope.name.string == name
                let value = try cursor.skip()
                if isMatch { return value.array }
            }
            return []
        }
    }
}
