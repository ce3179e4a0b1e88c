import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Differences of random tables")
struct DifferenceLawTests {
    /// The routes that two tables select for a request.
    private struct Choices: Hashable {
        var old: String?
        var new: String?
    }

    private static let devices = [
        DeviceFacts(), DeviceFacts(platform: "ios", app: "6.0.0", os: "17", capabilities: ["listed", "cap"]),
        DeviceFacts(
            platform: "android", app: "4.0.0", os: "2", locale: "en-GB", region: "GB", claims: ["session", "vip"]),
        DeviceFacts(app: "2.0", os: "1", claims: ["session"], attributes: ["tier": "gold"]),
        DeviceFacts(platform: "web", app: "1.0", claims: ["vip"]),
        DeviceFacts(app: "4.0.0", os: "2", capabilities: ["listed"]),
    ]

    /// Returns a table that differs from another one in one route or one part.
    private func changed(_ table: GeneratedTable, _ generator: inout TableGenerator) -> GeneratedTable {
        var next = table
        let other = generator.table()
        // The parts are link, models, coordinators, and fallback.
        switch Int.random(in: 0..<8, using: &generator.patterns.generator) {
        case 0: next.parts[1] = other.parts[1]
        case 1: next.parts[2] = other.parts[2]
        case 2: next.parts[4] = other.parts[4]
        case 3: next.parts[7] = other.parts[7]
        default:
            let place = Int.random(in: next.routes.indices, using: &generator.patterns.generator)
            next.routes[place].members = generator.pick(other.routes).members
        }
        return next
    }

    /// Returns the same table with other limits and sometimes another change.
    private func relimited(_ table: GeneratedTable, _ generator: inout TableGenerator) -> GeneratedTable {
        var next = generator.one(in: 3) ? changed(table, &generator) : table
        next.parts[1].replace(/"limits": \{[^}]*\}/, with: generator.limits())
        return next
    }

    /// Returns a link with more segments, query items, or bytes, usually enough to exceed a limit of generated tables.
    private func lengthened(
        _ link: GeneratedLink, _ source: TableSource, _ generator: inout SeededGenerator
    ) -> GeneratedLink {
        var link = link
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            let count = ([5, 9, 64].randomElement(using: &generator) ?? 5) - Int.random(in: -1...3, using: &generator)
            link.path += String(repeating: "/a", count: max(0, count - link.segments.count))
        case 1:
            let count =
                ([5, 12, 128].randomElement(using: &generator) ?? 5) - Int.random(in: -1...3, using: &generator)
            let separator = source.blocks[0].query.pairSeparators.randomElement(using: &generator) ?? 38
            link.query = (link.query ?? "") + String(repeating: Character(UnicodeScalar(separator)), count: count)
        default:
            let bytes = [150, 151, 290, 300, 301, 8192, 8193].randomElement(using: &generator) ?? 150
            let rest = String(repeating: "a", count: max(0, bytes - link.text.utf8.count - 1))
            if Bool.random(using: &generator) {
                link.fragment = (link.fragment ?? "") + rest
            } else {
                link.path += (link.path.hasSuffix("/") ? "" : "/") + rest
            }
        }
        return link
    }

    @Test(
        "Every link with different decisions is reported, and every reported difference is real",
        arguments: [1, 2, 3, 4, 12])
    func complete(seed: UInt64) throws {
        var options = TableGenerator.Options()
        options.maxRoutes = 5
        try check(seed: seed, pairs: lawSize("DIFFERENCE_PAIRS", 4), options, changed) { link, _, _ in link }
    }

    @Test("Every link at or above the limits with different decisions is reported", arguments: [1, 2, 3])
    func completeForLimits(seed: UInt64) throws {
        var options = TableGenerator.Options()
        options.maxRoutes = 4
        options.limitsLinks = true
        try check(seed: seed, pairs: lawSize("DIFFERENCE_PAIRS", 4), options, relimited, lengthened)
    }

    private func check(
        seed: UInt64, pairs: Int, _ options: TableGenerator.Options,
        _ changed: (GeneratedTable, inout TableGenerator) -> GeneratedTable,
        _ lengthened: (GeneratedLink, TableSource, inout SeededGenerator) -> GeneratedLink
    ) throws {
        var generator = TableGenerator(seed: seed &* 104_729, options: options)
        var found = (pairs: 0, changes: 0, links: 0, differing: 0, unproved: 0)
        while found.pairs < pairs {
            guard let (made, old) = generator.settledTable() else { continue }
            var other = changed(made, &generator)
            guard let new = other.settle() else { continue }
            let file = other.json
            found.pairs += 1
            let difference = new.difference(from: old)
            found.changes += difference.changes.count
            let open = Set(
                (difference.unproved + difference.sampled).map { Choices(old: $0.old?.route, new: $0.new?.route) })
            found.unproved += open.count
            for change in difference.changes {
                let (a, b) = (
                    old.resolve(change.request, device: change.device),
                    new.resolve(change.request, device: change.device)
                )
                #expect(a.comparable != b.comparable)
            }
            let told = Set(difference.changes.map { Choices(old: $0.oldChoice?.route, new: $0.newChoice?.route) })
            var missed = Set<Choices>()
            for source in [old.source, new.source] {
                var links = LinkGenerator(source, seed: seed)
                for _ in 0..<300 {
                    let one = links.link()
                    let link = lengthened(one, source, &links.generator).text
                    for device in Self.devices {
                        let (a, b) = (old.resolve(link, device: device), new.resolve(link, device: device))
                        found.links += 1
                        if a.comparable == b.comparable { continue }
                        found.differing += 1
                        let choices = Choices(old: chosen(old, link), new: chosen(new, link))
                        guard !told.contains(choices), !open.contains(choices), missed.insert(choices).inserted else {
                            continue
                        }
                        let texts = [a.json, b.json, made.json, file].map { String(decoding: $0, as: UTF8.self) }
                        let head = "\(link) on \(device.json), seed \(seed), pair \(found.pairs)"
                        Issue.record("\(([head] + texts).joined(separator: "\n"))")
                    }
                }
            }
        }
        print("difference: \(found), seed \(seed &* 104_729)")
        #expect(found.differing > 0)
    }

    private func chosen(_ table: RouteTable, _ link: String) -> String? {
        table.explain(.link(link)).candidates.first(where: \.chosen)?.route
    }
}
