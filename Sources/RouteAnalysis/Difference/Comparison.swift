internal import LinkCoordinator

/// Compares the decisions of two tables and keeps one witness for every way in which they differ.
struct Comparison {
    /// The tables, the old one first.
    let tables: [RouteTable]
    /// What was found.
    var difference = TableDifference()

    /// How often a way of changing was met in the set that is looked at: a few links of it may belong to other sets.
    private var met: [TableDifference.Region: [TableDifference.Kind: Int]] = [:]
    private var told: [TableDifference.Region: Set<TableDifference.Kind>] = [:]
    private var region = TableDifference.Region()
    /// Links that were decided, one for each decision of either table, a few.
    private(set) var links: [String] = []
    private var decided = Set<[UInt8]>()
    private var left: Int

    /// Most devices and queries that are tried for one set of links.
    private static let maxCircumstances = 4_096

    /// Most requests that are resolved for all sets together.
    private static let maxComparisons = 4_000_000

    /// Compares two tables.
    init(_ tables: [RouteTable], maxComparisons: Int = Self.maxComparisons) {
        self.tables = tables
        left = maxComparisons
    }

    /// Says which set of links the next comparisons are about.
    mutating func begin(_ region: TableDifference.Region) { self.region = region }

    /// Notes a set that was not looked at whole.
    mutating func note(unproved region: TableDifference.Region) {
        if !difference.unproved.contains(where: { TableDifference.Region(old: $0.old, new: $0.new) == region }) {
            difference.unproved.append((region.old, region.new))
        }
    }

    private mutating func noteSampled() {
        if !difference.sampled.contains(where: { TableDifference.Region(old: $0.old, new: $0.new) == region }) {
            difference.sampled.append((region.old, region.new))
        }
    }

    /// Compares the decisions for a link under all circumstances, and for every list of its values under those that
    /// are decided in ways of their own; gives these.
    ///
    /// What is decided alike for fitting values in both tables is so for others too: values and circumstances only meet
    /// in the stack and in the variant, which the decision shows. Where a guard hides the stack, the decision with all
    /// claims shows it.
    @discardableResult
    mutating func compare(_ trial: Trial) -> [Circumstance] {
        let (all, isWhole) = DeviceSpace(trial.concern.questions).circumstances(limit: Self.maxCircumstances)
        if !isWhole { noteSampled() }
        let claims = trial.concern.questions.claims
        var standing: [Circumstance] = []
        var known = Set<[UInt8]>()
        for one in all {
            guard let request = trial.request(trial.probes.fitting, one),
                let pair = decide(request, one.device)
            else { continue }
            var key = pair.old + [0] + pair.new
            if pair.isDeferred {
                var device = one.device
                device.claims = claims
                if let behind = decide(request, device) { key += [0] + behind.old + [0] + behind.new }
            }
            if known.insert(key).inserted { standing.append(one) }
        }
        compare(trial, standing)
        return standing
    }

    /// Compares the decisions for a link and every list of its values under some circumstances.
    mutating func compare(_ trial: Trial, _ circumstances: [Circumstance]) {
        let others = trial.others
        let heads = trial.heads
        for one in circumstances {
            for values in [trial.probes.fitting] + others {
                if let request = trial.request(values, one) { _ = decide(request, one.device) }
            }
            for head in heads {
                if let request = trial.request(trial.probes.fitting, one, head: head) {
                    _ = decide(request, one.device)
                }
            }
        }
    }

    /// Resolves a request with both tables and notes where they differ; nil where no more may be resolved.
    @discardableResult
    mutating func decide(_ request: LinkRequest, _ device: DeviceFacts) -> DecisionPair? {
        guard left > 0 else {
            noteSampled()
            return nil
        }
        left -= 1
        let pair = DecisionPair(request, device, tables)
        if case .link(let link) = request, links.count < 8 {
            let isNew = decided.insert(pair.old).inserted
            if decided.insert(pair.new).inserted || isNew { links.append(link) }
        }
        if !pair.isSame { note(request, device, Decision(pair.old), Decision(pair.new)) }
        return pair
    }

    /// Notes a difference under the patterns that the request really chooses.
    private mutating func note(_ request: LinkRequest, _ device: DeviceFacts, _ old: Decision, _ new: Decision) {
        let kind = TableDifference.Kind(old, new)
        guard told[region]?.contains(kind) != true, met[region]?[kind] ?? 0 < 16 else { return }
        met[region, default: [:]][kind, default: 0] += 1
        let chosen = TableDifference.Region(
            old: Self.choice(tables[0], request, device), new: Self.choice(tables[1], request, device))
        guard told[chosen, default: []].insert(kind).inserted else { return }
        difference.changes.append(
            TableDifference.Change(
                oldChoice: chosen.old, newChoice: chosen.new, request: request, device: device, old: old, new: new))
    }

    /// Returns a Boolean value that indicates whether a request chooses in a table what links of the set do.
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
