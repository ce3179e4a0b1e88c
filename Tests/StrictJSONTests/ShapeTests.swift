import ByteStorage
import StrictJSON
import TestSupport
import Testing

@Suite("Predictions affect the cost of reading, but never the result")
struct ShapeTests {
    static let names: [StaticString] = [
        "id", "link", "device", "campaign", "", "é", "a-name-of-more-than-sixteen-bytes",
    ]

    /// The result of reading an object: the tag, offsets, and value of each member, or the error.
    struct Reading: Equatable {
        var members: [String] = []
        /// The tag and the value of each member, which `readPlainMembers` also reports.
        var values: [String] = []
        var error: JSONError?
    }

    private static func read(
        _ text: [UInt8], _ cursor: inout JSONCursor, _ shape: inout MemberShape, _ inner: inout MemberShape,
        inRuns: Bool = false
    ) -> Reading {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(text.count, 1))
        defer { memory.deallocate() }
        for (index, byte) in text.enumerated() { memory[index] = byte }
        var reading = Reading()
        cursor.open(ByteView(start: UnsafePointer(memory), count: text.count))
        do throws(JSONError) {
            try members(&cursor, &shape, &inner, depth: 0, inRuns: inRuns, into: &reading)
            try cursor.finish()
        } catch {
            reading.error = error
        }
        return reading
    }

    private static func members(
        _ cursor: inout JSONCursor, _ shape: inout MemberShape, _ inner: inout MemberShape, depth: Int,
        inRuns: Bool, into reading: inout Reading
    ) throws(JSONError) {
        var scope = try cursor.enterObject()
        while true {
            if inRuns { readRun(&cursor, &scope, &shape, &inner, depth: depth, into: &reading) }
            guard try depth == 0 ? cursor.nextMember(&scope, &shape) : cursor.nextMember(&scope, &inner) else { break }
            let head = "\(depth) \(scope.name.string) \(scope.tag) \(scope.nameOffset)"
            if depth == 0 && cursor.peek() == UInt8(ascii: "{") {
                reading.members.append(head)
                try members(&cursor, &shape, &inner, depth: 1, inRuns: inRuns, into: &reading)
            } else {
                let value = (try cursor.skip()).string
                reading.members.append(head + " " + value)
                reading.values.append("\(depth) \(scope.tag) \(value)")
            }
        }
    }

    /// Reads predicted members that are plain strings.
    private static func readRun(
        _ cursor: inout JSONCursor, _ scope: inout ObjectScope, _ shape: inout MemberShape,
        _ inner: inout MemberShape, depth: Int, into reading: inout Reading
    ) {
        if depth == 0 {
            cursor.readPlainMembers(&scope, &shape) { tag, value in
                reading.values.append("\(depth) \(tag) \"\(value.string)\"")
            }
        } else {
            cursor.readPlainMembers(&scope, &inner) { tag, value in
                reading.values.append("\(depth) \(tag) \"\(value.string)\"")
            }
        }
    }

    /// Compares shapes that have learned from all earlier texts with new shapes.
    private static func compare(_ texts: [[UInt8]], seed: UInt64) {
        var cursor = JSONCursor(maxDepth: Corpus.depth)
        var shape = MemberShape(names)
        var inner = MemberShape(["id", "app"])
        var runShape = MemberShape(names, plain: 0b10_0011)
        var runInner = MemberShape(["id", "app"], plain: 0b11)
        var accepted = 0
        for (round, text) in texts.enumerated() {
            var freshShape = MemberShape(names)
            var freshInner = MemberShape(["id", "app"])
            var freshCursor = JSONCursor(maxDepth: Corpus.depth)
            let learned = read(text, &cursor, &shape, &inner)
            let plain = read(text, &freshCursor, &freshShape, &freshInner)
            #expect(learned == plain, "seed \(seed) round \(round): \(String(decoding: text, as: UTF8.self))")
            let runs = read(text, &cursor, &runShape, &runInner, inRuns: true)
            #expect(
                runs.error == plain.error && (runs.error != nil || runs.values == plain.values),
                "in runs, seed \(seed) round \(round): \(String(decoding: text, as: UTF8.self))")
            if learned.error == nil { accepted += 1 }
            let verdict: Verdict = learned.error.map { .refused($0) } ?? .accepted
            if learned.error?.code != .wrongType { #expect(verdict == passed(text), "seed \(seed) round \(round)") }
        }
        #expect(accepted > 0 || texts.count < 10)
    }

    private static func object(_ generator: inout SeededGenerator, order: Int, spaces: Int) -> [UInt8] {
        var members = [
            ("id", "\"e-\(Int.random(in: 0...9999, using: &generator))\""),
            (
                "link",
                "\"https://shop.example/" + String(repeating: "x", count: Int.random(in: 0...40, using: &generator))
                    + "\""
            ),
            ("device", ""), ("campaign", "\"spring\""), ("l\\u0069nk2", "null"), ("é", "[1,{\"x\":2}]"), ("", "-0.5"),
            ("a-name-of-more-than-sixteen-bytes", "true"), ("unknown", "{\"k\":0}"),
            ("another-name-that-is-longer-than-thirty-two-bytes", "1"),
        ]
        if order == 1 { members.reverse() }
        if order == 2 { members.shuffle(using: &generator) }
        if order == 3 { members.append(members[Int.random(in: 0..<members.count, using: &generator)]) }
        let space = spaces == 0 ? "" : [" ", "  ", "\n\t"][min(spaces - 1, 2)]
        var device = [("id", "\"d\""), ("app", "\"6.1.0\""), ("platform", "\"ios\"")]
        if order == 2 { device.shuffle(using: &generator) }
        func joined(_ members: [(String, String)]) -> String {
            "{" + space
                + members.map { "\"\($0.0)\":\(space)\($0.0 == "device" ? joined(device) : $0.1)" }
                .joined(separator: "," + space) + "}"
        }
        return Array(joined(members).utf8)
    }

    @Test("Orders, white space, and repeated names that change between objects do not change the result")
    func orders() {
        var generator = SeededGenerator(seed: 0x5A4B)
        var texts: [[UInt8]] = []
        for order in 0...3 {
            for spaces in 0...3 {
                for _ in 0..<20 { texts.append(Self.object(&generator, order: order, spaces: spaces)) }
            }
        }
        for _ in 0..<4000 {
            texts.append(
                Self.object(
                    &generator, order: Int.random(in: 0...3, using: &generator),
                    spaces: Int.random(in: 0...3, using: &generator)))
        }
        Self.compare(texts, seed: generator.seed)
    }

    @Test("Truncated and changed objects have the same errors after shapes have learned the complete ones")
    func changed() {
        var generator = SeededGenerator(seed: 0x77E1)
        var texts: [[UInt8]] = []
        for round in 0..<20_000 {
            var text = Self.object(&generator, order: round % 7 == 0 ? 3 : 0, spaces: round % 5 == 0 ? 1 : 0)
            let index = Int.random(in: 0..<text.count, using: &generator)
            switch round % 4 {
            case 0: break
            case 1: text.removeSubrange(index...)
            case 2: text[index] = UInt8.random(in: 0...127, using: &generator)
            default: text.remove(at: index)
            }
            texts.append(text)
        }
        Self.compare(texts, seed: generator.seed)
    }

    @Test("Predictions that fail are suspended and resumed without changing the result")
    func suspended() {
        var generator = SeededGenerator(seed: 0x4E57)
        var texts: [[UInt8]] = []
        for _ in 0..<600 { texts.append(Self.object(&generator, order: 2, spaces: 0)) }
        for _ in 0..<600 { texts.append(Self.object(&generator, order: 0, spaces: 0)) }
        Self.compare(texts, seed: generator.seed)
    }

    @Test("An object with more members than slots is read completely")
    func many() {
        let texts = (0..<60).map { count in
            Array(("{" + (0..<count).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + "}").utf8)
        }
        Self.compare(texts + texts + texts.reversed(), seed: 0)
    }

    @Test("Names that are added at run time have the tags after the others")
    func extraNames() throws {
        var cursor = JSONCursor()
        var shape = MemberShape(["id"], extra: [Array("campaign".utf8), [], Array("é\"".utf8)])
        for _ in 0..<3 {
            try withExact(Array(#"{"é\"":1,"campaign":2,"":3,"id":4,"other":5}"#.utf8)) { view in
                cursor.open(view)
                var tags: [UInt8] = []
                var scope = try cursor.enterObject()
                while try cursor.nextMember(&scope, &shape) {
                    tags.append(scope.tag)
                    try cursor.skip()
                }
                #expect(tags == [3, 1, 2, 0, MemberShape.unknown])
            }
        }
    }
}
