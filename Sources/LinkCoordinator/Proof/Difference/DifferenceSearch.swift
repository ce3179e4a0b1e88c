/// Looks for links and devices for which two tables decide differently.
struct DifferenceSearch {
    private let old: Table
    private let new: Table
    private let devices: [Device]
    private var seen: [Region: Set<TableDifference.Kind>] = [:]
    /// What was found.
    private(set) var difference = TableDifference()

    private struct Region: Hashable {
        var old: TableDifference.Choice?
        var new: TableDifference.Choice?
    }

    /// Most devices that are tried with every link.
    private static let maxDevices = 128

    /// Prepares a comparison.
    init(old: Table, new: Table) {
        self.old = old
        self.new = new
        let (devices, isWhole) = DeviceSpace([old.source, new.source]).devices(limit: Self.maxDevices)
        self.devices = devices
        difference.triesAllDevices = isWhole
    }

    /// Looks at every set of links, read as the old table (0) or the new one (1) reads them.
    mutating func look(reading: Int, _ budget: WorkBudget) {
        let space = PatternSpace([old.source, new.source], reading: reading)
        let index = PatternIndex(space)
        var search = LinkSearch(space, budget: budget)
        let olds = space.patterns.indices.filter { space.patterns[$0].table == 0 }
        var better: [Int: [Int]] = [:]
        var meeting: [Int: [Int]] = [:]
        for number in space.patterns.indices {
            // Of a pattern of the new table all of the old one come before it.
            let found = (try? index.candidates(for: number, &search)) ?? Array(0..<number)
            better[number] = found
            for other in found where other < olds.count && number >= olds.count {
                meeting[other, default: []].append(number)
            }
        }
        for number in space.patterns.indices.dropFirst(olds.count) {
            let own = (better[number] ?? []).filter { $0 >= olds.count }
            let others = (better[number] ?? []).filter { $0 < olds.count }
            for other in others { look(other, number, outside: own + (better[other] ?? []), &search) }
            look(nil, number, outside: own + others, &search)
        }
        for number in olds { look(number, nil, outside: (better[number] ?? []) + (meeting[number] ?? []), &search) }
        look(nil, nil, outside: Array(space.patterns.indices), &search)
    }

    /// One set of links: those that choose a pattern of each table, and none of the better ones.
    private mutating func look(_ first: Int?, _ second: Int?, outside: [Int], _ search: inout LinkSearch) {
        let region = Region(old: choice(first, search.space), new: choice(second, search.space))
        let chosen = [first, second].compactMap { $0 }.map { search.space.patterns[$0] }
        let others = outside.map { search.space.patterns[$0] }
        let inside = chosen.isEmpty ? [Self.everything] : chosen
        do throws(WorkBudget.Exhausted) {
            guard let witness = try search.find(inside: inside, outside: others) else { return }
            difference.sets += 1
            let routes = chosen.map { search.space.sources[$0.table].routes[$0.route] }
            let probes = ValueProbes(sources: search.space.sources, routes: zip(chosen.map(\.table), routes).map { $0 })
            for query in probes.queries(beside: witness.query) {
                var tried = witness
                tried.query = query
                compare(tried.text(in: search.space.source), region)
            }
            for pattern in chosen {
                for probe in probes.paths(of: pattern, &search.space) {
                    guard let found = try search.find(inside: inside + [probe], outside: others) else { continue }
                    compare(found.text(in: search.space.source), region)
                }
            }
        } catch {
            difference.unproved.append((region.old, region.new))
        }
    }

    private static let everything = ProofPattern(
        route: -1, index: 0, rule: 0, segments: [], tail: .star, constraints: [])

    private func choice(_ number: Int?, _ space: PatternSpace) -> TableDifference.Choice? {
        guard let number else { return nil }
        let pattern = space.patterns[number]
        return TableDifference.Choice(
            route: space.sources[pattern.table].routes[pattern.route].id.value,
            pattern: space.source(of: pattern).text)
    }

    /// Resolves a link with both tables on every device.
    private mutating func compare(_ link: String, _ region: Region) {
        for device in devices {
            let a = old.resolve(link, device: device)
            let b = new.resolve(link, device: device)
            if a.comparable == b.comparable { continue }
            let kind = TableDifference.Kind(a, b)
            guard seen[region, default: []].insert(kind).inserted else { continue }
            difference.changes.append(
                TableDifference.Change(
                    oldChoice: region.old, newChoice: region.new, link: link, device: device, old: a, new: b))
        }
    }
}
