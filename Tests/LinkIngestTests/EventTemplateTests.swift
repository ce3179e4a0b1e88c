import LinkIngest
import TestSupport
import Testing

@Suite("A template yields the same event as the parser")
struct EventTemplateTests {
    /// Events in forms that producers might write, with placeholders for values.
    static let shapes = [
        #"{"id":"§","link":"§","device":{"id":"§","platform":"§","app":"§","locale":"§"},"campaign":"§","sent":"§"}"#,
        #"{"device":{"app":"§","id":"§"},"link":"§"}"#, #"{"link": "§", "device": {"id": "§", "os": "§"}, "n": 5}"#,
        #"{"id":"§","link":"§","device":{"id":"§","region":"§","coordinator":"§"},"meta":{"a":["§",7,"§"],"b":123}}"#,
        #"{"id":"§","link":"§","device":{"id":"§","capabilities":["§"]}}"#,
        #"{"id":"§","link":"§","device":{"id":"§"},"expires":"§"}"#,
        #"{"id":"§","link":"§","device":{"id":"§"},"application":"§"}"#,
        #"{"id":"§","path":"§","mode":"§","device":{"id":"§"}}"#, #"{"id":"§","link":"§"}"#,
        #"{"link":"§","device":{"id":"§"},"devices":[{"id":"§"}]}"#, #"{"link":"§","devices":[{"id":"§"}]}"#,
        #"{"id":"§","link":"§","device":{"id":"§"},"action":"§","data":{"link":"§"}}"#,
        #"{"link":"§","device":{"id":"§","claims":null,"platform":null}}"#,
        #"{"id":"é","link":"§","device":{"id":"§"}}"#,
        #"{"link":"§","campaign":"§","device":{"id":"§"}}"#,
    ]

    private static func record(_ generator: inout SeededGenerator, _ shapes: Range<Int>) -> [UInt8] {
        let shape = Self.shapes[Int.random(in: shapes, using: &generator)]
        var text = ""
        for letter in shape {
            if letter != "§" {
                text.append(letter)
                continue
            }
            switch Int.random(in: 0..<40, using: &generator) {
            case 0...4: break
            case 5: text += "é"
            case 6: text += "\\u0061"
            case 7: text += String(repeating: "x", count: Int.random(in: 100...300, using: &generator))
            case 8: text += "2026-01-01T00:00:00Z"
            default: text += String("shop://p/new?a=1".prefix(Int.random(in: 1...16, using: &generator)))
            }
        }
        var bytes = Array(text.utf8)
        if Int.random(in: 0..<8, using: &generator) == 0 {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] = UInt8.random(in: 0...127, using: &generator)
        }
        return bytes
    }

    /// Reads events of several forms in turn, and compares each with a reader that has read no other record.
    private static func compare(_ shapes: Range<Int>, rounds: Int, seed: UInt64, passthrough: [String] = []) {
        var generator = SeededGenerator(seed: seed)
        var reader = EventReader(passthrough: passthrough)
        var events = 0
        let key = Array("key".utf8)
        for round in 0..<rounds {
            // Runs of one form followed by changes, so that templates are learned, kept, and replaced.
            let start = Int.random(in: shapes, using: &generator)
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let value = record(&generator, start..<min(shapes.upperBound, start + 1))
                let used = snapshot(value, key: key, with: &reader)
                var fresh = EventReader(passthrough: passthrough)
                #expect(
                    used == snapshot(value, key: key, with: &fresh),
                    "seed \(seed) round \(round) \(String(decoding: value, as: UTF8.self))")
                if case .success = used { events += 1 }
            }
        }
        #expect(events > rounds)
    }

    @Test("Events in many forms, with random values and changed bytes, are read as by a new reader")
    func mixed() { Self.compare(0..<Self.shapes.count, rounds: 3000, seed: 0x51A9) }

    @Test("Events in few forms, whose templates all stay learned, are read as by a new reader")
    func few() { Self.compare(0..<4, rounds: 3000, seed: 0x51AA) }

    @Test("Passthrough members are never part of a template")
    func passthrough() { Self.compare(0..<4, rounds: 1500, seed: 0x51AB, passthrough: ["campaign", "id", "meta"]) }
}
