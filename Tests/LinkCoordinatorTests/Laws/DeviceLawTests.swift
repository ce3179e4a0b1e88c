import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Laws of devices") struct DeviceLawTests {
    private static let versions = ["x", "0.9", "1.0", "2.0", "3.0", "3.1", "3.2", "4.0.0-beta", "4.0.0", "5.0", "6.1"]

    @Test("P10: raising the app's version never makes a decision less supported, where the table removes nothing")
    func raising() throws {
        var options = TableGenerator.Options()
        options.isMonotone = true
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
        var (cases, same, earlier, unsupported, gained) = (0, 0, 0, 0, 0)
        while cases < lawCases {
            let law = try LawTable.next(&tables)
            let routes = law.table.source.routes
            // A parent's own variants may add entries: the law is of the target's own stack.
            let plain = Set(
                routes.filter { !$0.variants.contains { if case .route = $0.to.parents { true } else { false } } }.map(
                    \.id.value))
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
                if a.variant != b.variant { earlier += 1 }
                guard a.variant == b.variant, plain.contains(a.route ?? "") else { continue }
                same += 1
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
                "cases": cases, "same variant": same, "an earlier variant": earlier,
                "unsupported on the older": unsupported, "no more on the newer": gained,
            ])
        #expect(same > cases / 10 && gained > cases / 1000 && (earlier > 0 || cases < 100_000))
    }

    /// Whether a decision says that the device lacks a screen.
    private static func lacks(_ json: [UInt8]) -> Bool {
        guard let decision = Decision(json: json) else { return true }
        return decision.reason == "unsupported"
            || decision.notes.contains { $0.hasPrefix("unsupported:") && !$0.hasSuffix("sys.update") }
    }

    @Test("P13: a deferred request with the claim added navigates or is deferred by another guard")
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
            // Only routes that a device without claims was seen to be stopped at.
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
                // The device's kind and which claims it has to begin with.
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

/// All pairs of two ranges.
private func product(_ a: Range<Int>, _ b: Range<Int>) -> [(Int, Int)] { a.flatMap { x in b.map { (x, $0) } } }
