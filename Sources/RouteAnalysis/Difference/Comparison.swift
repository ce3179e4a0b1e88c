internal import LinkCoordinator

/// A comparison of the decisions of two tables that keeps one witness for each kind of difference.
struct Comparison {
    /// The tables, the old one first.
    let tables: [RouteTable]
    /// The differences so far.
    var difference = TableDifference()

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

    /// The maximum number of devices and queries for one set of links.
    private static let maxContexts = 4_096

    /// The maximum number of requests to resolve for all sets together.
    private static let maxComparisons = 4_000_000

    /// Creates a comparison of two tables.
    init(_ tables: [RouteTable], maxComparisons: Int = Self.maxComparisons) {
        self.tables = tables
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

    /// Records a set, or for no choice also requests other than links, that was not compared completely.
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
        let claims = probeSet.dependencies.questions.claims
        var distinct: [EvaluationContext] = []
        var known = Set<[UInt8]>()
        for one in contexts(of: probeSet.dependencies.questions) {
            guard let request = probeSet.request(probeSet.probes.fitting, one),
                let pair = decide(request, one.device)
            else { continue }
            var key = pair.old + [0] + pair.new
            if pair.isDeferred {
                var device = one.device
                device.claims = claims
                if let claimedPair = decide(request, device) { key += [0] + claimedPair.old + [0] + claimedPair.new }
            }
            if known.insert(key).inserted { distinct.append(one) }
        }
        compare(probeSet, distinct)
        return distinct
    }

    /// Returns the devices and queries for which to compare; the current set is sampled if these are only some of them.
    mutating func contexts(of questions: DeviceQuestions) -> [EvaluationContext] {
        let (all, isWhole) = DeviceSpace(questions).contexts(limit: Self.maxContexts)
        if !isWhole { noteSampled() }
        return all
    }

    /// Compares the decisions for a link and each list of its values in some contexts.
    mutating func compare(_ probeSet: ProbeSet, _ contexts: [EvaluationContext]) {
        let others = probeSet.others
        let heads = probeSet.heads
        for one in contexts {
            for values in [probeSet.probes.fitting] + others {
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
        difference.changes.append(
            TableDifference.Change(
                oldChoice: chosen.old, newChoice: chosen.new, request: request, device: device, old: old, new: new))
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
