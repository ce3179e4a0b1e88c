import LinkCoordinator
import RouteAnalysis
import TableSupport
import TestSupport
import Testing

/// The law of the forecast: devices of one kind get the same decisions.
@Suite("Laws of the kinds of devices") struct DeviceKindLawTests {
    private static let versions = [
        "0-0", "0.9", "1", "1.0.0", "2.0", "2.9.9", "3.0.0-rc.1", "3.0", "3.1", "3.2", "4.0.0-beta", "4.0.0",
        "4.0.0.1", "5.0", "6.1.0", "17.1", "18", "999", "x", "", "1..2",
    ]
    private static let locales = [
        "en", "EN", "en_GB", "en-gb-x", "english", "de", "de_AT", "d", "", "-", "zz", "fr-CA",
    ]

    /// Returns a device whose facts are often near those that generated tables test.
    static func device(_ random: inout SeededGenerator) -> DeviceFacts {
        func some(_ texts: [String]) -> String? { random.one(in: 4) ? nil : random.pick(texts) }
        func several(_ texts: [String]) -> [String]? {
            random.one(in: 4) ? nil : texts.filter { _ in Bool.random(using: &random) }
        }
        let values = ["gold", "iron", "Gold", "a", "b", ""]
        let names = several(["tier", "plan", "a", "Tier"])
        return DeviceFacts(
            platform: some(["ios", "iOS", "android", "web", "tvos", "zz", ""]), app: some(versions),
            os: some(versions), locale: some(locales), region: some(["gb", "GB", "us", "de", "zz", "g-b", "g_b"]),
            capabilities: several(["listed", "cap", "ar", "other"]), claims: several(["session", "vip", "x"]),
            attributes: names.map { names in
                Dictionary(uniqueKeysWithValues: names.map { ($0, random.pick(values)) })
            }, coordinator: some(["home", "shop", "nowhere", "HOME", "a", ""]))
    }

    @Test("A decision about a device is that about the example of its kind, for generated tables and links")
    func examples() throws {
        var tables = TableGenerator(
            seed: 29_2026_11, options: TableGenerator.Options(variantsMore: true, guardsMore: true))
        var random = SeededGenerator(seed: 29)
        var resolver = ReusedResolver()
        var (cases, different) = (0, 0)
        while cases < 10 * LawCases.count {
            let table = try LawTable.next(&tables)
            var links = LinkGenerator(table.table.source, seed: random.next())
            var kinds = DeviceKinds([table.table], platforms: [])
            let facts = (0..<50).map { _ in Self.device(&random) }
            let devices = LawDevices(facts)
            var found: [DeviceKinds.Kind] = []
            for device in devices.facts {
                var kind: DeviceKinds.Kind = []
                kinds.classify(device, into: &kind)
                found.append(kind)
            }
            let examples = LawDevices(found.map(kinds.facts(of:)))
            for (example, kind) in zip(examples.facts, found) {
                var again: DeviceKinds.Kind = []
                kinds.classify(example, into: &again)
                #expect(again == kind, "\(kinds.facts(of: kind).json)")
            }
            for _ in 0..<20 {
                let link = Array(links.link().text.utf8)
                var decisions = Set<[UInt8]>()
                for index in devices.facts.indices {
                    let decision = resolver.decide(link, devices.facts[index], table.compiled)
                    let example = resolver.decide(link, examples.facts[index], table.compiled)
                    decisions.insert(decision)
                    cases += 1
                    guard decision != example else { continue }
                    Issue.record(
                        """
                        \(String(decoding: link, as: UTF8.self))
                        \(facts[index].json)
                        \(kinds.facts(of: found[index]).json)
                        \(String(decoding: decision, as: UTF8.self))
                        \(String(decoding: example, as: UTF8.self))
                        """)
                    return
                }
                different += decisions.count > 1 ? 1 : 0
            }
        }
        print("law of kinds: cases: \(cases), links with several decisions: \(different)")
        #expect(different > cases / 5000)
    }
}
