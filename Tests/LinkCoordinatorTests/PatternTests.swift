import ByteStorage
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Patterns")
struct PatternTests {
    private func matches(_ pattern: String, _ path: String, foldsCase: Bool = false) throws -> Bool {
        let segments = path.split(separator: "/").map { Array($0.utf8) }
        return try PatternParser.parse(pattern, foldsCase: foldsCase).contains {
            $0.matches(segments, foldsCase: foldsCase) { $0.elementsEqual("home".utf8) }
        }
    }

    @Test(
        "Patterns match the expected paths",
        arguments: [
            ("/", "/", true), ("/", "/a", false), ("/a", "/a", true), ("/a", "/A", false), ("/a", "/a/b", false),
            ("/a", "/", false), ("/{n}", "/x", true), ("/{n}", "/", false), ("/{n?}", "/", true),
            ("/a/{n:int?}", "/a", true), ("/a/{n:int?}", "/a/5", true), ("/a/{n:int?}", "/a/x", false),
            ("/{n:enum(a|b)}", "/b", true), ("/{n:enum(a|b)}", "/ab", false), ("/v{n:int}", "/v12", true),
            ("/v{n:int}", "/v", false), ("/v{n}x", "/vx", false), ("/v{n}x", "/vax", true), ("/v{n}x", "/vvxx", true),
            ("/ab{n}ba", "/abba", false), ("/ab{n}ba", "/abxba", true), ("/{n:int(1..9)}", "/9", true),
            ("/{n:int(1..9)}", "/10", false), ("/{n:int(1..9)}", "/05", false), ("/{n:bool}", "/1", true),
            ("/{n:bool}", "/2", false), ("/{n:date}", "/2024-02-29", true), ("/{n:date}", "/2023-02-29", false),
            ("/{n:[a-z0-9]{2,3}}", "/a1", true), ("/{n:[a-z0-9]{2,3}}", "/a", false),
            ("/{n:[a-z0-9]{2,3}}", "/a1b2", false), ("/{n:[a-z]{2,3}}", "/AB", false),
            ("/{n:[-.~_]{1,4}}", "/-.~_", true),
            ("/{p:coordinatorPath}", "/home/x/y", true), ("/{p:coordinatorPath}", "/x", false),
            ("/{p:coordinatorPath}", "/", false), ("/a/{r+}", "/a", false), ("/a/{r+}", "/a/b/c", true),
            ("/a/{r*}", "/a", true), ("/{r*}", "/", true),
        ] as [(String, String, Bool)])
    func matches(pattern: String, path: String, isMatch: Bool) throws { #expect(try matches(pattern, path) == isMatch) }

    @Test(
        "Folding applies only to literals, affixes, and enumeration values",
        arguments: [
            ("/Cat", "/cAT", true), ("/V{n:int}", "/v1", true), ("/{n:enum(Red|Blue)}", "/RED", true),
            ("/{n:[a-z]{1,3}}", "/AB", false), ("/{p:coordinatorPath}", "/Home", false), ("/É", "/é", false),
        ])
    func folds(pattern: String, path: String, isMatch: Bool) throws {
        #expect(try matches(pattern, path, foldsCase: true) == isMatch)
    }

    @Test(
        "Captures have their canonical text",
        arguments: [
            ("/{n:uuid}", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "B121D5E7-EA65-49F8-8B33-B3C43FA93866"),
            ("/{n:bool}", "1", "true"), ("/{n:enum(Red|Blue)}", "bLUE", "Blue"), ("/x{n:enum(Red)}", "XrED", "Red"),
            ("/{n:int}", "12", "12"), ("/{n}", "AbC", "AbC"), ("/pre{n:[A-Z]{1,9}}suf", "PREMIDSUF", "MID"),
        ])
    func captures(pattern: String, segment: String, text: String) throws {
        let pattern = try #require(try PatternParser.parse(pattern, foldsCase: true).first)
        let capture = try #require(pattern.captures.first)
        var (prefix, suffix) = (0, 0)
        if case .segment(let before, let after) = capture.extent { (prefix, suffix) = (before, after) }
        let raw = withView(segment) { $0.slice(prefix, $0.count - suffix).array }
        #expect(capture.canonicalText(raw, foldsCase: true) == Array(text.utf8))
    }

    @Test("A trailing optional segment results in two patterns, the longer one first")
    func optionals() throws {
        let patterns = try PatternParser.parse("/a/{n:int?}", foldsCase: false)
        #expect(patterns.map(\.text) == ["/a/{n:int}", "/a"])
        #expect(patterns[1].captures.isEmpty)
        #expect(try PatternParser.parse("/{n?}", foldsCase: false).map(\.text) == ["/{n}", "/"])
    }

    @Test("Any text is parsed or rejected with an offset inside it")
    func anyText() {
        var generator = SeededGenerator(seed: 8)
        let pieces = [
            "/", "{", "}", "n", ":", "int", "(", "1", "..", "9", ")", "enum", "|", "[", "a", "-", "z", "]", "?",
            "+", "*", ",", "é", "uuid", ".",
        ]
        var read = 0
        for _ in 0..<30_000 {
            let text =
                "/"
                + (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                    pieces[Int.random(in: 0..<pieces.count, using: &generator)]
                }.joined()
            do throws(TextError) {
                let patterns = try PatternParser.parse(text, foldsCase: false)
                #expect(patterns.allSatisfy { $0.matchers.last?.isTerminal == true }, "\(text)")
                #expect(patterns.allSatisfy { $0.matchers.dropLast().allSatisfy { !$0.isTerminal } }, "\(text)")
                read += 1
            } catch {
                #expect((0...text.utf8.count).contains(error.offset), "\(text)")
            }
        }
        #expect(read > 300, "seed \(generator.seed)")
    }
}
