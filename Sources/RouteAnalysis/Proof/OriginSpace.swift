internal import LinkCoordinator

/// Scheme and host of a pattern: one trie of the search stands for each.
struct OriginRule: Hashable {
    /// The scheme, nil for any.
    var scheme: String?
    /// The host rule, nil for any and for none.
    var host: HostRule?

    /// The rule of a pattern.
    init(_ pattern: TableSource.RoutePattern) {
        scheme = pattern.scheme
        host = pattern.host == .any ? nil : pattern.host
    }

    /// The rule of patterns without scheme and host, or of those that are given.
    init(_ scheme: String? = nil, _ host: HostRule? = nil) {
        self.scheme = scheme
        self.host = host
    }
}

/// What tells schemes and hosts apart beside the rules of patterns.
struct OriginCut {
    /// Host rules.
    var hosts: [HostRule] = []
    /// Schemes that a link may have where a block takes any.
    var schemes: [String] = []
    /// Spellings of schemes that tables may take for different ones.
    var spellings: [String] = []
    /// Marks a scheme, a host and a port; those with other marks are told apart.
    var mark: (String, [UInt8], UInt16?) -> [Int] = { _, _, _ in [] }
    /// Whether another table takes the authority of links of a scheme for a host where this one takes it for a segment,
    /// or the other way round.
    var mixesRoles: (String) -> Bool = { _ in false }
}

/// Schemes and hosts that no pattern tells apart, one of them for all.
struct Origin {
    /// The scheme as a link may write it.
    var scheme: String
    /// The host in lower case; empty for none, and where the authority is a segment.
    var host: [UInt8]
    /// The port, nil for none.
    var port: UInt16?
    /// Index of the link block.
    var block: Int
    /// Numbers of the origin rules that take it, sorted.
    var rules: [Int]
    /// What else tells it apart.
    var mark: [Int] = []
    /// Whether the first segment of a witness is its authority, which the tables do not take for the same.
    var leads = false
    /// Whether that authority is written in escapes, which are a segment's but never a host's.
    var escapesAuthority = false
}

/// All schemes and hosts that a table reads, cut into atoms under the rules that patterns name.
struct OriginSpace {
    /// The atoms, those first that the fewest rules take.
    private(set) var origins: [Origin] = []

    /// For each rule its atoms, in the same order.
    private(set) var origin: [[Int]] = []

    /// For each rule the first of its atoms in each link block, in the same order.
    private(set) var firsts: [[Int]] = []

    /// Makes a space without origins.
    init() {}

    /// Cuts the origins of a table under numbered rules.
    ///
    /// - Parameter cut: What tells origins apart beside the rules; with nil nothing does, and of link blocks that read
    ///   the same links in the same way one stands for all.
    init(_ source: TableSource, rules: [OriginRule], cut: OriginCut? = nil) {
        var cutter = OriginCutter(source, rules: rules, cut: cut)
        let found = cutter.run()
        origins = found.enumerated().sorted { ($0.1.rules.count, $0.0) < ($1.1.rules.count, $1.0) }.map(\.1)
        origin = Array(repeating: [], count: rules.count)
        firsts = origin
        var met = Array(repeating: Set<Int>(), count: rules.count)
        for (index, one) in origins.enumerated() {
            for rule in one.rules {
                origin[rule].append(index)
                if met[rule].insert(one.block).inserted { firsts[rule].append(index) }
            }
        }
    }
}

/// Cuts the schemes and hosts of a table's link blocks.
private struct OriginCutter {
    /// What a link block makes of a path and a query: blocks of one kind show the same links.
    private struct BlockKind: Hashable {
        var role: TableSource.LinkBlock.HostRole
        var query: TableSource.QueryDialect
        var rewrites: [[Matcher]]
    }

    /// What the origins of a scheme in a block come from.
    private struct Asked: Hashable {
        var kind: Int
        var hosts: Set<HostRule>
        var ownPort: UInt16?
        /// The scheme, if rules name it.
        var scheme: String?
    }

    let source: TableSource
    let cut: OriginCut?
    /// Schemes that rules and the cut name, and those that blocks list.
    let named: Set<String>
    let listed: Set<String>
    /// Numbers of rules by scheme, nil for any, and host.
    private var numbers: [String?: [HostRule?: Int]] = [:]
    private var kinds: [BlockKind: Int] = [:]
    private let hosts: OriginHosts

    init(_ source: TableSource, rules: [OriginRule], cut: OriginCut?) {
        self.source = source
        self.cut = cut
        named = Set(rules.compactMap(\.scheme) + (cut?.schemes ?? []))
        listed = Set(source.blocks.flatMap { $0.schemes.map(\.value) })
        for (number, rule) in rules.enumerated() { numbers[rule.scheme, default: [:]][rule.host] = number }
        let own = source.blocks.flatMap { $0.hosts.map(\.value) }
        let ofRules = rules.compactMap(\.host)
        hosts = OriginHosts(
            own + ofRules + (cut?.hosts ?? []), listed: Set(own), telling: cut == nil ? Set(ofRules) : nil)
    }

    /// The origins, block by block.
    mutating func run() -> [Origin] {
        let spelled = Dictionary(grouping: cut?.spellings ?? []) { source.block(listing: $0) }
        var found: [Origin] = []
        var asked = Set<Asked>()
        var seen: [Int: Set<[[Int]]>] = [:]
        for (index, block) in source.blocks.enumerated() {
            let kind = kind(of: block, index)
            let taken = Set(block.hosts.map(\.value))
            for scheme in schemes(of: block) + (spelled[index] ?? []) {
                let name = block.schemeCase == .exact ? scheme : scheme.lowercased()
                let own = Self.ownPort(of: scheme)
                if cut == nil {
                    let scheme = numbers[name] == nil ? nil : name
                    let one = Asked(kind: kind, hosts: taken, ownPort: own, scheme: scheme)
                    if !asked.insert(one).inserted { continue }
                }
                for origin in marked(origins(scheme, name, block, index, taken), block)
                where seen[kind, default: []].insert([origin.rules, origin.mark]).inserted {
                    found.append(origin)
                }
            }
        }
        return found
    }

    /// The number of the blocks that are like one; with a cut each is its own.
    private mutating func kind(of block: TableSource.LinkBlock, _ index: Int) -> Int {
        if cut != nil { return index }
        let kind = BlockKind(
            role: block.hostRole, query: block.query, rewrites: block.rewrites.map(\.pattern.matchers))
        if let known = kinds[kind] { return known }
        kinds[kind] = index
        return index
    }

    private static func ownPort(of scheme: String) -> UInt16? {
        switch scheme.lowercased() {
        case "https": 443
        case "http": 80
        default: nil
        }
    }

    /// Origins with their marks; where an authority is a segment only for this table, a second one with an authority
    /// that is no host for the other table.
    private func marked(_ origins: [Origin], _ block: TableSource.LinkBlock) -> [Origin] {
        guard let cut else { return origins }
        return origins.flatMap { origin -> [Origin] in
            var own = origin
            let mixes = cut.mixesRoles(origin.scheme)
            own.leads = mixes && !origin.host.isEmpty
            own.mark = cut.mark(origin.scheme, origin.host, origin.port)
            // Every host is a segment of its own.
            own.mark += own.leads ? [1] + origin.host.map { Int($0) } : []
            guard mixes, block.hostRole == .segment else { return [own] }
            var second = origin
            second.leads = true
            // No rule takes what is no host.
            second.mark = cut.mark(origin.scheme, Array("%".utf8), nil) + [1]
            second.escapesAuthority = true
            return [own, second]
        }
    }

    private func schemes(of block: TableSource.LinkBlock) -> [String] {
        var schemes = block.schemes.map(\.value)
        guard block.takesOtherSchemes else { return schemes }
        let isExact = block.schemeCase == .exact
        schemes += named.subtracting(listed).filter { isExact || $0 == $0.lowercased() }.sorted()
        let other = (0...).lazy.map { $0 == 0 ? "any" : "any\($0)" }
        schemes += other.first { !listed.contains($0) && !named.contains($0) }.map { [$0] } ?? []
        return schemes
    }

    private func origins(
        _ scheme: String, _ name: String, _ block: TableSource.LinkBlock, _ index: Int, _ listed: Set<HostRule>
    ) -> [Origin] {
        let numbers = [numbers[name], numbers[nil]].compactMap { $0 }
        if block.hostRole == .segment {
            let rules = numbers.compactMap { $0[nil] }.sorted()
            return [Origin(scheme: scheme, host: [], port: nil, block: index, rules: rules)]
        }
        let own = Self.ownPort(of: scheme)
        return hosts.hosts(takenBy: listed).compactMap { one in
            // http and https have no links without a host (N3).
            if own != nil && one.host.isEmpty { return nil }
            let isOwn = one.port != nil && one.port == own
            let taking = isOwn ? OriginHosts.rules(one.host, nil) : one.rules
            guard taking.contains(where: { listed.contains($0) }) else { return nil }
            var rules: [Int] = []
            for numbers in numbers {
                if let number = numbers[nil] { rules.append(number) }
                rules += taking.compactMap { numbers[$0] }
            }
            return Origin(
                scheme: scheme, host: one.host, port: isOwn ? nil : one.port, block: index, rules: rules.sorted())
        }
    }
}
