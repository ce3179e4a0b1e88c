internal import LinkCoordinator

/// Hosts that rules distinguish, with the rules that match them; a link block uses only the hosts that it lists.
struct OriginHosts {
    /// A host that represents its kind.
    struct Host {
        /// The host in lowercase; empty for none.
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
        var hosts: [(host: [UInt8], port: UInt16?)] = []
        var seen = Set<HostRule>()
        for rule in rules where seen.insert(rule).inserted {
            switch rule {
            case .exact(let host, let port):
                hosts += [(host, nil)] + (port.map { [(host, $0)] } ?? [])
            case .suffix(let suffix):
                let label = UnusedText.first("x", suffix: ".") { !exact.contains(Array($0.utf8) + suffix) }
                hosts.append((Array(label.utf8) + suffix, nil))
            case .empty: hosts.append(([], nil))
            case .any:
                let name = UnusedText.first("any", suffix: ".invalid") { !exact.contains(Array($0.utf8)) }
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
