import ByteStorage
import StrictJSON
import TestSupport
import Testing

@Suite("The strict reader accepts exactly valid texts")
struct ReaderTests {
    @Test("Each text of the corpus is accepted or refused as expected", arguments: Corpus.items)
    func corpus(item: Corpus.Item) {
        switch tree(item.bytes) {
        case .success: #expect(item.code == nil)
        case .failure(let error):
            #expect(error.code == item.code)
            #expect(error.offset >= 0 && error.offset <= item.bytes.count)
        }
    }

    @Test("The corpus has at least 300 different texts of both kinds")
    func size() {
        #expect(Set(Corpus.items.map(\.bytes)).count >= 300)
        #expect(Corpus.items.filter { $0.code == nil }.count >= 120)
        #expect(Corpus.items.filter { $0.code != nil }.count >= 180)
        let codes = Set(Corpus.items.compactMap(\.code))
        #expect(codes == Set(JSONError.Code.allCases).subtracting([.wrongType]))
    }

    @Test("Skipping a value reports the same error at the same location as reading it")
    func skipping() {
        for item in Corpus.items {
            for text in Self.wrapped(item.bytes) {
                let read: Verdict
                switch tree(text, depth: 66) {
                case .success: read = .accepted
                case .failure(let error): read = .refused(error)
                }
                #expect(passed(text, depth: 66) == read, "\(String(decoding: text, as: UTF8.self).prefix(80))")
            }
        }
    }

    @Test("A container is skipped at any depth", arguments: 0..<64)
    func skippingAtDepth(outer: Int) throws {
        let text = Array((String(repeating: "[", count: 64) + String(repeating: "]", count: 64)).utf8)
        try text.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(maxDepth: 64)
            cursor.open(ByteView(bytes))
            for _ in 0..<outer {
                var scope = try cursor.enterArray()
                #expect(try cursor.nextElement(&scope))
            }
            try cursor.skip()
            #expect(cursor.offset == text.count - outer)
        }
    }

    /// The text alone, in an array, in an object, and after another value.
    static func wrapped(_ text: [UInt8]) -> [[UInt8]] {
        [
            text, Array("[".utf8) + text + Array("]".utf8), Array(#"{"k":"#.utf8) + text + Array("}".utf8),
            Array(#"["0123456",{"a":0}, "#.utf8) + text + Array(" , 1]".utf8),
        ]
    }

    @Test("A truncated text is refused")
    func cut() {
        for item in Corpus.items where item.code == nil && item.bytes.count < 2000 {
            let last = item.bytes.last
            guard last == UInt8(ascii: "}") || last == UInt8(ascii: "]") || last == UInt8(ascii: "\"") else { continue }
            for count in 0..<item.bytes.count { #expect(passed(Array(item.bytes.prefix(count))) != .accepted) }
        }
    }

    @Test("A reused cursor reads texts as a new one does")
    func reused() {
        var cursor = JSONCursor(maxDepth: Corpus.depth)
        for item in Corpus.items + Corpus.items.reversed() {
            let verdict: Verdict = withExact(item.bytes) { view in
                cursor.open(view)
                do throws(JSONError) {
                    try cursor.skip()
                    try cursor.finish()
                    return .accepted
                } catch {
                    return .refused(error)
                }
            }
            #expect(verdict == passed(item.bytes))
        }
    }

    @Test("A value of the wrong type is distinguished from an invalid one")
    func wrongTypes() {
        let asks: [(String, (inout JSONCursor) throws(JSONError) -> Void)] = [
            ("\"", { cursor throws(JSONError) in _ = try cursor.string() }),
            ("#", { cursor throws(JSONError) in _ = try cursor.number() }),
            ("t", { cursor throws(JSONError) in _ = try cursor.bool() }),
            ("{", { cursor throws(JSONError) in _ = try cursor.enterObject() }),
            ("[", { cursor throws(JSONError) in _ = try cursor.enterArray() }),
        ]
        let values = [("\"", "\"x\""), ("#", "-1"), ("t", "false"), ("{", "{}"), ("[", "[]"), ("n", "null")]
        for (kind, ask) in asks {
            for (other, text) in values {
                let error: JSONError? = withExact(Array((" " + text).utf8)) { view in
                    var cursor = JSONCursor()
                    cursor.open(view)
                    do throws(JSONError) { try ask(&cursor) } catch { return error }
                    return nil
                }
                #expect(error == (kind == other ? nil : JSONError(.wrongType, at: 1)))
            }
        }
    }

    @Test("A string reports escapes and bytes beyond ASCII")
    func flags() throws {
        let cases: [(String, Bool, Bool, String)] = [
            ("abc", false, false, "abc"), (#"a\nc"#, true, false, "a\nc"), ("é", false, true, "é"),
            (#"é\t"#, true, true, "é\t"), (#"\u00e9"#, true, false, "é"), ("12345678é", false, true, "12345678é"),
            ("é1234567890", false, true, "é1234567890"), ("1234é", false, true, "1234é"),
            (#"\ud83d\ude00"#, true, false, "\u{1F600}"), (#"\u0000"#, true, false, "\u{0}"),
        ]
        for (inside, escape, high, text) in cases {
            try withExact(Array("\"\(inside)\"".utf8)) { view in
                var cursor = JSONCursor()
                cursor.open(view)
                let string = try cursor.string()
                #expect(string.hasEscape == escape && string.hasNonASCII == high)
                #expect(cursor.unescaped(string).string == text)
                #expect(string.raw.string == inside)
            }
        }
    }

    @Test("The tree has members in order, with their offsets")
    func members() throws {
        let text = #" {"b": 1 ,"a\n":[true,null,"x"],"c":{"d":-0.5e1}}"#
        let value = try JSONValue.parse(Array(text.utf8))
        #expect(value.offset == 1)
        #expect(value.object?.map(\.name) == ["b", "a\n", "c"])
        #expect(value.object?.map(\.nameOffset) == [3, 11, 33])
        #expect(value["b"]?.integer == 1 && value["b"]?.offset == 7)
        #expect(value["a\n"]?.array?.count == 3)
        #expect(value["a\n"]?.array?[1].isNull == true && value["a\n"]?.array?[2].string == "x")
        #expect(value["c"]?["d"]?.rendered == "#-0.5e1" && value["c"]?["d"]?.integer == nil)
        #expect(value["zz"] == nil && value["b"]?["x"] == nil)
    }

    @Test("A repeated name is found at any position in objects of up to 40 names")
    func twice() {
        var generator = SeededGenerator(seed: 0x0D0B)
        for round in 0..<2000 {
            let count = Int.random(in: 1...40, using: &generator)
            var names = (0..<count).map { "k\($0 * 7919 % 104_729)" }
            names.shuffle(using: &generator)
            let fresh = names.map { "\"\($0)\":0" }.joined(separator: ",")
            #expect(passed(Array("{\(fresh)}".utf8)) == .accepted, "seed \(generator.seed) round \(round)")
            let first = Int.random(in: 0..<count, using: &generator)
            let second = Int.random(in: first...count, using: &generator)
            names.insert(names[first], at: second)
            let members = names.map { "\"\($0)\":0" }
            let offset = second == first ? first + 1 : second
            let expectedOffset = 2 + members.prefix(offset).reduce(0) { $0 + $1.utf8.count + 1 }
            #expect(
                passed(Array("{\(members.joined(separator: ","))}".utf8))
                    == .refused(JSONError(.duplicateName, at: expectedOffset)),
                "seed \(generator.seed) round \(round)")
        }
    }

    @Test("A repeated name is found at its first repetition in objects of any size")
    func names() {
        var generator = SeededGenerator(seed: 0x7A3E)
        for round in 0..<400 {
            let count = [3, 16, 17, 18, 40, 300, 1023, 1024, 1025, 3000][round % 10]
            var seen = Set<String>()
            var text = "{"
            var duplicateOffset: Int?
            let space = round % 3 == 0 ? count * 40 : count * count * 50
            for index in 0..<count {
                let name = "\(Int.random(in: 0..<space, using: &generator))"
                text += index > 0 ? ",\"" : "\""
                if !seen.insert(name).inserted && duplicateOffset == nil { duplicateOffset = text.utf8.count }
                text += "\(name)\":\(index)"
            }
            let verdict = passed(Array((text + "}").utf8))
            let expected = duplicateOffset.map { Verdict.refused(JSONError(.duplicateName, at: $0)) } ?? .accepted
            #expect(verdict == expected, "seed \(generator.seed) round \(round)")
        }
    }

    @Test("An object that repeats a few names is not read to its end")
    func repetitions() {
        let names = (0..<20).map { "\"n\($0)\":0," }.joined()
        let start = "{" + names
        // The text is invalid after the names, which a reader would report that goes on.
        let text = Array((start + String(repeating: "\"a\":0,\"b\":0,", count: 300) + "]").utf8)
        let expected = JSONError(.duplicateName, at: start.utf8.count + 13)
        #expect(passed(text) == .refused(expected))
        var tape = JSONTape(depth: 8)
        #expect(throws: expected) { try text.withUnsafeBufferPointer { try tape.append(strict: ByteView($0)) } }
        #expect(JSONLocation.locate(offset: expected.offset, in: text).pointer == "/a")
    }
}
