package import LinkCoordinator
internal import ByteStorage

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
        comparison.hasOtherParts = TableEdits.haveOtherParts(old.source, new.source)
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

    /// Returns a Boolean value that indicates whether to compare the links of an origin in the way that a table reads
    /// them.
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
        var search = LinkSearch(space: space, budget: budget)
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
        var search = LinkSearch(space: overlaps.space, budget: budget)
        defer { budget = search.budget }
        var (inside, outside) = leadingPatterns(reading, &search.space)
        for (table, frame) in zip(proofTables, reading.frames) {
            let folds = table.source.foldsPathCase
            inside += frame?.inside.map { search.space.pattern($0.matchers, at: $0.depth, folds: folds) } ?? []
            outside += frame?.outside.map { search.space.pattern($0.matchers, at: $0.depth, folds: folds) } ?? []
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
            space.pattern([matcher])
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

    /// Returns a Boolean value that indicates whether a link matches, or true if the search exceeded its budget.
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
    static let everything = ProofPattern(segments: [])
}

extension RouteTable {
    /// Returns the pattern that a link selects before redirects are followed, or nil if no pattern matches.
    ///
    /// - Returns: The route's id, and the pattern in the form that an explanation uses.
    package func selection(of link: String) -> (route: String, pattern: String)? { selection(of: .link(link)) }

    /// Returns the pattern that a link, or the link of a payload, selects before redirects are followed.
    ///
    /// Returns nil if no pattern matches, and for other requests.
    func selection(of request: LinkRequest, device: DeviceFacts = DeviceFacts()) -> (route: String, pattern: String)? {
        var resolver = Resolver()
        var found: Ref<CompiledPattern>?
        device.withFacts { facts in
            request.withRequest { request in
                resolver.start(request, facts, table: compiled.handle)
                guard (try? resolver.normalizeLink(of: request)) == true else { return }
                resolver.splitQuery()
                found = resolver.search()
            }
        }
        guard let found else { return nil }
        let route = source.routes[Int(found.route)]
        let first = Int(compiled.data.routes[Int(found.route)].firstPattern)
        return (route.id.value, route.patterns[compiled.data.number(of: found) - first].text)
    }
}

extension Resolver {
    /// Normalizes a link or the link of a payload, or returns false if there is none.
    fileprivate mutating func normalizeLink(of request: UnsafePointer<RequestView>) throws(Rejection) -> Bool {
        switch request.pointee.form {
        case .link: selection.path = try normalize(request.pointee.text)
        case .payload:
            let link = try findPayloadLink()
            if link.isEmpty { return false }
            selection.path = try normalize(link)
        case .path, .route: return false
        }
        return true
    }
}

/// A comparison of the decisions of two tables that keeps one witness for each kind of difference.
struct Comparison {
    /// The tables, the old one first.
    let tables: [RouteTable]
    /// The differences so far.
    var difference = TableDifference()
    private let additions: Additions
    let shorterLinks: ShorterLinks

    /// The sets that were compared.
    private var compared: Set<TableDifference.Region> = []
    /// The sets with a difference of a link.
    private var changed: Set<TableDifference.Region> = []
    /// A Boolean value that indicates whether the requests belong to no set of links.
    private var isOther = false
    private var reported: [TableDifference.Region: Set<TableDifference.Kind>] = [:]
    private var region = TableDifference.Region()
    /// A few of the resolved links, each with a new decision of either table.
    private(set) var links: [String] = []
    private var decided = Set<[UInt8]>()
    private var remainingComparisons: Int

    /// A Boolean value that indicates whether the tables differ in more than their links' dialects and routes.
    var hasOtherParts = false

    /// The trial that takes the place of the comparison, or nil for a comparison.
    var trial: (any RequestTrial)?

    /// The maximum number of devices and queries for one set of links.
    private static let maxContexts = 4_096

    /// The maximum number of requests to resolve for all sets together.
    private static let maxComparisons = 4_000_000

    /// Creates a comparison of two tables.
    init(_ tables: [RouteTable], maxComparisons: Int = Self.maxComparisons) {
        self.tables = tables
        additions = Additions(from: tables[0], to: tables[1])
        shorterLinks = ShorterLinks(tables)
        remainingComparisons = maxComparisons
    }

    /// Sets the set of links for the following comparisons.
    mutating func begin(_ region: TableDifference.Region) { self.region = region }

    /// Begins the comparison of requests that belong to no set of links.
    mutating func beginOthers() {
        region = TableDifference.Region()
        isOther = true
    }

    /// Counts the current set as compared.
    ///
    /// A set is searched once for every combination of redirect results, but counted once.
    mutating func countSet() {
        compared.insert(region)
        difference.comparedSetCount = compared.count
        difference.changedSets = changed.intersection(compared).count
    }

    /// Records a set that was not compared completely.
    ///
    /// Without a choice, it also stands for requests other than links.
    mutating func note(unproved region: TableDifference.Region) {
        if !difference.incompletelyComparedSets.contains(where: {
            TableDifference.Region(old: $0.old, new: $0.new) == region
        }) {
            difference.incompletelyComparedSets.append((region.old, region.new))
        }
    }

    private mutating func noteSampled() {
        if !difference.sampledSets.contains(where: { TableDifference.Region(old: $0.old, new: $0.new) == region }) {
            difference.sampledSets.append((region.old, region.new))
        }
    }

    /// Compares the decisions for a link in all contexts, and for each list of its values in the contexts with distinct
    /// decisions.
    ///
    /// Contexts are grouped by their pair of decisions for the fitting values. Other values are tried in one context of
    /// each group. That is sufficient, because a context affects the use of values only by the variant and the stack,
    /// which the decision contains. If a guard hides the stack, the decision for a device with all claims also counts.
    ///
    /// - Returns: The contexts with distinct decisions.
    @discardableResult
    mutating func compare(_ probeSet: ProbeSet) -> [EvaluationContext] {
        let distinct = distinctContexts(probeSet.dependencies.questions) {
            probeSet.request(probeSet.probes.fitting, $0)
        }
        compare(probeSet, distinct)
        return distinct
    }

    /// Compares the decisions for the request of every context, and returns the contexts with distinct decisions.
    mutating func distinctContexts(
        _ questions: DeviceQuestions, _ request: (EvaluationContext) -> LinkRequest?
    ) -> [EvaluationContext] {
        let claims = questions.claims
        var distinct: [EvaluationContext] = []
        var known = Set<[UInt8]>()
        for one in contexts(of: questions) {
            guard let request = request(one), let pair = decide(request, one.device) else { continue }
            var key = pair.old + [0] + pair.new
            if pair.isDeferred {
                var device = one.device
                device.claims = claims
                if let claimedPair = decide(request, device) { key += [0] + claimedPair.old + [0] + claimedPair.new }
            }
            if known.insert(key).inserted { distinct.append(one) }
        }
        return distinct
    }

    /// Returns a Boolean value that indicates whether a link that selects a route shows a difference.
    func hasChanged(_ route: String) -> Bool {
        changed.contains { $0.old?.route == route || $0.new?.route == route }
    }

    /// Returns the devices and queries for which to compare.
    ///
    /// The current set is sampled if these are only some of them.
    mutating func contexts(of questions: DeviceQuestions) -> [EvaluationContext] {
        if let trial { return trial.contexts }
        let (all, isWhole) = DeviceSpace(questions).contexts(limit: Self.maxContexts)
        if !isWhole { noteSampled() }
        return all
    }

    /// Compares the decisions for a link and each list of its values in some contexts.
    mutating func compare(_ probeSet: ProbeSet, _ contexts: [EvaluationContext]) {
        if trial?.isOver == true { return }
        let others = probeSet.others
        let heads = probeSet.heads
        let triesDamaged = trial != nil || hasOtherParts || probeSet.dependencies.hasOtherBindings
        for one in contexts {
            if trial == nil, remainingComparisons <= 0 { return noteSampled() }
            let written = probeSet.spellings(one) + (triesDamaged ? probeSet.damaged(one) : [])
            for values in [probeSet.probes.fitting] + others + written {
                if let request = probeSet.request(values, one) { _ = decide(request, one.device) }
            }
            for head in heads {
                if let request = probeSet.request(probeSet.probes.fitting, one, head: head) {
                    _ = decide(request, one.device)
                }
            }
        }
    }

    /// Resolves a request with both tables and records a difference.
    ///
    /// Returns nil if the maximum number of requests is reached.
    @discardableResult
    mutating func decide(_ request: LinkRequest, _ device: DeviceFacts) -> DecisionPair? {
        if trial != nil { return trial?.decide(request, device) }
        guard remainingComparisons > 0 else {
            noteSampled()
            return nil
        }
        remainingComparisons -= 1
        let pair = DecisionPair(request, device, tables)
        if case .link(let link) = request, links.count < 8 {
            let isNew = decided.insert(pair.old).inserted
            if decided.insert(pair.new).inserted || isNew { links.append(link) }
        }
        if !pair.isSame { addChange(request, device, Decision(pair.old), Decision(pair.new)) }
        return pair
    }

    /// Records a difference under the patterns that the request selects.
    private mutating func addChange(_ request: LinkRequest, _ device: DeviceFacts, _ old: Decision, _ new: Decision) {
        let kind = TableDifference.Kind(old, new)
        if reported[region]?.contains(kind) == true { return }
        let chosen = TableDifference.Region(
            old: Self.choice(tables[0], request, device), new: Self.choice(tables[1], request, device))
        if !isOther, changed.insert(chosen).inserted, compared.contains(chosen) { difference.changedSets += 1 }
        guard reported[chosen, default: []].insert(kind).inserted else { return }
        if isOther { difference.otherChanges += 1 }
        let change = TableDifference.Change(
            oldChoice: chosen.old, newChoice: chosen.new, request: request, device: device, old: old, new: new,
            isAddition: additions.decide(old.value, new.value))
        difference.changes.append(shorter(change))
    }

    /// Returns a change with a shorter link that shows the same, if one of the candidates does.
    private func shorter(_ change: TableDifference.Change) -> TableDifference.Change {
        func shows(_ change: TableDifference.Change) -> [String] {
            ChangedValues.between(change.old.value, change.new.value).map(\.member) + [change.breakage ?? ""]
        }
        for link in shorterLinks.candidates(change.request) {
            var other = change
            other.request = .link(link)
            let pair = DecisionPair(other.request, change.device, tables)
            if pair.isSame { continue }
            (other.old, other.new) = (Decision(pair.old), Decision(pair.new))
            guard TableDifference.Kind(other.old, other.new) == TableDifference.Kind(change.old, change.new),
                Self.choice(tables[0], other.request, change.device) == change.oldChoice,
                Self.choice(tables[1], other.request, change.device) == change.newChoice, shows(other) == shows(change)
            else { continue }
            return other
        }
        return change
    }

    /// Returns a Boolean value that indicates whether a request selects the same pattern of a table as the links of the
    /// set.
    func chooses(_ request: LinkRequest, _ device: DeviceFacts, in number: Int) -> Bool {
        Self.choice(tables[number], request, device) == (number == 0 ? region.old : region.new)
    }

    private static func choice(_ table: RouteTable, _ request: LinkRequest, _ device: DeviceFacts) -> TableDifference
        .Choice?
    {
        table.selection(of: request, device: device).map {
            TableDifference.Choice(route: $0.route, pattern: $0.pattern)
        }
    }
}

/// A trial of requests with one table, in place of a comparison of two.
protocol RequestTrial {
    /// The devices and queries to try.
    var contexts: [EvaluationContext] { get set }
    /// A Boolean value that indicates whether no more requests are needed or allowed.
    var isOver: Bool { get }

    /// Resolves a request, or returns nil if the trial is over.
    mutating func decide(_ request: LinkRequest, _ device: DeviceFacts) -> DecisionPair?
}
