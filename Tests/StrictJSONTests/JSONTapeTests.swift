import ByteStorage
import StrictJSON
import TestSupport
import Testing

@Suite("The list of a text's values")
struct JSONTapeTests {
    /// Returns the values of a tape as `JSONValue.rendered` does.
    private static func rendered(_ node: Int32, of tape: inout JSONTape) -> String {
        var parts: [String] = []
        var inner = tape.first(in: node)
        while inner < tape.end(of: node) {
            let name = tape.kind(of: node) == .object ? hex(tape.nodes[Int(inner)].name) + ":" : ""
            #expect(tape.nodes[Int(inner)].nameHash == (name.isEmpty ? 0 : tape.nodes[Int(inner)].name.nameHash))
            #expect(tape.nodes[Int(inner)].parent == node)
            parts.append(name + rendered(inner, of: &tape))
            inner = tape.next(after: inner)
        }
        switch tape.kind(of: node) {
        case .null: return "n"
        case .boolean: return tape.text(of: node).equals("true") ? "t" : "f"
        case .number: return "#" + tape.text(of: node).string
        case .string: return "\"" + hex(tape.text(of: node))
        case .array: return "[" + parts.joined(separator: ",") + "]"
        case .object: return "{" + parts.joined(separator: ",") + "}"
        }
    }

    private static func hex(_ text: ByteView) -> String {
        text.array.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static func shown(_ text: [UInt8]) -> String {
        String(decoding: text.prefix(200), as: UTF8.self).debugDescription
    }

    /// Reads a text into a list, and returns its values, an empty text if some are beyond the limit, or the error.
    private static func read(_ text: ByteView, _ tape: inout JSONTape) -> Result<String, JSONError> {
        tape.clear()
        do throws(JSONError) {
            let root = try tape.append(strict: text)
            return .success(tape.isCut ? "" : rendered(root, of: &tape))
        } catch {
            return .failure(error)
        }
    }

    private static func expectSame(_ text: [UInt8], depth: Int, _ tape: inout JSONTape) {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(text.count, 1))
        defer { memory.deallocate() }
        for (index, byte) in text.enumerated() { memory[index] = byte }
        let found = read(ByteView(start: memory, count: text.count), &tape)
        switch (found, tree(text, depth: depth)) {
        case (.success(let values), .success(let expected)):
            #expect(values.isEmpty || values == expected.rendered, "\(shown(text))")
        case (.failure(let error), .failure(let expected)): #expect(error == expected, "\(shown(text))")
        default: Issue.record("\(found): \(shown(text))")
        }
    }

    @Test("The values and the errors are those of the reader, for the corpus and 40,000 mutated texts in one list")
    func sameValues() {
        var tape = JSONTape(depth: 512)
        var shallow = JSONTape(depth: 3)
        for text in OracleTests.texts {
            Self.expectSame(text, depth: 512, &tape)
            Self.expectSame(text, depth: 3, &shallow)
        }
    }

    @Test("A second member with a name is an error in objects of every size, nested ones and those beyond the limit")
    func duplicates() {
        var tape = JSONTape(depth: 16)
        var generator = SeededGenerator(seed: 7)
        for size in [2, 3, 15, 16, 17, 18, 40, 2000, 16_380, 16_390, 20_000] {
            for isEscaped in [false, true] {
                var names = (0..<size).map { "\"n\($0)\"" }
                let first = Int.random(in: 0..<size - 1, using: &generator)
                let second = Int.random(in: first + 1..<size, using: &generator)
                Self.expectSame(Self.object(names), depth: 16, &tape)
                names[second] = isEscaped ? "\"\\u006e\(first)\"" : names[first]
                Self.expectSame(Self.object(names), depth: 16, &tape)
            }
        }
    }

    private static func object(_ names: [String]) -> [UInt8] {
        let value = names.count > 15_000 ? "1" : #"{"a":1,"b":[]}"#
        let inner = names.map { "\($0):\(value)" }.joined(separator: ",")
        return Array(("{\"x\":{" + inner + "}}").utf8)
    }

    @Test("Names with equal hashes are different members")
    func equalHashes() {
        // The hash of a name of three bytes has all of them, that of a longer one its ends.
        var tape = JSONTape(depth: 16)
        let text = Array(#"{"abc":1,"acc":2,"abbbbbbc":3,"abcd":4,"abcdd":5}"#.utf8)
        Self.expectSame(text, depth: 16, &tape)
    }

    @Test("Values beyond the limit are validated and left out")
    func limit() {
        var tape = JSONTape(depth: 16)
        let list = "[" + (0..<20_000).map(String.init).joined(separator: ",")
        Self.expectSame(Array((list + "]").utf8), depth: 16, &tape)
        #expect(tape.count == JSONTape.most && tape.cut?.node == 0 && tape.nodes[0].isCut)
        tape.clear()
        #expect(tape.count == 0 && !tape.isCut)
        Self.expectSame(Array((list + ",01]").utf8), depth: 16, &tape)
    }

    /// Objects whose strings are `$` and whose numbers are `#`.
    private static let objects = [
        ##"{"aps":{"alert":{"title":$,"body":$},"badge":#},"link":$}"##, ##"{"aps":{"alert":$,"badge":#},"link":$}"##,
        ##"{ "a" : [ $ , # , [] , {} ] , "b" : null }"##, ##"{"a":{"b":{"c":{"d":$}}},"e":true}"##, ##"{}"##,
        ##"{"":$,"b":{"":[$]}}"##,
        ##"{"message":{"data":{"uri":$,"t":$},"android":{"priority":$}}}"##, ##"{"a":#}"##, ##"{"a":$,"a":$}"##,
        ##"{"é":$,"\u0061":#,"x":[[#],[#]]}"##,
    ]
    private static let strings = [
        "", "é", "Sale 20% off", "https://shop.example/p/1?x=2&utm_source=push", "a\\n", "\\u0041", "\u{7f}", "]}",
        "\\",
    ]
    private static let numbers = ["0", "-1", "1.5e3", "12", "1700000000000", "01", "-", "1."]

    /// Returns an object with strings and numbers of its own, with a wrong byte in every fourth case.
    private static func text(_ generator: inout SeededGenerator) -> [UInt8] {
        var text: [UInt8] = []
        for byte in objects[Int.random(in: 0..<objects.count, using: &generator)].utf8 {
            switch byte {
            case UInt8(ascii: "$"):
                text += Array("\"\(strings[Int.random(in: 0..<strings.count, using: &generator)])\"".utf8)
            case UInt8(ascii: "#"): text += Array(numbers[Int.random(in: 0..<numbers.count, using: &generator)].utf8)
            default: text.append(byte)
            }
        }
        let place = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<16, using: &generator) {
        case 0: text[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: text.remove(at: place)
        case 2: text.insert(UInt8(ascii: " "), at: place)
        case 3: text.removeLast(place)
        default: break
        }
        return text
    }

    /// Returns every property of the values that a list reads at a cursor, and the offset of the cursor, or the error.
    private static func places(_ text: ByteView, depth: Int, _ tape: inout JSONTape) -> [String] {
        var cursor = JSONCursor(maxDepth: 8)
        cursor.open(text)
        cursor.depthLimit = depth
        tape.clear()
        do throws(JSONError) {
            _ = try tape.append(at: &cursor)
        } catch {
            return ["\(error)"]
        }
        let nodes = (0..<tape.count).map { index in
            let node = tape.nodes[index]
            let name = node.name.start >= text.start && node.name.end <= text.end ? node.name.start - text.start : -1
            return "\(name) \(node.name.string) \(node.nameHash) \(node.text.start - text.start) \(node.text.count)"
                + " \(node.parent) \(node.end) \(node.kind) \(node.hasEscape) \(node.isPlain) \(node.isCut)"
        }
        return nodes + ["\(cursor.offset)"]
    }

    /// A case is an object that differs from an earlier one in its strings, its numbers, or a byte.
    @Test("A list that has read many objects reads the next one as a new list does")
    func templates() {
        var tape = JSONTape(depth: 8)
        var generator = SeededGenerator(seed: 2_026_1126)
        for _ in 0..<10 * LawCases.count {
            let bytes = Self.text(&generator)
            let depth = Int.random(in: 2...8, using: &generator)
            bytes.withUnsafeBufferPointer { bytes in
                let view = ByteView(bytes)
                var fresh = JSONTape(depth: 8)
                let found = Self.places(view, depth: depth, &tape)
                #expect(found == Self.places(view, depth: depth, &fresh), "\(Self.shown(Array(bytes)))")
            }
        }
    }
}
