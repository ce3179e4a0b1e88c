import LinkCoordinator
import RouteAnalysis
import StrictJSON
import TableSupport
import TestSupport
import Testing

/// P10: a newer version of the app selects the same variant or an earlier one, and does not lose support.
private struct RaisedVersion: TableLaw {
    static let name = "P10"
    static let seed: UInt64 = 10_2026_11
    static var options: TableGenerator.Options { TableGenerator.Options(isMonotone: true, variantsMore: true) }

    private static let versions = ["x", "0.9", "1.0", "2.0", "3.0", "3.1", "3.2", "4.0.0-beta", "4.0.0", "5.0", "6.1"]

    static func devices(like device: DeviceFacts) -> [DeviceFacts] {
        versions.map { version in
            var device = device
            device.app = version
            return device
        }
    }

    /// The routes of a table, classified for the law.
    struct Routes {
        private let ensuringSupport: Set<String>
        /// The routes with a target whose parents another route supplies.
        let withParents: Set<String>

        init(_ source: TableSource) {
            let variants = EnsuredVariants(source)
            ensuringSupport = Set(source.routes.filter(variants.hold).map(\.id.value))
            withParents = Set(
                source.routes.filter { $0.variants.contains { if case .route = $0.to.parents { true } else { false } } }
                    .map(\.id.value))
        }

        /// Returns a Boolean value that indicates whether to compare the support on a route.
        ///
        /// For a route that does not ensure support, only the same stack is compared: the same variant without parents
        /// of another route.
        func isCompared(_ route: String, sameVariant: Bool) -> Bool {
            ensuringSupport.contains(route) || (sameVariant && !withParents.contains(route))
        }
    }

    private(set) var (compared, other, parents, unsupported, gained) = (0, 0, 0, 0, 0)

    func prepare(_ table: LawTable, seed: UInt64) -> Routes? { Routes(table.table.source) }

    mutating func check(_ input: LawInput, _ routes: Routes, _ resolver: inout ReusedResolver) -> LawResult {
        var random = SeededGenerator(seed: input.seed)
        let low = Int.random(in: 0..<Self.versions.count - 1, using: &random)
        let high = Int.random(in: (low + 1)..<Self.versions.count, using: &random)
        let first = input.devices.startIndex
        let older = resolver.decide(input.bytes, input.devices[first + low], input.compiled)
        let newer = resolver.decide(input.bytes, input.devices[first + high], input.compiled)
        let (a, b) = (DecisionStart(older), DecisionStart(newer))
        let evidence = [Array("apps \(Self.versions[low]) and \(Self.versions[high])".utf8), older, newer]
        if a.route != b.route || (b.variant ?? 0) > (a.variant ?? 0) { return .broken(evidence) }
        guard let route = a.route, routes.isCompared(route, sameVariant: a.variant == b.variant) else {
            return .holds(1)
        }
        compared += 1
        other += a.variant != b.variant ? 1 : 0
        parents += routes.withParents.contains(route) ? 1 : 0
        let (before, after) = (Self.lacks(older), Self.lacks(newer))
        unsupported += before ? 1 : 0
        gained += before && !after ? 1 : 0
        return after && !before ? .broken(evidence) : .holds(1)
    }

    /// Returns a Boolean value that indicates whether a decision reports that the device does not support a screen.
    private static func lacks(_ json: [UInt8]) -> Bool {
        guard let decision = try? Decision(json: json) else { return true }
        return decision.reason == "unsupported"
            || decision.notes.contains { $0.hasPrefix("unsupported:") && !$0.hasSuffix("sys.update") }
    }

    var counts: KeyValuePairs<String, Int> {
        [
            "compared": compared, "by an earlier variant": other, "with parents of a route": parents,
            "unsupported on the older": unsupported, "no more on the newer": gained,
        ]
    }
}

/// P13: a deferred request with the added claim navigates or is deferred by another guard.
///
/// A case is a deferred decision for a link and a device with some of the claims.
private struct AddedClaim: TableLaw {
    static let name = "P13"
    static let seed: UInt64 = 13_2026_11
    static var options: TableGenerator.Options { TableGenerator.Options(hasClaimConditions: false, guardsMore: true) }

    private static let held: [[String]] = [[], ["session"], ["vip"], ["session", "vip"]]

    /// Returns every kind of device with each set of claims, because few links are deferred.
    static func devices(like _: DeviceFacts) -> [DeviceFacts] {
        LawDevices.all.flatMap { device in
            held.map { claims in
                var device = device
                device.claims = claims
                return device
            }
        }
    }

    private(set) var (links, navigated, other) = (0, 0, 0)

    /// Returns the routes that defer a device without claims, or nil if there are none.
    func prepare(_ table: LawTable, seed: UInt64) -> Set<String>? {
        var links = LinkGenerator(table.table.source, seed: seed)
        var resolver = ReusedResolver()
        let device = LawDevices(Self.devices(like: LawDevices.all[3]))
        var guarded = Set<String>()
        for _ in 0..<100 {
            let json = resolver.decide(Array(links.link().text.utf8), device.facts[0], table.compiled)
            let start = DecisionStart(json)
            if start.outcome == "deferred", let route = start.route { guarded.insert(route) }
        }
        return guarded.isEmpty ? nil : guarded
    }

    func choose(_ links: inout LinkGenerator, _ guarded: Set<String>) { links.keep(guarded) }

    mutating func check(_ input: LawInput, _: Set<String>, _ resolver: inout ReusedResolver) -> LawResult {
        links += 1
        let first = input.devices.startIndex
        func decide(_ kind: Int, _ set: Int, _ resolver: inout ReusedResolver) -> [UInt8] {
            resolver.decide(input.bytes, input.devices[first + kind * Self.held.count + set], input.compiled)
        }
        if DecisionStart(decide(3, 0, &resolver)).outcome != "deferred" { return .holds(0) }
        var cases = 0
        for (kind, set) in LawDevices.all.indices.flatMap({ kind in (0..<3).map { (kind, $0) } }) {
            let json = decide(kind, set, &resolver)
            let start = DecisionStart(json)
            if start.outcome != "deferred" { continue }
            cases += 1
            // The set with the claim of the guard.
            let more = start.stoppedBy == "member" ? [2, 3, 2][set] : [1, 1, 3][set]
            let again = decide(kind, more, &resolver)
            let after = DecisionStart(again)
            navigated += after.outcome == "navigate" ? 1 : 0
            let isDeferred = after.outcome == "deferred" && after.stoppedBy != start.stoppedBy
            other += isDeferred ? 1 : 0
            if after.outcome != "navigate" && !isDeferred {
                let device = "\(LawDevices.all[kind].json) with the claims \(Self.held[set]), then \(Self.held[more])"
                return .broken([Array(device.utf8), json, again])
            }
        }
        return .holds(cases)
    }

    var counts: KeyValuePairs<String, Int> {
        ["of links": links, "then navigates": navigated, "then deferred by another": other]
    }
}

@Suite("Laws of devices") struct DeviceLawTests {
    @Test(
        """
        P10: a newer version of the app selects the same variant or an earlier one, and never makes a decision \
        unsupported if conditions ensure support for their screens and the table removes no screens
        """)
    func raising() throws {
        var law = RaisedVersion()
        guard let cases = try law.run() else { return }
        #expect(law.compared > cases / 3 && law.gained > cases / 1000)
        // A small number of tables need not have such routes.
        #expect(!LawCases.hasRareCases || (law.other > cases / 500 && law.parents > cases / 200))
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

    @Test("P13: a deferred request with the added claim navigates or is deferred by another guard")
    func resuming() throws {
        var law = AddedClaim()
        guard let cases = try law.run() else { return }
        #expect(law.navigated > cases / 2 && (law.other > 0 || !LawCases.hasRareCases))
    }
}
