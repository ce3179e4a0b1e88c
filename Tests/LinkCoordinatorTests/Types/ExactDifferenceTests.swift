import LinkCoordinator
import RouteAnalysis
import Testing

/// Tests of the differences between tables in which one field has another type.
@Suite("Differences of the types decimal and datetime") struct ExactDifferenceTests {
    static func table(_ type: String, source: String = "query.v") throws -> RouteTable {
        let file = #"""
            { "schemaVersion": 2, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "models": { "M": { "v": "\#(type)" } },
              "coordinators": { "c": { "screens": { "s": { "needs": ["M"] } } } },
              "routes": [ { "id": "r", "match": "/r/{a}", "to": { "path": "/c/s" },
                            "bind": { "M": { "v": "\#(source)" } } } ] }
            """#
        return try #require(RouteTable.unchecked(Array(file.utf8)), "\(type)")
    }

    static let pairs: [(String, String)] = [
        ("double", "decimal"), ("int", "decimal"), ("string", "decimal"), ("datetime", "decimal"), ("bool", "decimal"),
        ("int(1..1)", "decimal(1..1)"), ("int(1..5)", "decimal(1..5)"), ("enum(1|2)", "decimal(1..2)"),
        ("double", "decimal(0..1)"), ("double", "decimal(-999999999999999..999999999999999)"),
        ("double", "decimal(-999999999999999..-999999999999998)"), ("double", "decimal(..-0.5)"),
        ("decimal", "decimal(0..)"), ("decimal", "decimal(-5.5..)"), ("decimal", "decimal(..5.5)"),
        ("decimal(0..)", "decimal(0.1..)"), ("decimal(..1)", "decimal(..1.0000000000000000000000001)"),
        ("decimal", "decimal(..9\(DecimalTests.largest.dropLast(2)))"), ("decimal(1..2)", "decimal(3..4)"),
        ("decimal?", "decimal=0"), ("decimal", "list<decimal>"), ("list<decimal>", "list<decimal(0..)>"),
        ("date", "datetime"), ("string", "datetime"), ("string(20..20)", "datetime"), ("uuid", "datetime"),
        ("datetime?", "datetime=2025-01-01T00:00:00Z"), ("datetime", "list<datetime>"),
        ("list<date>", "list<datetime>"),
    ]

    @Test("A link that the two types bind differently is found in the query and in the path", arguments: pairs)
    func found(old: String, new: String) throws {
        for source in ["query.v", "path.a"] where source == "query.v" || !(old + new).contains("list") {
            for (old, new) in [(old, new), (new, old)] {
                let (a, b) = (try Self.table(old, source: source), try Self.table(new, source: source))
                let difference = b.difference(from: a)
                #expect(!difference.changes.isEmpty, "\(source): \(old) and \(new)")
                for change in difference.changes {
                    let (x, y) = (
                        a.resolve(change.request, device: change.device),
                        b.resolve(change.request, device: change.device)
                    )
                    #expect(x.comparable != y.comparable, "\(change.request.text)")
                }
            }
        }
    }

    @Test("The same type written in another way is no difference")
    func same() throws {
        let pairs = [
            ("decimal(0.10..2.0)", "decimal(0.1..2)"), ("decimal", "decimal(..\(DecimalTests.largest))"),
            ("decimal=1.50", "decimal=1.5"), ("datetime", "datetime"),
            ("datetime=2025-01-31T14:00:00+02:00", "datetime=2025-01-31T12:00:00Z"),
        ]
        for (old, new) in pairs {
            let difference = try Self.table(new).difference(from: Self.table(old))
            #expect(difference.changes.isEmpty && difference.comparedSetCount > 0, "\(old) and \(new)")
        }
    }

    @Test("A capture that no date and time matches is reported")
    func advice() throws {
        func problems(_ pattern: String) -> [String] {
            let file = #"""
                { "schemaVersion": 2, "table": { "id": "t", "version": "1" },
                  "link": { "schemes": ["t"], "host": "segment" }, "models": { "M": { "v": "datetime" } },
                  "coordinators": { "c": { "screens": { "s": { "needs": ["M"] } } } },
                  "routes": [ { "id": "r", "match": "/r/\#(pattern)", "to": { "path": "/c/s" },
                                "bind": { "M": { "v": "path.a" } } } ] }
                """#
            return RouteTable.check(Array(file.utf8), includesAdvice: true).problems.map(\.message)
        }
        let reason = "no text of `{a}` is valid for `M.v` of type `datetime`"
        #expect(problems("{a:[A-Z0-9.-]{20,35}}").contains { $0.contains(reason) })
        #expect(problems("{a:enum(2025-01-31|now)}").contains { $0.contains(reason) || $0.contains("is an enum") })
        #expect(problems("{a}").isEmpty)
        // A capture of another type is no date and time.
        #expect(problems("{a:date}").contains { $0.contains("the capture `{a}` is a date") })
    }
}
