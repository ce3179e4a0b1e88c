internal import LinkCoordinator

/// A search over sets of links.
///
/// A set consists of the links that select one pattern of the old table and one of the new table, and no pattern with
/// higher precedence. Each set is searched once for every combination of redirect results.
struct SetSearch {
    /// The tables, the old one first.
    let tables: [ProofTable]
    /// The block of each table that reads the links, or nil if there is none.
    let reading: [Int?]
    /// The combination of rewrites of each table for the links, or nil if the table does not read them.
    let frames: [RewriteFrame?]
    /// The schemes and hosts of the links.
    let origins: Set<Int>
    /// The patterns that links must match so that the rewrites apply.
    let inside: [ProofPattern]
    /// The patterns that links must not match so that other rewrites do not apply.
    let outside: [ProofPattern]
    /// The facts of devices that fallbacks depend on.
    let fallback: DeviceQuestions
    /// Coordinator paths to try in links that can contain one.
    let paths: CoordinatorPaths

    private var redirectResults: [Int: [RedirectResult]] = [:]
    /// The patterns of each table in order of precedence, created when a redirect needs them.
    private var patterns: [Int: [ProofPattern]] = [:]
    /// A Boolean value that indicates whether the tables read the links' queries in different dialects.
    private let mixesDialects: Bool
    /// Ranges of segment counts: first the counts that every table allows, then the counts that only one table allows.
    private let lengths: [ClosedRange<Int>]
    /// The search for links that exceed a limit of only one table.
    private let sizes: SizeSearch

    /// The maximum number of pairs of redirect results that are searched for one set of links.
    private static let maxPairs = 1 << 14

    /// Prepares a search over links of one kind.
    init(
        tables: [ProofTable], reading: [Int?], frames: [RewriteFrame?], origins: Set<Int>, inside: [ProofPattern],
        outside: [ProofPattern], fallback: DeviceQuestions, paths: CoordinatorPaths
    ) {
        self.tables = tables
        self.reading = reading
        self.frames = frames
        self.origins = origins
        self.inside = inside
        self.outside = outside
        self.fallback = fallback
        self.paths = paths
        sizes = SizeSearch(tables: tables, reading: reading, origins: origins, paths: paths)
        let dialects = zip(tables, reading).compactMap { table, block in block.map { table.source.blocks[$0].query } }
        mixesDialects = dialects.count == 2 && dialects[0] != dialects[1]
        let limits = Set(zip(tables, reading).compactMap { $1 == nil ? nil : $0.source.limits.maxSegments }).sorted()
        lengths = limits.isEmpty ? [0...tables[0].source.limits.maxSegments] : limits.map { 0...$0 }
    }

    /// Searches one set of links.
    mutating func compareLinks(
        _ first: Int?, _ second: Int?, outside numbers: [Int], _ search: inout LinkSearch,
        _ comparison: inout Comparison
    ) {
        let chosen = [first, second].compactMap { $0 }
        let best = chosen.map { search.space.patterns[$0] }
        let others = outside + numbers.map { search.space.patterns[$0] }
        var ends: [[RedirectResult]] = []
        for number in chosen { ends.append(redirectResults(number, &search)) }
        let region = TableDifference.Region(
            old: first.map { search.space.choice($0) }, new: second.map { search.space.choice($0) })
        comparison.begin(region)
        if ends.reduce(1, { $0 * $1.count }) > Self.maxPairs { return comparison.note(unproved: region) }
        for a in ends.first ?? [RedirectResult(routes: [])] {
            for b in ends.dropFirst().first ?? [RedirectResult(routes: [])] {
                let chosenResults = [a, b].prefix(ends.count)
                var set = LinkSet(
                    inside: inside + best + chosenResults.flatMap(\.inside),
                    outside: others + chosenResults.flatMap(\.outside),
                    ends: [], dependencies: Dependencies())
                for (number, result) in zip(chosen, chosenResults) {
                    let table = tables[search.space.patterns[number].table]
                    set.ends.append((table, result))
                    for route in result.routes { set.dependencies.add(route: route, of: table) }
                }
                set.dependencies.add(fallback)
                do throws(WorkBudget.Exhausted) {
                    let seen = try compareLinks(set, &search, &comparison)
                    let isExact =
                        seen.isFound
                        ? seen.isWhole && chosenResults.allSatisfy(\.isExact) : try !mayHideQueries(set, &search)
                    if !isExact { comparison.note(unproved: region) }
                } catch {
                    comparison.note(unproved: region)
                }
            }
        }
    }

    private mutating func redirectResults(_ number: Int, _ search: inout LinkSearch) -> [RedirectResult] {
        if let known = redirectResults[number] { return known }
        let pattern = search.space.patterns[number]
        let frame = frames[pattern.table]
        let own = patterns[pattern.table] ?? search.space.patterns.filter { $0.table == pattern.table }
        patterns[pattern.table] = own
        var finder = RedirectSearch(tables[pattern.table], rewrites: frame?.locations ?? [:], patterns: own)
        let found = finder.results(of: pattern, from: frame?.shift ?? 0, &search.space)
        redirectResults[number] = found
        return found
    }

    /// Compares the links of a set.
    ///
    /// - Returns: Whether there is such a link, and whether links of every kind could be made.
    func compareLinks(
        _ set: LinkSet, _ search: inout LinkSearch, _ comparison: inout Comparison
    ) throws(WorkBudget.Exhausted) -> (isFound: Bool, isWhole: Bool) {
        guard let witness = try link(of: set, &search) else { return (false, true) }
        comparison.countSet()
        var probeSet = ProbeSet(witness, set.dependencies, tables, reading, search.space.source)
        let fitting = try fittingCaptures(set, probeSet, &search)
        let fitted = fitting.isEmpty ? nil : try link(of: set, with: fitting, &search)
        if let fitted { probeSet.witness = fitted }
        let distinct = comparison.compare(probeSet)
        if let fitted, fitted.segments != witness.segments {
            var other = probeSet
            other.witness = witness
            comparison.compare(other, distinct)
        }
        try tryTexts(set, probeSet, distinct, &search, &comparison)
        var isWhole = try sizes.compareLinks(set, probeSet, fitting, distinct, &search, &comparison)
        if set.dependencies.hasCapturedPath {
            try tryPaths(set, fitting, sizes.segmentRanges(set, witness), &search, &comparison)
            isWhole = isWhole && paths.isWhole
        }
        return (true, isWhole)
    }

    /// Returns a link of a set that matches some more patterns and does not match others.
    ///
    /// It prefers a link whose length every table allows.
    private func link(
        of set: LinkSet, with probe: [ProofPattern] = [], without other: [ProofPattern] = [], _ search: inout LinkSearch
    ) throws(WorkBudget.Exhausted) -> LinkWitness? {
        for lengths in lengths {
            let found = try search.find(
                inside: set.inside + probe, outside: set.outside + other, among: origins, lengths: lengths)
            if let found { return found }
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether a link would be in a set without the query constraints of the
    /// patterns.
    ///
    /// The search reads queries in the dialect of one table, so it can miss such links if the dialects differ.
    private func mayHideQueries(_ set: LinkSet, _ search: inout LinkSearch) throws(WorkBudget.Exhausted) -> Bool {
        guard mixesDialects, (set.inside + set.outside).contains(where: { !$0.constraints.isEmpty }) else {
            return false
        }
        var inside = set.inside
        for index in inside.indices { inside[index].constraints = [] }
        let outside = set.outside.filter(\.constraints.isEmpty)
        return try search.find(inside: inside, outside: outside, among: origins) != nil
    }

    /// Compares links of the set with other texts in the captures.
    private func tryTexts(
        _ set: LinkSet, _ probeSet: ProbeSet, _ distinct: [EvaluationContext], _ search: inout LinkSearch,
        _ comparison: inout Comparison
    ) throws(WorkBudget.Exhausted) {
        var seen: Set<[[UInt8]]> = [probeSet.witness.segments]
        func tryOne(_ probe: [ProofPattern], without other: [ProofPattern] = []) throws(WorkBudget.Exhausted) {
            if comparison.trial?.isOver == true { return }
            let found = try link(of: set, with: probe, without: other, &search)
            guard let found, seen.insert(found.segments).inserted else { return }
            var next = probeSet
            next.witness = found
            comparison.compare(next, distinct)
        }
        for (index, input) in set.dependencies.inputs.enumerated() {
            for (table, result) in set.ends {
                guard let name = input.source.capture, let location = result.locations[name] else { continue }
                let folds = table.source.foldsPathCase
                for text in probeSet.probes.texts(index) {
                    guard let segment = location.segment(for: Array(text.utf8), folds: folds) else { continue }
                    let spelled = folds ? segment.map(lowerASCII) : segment
                    try tryOne([search.space.pattern([.literal(spelled)], at: location.depth, folds: folds)])
                    guard location.isTail else { continue }
                    for count in probeSet.probes.counts(index) {
                        try tryOne([
                            search.space.pattern(
                                Array(repeating: .literal(spelled), count: count), at: location.depth, folds: folds,
                                tail: .end)
                        ])
                    }
                }
                // Try any other text too: it shows differences in how the captured text is read.
                if probeSet.witness.segments.indices.contains(location.depth) {
                    let own = probeSet.witness.segments[location.depth]
                    let spelled = folds ? own.map(lowerASCII) : own
                    try tryOne(
                        [], without: [search.space.pattern([.literal(spelled)], at: location.depth, folds: folds)])
                }
            }
        }
    }

    /// Returns patterns for links of the set in which as many captures as possible have the types of their fields.
    ///
    /// A capture of another type would hide differences in the rest of the link.
    private func fittingCaptures(
        _ set: LinkSet, _ probeSet: ProbeSet, _ search: inout LinkSearch
    ) throws(WorkBudget.Exhausted) -> [ProofPattern] {
        var fitting: [ProofPattern] = []
        func add(_ pattern: ProofPattern) throws(WorkBudget.Exhausted) -> Bool {
            let found = try link(of: set, with: fitting + [pattern], &search)
            if found != nil { fitting.append(pattern) }
            return found != nil
        }
        for (index, input) in set.dependencies.inputs.enumerated() {
            for (table, result) in set.ends {
                guard let name = input.source.capture, let location = result.locations[name], !location.isTail else {
                    continue
                }
                let folds = table.source.foldsPathCase
                // The types of fields that reject a link with another text come first.
                for type in input.strict + input.types {
                    guard let own = type.matcher, case .matcher(let matcher) = location.preimage(of: own, folds: folds)
                    else {
                        continue
                    }
                    _ = try add(search.space.pattern([matcher], at: location.depth, folds: folds))
                }
                for text in probeSet.probes.fittingTexts(index) {
                    guard let segment = location.segment(for: Array(text.utf8), folds: folds) else { continue }
                    let spelled = folds ? segment.map(lowerASCII) : segment
                    if try add(search.space.pattern([.literal(spelled)], at: location.depth, folds: folds)) { break }
                }
            }
        }
        return fitting
    }

    /// Compares links of the set that contain coordinator paths.
    private func tryPaths(
        _ set: LinkSet, _ fitting: [ProofPattern], _ ranges: [ClosedRange<Int>], _ search: inout LinkSearch,
        _ comparison: inout Comparison
    ) throws(WorkBudget.Exhausted) {
        for (_, result) in set.ends {
            for location in result.locations.values where location.isTail {
                for path in paths.paths + sizes.longPaths(ranges, from: location.depth) {
                    let probe = [
                        search.space.pattern(
                            path.map { .literal(Array($0.utf8)) }, at: location.depth, tail: .end)
                    ]
                    var found = try link(of: set, with: fitting + probe, &search)
                    if found == nil && !fitting.isEmpty { found = try link(of: set, with: probe, &search) }
                    guard let found else { continue }
                    var dependencies = set.dependencies
                    for table in tables {
                        dependencies.add(path: path, of: table)
                        if let first = table.stack(path).first { dependencies.addParents(of: first, table) }
                    }
                    var probeSet = ProbeSet(found, dependencies, tables, reading, search.space.source)
                    probeSet.triesRelative = true
                    comparison.compare(probeSet)
                }
            }
        }
    }
}

extension ValueSource {
    /// The name of the capture or rewrite that contains the value, or nil for other sources.
    fileprivate var capture: String? {
        switch self {
        case .path(let name), .rewrite(let name): name
        case .query, .fragment, .payload: nil
        }
    }
}

extension FieldType {
    /// The matcher of the type's texts, or nil if no matcher of a segment describes them.
    fileprivate var matcher: Matcher? {
        switch self {
        case .uuid: .uuid
        case .int(let min, let max): .int(min: min, max: max)
        case .bool: .bool
        case .date: .date
        case .enumeration(let values): .enumeration(values.sorted { compareBytes($0, $1) < 0 })
        case .string, .double, .decimal, .dateTime, .url, .list: nil
        }
    }
}

extension PatternSpace {
    /// Returns a pattern by its number, in the form that a difference uses.
    fileprivate func choice(_ number: Int) -> TableDifference.Choice {
        let pattern = patterns[number]
        return TableDifference.Choice(
            route: sources[pattern.table].routes[pattern.route].id.value, pattern: source(of: pattern).text)
    }
}
