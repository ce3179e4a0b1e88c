internal import LinkCoordinator

/// Links that one combination of rewrites applies to, in one link block.
struct PropertyReading {
    /// The index of the link block.
    var block: Int
    /// The schemes and hosts.
    var origins: Set<Int>
    /// The rewrites.
    var frame: RewriteFrame
    /// A Boolean value that indicates whether all combinations of the block's rewrites are searched.
    var isWhole: Bool
    /// All schemes and hosts of the table.
    var space: OriginSpace

    /// Returns the readings of a table, those without rewrites first.
    static func all(of source: TableSource, _ properties: [RouteProperty]) -> [PropertyReading] {
        let space = PatternSpace(
            [source, PropertySpace.source(of: properties, like: source)], distinction: distinction(source, properties)
        ).origins
        var readings: [PropertyReading] = []
        for (index, block) in source.blocks.enumerated() {
            let origins = Set(space.origins.indices.filter { space.origins[$0].block == index })
            let (frames, isWhole) = RewriteFrame.all(of: block.rewrites, from: 0)
            for frame in origins.isEmpty ? [] : frames {
                readings.append(
                    PropertyReading(block: index, origins: origins, frame: frame, isWhole: isWhole, space: space))
            }
        }
        return readings.sorted { ($0.frame.inside.count, $0.block) < ($1.frame.inside.count, $1.block) }
    }

    /// The properties that distinguish origins in addition to patterns: the URLs that a link can be, or nil if no
    /// property depends on them.
    static func distinction(_ source: TableSource, _ properties: [RouteProperty]) -> OriginDistinction? {
        let tests = properties.map(\.result).filter(\.dependsOnURL)
        let excludes = source.routes.contains { if case .exclude(.external) = $0.action { true } else { false } }
        guard !tests.isEmpty, excludes else { return nil }
        var distinction = OriginDistinction()
        let named = tests.flatMap { ($0.external ?? []) + ($0.otherExternal ?? []) }
        distinction.hosts = named.map(\.host) + source.externals.hosts
        distinction.schemes = named.compactMap(\.scheme) + source.externals.schemes
        distinction.signature = { scheme, host, port in
            let name = scheme.lowercased()
            let isAllowed = source.externals.allow(scheme: name, host: host, port: port)
            return [source.block(for: scheme, host, port) ?? -1, isAllowed ? 1 : 0]
                + tests.map { $0.allows(name, host, port) ? 1 : 0 }
        }
        return distinction
    }

    /// Returns the patterns that links must match so that the rewrites apply.
    func inside(_ space: inout PatternSpace, _ table: ProofTable) -> [ProofPattern] {
        frame.inside.map { space.pattern($0.matchers, at: $0.depth, folds: table.source.foldsPathCase) }
    }

    /// Returns the patterns that links must not match so that no other rewrites apply.
    func outside(_ space: inout PatternSpace, _ table: ProofTable) -> [ProofPattern] {
        frame.outside.map { space.pattern($0.matchers, at: $0.depth, folds: table.source.foldsPathCase) }
    }
}

/// The patterns of a table and of properties, after rewrites that remove a number of segments.
struct PropertySpace {
    var search: LinkSearch
    private let index: PatternIndex
    /// The numbers of the table's patterns, before the numbers of the properties' patterns.
    let tablePatterns: Range<Int>
    private var preceding: [Int: [Int]] = [:]
    private var ends: [[Int]: [RedirectResult]] = [:]
    private let own: [ProofPattern]
    private let budget: WorkBudget
    private var earlierUnits = 0

    /// The units of work of all properties.
    var workUnits: Int { earlierUnits + budget.remaining - search.budget.remaining }

    /// Begins the work on another property.
    mutating func renew(_ budget: WorkBudget) {
        earlierUnits = workUnits
        search.budget = budget
    }

    /// Returns a table that has the patterns of properties as routes.
    static func source(of properties: [RouteProperty], like source: TableSource) -> TableSource {
        var own = source
        own.routes = properties.enumerated().compactMap { number, property in
            PropertyScope.route(of: property, id: "\(number)")
        }
        return own
    }

    init(
        _ source: TableSource, _ properties: [RouteProperty], _ shift: Int, _ distinction: OriginDistinction?,
        _ budget: WorkBudget
    ) {
        let space = PatternSpace(
            [source, Self.source(of: properties, like: source)], shifts: [shift, shift], distinction: distinction)
        index = PatternIndex(space)
        search = LinkSearch(space: space, budget: budget)
        self.budget = budget
        tablePatterns = space.patterns.indices.prefix { space.patterns[$0].table == 0 }
        own = Array(space.patterns[tablePatterns])
    }

    /// Returns the patterns of a property.
    func links(_ property: Int) -> [Int] {
        search.space.patterns.indices.filter {
            search.space.patterns[$0].table == 1 && search.space.patterns[$0].route == property
        }
    }

    /// Returns the table's patterns that can match links of a property's pattern, or nil if too much work is needed.
    mutating func candidates(_ link: Int) -> [Int]? {
        (try? index.candidates(for: link, &search))?.filter { tablePatterns.contains($0) }
    }

    /// Returns the table's patterns with the patterns of a property whose links can select them.
    ///
    /// Returns nil if too much work is needed.
    mutating func pairs(_ property: Int?) -> [(pattern: Int, link: Int?)]? {
        guard let property else { return tablePatterns.map { ($0, nil) } }
        var pairs: [(Int, Int?)] = []
        for link in links(property) {
            guard let found = candidates(link) else { return nil }
            pairs += found.map { ($0, link) }
        }
        return pairs
    }

    /// Returns the patterns with higher precedence that can match links of a pattern.
    mutating func preceding(_ pattern: Int) -> [Int] {
        if let known = preceding[pattern] { return known }
        guard let found = try? index.candidates(for: pattern, &search) else { return Array(0..<pattern) }
        preceding[pattern] = found
        return found
    }

    /// Returns the ends of redirects for the links that select a pattern.
    ///
    /// Only redirects take long to follow, and a table can have very many pairs of patterns and rewrites.
    mutating func ends(of pattern: Int, _ reading: PropertyReading, _ table: ProofTable) -> [RedirectResult] {
        let key = [pattern, reading.block] + reading.frame.rules
        if let known = ends[key] { return known }
        var finder = RedirectSearch(table, rewrites: reading.frame.locations, patterns: own)
        let found = finder.results(of: search.space.patterns[pattern], from: reading.frame.shift, &search.space)
        if case .redirect = table.source.routes[own[pattern].route].action { ends[key] = found }
        return found
    }

    /// Returns the ends of redirects for requests of a route by its id.
    mutating func ends(ofRoute number: Int, _ reading: PropertyReading?, _ table: ProofTable) -> [RedirectResult] {
        // The first pattern, and the one without its optional segment.
        let first = tablePatterns.filter {
            let pattern = search.space.patterns[$0]
            return pattern.route == number && search.space.source(of: pattern).form == 0
        }
        if !first.isEmpty, let reading { return first.flatMap { ends(of: $0, reading, table) } }
        var finder = RedirectSearch(table, rewrites: [:], patterns: own)
        return finder.results(ofRoute: number, &search.space)
    }
}
