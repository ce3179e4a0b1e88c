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

    private let source: TableSource
    private let numbers: [OriginRule: Int]

    /// Cuts the origins of a table under numbered rules.
    init(_ source: TableSource, rules: [OriginRule], cut: OriginCut = OriginCut()) {
        self.source = source
        numbers = Dictionary(uniqueKeysWithValues: zip(rules, rules.indices))
        var found: [Origin] = []
        let named = Set(rules.compactMap(\.scheme) + cut.schemes)
        let hosts = Self.hosts(source.blocks.flatMap { $0.hosts.map(\.value) } + rules.compactMap(\.host) + cut.hosts)
        for (index, block) in source.blocks.enumerated() {
            var seen = Set<[[Int]]>()
            let spelled = cut.spellings.filter { source.block(listing: $0) == index }
            for scheme in schemes(of: block, named) + spelled {
                for origin in marked(self.origins(scheme, block, index, hosts), block, cut)
                where seen.insert([origin.rules, origin.mark]).inserted {
                    found.append(origin)
                }
            }
        }
        origins = found.enumerated().sorted { ($0.1.rules.count, $0.0) < ($1.1.rules.count, $1.0) }.map(\.1)
        origin = Array(repeating: [], count: rules.count)
        for (index, one) in origins.enumerated() {
            for rule in one.rules { origin[rule].append(index) }
        }
    }

    /// Origins with their marks; where an authority is a segment only for this table, a second one with an authority
    /// that is no host for the other table.
    private func marked(
        _ origins: [Origin], _ block: TableSource.LinkBlock, _ cut: OriginCut
    ) -> [Origin] {
        origins.flatMap { origin -> [Origin] in
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

    private func schemes(of block: TableSource.LinkBlock, _ named: Set<String>) -> [String] {
        var schemes = block.schemes.map(\.value)
        guard block.takesOtherSchemes else { return schemes }
        let listed = Set(source.blocks.flatMap { $0.schemes.map(\.value) })
        let isExact = block.schemeCase == .exact
        schemes += named.subtracting(listed).filter { isExact || $0 == $0.lowercased() }.sorted()
        let other = (0...).lazy.map { $0 == 0 ? "any" : "any\($0)" }
        schemes += other.first { !listed.contains($0) && !named.contains($0) }.map { [$0] } ?? []
        return schemes
    }

    private func origins(
        _ scheme: String, _ block: TableSource.LinkBlock, _ index: Int, _ hosts: [(host: [UInt8], port: UInt16?)]
    ) -> [Origin] {
        let name = block.schemeCase == .exact ? scheme : scheme.lowercased()
        if block.hostRole == .segment {
            let rules = [name, nil].compactMap { numbers[OriginRule($0, nil)] }.sorted()
            return [Origin(scheme: scheme, host: [], port: nil, block: index, rules: rules)]
        }
        let own: UInt16? = scheme.lowercased() == "https" ? 443 : scheme.lowercased() == "http" ? 80 : nil
        let listed = Set(block.hosts.map(\.value))
        return hosts.compactMap { host, written in
            // http and https have no links without a host (N3).
            if own != nil && host.isEmpty { return nil }
            let port = written == own ? nil : written
            let taking = Self.rules(host, port)
            guard taking.contains(where: { listed.contains($0) }) else { return nil }
            var rules: [Int] = []
            for scheme in [name, nil] {
                if let number = numbers[OriginRule(scheme, nil)] { rules.append(number) }
                for rule in taking {
                    if let number = numbers[OriginRule(scheme, rule)] { rules.append(number) }
                }
            }
            return Origin(scheme: scheme, host: host, port: port, block: index, rules: rules.sorted())
        }
    }

    /// Every host rule that takes a host.
    private static func rules(_ host: [UInt8], _ port: UInt16?) -> [HostRule] {
        var rules: [HostRule] = [.any]
        if host.isEmpty { return rules + [.empty] }
        rules.append(.exact(host: host, port: nil))
        if let port { rules.append(.exact(host: host, port: port)) }
        for (index, byte) in host.enumerated() where byte == UInt8(ascii: ".") && index > 0 {
            rules.append(.suffix(Array(host[(index + 1)...])))
        }
        return rules
    }

    /// Hosts of all kinds that the rules tell apart: listed ones first, for they read best in a witness.
    static func hosts(_ rules: [HostRule]) -> [(host: [UInt8], port: UInt16?)] {
        let exact = Set(rules.compactMap { if case .exact(let host, _) = $0 { host } else { nil } })
        var hosts: [(host: [UInt8], port: UInt16?)] = []
        for rule in rules {
            switch rule {
            case .exact(let host, let port):
                hosts += [(host, nil)] + (port.map { [(host, $0)] } ?? [])
            case .suffix(let suffix):
                let labels = (0...).lazy.map { Array(($0 == 0 ? "x." : "x\($0).").utf8) + suffix }
                if let free = labels.first(where: { !exact.contains($0) }) { hosts.append((free, nil)) }
            case .empty: hosts.append(([], nil))
            case .any:
                let names = (0...).lazy.map { Array(($0 == 0 ? "any.invalid" : "any\($0).invalid").utf8) }
                if let free = names.first(where: { !exact.contains($0) }) { hosts.append((free, nil)) }
                hosts.append(([], nil))
            }
        }
        return hosts
    }
}
