internal import LinkCoordinator

/// A search for requests and devices for which two tables make different decisions, one set of links after another.
struct DifferenceSearch {
    /// The tables, the old one first.
    let tables: [RouteTable]
    private let proofTables: [ProofTable]
    private let fallback: DeviceQuestions
    private let paths: CoordinatorPaths
    private var budget: WorkBudget
    private var atlases: [[Int]: Atlas] = [:]
    private var comparison: Comparison

    /// The differences so far.
    var difference: TableDifference { comparison.difference }

    /// All patterns of both tables, shifted by the segments that some rewrites remove, with an index of their overlaps.
    private struct Atlas {
        var space: PatternSpace
        var better: [[Int]]
        var meeting: [Int: [Int]] = [:]
        var olds: Range<Int>
    }

    /// Links of some origins to which the same rewrites of each table apply.
    ///
    /// The block and the frame of a table that does not read the links are nil.
    private struct Reading {
        var number: Int
        var origins: Set<Int>
        var blocks: [Int?]
        var frames: [RewriteFrame?]
        /// The scheme and host of the first segment, if that segment is an authority.
        var leading: Origin?
    }

    /// Prepares a comparison.
    init(old: RouteTable, new: RouteTable, budget: WorkBudget) {
        tables = [old, new]
        proofTables = tables.enumerated().map { ProofTable($0, $1.source) }
        self.budget = budget
        paths = CoordinatorPaths(proofTables)
        comparison = Comparison(tables)
        var dependencies = Dependencies()
        for table in proofTables {
            for rule in table.source.fallback { if let to = rule.to { dependencies.add(to, of: table) } }
        }
        fallback = dependencies.questions
    }

    /// Compares every set of links, then other requests and invalid links.
    mutating func run() {
        for reading in 0...1 {
            let space = PatternSpace(tables.map(\.source), reading: reading, cut: cut)
            var groups: [[Int]: Set<Int>] = [:]
            for (number, origin) in space.origins.origins.enumerated() where looks(reading, at: origin) {
                groups[origin.mark, default: []].insert(number)
            }
            for (mark, origins) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let leading = origins.min().map { space.origins.origins[$0] }
                look(
                    reading, origins, blocks: mark.prefix(2).map { $0 >= 0 ? $0 : nil },
                    leading: leading?.leads == true ? leading : nil)
            }
            atlases = [:]
        }
        comparison.compareOthers(fallback, paths, proofTables)
    }

    /// Returns a Boolean value that indicates whether to compare the links of an origin as a table reads them.
    ///
    /// Links that both tables read are compared as the old table reads them. If only one of them reads the authority as
    /// a host, that table is used.
    private func looks(_ reading: Int, at origin: Origin) -> Bool {
        guard origin.mark[0] >= 0, origin.mark[1] >= 0 else { return true }
        let hasHost = zip(tables, origin.mark).map { $0.source.blocks[$1].hostRole == .authority }
        return reading == (!hasHost[0] && hasHost[1] ? 1 : 0)
    }

    /// The properties that distinguish origins in addition to patterns: the blocks of either table, and the links that
    /// can open outside the app.
    private var cut: OriginCut {
        let sources = tables.map(\.source)
        let excludes = sources.flatMap(\.routes).contains {
            if case .exclude(.external) = $0.action { true } else { false }
        }
        var cut = OriginCut()
        for source in sources {
            cut.hosts += source.blocks.flatMap { $0.hosts.map(\.value) } + (excludes ? source.externals.hosts : [])
            cut.schemes += source.blocks.flatMap { $0.schemes.map(\.value) }
            cut.schemes += excludes ? source.externals.schemes : []
        }
        if Set(sources.flatMap { $0.blocks.map(\.schemeCase) }).contains(.exact) {
            let listed = Set(cut.schemes)
            cut.spellings = Set(listed.map { $0.uppercased() }).subtracting(listed).sorted()
        }
        cut.mark = { scheme, host, port in
            // A text with an escape is not a host, although the rule `*` matches any host.
            let isHost = !host.contains(UInt8(ascii: "%"))
            let blocks = sources.map { source -> Int in
                guard let number = source.block(for: scheme, host, port) else { return -1 }
                return isHost || source.blocks[number].hostRole == .segment ? number : -1
            }
            let allowed = sources.map {
                excludes && $0.externals.allow(scheme: scheme.lowercased(), host: host, port: port) ? 1 : 0
            }
            return blocks + allowed
        }
        cut.mixesRoles = { scheme in
            let roles = sources.compactMap { source in source.block(listing: scheme).map { source.blocks[$0].hostRole }
            }
            return roles.count == 2 && roles[0] != roles[1]
        }
        return cut
    }

    private mutating func look(_ reading: Int, _ origins: Set<Int>, blocks: [Int?], leading: Origin?) {
        let all = zip(tables, blocks).map { table, block in
            block.map { number -> (frames: [RewriteFrame], isWhole: Bool) in
                let block = table.source.blocks[number]
                return RewriteFrame.all(
                    of: block.rewrites, from: leading != nil && block.hostRole == .authority ? 1 : 0)
            }
        }
        if all.contains(where: { $0?.isWhole == false }) { comparison.note(unproved: TableDifference.Region()) }
        for old in all[0]?.frames.map({ $0 as RewriteFrame? }) ?? [nil] {
            for new in all[1]?.frames.map({ $0 as RewriteFrame? }) ?? [nil] {
                look(
                    Reading(
                        number: reading, origins: origins, blocks: blocks, frames: [old, new], leading: leading))
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
            // For a pattern of the new table, all patterns of the old one come before it.
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
        var (inside, outside) = leadingPatterns(reading, &search.space)
        for (table, frame) in zip(proofTables, reading.frames) {
            let folds = table.source.foldsPathCase
            inside += frame?.inside.map { search.space.pattern($0, folds: folds) } ?? []
            outside += frame?.outside.map { search.space.pattern($0, folds: folds) } ?? []
        }
        // Skip combinations of rewrites that no link goes through.
        if !hasLinks(reading.origins, inside, outside, &search) { return }
        var sets = SetSearch(
            tables: proofTables, reading: reading.blocks, frames: reading.frames, origins: reading.origins,
            inside: inside, outside: outside, fallback: fallback, paths: paths)
        let usable = atlas.space.patterns.indices.map { isUsable(atlas.space.patterns[$0], reading, atlas.space) }
        func better(_ number: Int) -> [Int] { atlas.better[number].filter { usable[$0] } }
        for number in atlas.space.patterns.indices where !atlas.olds.contains(number) && usable[number] {
            let all = better(number)
            let own = all.filter { !atlas.olds.contains($0) }
            let others = all.filter { atlas.olds.contains($0) }
            for other in others {
                sets.look(other, number, outside: own + better(other), &search, &comparison)
            }
            sets.look(nil, number, outside: own + others, &search, &comparison)
        }
        for number in atlas.olds where usable[number] {
            let others = (atlas.meeting[number] ?? []).filter { usable[$0] }
            sets.look(number, nil, outside: better(number) + others, &search, &comparison)
        }
        sets.look(nil, nil, outside: usable.indices.filter { usable[$0] }, &search, &comparison)
    }
}

extension DifferenceSearch {
    /// Returns a Boolean value that indicates whether links of a reading can select a pattern.
    ///
    /// Its table must read them, and as links with a host if the pattern names one.
    private func isUsable(_ pattern: ProofPattern, _ reading: Reading, _ space: PatternSpace) -> Bool {
        guard let block = reading.blocks[pattern.table] else { return false }
        let hasHost = tables[pattern.table].source.blocks[block].hostRole == .authority
        return hasHost || space.rules[pattern.rule].host == nil
    }

    /// Returns the patterns of a first segment that is an authority.
    ///
    /// It is a host of the origin's kind, or any text if no table reads it as a host.
    private func leadingPatterns(
        _ reading: Reading, _ space: inout PatternSpace
    ) -> (inside: [ProofPattern], outside: [ProofPattern]) {
        guard let leading = reading.leading else { return ([.everything], []) }
        func pattern(_ matcher: Matcher) -> ProofPattern {
            space.pattern(RewriteFrame.Prefix(depth: 0, matchers: [matcher]), folds: false)
        }
        if leading.escapesAuthority { return ([pattern(.any)], []) }
        let named =
            space.rules.compactMap(\.host) + tables.flatMap { $0.source.blocks.flatMap { $0.hosts.map(\.value) } }
        var characters = CharacterClass()
        for byte in "abcdefghijklmnopqrstuvwxyz0123456789._~-".utf8 { characters.insert(byte) }
        var inside = [pattern(.characters(characters, min: 1, max: 64))]
        var outside: [ProofPattern] = []
        for rule in named {
            switch rule {
            case .exact(let host, _):
                if host == leading.host { return ([pattern(.literal(host))], []) }
                outside.append(pattern(.literal(host)))
            case .suffix(let suffix):
                let own = pattern(.affix(prefix: [], inner: .any, suffix: Array(".".utf8) + suffix))
                if rule.matches(host: leading.host, port: nil) { inside.append(own) } else { outside.append(own) }
            case .any, .empty: break
            }
        }
        return (inside, outside)
    }

    /// Returns a Boolean value that indicates whether a link matches; true if the search exceeded its budget.
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
    /// A pattern that matches every link.
    static let everything = ProofPattern(
        route: -1, index: 0, rule: 0, segments: [], tail: .star, constraints: [])
}
