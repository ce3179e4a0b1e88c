import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Laws of devices") struct DeviceLawTests {
    private static let versions = ["x", "0.9", "1.0", "2.0", "3.0", "3.1", "3.2", "4.0.0-beta", "4.0.0", "5.0", "6.1"]

    @Test(
        """
        P10: a newer version of the app selects the same variant or an earlier one, and never makes a decision \
        unsupported if conditions ensure support for their screens and the table removes no screens
        """)
    func raising() throws {
        var options = TableGenerator.Options()
        options.isMonotone = true
        options.variantsMore = true
        var tables = TableGenerator(seed: 10_2026_11, options: options)
        var runner = LawRunner()
        let devices = LawDevices(
            Self.versions.flatMap { version in
                LawDevices.all.map { device in
                    var device = device
                    device.app = version
                    return device
                }
            })
        let kinds = LawDevices.all.count
        var (cases, judged, other, parents, unsupported, gained) = (0, 0, 0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            let routes = RaisedRoutes(law.table.source)
            var links = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            for _ in 0..<linksPerTable {
                let link = Array(links.link().text.utf8)
                let device = cases % kinds
                let low = Int.random(in: 0..<Self.versions.count - 1, using: &links.generator)
                let high = Int.random(in: (low + 1)..<Self.versions.count, using: &links.generator)
                let older = runner.decide(link, devices.facts[low * kinds + device], law.compiled)
                let newer = runner.decide(link, devices.facts[high * kinds + device], law.compiled)
                cases += 1
                let (a, b) = (DecisionStart(older), DecisionStart(newer))
                if a.route != b.route || (b.variant ?? 0) > (a.variant ?? 0) {
                    broken(link, older, newer)
                    return
                }
                guard let route = a.route, routes.areJudged(route, sameVariant: a.variant == b.variant) else {
                    continue
                }
                judged += 1
                other += a.variant != b.variant ? 1 : 0
                parents += routes.withParents.contains(route) ? 1 : 0
                let (before, after) = (Self.lacks(older), Self.lacks(newer))
                unsupported += before ? 1 : 0
                gained += before && !after ? 1 : 0
                if after && !before {
                    broken(link, older, newer)
                    return
                }
            }
        }
        report(
            "P10", seed: tables.patterns.generator.seed,
            [
                "cases": cases, "judged": judged, "by an earlier variant": other, "with parents of a route": parents,
                "unsupported on the older": unsupported, "no more on the newer": gained,
            ])
        #expect(judged > cases / 3 && gained > cases / 1000)
        // A small number of tables need not have such routes.
        #expect(cases < 100_000 || (other > cases / 500 && parents > cases / 200))
    }

    /// The routes of a table, classified for law P10.
    private struct RaisedRoutes {
        private let promising: Set<String>
        /// The routes with a target whose parents another route supplies.
        let withParents: Set<String>

        init(_ source: TableSource) {
            let variants = PromisedVariants(source)
            promising = Set(source.routes.filter(variants.hold).map(\.id.value))
            withParents = Set(
                source.routes.filter { $0.variants.contains { if case .route = $0.to.parents { true } else { false } } }
                    .map(\.id.value))
        }

        /// For a route that does not ensure support, only the same stack is compared: the same variant without parents
        /// of another route.
        func areJudged(_ route: String, sameVariant: Bool) -> Bool {
            promising.contains(route) || (sameVariant && !withParents.contains(route))
        }
    }

    @Test(
        "A variant for newer apps can be unsupported if its screen requires more than its condition")
    func unpromised() throws {
        let table = try RouteTable(
            json: [UInt8](
                #"""
                {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["t"],"host":"segment"},
                 "capabilities":{"ar":{}},
                 "coordinators":{"c":{"screens":{"plain":{},"ar":{"requires":["ar"]}}}},
                 "routes":[{"id":"p","match":"/p","variants":[{"when":{"app":">=4"},"to":{"path":"/c/ar"}},
                                                              {"to":{"path":"/c/plain"}}]},
                           {"id":"q","match":"/q","to":{"path":"/c/plain","parents":"route:p"}}]}
                """#.utf8))
        for route in ["p", "q"] {
            #expect(table.resolve("t://\(route)", device: DeviceFacts(app: "3")).outcome == .navigate)
            #expect(table.resolve("t://\(route)", device: DeviceFacts(app: "4")).reason == "unsupported")
            #expect(
                table.resolve("t://\(route)", device: DeviceFacts(app: "4", capabilities: ["ar"])).outcome == .navigate)
        }
    }

    /// Returns a Boolean value that indicates whether a decision reports that the device does not support a screen.
    private static func lacks(_ json: [UInt8]) -> Bool {
        guard let decision = try? Decision(json: json) else { return true }
        return decision.reason == "unsupported"
            || decision.notes.contains { $0.hasPrefix("unsupported:") && !$0.hasSuffix("sys.update") }
    }

    @Test("P13: a deferred request with the added claim navigates or is deferred by another guard")
    func resuming() throws {
        var options = TableGenerator.Options()
        options.hasClaimConditions = false
        options.guardsMore = true
        var tables = TableGenerator(seed: 13_2026_11, options: options)
        var runner = LawRunner()
        let held: [[String]] = [[], ["session"], ["vip"], ["session", "vip"]]
        let devices = LawDevices(
            held.flatMap { claims in
                LawDevices.all.map { device in
                    var device = device
                    device.claims = claims
                    return device
                }
            })
        let kinds = LawDevices.all.count
        var (cases, links, navigated, other) = (0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            var generator = LinkGenerator(law.table.source, seed: tables.patterns.generator.next())
            // Only routes that deferred a device without claims are used.
            var guarded = Set<String>()
            for _ in 0..<100 {
                let start = DecisionStart(
                    runner.decide(Array(generator.link().text.utf8), devices.facts[3], law.compiled))
                if start.outcome == "deferred", let route = start.route { guarded.insert(route) }
            }
            if guarded.isEmpty { continue }
            generator.keep(guarded)
            for _ in 0..<linksPerTable / 4 {
                let link = Array(generator.link().text.utf8)
                links += 1
                if DecisionStart(runner.decide(link, devices.facts[3], law.compiled)).outcome != "deferred" { continue }
                // The kind of the device and the claims that it has initially.
                for (device, set) in product(0..<kinds, 0..<3) {
                    let json = runner.decide(link, devices.facts[set * kinds + device], law.compiled)
                    let start = DecisionStart(json)
                    if start.outcome != "deferred" { continue }
                    cases += 1
                    let adds = start.stoppedBy == "member" ? [2, 3, 2][set] : [1, 1, 3][set]
                    let again = runner.decide(link, devices.facts[adds * kinds + device], law.compiled)
                    let after = DecisionStart(again)
                    navigated += after.outcome == "navigate" ? 1 : 0
                    let deferred = after.outcome == "deferred" && after.stoppedBy != start.stoppedBy
                    other += deferred ? 1 : 0
                    if after.outcome != "navigate" && !deferred {
                        broken(link, json, again)
                        return
                    }
                }
            }
        }
        report(
            "P13", seed: tables.patterns.generator.seed,
            ["deferred": cases, "of links": links, "then navigates": navigated, "then deferred by another": other])
        #expect(navigated > cases / 2 && (other > 0 || cases < 100_000))
    }
}

/// Returns all pairs of two ranges.
private func product(_ a: Range<Int>, _ b: Range<Int>) -> [(Int, Int)] { a.flatMap { x in b.map { (x, $0) } } }
