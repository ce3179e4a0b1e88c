/// Looks for requests and devices for which two tables decide differently: set by set of links.
struct DifferenceSearch {
    /// The tables, the old one first.
    let tables: [Table]
    private let proofTables: [ProofTable]
    private let fallback: DeviceQuestions
    private let paths: [[String]]
    private var budget: WorkBudget
    private var atlases: [[Int]: Atlas] = [:]
    private var comparison: Comparison

    /// What was found.
    var difference: TableDifference { comparison.difference }

    /// All patterns of both tables, shifted as some rewrites do, and which meet which.
    private struct Atlas {
        var space: PatternSpace
        var better: [[Int]]
        var meeting: [Int: [Int]] = [:]
        var olds: Range<Int>
    }

    /// Links of some origins that both tables' rewrites treat in one way each; no frame for a table that does not read
    /// them.
    private struct Reading {
        var number: Int
        var origins: Set<Int>
        var blocks: [Int?]
        var frames: [RewriteFrame?]
    }

    /// Prepares a comparison.
    init(old: Table, new: Table, budget: WorkBudget) {
        tables = [old, new]
        proofTables = tables.enumerated().map { ProofTable($0, $1.source) }
        self.budget = budget
        paths = CoordinatorPaths(proofTables).paths
        comparison = Comparison(tables)
        var concern = Concern()
        for table in proofTables {
            for rule in table.source.fallback { if let to = rule.to { concern.add(to, of: table) } }
        }
        fallback = concern.questions
    }

    /// Looks at every set of links, then at requests that are no links or no good ones.
    mutating func run() {
        for reading in 0...1 {
            let space = PatternSpace(tables.map(\.source), reading: reading, cut: cut)
            var groups: [[Int]: Set<Int>] = [:]
            for (number, origin) in space.origins.origins.enumerated() {
                // Links that both read were looked at as the old table reads them.
                if reading == 1 && origin.mark[0] >= 0 { continue }
                groups[[origin.block] + origin.mark, default: []].insert(number)
            }
            for (key, origins) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let other = key[1] >= 0 ? key[1] : nil
                look(reading, origins, blocks: reading == 0 ? [key[0], other] : [other, key[0]])
            }
            atlases = [:]
        }
        comparison.compareOthers(fallback, paths, proofTables)
    }

    /// What tells origins apart beside patterns: the blocks of either table, and where links may be opened outside.
    private var cut: OriginCut {
        let sources = tables.map(\.source)
        let excludes = sources.flatMap(\.routes).contains {
            if case .exclude(.external) = $0.action { true } else { false }
        }
        return OriginCut(
            hosts: sources.flatMap {
                $0.blocks.flatMap { $0.hosts.map(\.value) } + (excludes ? $0.externals.hosts : [])
            },
            schemes: sources.flatMap {
                $0.blocks.flatMap { $0.schemes.map(\.value) } + (excludes ? $0.externals.schemes : [])
            }
        ) { scheme, host, port in
            let blocks = sources.map { $0.block(for: scheme, host, port) ?? -1 }
            let allowed = sources.map {
                excludes && $0.externals.allow(scheme: scheme.lowercased(), host: host, port: port) ? 1 : 0
            }
            return blocks + allowed
        }
    }

    private mutating func look(_ reading: Int, _ origins: Set<Int>, blocks: [Int?]) {
        let all = zip(tables, blocks).map { table, block in
            block.map { RewriteFrame.all(of: table.source.blocks[$0].rewrites) }
        }
        if all.contains(where: { $0?.isWhole == false }) { comparison.difference.unproved.append((nil, nil)) }
        for old in all[0]?.frames.map({ $0 as RewriteFrame? }) ?? [nil] {
            for new in all[1]?.frames.map({ $0 as RewriteFrame? }) ?? [nil] {
                look(Reading(number: reading, origins: origins, blocks: blocks, frames: [old, new]))
            }
        }
    }

    private mutating func atlas(_ reading: Int, _ shifts: [Int]) -> Atlas {
        if let known = atlases[shifts] { return known }
        let space = PatternSpace(tables.map(\.source), reading: reading, shifts: shifts, cut: cut)
        let index = PatternIndex(space)
        var search = LinkSearch(space, budget: budget)
        let olds = space.patterns.indices.prefix { space.patterns[$0].table == 0 }
        var atlas = Atlas(space: space, better: [], olds: olds)
        for number in space.patterns.indices {
            // Of a pattern of the new table all of the old one come before it.
            let found = (try? index.candidates(for: number, &search)) ?? Array(0..<number)
            atlas.better.append(found)
            for other in found where olds.contains(other) && !olds.contains(number) {
                atlas.meeting[other, default: []].append(number)
            }
        }
        atlas.space = search.space
        budget = search.budget
        atlases[shifts] = atlas
        return atlas
    }

    private mutating func look(_ reading: Reading) {
        let shifts = reading.frames.map { $0?.shift ?? 0 }
        let atlas = atlas(reading.number, shifts)
        var search = LinkSearch(atlas.space, budget: budget)
        defer { budget = search.budget }
        var inside = [ProofPattern.everything]
        var outside: [ProofPattern] = []
        for (table, frame) in zip(proofTables, reading.frames) {
            let folds = table.source.foldsPathCase
            inside += frame?.inside.map { search.space.pattern($0, folds: folds) } ?? []
            outside += frame?.outside.map { search.space.pattern($0, folds: folds) } ?? []
        }
        // Ways to rewrite that no link goes are passed over at once.
        if !hasLinks(reading.origins, inside, outside, &search) { return }
        var sets = SetSearch(
            tables: proofTables, reading: reading.blocks, frames: reading.frames, origins: reading.origins,
            inside: inside, outside: outside, fallback: fallback, paths: paths)
        let reads = reading.frames.map { $0 != nil }
        for number in atlas.space.patterns.indices where !atlas.olds.contains(number) && reads[1] {
            let own = atlas.better[number].filter { !atlas.olds.contains($0) }
            let others = reads[0] ? atlas.better[number].filter { atlas.olds.contains($0) } : []
            for other in others {
                sets.look(other, number, outside: own + atlas.better[other], &search, &comparison)
            }
            sets.look(nil, number, outside: own + others, &search, &comparison)
        }
        for number in atlas.olds where reads[0] {
            let others = reads[1] ? atlas.meeting[number] ?? [] : []
            sets.look(number, nil, outside: atlas.better[number] + others, &search, &comparison)
        }
        let all = atlas.space.patterns.indices.filter { reads[atlas.space.patterns[$0].table] }
        sets.look(nil, nil, outside: all, &search, &comparison)
    }
}

extension DifferenceSearch {
    /// Whether some link fits, or it would take too much work to say.
    private func hasLinks(
        _ origins: Set<Int>, _ inside: [ProofPattern], _ outside: [ProofPattern], _ search: inout LinkSearch
    ) -> Bool {
        do throws(WorkBudget.Exhausted) {
            return try search.find(inside: inside, outside: outside, among: origins) != nil
        } catch {
            return true
        }
    }
}

extension ProofPattern {
    /// Takes every link.
    static let everything = ProofPattern(
        route: -1, index: 0, rule: 0, segments: [], tail: .star, constraints: [])
}
