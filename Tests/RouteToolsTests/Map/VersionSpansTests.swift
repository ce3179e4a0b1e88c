import LinkCoordinator
import Testing

@testable import RouteTools

/// The ranges of app versions that conditions distinguish.
@Suite struct VersionSpansTests {
    private typealias Test = TableSource.Condition.VersionTest

    private static func tests(_ texts: [String]) throws -> [Test] {
        try texts.map { text in
            let sign = text.prefix { "<>=".contains($0) }
            return Test(
                relation: try #require(Test.Relation(rawValue: String(sign))),
                version: try #require(VersionText(String(text.dropFirst(sign.count)))))
        }
    }

    @Test(
        "Comparisons become ranges in ascending order, in words",
        arguments: [
            ([], ["every version"]),
            ([">=4.0.0"], ["before 4.0.0", "4.0.0 and later"]),
            ([">=4.0.0", "<4"], ["before 4.0.0", "4.0.0 and later"]),
            ([">4"], ["up to 4", "after 4"]),
            (["=4"], ["before 4", "exactly 4", "after 4"]),
            (["<=4", ">=6", "<10"], ["up to 4", "after 4 to before 6", "6 to before 10", "10 and later"]),
            ([">=10", ">=9"], ["before 9", "9 to before 10", "10 and later"]),
            ([">2", "<=3"], ["up to 2", "after 2 to 3", "after 3"]),
        ] as [([String], [String])])
    func labels(texts: [String], expected: [String]) throws {
        let spans = VersionSpans(try Self.tests(texts))
        #expect((0..<spans.count).map(spans.label) == expected)
    }

    @Test(
        "A condition holds in the ranges between its versions",
        arguments: [
            ([], 0...4), ([">=2"], 1...4), (["<2"], 0...0), (["=2"], 1...1), ([">2"], 2...4), ([">=2", "<4"], 1...2),
            ([">=4", "<6"], 3...3), ([">=6"], 4...4), ([">=4", "<2"], nil), ([">2", "=2"], nil),
        ] as [([String], ClosedRange<Int>?)])
    func ranges(texts: [String], expected: ClosedRange<Int>?) throws {
        let spans = VersionSpans(try Self.tests(["=2", ">=4", "<6"]))
        #expect(spans.count == 5)
        #expect(spans.range(of: try Self.tests(texts)) == expected)
    }
}
