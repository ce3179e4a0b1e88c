import LinkCoordinator
import TestSupport
import Testing

@testable import RouteTools

@Suite("The time of exports and documents is linear in the number of routes", .serialized)
struct OutputScaleTests {
    private static let outputs: [(name: String, make: @Sendable (RouteTable) -> Int)] = [
        ("aasa", { AppleAssociation($0, host: nil)?.json(appIDs: ["A.b"]).count ?? 0 }),
        ("android", { AndroidFilters($0).xml.count }),
        ("swift", { (try? SwiftExport($0, json: [], typeName: nil).text.count) ?? 0 }),
        ("graph", { GraphText.mermaid(RouteGraph($0)).count }),
        ("docs", { RoutesDocument.text($0).count }),
    ]

    /// A table whose routes have two bound captures, one of which matches any segment, and an example.
    private func table(_ count: Int) throws -> RouteTable {
        let routes = (0..<count).map {
            #"{ "id": "r\#($0)", "match": "/t\#($0)/{name}/{n:int(1..9)}", "to": { "path": "/c/s" }, "#
                + #""bind": { "A": { "name": "path.name", "n": "path.n" } } }"#
        }
        let examples = (0..<count).map { #"{ "link": "https://h.example/t\#($0)/x/3", "route": "r\#($0)" }"# }
        let text = """
            { "schemaVersion": 1, "table": { "id": "many", "version": "1" },
              "link": { "schemes": ["https"], "host": "authority", "hosts": ["h.example"] },
              "models": { "A": { "name": "string", "n": "int(1..99)" } },
              "coordinators": { "c": { "screens": { "s": { "needs": ["A"] } } } },
              "routes": [ \(routes.joined(separator: ",\n")) ], "examples": [ \(examples.joined(separator: ",\n")) ] }
            """
        return try RouteTable(json: Array(text.utf8))
    }

    @Test("Four times as many routes take about four times as long", arguments: outputs.map(\.name))
    func growth(name: String) throws {
        let output = try #require(Self.outputs.first { $0.name == name })
        let (few, many) = (try table(100), try table(400))
        // Quadratic growth takes sixteen times as long.
        #expect(ThreadTime.excess(of: { _ = output.make(many) }, over: { _ = output.make(few) }, factor: 8) == nil)
    }
}
