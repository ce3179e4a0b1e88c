internal import LinkCoordinator

/// Hosts that rules tell apart, by the rules that take them: a block looks only at those that it lists.
struct OriginHosts {
    /// One host of a kind.
    struct Host {
        /// The host in lower case; empty for none.
        var host: [UInt8]
        /// The port as a link writes it, nil for none.
        var port: UInt16?
        /// Every rule that takes it.
        var rules: [HostRule]
    }

    /// Hosts that a rule takes and that no rule of a pattern tells apart.
    private struct Kind: Hashable {
        var rule: HostRule
        var telling: [HostRule]
        var isEmpty: Bool
    }

    /// The hosts, those first that read best in a witness.
    private(set) var hosts: [Host] = []

    private var byRule: [HostRule: [Int]] = [:]

    /// Makes hosts of all kinds.
    ///
    /// - Parameters:
    ///   - rules: All rules that are named anywhere.
    ///   - listed: Rules that link blocks list.
    ///   - telling: Rules of patterns, where nothing else tells hosts apart: then one host of those that the same of
    ///     them take stands for all. With nil every host is kept.
    init(_ rules: [HostRule], listed: Set<HostRule>, telling: Set<HostRule>?) {
        var seen = Set<Kind>()
        for (host, port) in Self.samples(rules) {
            let own = Host(host: host, port: port, rules: Self.rules(host, port))
            let told = telling.map { telling in own.rules.filter(telling.contains) }
            for rule in own.rules where listed.contains(rule) {
                if let told, !seen.insert(Kind(rule: rule, telling: told, isEmpty: host.isEmpty)).inserted { continue }
                byRule[rule, default: []].append(hosts.count)
            }
            hosts.append(own)
        }
    }

    /// The hosts that one of some rules takes, in their order.
    func hosts(takenBy rules: Set<HostRule>) -> [Host] {
        Set(rules.flatMap { byRule[$0] ?? [] }).sorted().map { hosts[$0] }
    }

    /// Every host rule that takes a host.
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

    /// Hosts of all kinds that rules tell apart, each once: listed ones first, for they read best in a witness.
    static func samples(_ rules: [HostRule]) -> [(host: [UInt8], port: UInt16?)] {
        let exact = Set(rules.compactMap { if case .exact(let host, _) = $0 { host } else { nil } })
        var hosts: [(host: [UInt8], port: UInt16?)] = []
        var seen = Set<HostRule>()
        for rule in rules where seen.insert(rule).inserted {
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
        var written = Set<[UInt8]>()
        return hosts.filter { host, port in
            // No host has a zero byte.
            written.insert(host + [0] + (port.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])).inserted
        }
    }
}
