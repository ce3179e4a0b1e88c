import LinkCoordinator
import RouteAnalysis
import TableSupport
import TestSupport
import Testing

/// The routes of two tables, in parts.
private struct RoutePair: Shrinkable {
    var old: [SmallTableGenerator.Route]
    var new: [SmallTableGenerator.Route]

    static var parts: [RemovableParts<RoutePair>] { [RemovableParts(\.old), RemovableParts(\.new)] }
}

@Suite("Differences of small random tables")
struct SmallDifferenceLawTests {
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

    /// The result of a comparison of two tables with all of their short links.
    private struct Result {
        var isDifferent = false
        var changes = 0
        var links = 0
        /// The evidence that the difference is wrong.
        var wrong: [String] = []
    }

    /// A case is a pair of tables.
    ///
    /// It counts as 300 cases, because all links of up to two segments are tried, and some
    /// of the many longer ones.
    @Test("Random pairs of tables differ as a brute-force search over short links and some devices shows")
    func bruteForce() throws {
        var tableGenerator = SmallTableGenerator(seed: 20_251_124, isWide: false)
        var found = (pairs: 0, different: 0, changes: 0, links: 0)
        let pairs = max(1, LawCases.count / 300)
        for round in 0..<pairs {
            let pair = pair(round, &tableGenerator)
            let result = compare(pair, tableGenerator)
            if result.wrong != [] {
                let smallest = shrunk(pair, maxTries: 300) { compare($0, tableGenerator).wrong != [] }.smallest
                let evidence =
                    compare(smallest, tableGenerator).wrong + smallest.old.map(\.json) + smallest.new.map(\.json)
                Issue.record(
                    "seed \(tableGenerator.patterns.generator.seed), pair \(round): \(evidence.joined(separator: "\n"))"
                )
                return
            }
            found.pairs += 1
            found.different += result.isDifferent ? 1 : 0
            found.changes += result.changes
            found.links += result.links
        }
        print("difference: \(found), seed \(tableGenerator.patterns.generator.seed)")
        #expect(found.different > pairs / 4)
    }

    /// Returns the routes of two tables that differ in one route, or not at all.
    private func pair(_ round: Int, _ tableGenerator: inout SmallTableGenerator) -> RoutePair {
        var routes = tableGenerator.routes(upTo: 5)
        for index in routes.indices { routes[index].action = tableGenerator.patterns.pick(Self.actions) }
        var others = routes
        let changedIndex = Int.random(in: others.indices, using: &tableGenerator.patterns.generator)
        switch round % 4 {
        case 0: others.remove(at: changedIndex)
        case 1: others[changedIndex].pattern = tableGenerator.route(0).pattern
        case 2: others[changedIndex].action = tableGenerator.patterns.pick(Self.actions)
        default: break
        }
        return RoutePair(old: routes, new: others)
    }

    private func compare(_ pair: RoutePair, _ tableGenerator: SmallTableGenerator) -> Result {
        guard !pair.old.isEmpty, let old = RouteTable.unchecked(tableGenerator.file(pair.old)),
            let new = RouteTable.unchecked(tableGenerator.file(pair.new, version: "2"))
        else { return Result() }
        let difference = new.difference(from: old)
        var result = Result(changes: difference.changes.count)
        let reported = Set(difference.changes.map { Key(old: $0.oldChoice?.route, new: $0.newChoice?.route) })
        var expected = Set<Key>()
        let links = (tableGenerator.links(for: old.source) + tableGenerator.links(for: new.source)).enumerated()
        for (number, link) in links where link.path.count < 3 || number % 29 == 0 {
            result.links += 1
            let key = Key(old: chosen(link, old, tableGenerator), new: chosen(link, new, tableGenerator))
            if expected.contains(key) { continue }
            for device in Self.devices {
                let (a, b) = (old.resolve(link.text, device: device), new.resolve(link.text, device: device))
                if a.comparable != b.comparable { expected.insert(key) }
            }
        }
        result.isDifferent = !expected.isEmpty
        if !expected.isSubset(of: reported) { result.wrong.append("\(expected) is expected, \(reported) is reported") }
        if !difference.incompletelyComparedSets.isEmpty || !difference.sampledSets.isEmpty {
            result.wrong.append("unproved or sampled")
        }
        if pair.old.map(\.json) == pair.new.map(\.json), !difference.changes.isEmpty || difference.comparedSetCount == 0
        {
            result.wrong.append("equal tables differ")
        }
        result.wrong += difference.changes.compactMap { wrong($0, old, new) }
        return result
    }

    /// Returns the evidence that a reported change is wrong, or nil.
    private func wrong(_ change: TableDifference.Change, _ old: RouteTable, _ new: RouteTable) -> String? {
        let (a, b) = (
            old.resolve(change.request, device: change.device), new.resolve(change.request, device: change.device)
        )
        let choice = old.explain(change.request).candidates.first?.route
        let isRight =
            a.comparable != b.comparable && a.json == change.old.json && b.json == change.new.json
            && choice == change.oldChoice?.route
        return isRight ? nil : "not a change: \(change)"
    }

    private func chosen(
        _ link: SmallTableGenerator.Link, _ table: RouteTable, _ tableGenerator: SmallTableGenerator
    ) -> String? {
        table.source.routes.filter { tableGenerator.matches($0, link) }
            .min { Precedence.compare($0.precedence(of: $0.patterns[0]), $1.precedence(of: $1.patterns[0])) < 0 }?
            .id.value
    }
}
