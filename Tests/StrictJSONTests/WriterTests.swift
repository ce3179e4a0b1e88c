import Foundation
import ByteStorage
import StrictJSON
import TestSupport
import Testing

@Suite("The writer writes canonical JSON")
struct WriterTests {
    private func written(_ body: (inout OutputArena) -> Void) -> [UInt8] {
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        body(&arena)
        return arena.finish().array
    }

    private func quoted(_ text: String) -> [UInt8] {
        withExact(Array(text.utf8)) { view in written { $0.appendString(view) } }
    }

    private func randomText(_ generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...40, using: &generator) {
            let range: ClosedRange<UInt32> =
                [0...0x1F, 0x20...0x7F, 0x20...0x7F, 0x80...0x7FF, 0x800...0xFFFF, 0x10000...0x10FFFF][
                    Int.random(in: 0..<6, using: &generator)]
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) { text.append(scalar) }
        }
        return String(text)
    }

    @Test("A string escapes quotation marks, backslashes, and C0 controls, and nothing else")
    func strings() {
        let cases: [(String, String)] = [
            ("", #""""#), ("abc", #""abc""#), ("a\"b\\c/", #""a\"b\\c/""#), ("\u{8}\u{9}\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{B}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u000b\\u001f\u{7F}\""),
            ("é\u{2028}\u{1F600}", "\"é\u{2028}\u{1F600}\""), ("\\u0041", #""\\u0041""#),
        ]
        for (text, json) in cases {
            #expect(quoted(text) == Array(json.utf8))
        }
    }

    @Test("Three readers read the output as it was written")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 0x3217E)
        var all: [[UInt8]] = []
        for round in 0..<3000 {
            let text = randomText(&generator)
            let json = quoted(text)
            all.append(json)
            let own = try JSONValue.parse(json).string
            #expect(own.map { Array($0.utf8) } == Array(text.utf8), "seed \(generator.seed) round \(round)")
            let other = try JSONSerialization.jsonObject(with: Data(json), options: [.fragmentsAllowed]) as? String
            #expect(
                other?.unicodeScalars.filter { $0 != "\u{FEFF}" } == text.unicodeScalars.filter { $0 != "\u{FEFF}" },
                "seed \(generator.seed) round \(round)")
        }
        for (json, answer) in zip(all, try PythonReader.read(all) ?? []) {
            #expect(answer.verdict == "ok")
            #expect(answer.rendered == (try JSONValue.parse(json)).rendered)
        }
    }

    @Test("Numbers are written as Swift writes them")
    func decimals() {
        var generator = SeededGenerator(seed: 0xDEC)
        var numbers: [Int64] = [0, 1, -1, 9, 10, -10, 99, 100, .max, .min, .max - 1, .min + 1]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            numbers += [power - 1, power, power + 1, -power]
        }
        for shift in 0..<63 {
            for _ in 0..<50 { numbers.append(Int64.random(in: .min ... .max, using: &generator) >> Int64(shift)) }
        }
        for number in numbers {
            #expect(written { $0.append(decimal: number) } == Array("\(number)".utf8), "seed \(generator.seed)")
        }
    }

    @Test("A compact copy has the same value without white space, and copying is idempotent")
    func compact() throws {
        for item in Corpus.items where item.code == nil {
            let copy = withExact(item.bytes) { view in written { $0.appendCompact(view) } }
            #expect(
                try JSONValue.parse(copy).rendered == JSONValue.parse(item.bytes).rendered, "\(item.testDescription)")
            #expect(copy == withExact(copy) { view in written { $0.appendCompact(view) } })
        }
        let text = #" { "a\/\u0062" : [ 1.50 , "\u001F\u000a\b\u00e9\ud83d\ude00\"\u0022\\\u005c" , true ] } "#
        let copy = withExact(Array(text.utf8)) { view in written { $0.appendCompact(view) } }
        #expect(
            String(decoding: copy, as: UTF8.self)
                == "{\"a/b\":[1.50,\"\\u001f\\n\\b\u{E9}\u{1F600}\\\"\\\"\\\\\\\\\",true]}")
    }

    @Test("A long text uses only the memory that it fills")
    func longText() {
        var arena = OutputArena(chunkBytes: 4096)
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        bytes.withUnsafeBufferPointer { text in
            arena.begin()
            arena.appendString(ByteView(text))
            let written = arena.finish()
            #expect(written.count == 1_000_002 && written.slice(1, 1_000_001) == ByteView(text))
        }
        // Repeated writes move to chunks that are larger by half.
        let inUse = arena.bytesInUse
        #expect(inUse < 4_000_000)
        let mixed = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 % 97 == 0 ? 10 : 97 + $0 % 26) }
        mixed.withUnsafeBufferPointer { text in
            arena.begin()
            arena.appendEscaped(ByteView(text))
            let parts = mixed.map { $0 == 10 ? Array("\\n".utf8) : [$0] }.flatMap { $0 }
            let written = arena.finish().array
            #expect(written == parts)
        }
    }

    @Test("A built text contains no character that controls a terminal")
    func terminalControl() {
        var json = JSONText()
        json.beginObject()
        json.text("\u{202E}a", "\u{1B}[31m\u{9B}2J\u{7F}\u{FEFF}é")
        json.endObject()
        #expect(json.finish() == #"{"\u202ea":"\u001b[31m\u009b2J\u007f\ufeffé"}"#)
    }
}
