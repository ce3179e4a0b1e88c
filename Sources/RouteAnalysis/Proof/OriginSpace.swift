internal import LinkCoordinator

/// The scheme and host of a pattern, each with its own trie in the search.
struct OriginRule: Hashable {
    /// The scheme, or nil for any.
    var scheme: String?
    /// The host rule, or nil for any host and for none.
    var host: HostRule?

    /// Creates the rule of a pattern.
    init(_ pattern: TableSource.RoutePattern) {
        scheme = pattern.scheme
        host = pattern.host == .any ? nil : pattern.host
    }

    /// Creates a rule from its parts, by default the rule of patterns without scheme and host.
    init(_ scheme: String? = nil, _ host: HostRule? = nil) {
        self.scheme = scheme
        self.host = host
    }
}

/// The properties that distinguish schemes and hosts in addition to the rules of patterns.
struct OriginDistinction {
    /// Additional host rules.
    var hosts: [HostRule] = []
    /// The schemes that a link can have if a block allows any.
    var schemes: [String] = []
    /// The spellings of schemes that tables can read as different ones.
    var spellings: [String] = []
    /// Returns the signature of a scheme, a host, and a port, which distinguishes origins.
    var signature: (String, [UInt8], UInt16?) -> [Int] = { _, _, _ in [] }
    /// Returns a Boolean value that indicates whether only one of two tables reads the authority of a scheme's links as
    /// a host.
    var mixesRoles: (String) -> Bool = { _ in false }
}

/// A set of schemes and hosts that no pattern distinguishes, represented by one of them.
struct Origin {
    /// The scheme in the form of a link.
    var scheme: String
    /// The host in lowercase, or empty if there is none or if the authority is a segment.
    var host: [UInt8]
    /// The port, or nil for none.
    var port: UInt16?
    /// The index of the link block.
    var block: Int
    /// The numbers of the origin rules that match it, sorted.
    var rules: [Int]
    /// The signature that distinguishes it from other origins.
    var signature: [Int] = []
    /// A Boolean value that indicates whether the authority is the first segment of a witness, because the tables read
    /// it differently.
    var isAuthoritySegment = false
    /// A Boolean value that indicates whether that authority is percent-encoded, as a segment can be, but not a host.
    var escapesAuthority = false
}

/// All schemes and hosts that a table reads, divided into atoms by the rules that patterns name.
struct OriginSpace {
    /// The atoms, sorted by the number of rules that match them.
    private(set) var origins: [Origin] = []

    /// The atoms of each rule, in the same order.
    private(set) var origin: [[Int]] = []

    /// The first atom of each rule in each link block, in the same order.
    private(set) var firsts: [[Int]] = []

    /// Creates a space without origins.
    init() {}

    /// Divides the origins of a table by numbered rules.
    ///
    /// - Parameter distinction: The properties that distinguish origins besides the rules. With nil there are none, and
    ///   one of the link blocks that read the same links in the same way represents all of them.
    init(_ source: TableSource, rules: [OriginRule], distinction: OriginDistinction? = nil) {
        var partitioner = OriginPartitioner(source, rules: rules, distinction: distinction)
        let found = partitioner.run()
        origins = found.enumerated().sorted { ($0.1.rules.count, $0.0) < ($1.1.rules.count, $1.0) }.map(\.1)
        origin = Array(repeating: [], count: rules.count)
        firsts = origin
        var seenBlocks = Array(repeating: Set<Int>(), count: rules.count)
        for (index, one) in origins.enumerated() {
            for rule in one.rules {
                origin[rule].append(index)
                if seenBlocks[rule].insert(one.block).inserted { firsts[rule].append(index) }
            }
        }
    }
}

/// Divides the schemes and hosts of a table's link blocks.
private struct OriginPartitioner {
    /// The properties with which a link block reads a path and a query, equal for equivalent blocks.
    private struct BlockKind: Hashable {
        var role: TableSource.LinkBlock.HostRole
        var query: TableSource.QueryDialect
        var rewrites: [Pattern]
        /// The names under which rewrites capture a segment.
        var names: [String?]
    }

    /// The inputs from which the origins of a scheme in a block are made.
    private struct OriginKey: Hashable {
        var kind: Int
        var hosts: Set<HostRule>
        var ownPort: UInt16?
        /// The scheme, or nil if no rule names it.
        var scheme: String?
    }

    let source: TableSource
    let distinction: OriginDistinction?
    /// The schemes that rules and the distinction name, and the schemes that blocks list.
    let named: Set<String>
    let listed: Set<String>
    /// The numbers of rules by scheme, with nil for any, and by host.
    private var numbers: [String?: [HostRule?: Int]] = [:]
    private var kinds: [BlockKind: Int] = [:]
    private let hosts: OriginHosts

    init(_ source: TableSource, rules: [OriginRule], distinction: OriginDistinction?) {
        self.source = source
        self.distinction = distinction
        named = Set(rules.compactMap(\.scheme) + (distinction?.schemes ?? []))
        listed = Set(source.blocks.flatMap { $0.schemes.map(\.value) })
        for (number, rule) in rules.enumerated() { numbers[rule.scheme, default: [:]][rule.host] = number }
        let own = source.blocks.flatMap { $0.hosts.map(\.value) }
        let ofRules = rules.compactMap(\.host)
        hosts = OriginHosts(
            own + ofRules + (distinction?.hosts ?? []), listed: Set(own),
            distinguishing: distinction == nil ? Set(ofRules) : nil)
    }

    /// Returns the origins, block by block.
    mutating func run() -> [Origin] {
        let spelled = Dictionary(grouping: distinction?.spellings ?? []) { source.block(listing: $0) }
        var found: [Origin] = []
        var seenKeys = Set<OriginKey>()
        var seen: [Int: Set<[[Int]]>] = [:]
        for (index, block) in source.blocks.enumerated() {
            let kind = kind(of: block, index)
            let hostRules = Set(block.hosts.map(\.value))
            for scheme in schemes(of: block, index) + (spelled[index] ?? []) {
                let name = block.schemeCase == .exact ? scheme : scheme.lowercased()
                let own = OriginHosts.defaultPort(of: scheme)
                if distinction == nil {
                    let scheme = numbers[name] == nil ? nil : name
                    let one = OriginKey(kind: kind, hosts: hostRules, ownPort: own, scheme: scheme)
                    if !seenKeys.insert(one).inserted { continue }
                }
                for origin in withSignatures(origins(scheme, name, block, index, hostRules), block)
                where seen[kind, default: []].insert([origin.rules, origin.signature]).inserted {
                    found.append(origin)
                }
            }
        }
        return found
    }

    /// Returns the index of the first block of the same kind, or with a distinction the block's own.
    private mutating func kind(of block: TableSource.LinkBlock, _ index: Int) -> Int {
        if distinction != nil { return index }
        let kind = BlockKind(
            role: block.hostRole, query: block.query, rewrites: block.rewrites.map(\.pattern),
            names: block.rewrites.map(\.name))
        if let known = kinds[kind] { return known }
        kinds[kind] = index
        return index
    }

    /// Returns origins with their signatures.
    ///
    /// If only this table reads an authority as a segment, there is a second origin with an authority that is not a
    /// host for the other table.
    private func withSignatures(_ origins: [Origin], _ block: TableSource.LinkBlock) -> [Origin] {
        guard let distinction else { return origins }
        return origins.flatMap { origin -> [Origin] in
            var own = origin
            let mixes = distinction.mixesRoles(origin.scheme)
            own.isAuthoritySegment = mixes && !origin.host.isEmpty
            own.signature = distinction.signature(origin.scheme, origin.host, origin.port)
            // Every host is a distinct segment.
            own.signature += own.isAuthoritySegment ? [1] + origin.host.map { Int($0) } : []
            guard mixes, block.hostRole == .segment else { return [own] }
            var second = origin
            second.isAuthoritySegment = true
            // No rule matches a text that is not a host.
            second.signature = distinction.signature(origin.scheme, Array("%".utf8), nil) + [1]
            second.escapesAuthority = true
            return [own, second]
        }
    }

    private func schemes(of block: TableSource.LinkBlock, _ index: Int) -> [String] {
        var schemes = block.schemes.map(\.value)
        guard block.acceptsOtherSchemes else { return schemes }
        let isExact = block.schemeCase == .exact
        schemes += named.subtracting(listed).filter { isExact || $0 == $0.lowercased() }.sorted()
        // A block that compares the case of its schemes leaves their other spellings to this one.
        schemes += listed.sorted().compactMap { scheme in
            Self.spellings(of: scheme).first { !named.contains($0) && source.block(listing: $0) == index }
        }
        return schemes + [UnusedText.first("any") { !listed.contains($0) && !named.contains($0) }]
    }

    /// Returns up to 130 spellings of a scheme, in uppercase first.
    ///
    /// A table that lists all of them is not expected.
    private static func spellings(of scheme: String) -> [String] {
        let letters = Array(scheme)
        let cased = letters.indices.filter { letters[$0].isLetter }.prefix(7)
        let mixed = (0..<1 << cased.count).map { bits in
            var text = letters
            for (bit, index) in cased.enumerated() {
                let letter = String(letters[index])
                text[index] = Character(bits & 1 << bit == 0 ? letter.lowercased() : letter.uppercased())
            }
            return String(text)
        }
        return [scheme.uppercased(), scheme.lowercased()] + mixed
    }

    private func origins(
        _ scheme: String, _ name: String, _ block: TableSource.LinkBlock, _ index: Int, _ listed: Set<HostRule>
    ) -> [Origin] {
        let numbers = [numbers[name], numbers[nil]].compactMap { $0 }
        if block.hostRole == .segment {
            let rules = numbers.compactMap { $0[nil] }.sorted()
            return [Origin(scheme: scheme, host: [], port: nil, block: index, rules: rules)]
        }
        let own = OriginHosts.defaultPort(of: scheme)
        return hosts.hosts(matchedBy: listed).compactMap { one in
            // Links with http and https must have a host.
            if own != nil && one.host.isEmpty { return nil }
            let isOwn = one.port != nil && one.port == own
            let matchedRules = isOwn ? OriginHosts.rules(one.host, nil) : one.rules
            guard matchedRules.contains(where: { listed.contains($0) }) else { return nil }
            var rules: [Int] = []
            for numbers in numbers {
                if let number = numbers[nil] { rules.append(number) }
                rules += matchedRules.compactMap { numbers[$0] }
            }
            return Origin(
                scheme: scheme, host: one.host, port: isOwn ? nil : one.port, block: index, rules: rules.sorted())
        }
    }
}

/// Hosts that rules distinguish, with the rules that match them, for link blocks to select the hosts that they list.
struct OriginHosts {
    /// A host that represents its kind.
    struct Host {
        /// The host in lowercase, or empty for none.
        var host: [UInt8]
        /// The port in the form of a link, or nil for none.
        var port: UInt16?
        /// All rules that match the host.
        var rules: [HostRule]
    }

    /// Hosts that a rule matches and that no rule of a pattern distinguishes.
    private struct Kind: Hashable {
        var rule: HostRule
        var distinguishing: [HostRule]
        var isEmpty: Bool
    }

    /// The hosts, the most readable first.
    private(set) var hosts: [Host] = []

    private var byRule: [HostRule: [Int]] = [:]

    /// Creates hosts of all kinds.
    ///
    /// - Parameters:
    ///   - rules: All rules that are named anywhere.
    ///   - listed: The rules that link blocks list.
    ///   - distinguishing: The rules of patterns. One host represents all that the same of these rules match. With nil,
    ///     every host is kept, because other properties distinguish hosts too.
    init(_ rules: [HostRule], listed: Set<HostRule>, distinguishing: Set<HostRule>?) {
        var seen = Set<Kind>()
        for (host, port) in Self.samples(rules) {
            let own = Host(host: host, port: port, rules: Self.rules(host, port))
            let ownRules = distinguishing.map { own.rules.filter($0.contains) }
            for rule in own.rules where listed.contains(rule) {
                if let ownRules,
                    !seen.insert(Kind(rule: rule, distinguishing: ownRules, isEmpty: host.isEmpty)).inserted
                {
                    continue
                }
                byRule[rule, default: []].append(hosts.count)
            }
            hosts.append(own)
        }
    }

    /// Returns the hosts that one of some rules matches, in order.
    func hosts(matchedBy rules: Set<HostRule>) -> [Host] {
        Set(rules.flatMap { byRule[$0] ?? [] }).sorted().map { hosts[$0] }
    }

    /// Returns every host rule that matches a host.
    static func rules(_ host: [UInt8], _ port: UInt16?) -> [HostRule] {
        var rules: [HostRule] = [.any]
        if host.isEmpty { return rules + [.empty] }
        rules.append(.exact(host: host, port: nil))
        if let port { rules.append(.exact(host: host, port: port)) }
        for (index, byte) in host.enumerated() where byte == UInt8(ascii: ".") && index > 0 {
            rules.append(.suffix(Array(host[(index + 1)...])))
        }
        return rules
    }

    /// Returns the port of a scheme's links without a written one, or nil if the scheme has none.
    static func defaultPort(of scheme: String) -> UInt16? {
        switch scheme.lowercased() {
        case "https": 443
        case "http": 80
        default: nil
        }
    }

    /// Returns hosts of all kinds that rules distinguish, without duplicates, listed ones first for readable witnesses.
    static func samples(_ rules: [HostRule]) -> [(host: [UInt8], port: UInt16?)] {
        let exact = Set(rules.compactMap { if case .exact(let host, _) = $0 { host } else { nil } })
        let suffixes = Set(rules.filter { if case .suffix = $0 { true } else { false } })
        let ports = Set(rules.compactMap { if case .exact(_, let port) = $0 { port } else { nil } })
        let otherPort = (UInt16(8080)...UInt16.max).first { !ports.contains($0) }
        var hosts: [(host: [UInt8], port: UInt16?)] = []
        var seen = Set<HostRule>()
        for rule in rules where seen.insert(rule).inserted {
            switch rule {
            case .exact(let host, let port):
                hosts += [(host, nil)] + (port.map { [(host, $0), (host, otherPort)] } ?? [])
            case .suffix(let suffix):
                let label = UnusedText.first("x", suffix: ".") { !exact.contains(Array($0.utf8) + suffix) }
                hosts.append((Array(label.utf8) + suffix, nil))
            case .empty: hosts.append(([], nil))
            case .any:
                let isTaken = suffixes.contains(.suffix(Array("invalid".utf8)))
                let name = UnusedText.first(isTaken ? "any.other" : "any", suffix: isTaken ? "" : ".invalid") { name in
                    !exact.contains(Array(name.utf8))
                        && suffixes.isDisjoint(with: Self.rules(Array(name.utf8), nil))
                }
                hosts += [(Array(name.utf8), nil), ([], nil)]
            }
        }
        var written = Set<[UInt8]>()
        return hosts.filter { host, port in
            // Hosts contain no zero bytes.
            written.insert(host + [0] + (port.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])).inserted
        }
    }
}
