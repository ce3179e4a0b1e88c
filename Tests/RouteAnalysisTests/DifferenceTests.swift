import RouteAnalysis
import LinkCoordinator
import TestSupport
import Testing

@Suite("Differences between two tables")
struct DifferenceTests {
    private static let devices = [
        DeviceFacts(), DeviceFacts(app: "1.0"), DeviceFacts(app: "2.0.0"), DeviceFacts(app: "3.1", claims: ["c"]),
        DeviceFacts(claims: ["c"]),
        DeviceFacts(platform: "ios", app: "2.5"), DeviceFacts(platform: "android"),
    ]

    private static func variants(_ when: String, _ to: String, _ otherwise: String) -> String {
        #""variants": [ { "when": { \#(when) }, "to": { \#(to) } }, { "to": { \#(otherwise) } } ]"#
    }

    private static let actions = [
        #""to": { "root": true }"#, #""to": { "path": "/home/y" }"#, #""exclude": { "outcome": "none" }"#,
        variants(#""app": ">=2""#, #""path": "/a/x""#, #""root": true"#),
        variants(#""claim": "c""#, #""path": "/a/x""#, #""root": true"#),
        variants(#""platform": "ios""#, #""path": "/home/y""#, #""path": "/a/x""#),
    ]

    /// The routes that both tables select, which identify a change.
    private struct Key: Hashable {
        var old: String?
        var new: String?
    }

    @Test("Random pairs of tables differ as a brute-force search over short links and some devices shows")
    func bruteForce() throws {
        var world = SmallWorld(seed: 20_251_124, isWide: false)
        var found = (pairs: 0, different: 0, changes: 0, links: 0)
        for round in 0..<32 {
            var routes = world.routes(upTo: 5)
            for index in routes.indices { routes[index].action = world.patterns.pick(Self.actions) }
            var others = routes
            let place = Int.random(in: others.indices, using: &world.patterns.generator)
            switch round % 4 {
            case 0: others.remove(at: place)
            case 1: others[place].pattern = world.route(0).pattern
            case 2: others[place].action = world.patterns.pick(Self.actions)
            default: break
            }
            let old = try #require(RouteTable.unchecked(world.file(routes)))
            let new = try #require(RouteTable.unchecked(world.file(others, version: "2")))
            let difference = new.difference(from: old)
            #expect(difference.unproved.isEmpty && difference.sampled.isEmpty)
            let told = Set(difference.changes.map { Key(old: $0.oldChoice?.route, new: $0.newChoice?.route) })
            var wanted = Set<Key>()
            let links = (world.links(for: old.source) + world.links(for: new.source)).enumerated()
            // All links of up to two segments are tried, and some of the many longer ones.
            for (number, link) in links where link.path.count < 3 || number % 29 == 0 {
                found.links += 1
                let key = Key(old: chosen(link, old, world), new: chosen(link, new, world))
                if wanted.contains(key) { continue }
                for device in Self.devices {
                    let (a, b) = (old.resolve(link.text, device: device), new.resolve(link.text, device: device))
                    if a.comparable != b.comparable { wanted.insert(key) }
                }
            }
            #expect(
                wanted.isSubset(of: told),
                "\(wanted) \(told) seed \(world.patterns.generator.seed) \(routes.map(\.json)) \(others.map(\.json))")
            for change in difference.changes {
                let (a, b) = (
                    old.resolve(change.request, device: change.device),
                    new.resolve(change.request, device: change.device)
                )
                #expect(a.comparable != b.comparable && a.json == change.old.json && b.json == change.new.json)
                let choice = old.explain(change.request).candidates.first?.route
                #expect(choice == change.oldChoice?.route, "\(change)")
            }
            if round % 4 == 3 { #expect(difference.changes.isEmpty && difference.sets > 0) }
            found.pairs += 1
            found.different += wanted.isEmpty ? 0 : 1
            found.changes += difference.changes.count
        }
        print("difference: \(found), seed \(world.patterns.generator.seed)")
        #expect(found.different > 10)
    }

    private func chosen(_ link: SmallWorld.Link, _ table: RouteTable, _ world: SmallWorld) -> String? {
        table.source.routes.filter { world.matches($0, link) }
            .min { Precedence.compare($0.precedence(of: $0.patterns[0]), $1.precedence(of: $1.patterns[0])) < 0 }?
            .id.value
    }

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
