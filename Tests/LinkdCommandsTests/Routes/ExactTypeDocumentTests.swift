import LinkCoordinator
import RouteAnalysis
import RouteTools
import Testing

/// Documents of tables with fields of the types `decimal` and `datetime`.
@Suite("Documents of decimals and dates and times") struct ExactTypeDocumentTests {
    static func table(_ type: String) throws -> RouteTable {
        let file = #"""
            { "schemaVersion": 2, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "models": { "M": { "v": "\#(type)", "l": "list<\#(type)>(1..2)" } },
              "coordinators": { "c": { "screens": { "s": { "needs": ["M"] } } } },
              "routes": [ { "id": "r", "match": "/r", "to": { "path": "/c/s" },
                            "bind": { "M": { "v": "query.v", "l": "query.l" } } } ] }
            """#
        let (table, problems, _) = RouteTable.check(Array(file.utf8), includesAdvice: true)
        #expect(problems.map(\.message) == [])
        return try #require(table)
    }

    @Test(
        "The document names the type and has a link that the table accepts",
        arguments: [
            ("decimal", "t://r?v=1.5&l=1.5"), ("decimal(2..3)", "t://r?v=2&l=2"), ("decimal(..-1)", "t://r?v=-1&l=-1"),
            ("decimal(1.25..1.3)", "t://r?v=1.25&l=1.25"), ("decimal(-2..0.5)", "t://r?v=-2&l=-2"),
            ("decimal(-2..1)", "t://r?v=1&l=1"), ("decimal(-0.5..)", "t://r?v=1.5&l=1.5"),
            ("datetime", "t://r?v=2025-11-20T09%3A30%3A00Z&l=2025-11-20T09%3A30%3A00Z"),
        ])
    func document(type: String, link: String) throws {
        let table = try Self.table(type)
        let document = RoutesDocument.text(table)
        #expect(document.contains("`\(type)`") && document.contains(link), "\(document)")
        #expect(table.resolve(link).route == "r" && table.resolve(link).reason == nil)
    }
}
