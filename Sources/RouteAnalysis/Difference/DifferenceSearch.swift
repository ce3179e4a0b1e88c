internal import LinkCoordinator

/// A search for requests and devices for which two tables make different decisions, one set of links after another.
struct DifferenceSearch {
    /// The tables, the old one first.
    let tables: [RouteTable]
    private let proofTables: [ProofTable]
    private let fallback: DeviceQuestions
    private let paths: CoordinatorPaths
    private var budget: WorkBudget
    private var overlapsByShifts: [[Int]: PatternOverlaps] = [:]
    private var comparison: Comparison

    /// The differences so far.
    var difference: TableDifference { comparison.difference }

    /// All patterns of both tables, shifted by the segments that some rewrites remove, with an index of their overlaps.
    private struct PatternOverlaps {
        var space: PatternSpace
        var preceding: [[Int]]
        var overlappingNewPatterns: [Int: [Int]] = [:]
        var oldPatterns: Range<Int>
    }

    /// Links of some origins to which the same rewrites of each table apply.
    ///
    /// The block and the frame of a table that does not read the links are nil.
    private struct OriginReading {
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
    ///
    /// - Parameter isOver: A function that returns true to end the search after the current set of links.
    /// - Returns: A Boolean value that indicates whether the search came to its end.
    mutating func run(until isOver: () -> Bool) -> Bool {
        for reading in 0...1 {
            let space = PatternSpace(tables.map(\.source), reading: reading, distinction: distinction)
            var groups: [[Int]: Set<Int>] = [:]
            for (number, origin) in space.origins.origins.enumerated() where isCompared(reading, at: origin) {
                groups[origin.signature, default: []].insert(number)
            }
            for (signature, origins) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let leading = origins.min().map { space.origins.origins[$0] }
                compareLinks(
                    reading, origins, blocks: signature.prefix(2).map { $0 >= 0 ? $0 : nil },
                    leading: leading?.isAuthoritySegment == true ? leading : nil, isOver)
                if isOver() { return false }
            }
            overlapsByShifts = [:]
        }
        return comparison.compareOthers(fallback, paths, proofTables, until: isOver)
    }

    /// Returns a Boolean value that indicates whether to compare the links of an origin as a table reads them.
    ///
    /// Links that both tables read are compared as the old table reads them. If only one of them reads the authority as
    /// a host, that table is used.
    private func isCompared(_ reading: Int, at origin: Origin) -> Bool {
        guard origin.signature[0] >= 0, origin.signature[1] >= 0 else { return true }
        let hasHost = zip(tables, origin.signature).map { $0.source.blocks[$1].hostRole == .authority }
        return reading == (!hasHost[0] && hasHost[1] ? 1 : 0)
    }

    /// The properties that distinguish origins in addition to patterns: the blocks of either table, and the links that
    /// can open outside the app.
    private var distinction: OriginDistinction {
        let sources = tables.map(\.source)
        let excludes = sources.flatMap(\.routes).contains {
            if case .exclude(.external) = $0.action { true } else { false }
        }
        var distinction = OriginDistinction()
        for source in sources {
            distinction.hosts +=
                source.blocks.flatMap { $0.hosts.map(\.value) } + (excludes ? source.externals.hosts : [])
            distinction.schemes += source.blocks.flatMap { $0.schemes.map(\.value) }
            distinction.schemes += excludes ? source.externals.schemes : []
        }
        if Set(sources.flatMap { $0.blocks.map(\.schemeCase) }).contains(.exact) {
            let listed = Set(distinction.schemes)
            distinction.spellings = Set(listed.map { $0.uppercased() }).subtracting(listed).sorted()
        }
        distinction.signature = { scheme, host, port in
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
        distinction.mixesRoles = { scheme in
            let roles = sources.compactMap { source in source.block(listing: scheme).map { source.blocks[$0].hostRole }
            }
            return roles.count == 2 && roles[0] != roles[1]
        }
        return distinction
    }

    private mutating func compareLinks(
        _ reading: Int, _ origins: Set<Int>, blocks: [Int?], leading: Origin?, _ isOver: () -> Bool
    ) {
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
                compareLinks(
                    OriginReading(
                        number: reading, origins: origins, blocks: blocks, frames: [old, new], leading: leading),
                    isOver)
            }
        }
    }

    /// Returns the overlaps of the patterns, or nil if the search is ended before they are known.
    private mutating func overlaps(
        _ reading: Int, _ shifts: [Int], _ isOver: () -> Bool
    ) -> PatternOverlaps? {
        if let known = overlapsByShifts[shifts] { return known }
        let space = PatternSpace(tables.map(\.source), reading: reading, shifts: shifts, distinction: distinction)
        let index = PatternIndex(space)
        var search = LinkSearch(space, budget: budget)
        let oldPatterns = space.patterns.indices.prefix { space.patterns[$0].table == 0 }
        var overlaps = PatternOverlaps(space: space, preceding: [], oldPatterns: oldPatterns)
        for number in space.patterns.indices {
            if isOver() { return nil }
            // For a pattern of the new table, all patterns of the old one come before it.
            let found = (try? index.candidates(for: number, &search)) ?? Array(0..<number)
            overlaps.preceding.append(found)
            for other in found where oldPatterns.contains(other) && !oldPatterns.contains(number) {
                overlaps.overlappingNewPatterns[other, default: []].append(number)
            }
        }
        overlaps.space = search.space
        budget = search.budget
        overlapsByShifts[shifts] = overlaps
        return overlaps
    }

    private mutating func compareLinks(_ reading: OriginReading, _ isOver: () -> Bool) {
        let shifts = reading.frames.map { $0?.shift ?? 0 }
        guard let overlaps = overlaps(reading.number, shifts, isOver) else { return }
        var search = LinkSearch(overlaps.space, budget: budget)
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
        let usable = overlaps.space.patterns.indices.map {
            isUsable(overlaps.space.patterns[$0], reading, overlaps.space)
        }
        func preceding(_ number: Int) -> [Int] { overlaps.preceding[number].filter { usable[$0] } }
        for number in overlaps.space.patterns.indices where !overlaps.oldPatterns.contains(number) && usable[number] {
            if isOver() { return }
            let all = preceding(number)
            let own = all.filter { !overlaps.oldPatterns.contains($0) }
            let others = all.filter { overlaps.oldPatterns.contains($0) }
            for other in others {
                sets.compareLinks(other, number, outside: own + preceding(other), &search, &comparison)
            }
            sets.compareLinks(nil, number, outside: own + others, &search, &comparison)
        }
        for number in overlaps.oldPatterns where usable[number] {
            if isOver() { return }
            let others = (overlaps.overlappingNewPatterns[number] ?? []).filter { usable[$0] }
            sets.compareLinks(number, nil, outside: preceding(number) + others, &search, &comparison)
        }
        sets.compareLinks(nil, nil, outside: usable.indices.filter { usable[$0] }, &search, &comparison)
    }
}

extension DifferenceSearch {
    /// Returns a Boolean value that indicates whether links of a reading can select a pattern.
    ///
    /// Its table must read them, and as links with a host if the pattern names one.
    private func isUsable(_ pattern: ProofPattern, _ reading: OriginReading, _ space: PatternSpace) -> Bool {
        guard let block = reading.blocks[pattern.table] else { return false }
        let hasHost = tables[pattern.table].source.blocks[block].hostRole == .authority
        return hasHost || space.rules[pattern.rule].host == nil
    }

    /// Returns the patterns of a first segment that is an authority.
    ///
    /// It is a host of the origin's kind, or any text if no table reads it as a host.
    private func leadingPatterns(
        _ reading: OriginReading, _ space: inout PatternSpace
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
