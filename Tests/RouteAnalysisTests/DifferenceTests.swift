import RouteAnalysis
import LinkCoordinator
import TableSupport
import Testing

@Suite("Differences between two tables")
struct DifferenceTests {
    private func table(_ rest: String) throws -> RouteTable {
        try RouteTable(
            json:
                Array(
                    """
                    { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
                      "link": { "schemes": ["s"], "host": "segment" }, \(rest) }
                    """.utf8))
    }

    private func item(_ type: String, since: String) throws -> RouteTable {
        try table(
            """
            "models": { "M": { "n": "\(type)", "id": "int(1..)" } },
            "coordinators": { "main": { "screens": { "item": { "needs": ["M"], "since": "\(since)" } } } },
            "routes": [ { "id": "item", "match": "/item/{id:int}", "to": { "path": "/main/item" },
                          "bind": { "M": { "n": "query.n", "id": "path.id" } } } ]
            """)
    }

    @Test("A narrower type of a query value is reported with a value that only one table accepts")
    func values() throws {
        let changes = try item("int(1..9)", since: "1").difference(from: item("int(1..10)", since: "1")).changes
        let change = try #require(changes.first)
        #expect(change.old.outcome == .navigate && change.new.reason == "param_invalid")
        #expect(change.request.text.hasSuffix("?n=10"))
    }

    @Test("A later version of a screen is reported with a device between the two versions")
    func versions() throws {
        let changes = try item("int", since: "2.0").difference(from: item("int", since: "1.0")).changes
        #expect(!changes.isEmpty)
        for change in changes { #expect(change.new.reason == "unsupported" && change.device.app != nil) }
        let device = try #require(changes.first?.device)
        #expect(device.json.contains("\"app\""))
    }
}

@Suite("Every device has a decision")
struct TotalityTests {
    private func problem(_ conditions: [String]) throws -> TableProblem {
        let variants = conditions.map { #"{ "when": { \#($0) }, "to": { "root": true } }"# }.joined(separator: ", ")
        let file = Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" },
              "capabilities": { "ar": { "minApp": "6.0", "listed": true } },
              "routes": [ { "id": "a", "match": "/a", "variants": [ \(variants) ] } ] }
            """.utf8)
        return try #require(TableSource.inspect(file).problems.first { $0.code == .variantOrder })
    }

    private static let cases: [(conditions: [String], device: String)] = [
        ([#""app": ">=2""#], "{}"), ([#""app": "<2""#], #"{"app":"2"}"#),
        ([#""app": "<2""#, #""app": ">=3""#], #"{"app":"2"}"#),
        ([#""platform": "ios""#, #""app": "<2""#], #"{"app":"2"}"#), ([#""capability": "ar""#], "{}"),
    ]

    @Test("The device for which no variant holds is reported as JSON", arguments: cases)
    func device(conditions: [String], device: String) throws {
        let problem = try problem(conditions)
        #expect(problem.device == device, "\(problem)")
    }

    @Test("If conditions cover all devices, only the missing last variant is reported")
    func nothingLeft() throws {
        #expect(try problem([#""app": ">=2""#, #""app": "<2""#]).device == nil)
    }
}
