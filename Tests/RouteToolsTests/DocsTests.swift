import LinkCoordinator
import TableSupport
import TestSupport
import Testing

@testable import RouteTools

@Suite struct DocsTests {
    @Test(
        "Every route has a heading, an anchor with a link in the index, and all its patterns",
        arguments: SampleTables.paths
    )
    func whole(path: String) throws {
        let table = try SampleTables.load(path)
        let text = RoutesDocument.text(table)
        for route in table.source.routes {
            #expect(text.contains("\n## \(Markup.markdown(route.id.value))\n"))
            #expect(text.contains("(#route-\(route.id.value))"))
            #expect(text.contains("<a id=\"route-\(route.id.value)\"></a>"))
            for pattern in route.patterns where !pattern.omitsOptionalPart {
                #expect(text.contains(Markup.code(route.written(pattern))), "\(route.id.value)")
            }
        }
        // A row of a table has as many cells as its heading.
        var cells = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                cells = 0
                continue
            }
            let bars = line.replacing("\\|", with: "").count { $0 == "|" }
            if cells == 0 { cells = bars }
            #expect(bars == cells, "\(line)")
        }
    }

    @Test("Only captures that nothing uses are listed as unused")
    func unusedCaptures() throws {
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "models": { "M": { "n": "int" } },
              "coordinators": { "main": { "screens": { "x": { "needs": ["M"] } } } },
              "externals": { "hosts": ["e.example"] },
              "routes": [
                { "id": "old", "match": "/old/{moved}/{dropped}", "redirect": "/new/{moved}" },
                { "id": "named", "match": "/named/{bound:int}/{left}", "redirect": "item" },
                { "id": "item", "match": "/item/{bound:int}", "to": { "path": "/main/x" },
                  "bind": { "M": { "n": "path.bound" } } },
                { "id": "out", "match": "/out/{opened}", "to": { "external": "https://e.example/{opened}" } },
                { "id": "go", "match": "/go/{p:coordinatorPath}", "to": { "path": "{p}" } } ] }
            """#
        let table = try #require(RouteTable.unchecked(Array(file.utf8)))
        let lines = RoutesDocument.text(table).split(separator: "\n")
        let unused = lines.indices.filter { lines[$0] == "**Unused captures**" }.map { lines[$0 + 1] }
        #expect(unused == ["- `left`", "- `dropped`"])
    }

    @Test("A generated link reaches its route", arguments: SampleTables.paths)
    func generated(path: String) throws {
        let table = try SampleTables.load(path)
        for route in table.source.routes where !route.patterns.isEmpty {
            let link = try #require(SampleLinks.first(of: route, in: table), "\(route.id.value)")
            let decision = table.resolve(link)
            #expect(decision.via.first ?? decision.route == route.id.value, "\(link)")
        }
    }

    /// The reasons that precede the choice of a route, or come from the form of the request.
    private static let general: Set<ReasonCode> = [.badEncoding, .scheme, .host, .emptySegment, .noLink, .noRoute]

    @Test(
        "Randomly changed links have no reason that is not listed for their route",
        arguments: SampleTables.paths)
    func reasonsAreWhole(path: String) throws {
        let table = try SampleTables.load(path)
        let routeReasons = RouteReasons(table)
        let listed = Dictionary(
            uniqueKeysWithValues: table.source.routes.map {
                ($0.id.value, Set(routeReasons.reasons(of: $0).map(\.reason)))
            })
        let links = table.source.routes.flatMap { SampleLinks.all(of: $0, in: table) }
        var random = SeededGenerator(seed: 7)
        let pieces = [
            "", "?", "&", "=", "/", "%", "%2E", ".", "..", "1", "-1", "x", "id", "a b", "%ff", "mode=read&key",
        ]
        var found: Set<ReasonCode> = []
        for _ in 0..<2000 {
            guard var link = links.randomElement(using: &random).map({ Array($0) }) else { continue }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let at = Int.random(in: 0...link.count, using: &random)
                let end = min(link.count, at + Int.random(in: 0...3, using: &random))
                link.replaceSubrange(at..<end, with: pieces.randomElement(using: &random) ?? "")
            }
            let versions: [String?] = [nil, "1.0", "4.0", "9.9"]
            let device = DeviceFacts(
                app: versions.randomElement(using: &random) ?? nil,
                capabilities: Bool.random(using: &random) ? ["ar"] : nil,
                claims: Bool.random(using: &random) ? ["session", "user"] : nil)
            let decision = table.resolve(String(link), device: device)
            guard let reason = decision.reason.flatMap({ ReasonCode(rawValue: $0.rawValue) }),
                let route = decision.route,
                !Self.general.contains(reason)
            else { continue }
            found.insert(reason)
            #expect(listed[route]?.contains(reason) == true, "\(String(link)): \(route) \(reason.rawValue)")
        }
        print("\(path): reasons seen \(found.map(\.rawValue).sorted())")
    }
}
