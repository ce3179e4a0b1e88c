import LinkCoordinator
import TestSupport
import Testing

/// A generator that makes its choices with a seeded one.
protocol SeededChoices {
    var generator: SeededGenerator { get set }
}

extension SeededChoices {
    mutating func pick<Element>(_ choices: [Element]) -> Element { generator.pick(choices) }

    /// Returns `true` in one of `count` cases.
    mutating func one(in count: Int) -> Bool { generator.one(in: count) }
}

/// Generates patterns and paths that often match.
struct PatternGenerator: SeededChoices {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// The texts of matchers of a segment, with `NAME` for the name of the capture.
    static let segments = [
        "a", "b", "x", "7", "12", "2025-01-31", "true", "a7", "ab", "{NAME:enum(a|b)}", "{NAME:enum(x)}",
        "{NAME:enum(b|x)}", "a{NAME}", "{NAME}b", "a{NAME}b", "a{NAME:int}", "1{NAME}", "{NAME:int(1..10)}",
        "{NAME:int(5..200)}", "{NAME:int}", "{NAME:int(10..19)}", "{NAME:bool}", "{NAME:date}", "{NAME:uuid}",
        "{NAME:[a-z]{1,2}}", "{NAME:[0-9]{1,3}}", "{NAME:[a-z0-9]{2,8}}", "{NAME:[a-z0-9]{1,8}}", "{NAME}",
    ]

    static let tails = ["", "", "", "/{NAME+}", "/{NAME*}", "/{NAME:coordinatorPath}"]

    /// Returns a path pattern of up to three segments and possibly a tail.
    mutating func patternText() -> String {
        let count = Int.random(in: 0...3, using: &generator)
        var text = ""
        for index in 0..<count { text += "/" + pick(Self.segments).replacing("NAME", with: "n\(index)") }
        text += pick(Self.tails).replacing("NAME", with: "tail")
        return text.isEmpty ? "/" : text
    }

    /// Returns a pattern, occasionally one that matches any path with a segment.
    mutating func pattern() -> Pattern {
        if Int.random(in: 0..<20, using: &generator) == 0,
            let any = try? PatternParser.anySegment(pick(["a", "x", "7"]), foldsCase: false)
        {
            return any
        }
        let text = patternText()
        do {
            return try PatternParser.parse(text, foldsCase: false)[0]
        } catch {
            Issue.record("the generator wrote \(text): \(error)")
            return Pattern(matchers: [.end], captures: [], text: "/")
        }
    }

    /// Returns a path whose segments the patterns above are likely to match.
    mutating func path() -> [[UInt8]] {
        let texts = [
            "a", "b", "x", "ab", "a7", "7", "12", "15", "100", "201", "a1b", "zz", "true", "0", "2025-01-31",
            "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "long-segment", "home", "é",
        ]
        return (0..<Int.random(in: 0...4, using: &generator)).map { _ in Array(pick(texts).utf8) }
    }
}
