/// A scheme and a host under which a pattern can be written.
struct LinkOrigin: Hashable {
    /// Index of the link block.
    var block: Int
    /// The scheme.
    var scheme: String
    /// Host and port as written; nil where the first segment stands there.
    var authority: String?
}

extension TableSource {
    /// Origins of links that a pattern may take, the first listed first; of each rule of hosts one host.
    func origins(of pattern: RoutePattern) -> [LinkOrigin] {
        var origins: [LinkOrigin] = []
        for (index, block) in blocks.enumerated() {
            for scheme in schemes(of: block, for: pattern) {
                guard block.hostRole == .authority else {
                    if pattern.host == nil || pattern.host == .any {
                        origins.append(LinkOrigin(block: index, scheme: scheme, authority: nil))
                    }
                    continue
                }
                for authority in authorities(of: block, for: pattern, isWeb: WebURL.isWeb(scheme)) {
                    let origin = LinkOrigin(block: index, scheme: scheme, authority: authority)
                    if !origins.contains(origin) { origins.append(origin) }
                }
            }
        }
        return origins
    }

    /// Hosts with their ports that both the block and the pattern take.
    private func authorities(of block: LinkBlock, for pattern: RoutePattern, isWeb: Bool) -> [String] {
        // Where any host will do, one of those that may be opened outside is tried too.
        let rules = [pattern.host].compactMap { $0 } + block.hosts.map(\.value) + externals.hosts
        return rules.compactMap { rule in
            let (host, port) = rule.sample(isWeb: isWeb)
            // http and https have no links without a host (N3).
            if isWeb && host.isEmpty { return nil }
            let isListed = block.hosts.contains { $0.value.takes(host: host, port: port) }
            guard isListed, pattern.host?.takes(host: host, port: port) ?? true else { return nil }
            return String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
        }
    }

    /// Schemes of a block that a pattern takes; for `*` one that no block names.
    private func schemes(of block: LinkBlock, for pattern: RoutePattern) -> [String] {
        let named = blocks.flatMap { $0.schemes.map(\.value) }
        if let wanted = pattern.scheme {
            if let own = block.schemes.first(where: { $0.value.equalsFolded(wanted) }) { return [own.value] }
            return block.takesOtherSchemes && !named.contains { $0.equalsFolded(wanted) } ? [wanted] : []
        }
        var schemes = block.schemes.map(\.value)
        if block.takesOtherSchemes {
            let free = (1...64).map { $0 == 1 ? "app" : "app\($0)" }
            schemes += free.first { one in !named.contains { $0.equalsFolded(one) } }.map { [$0] } ?? []
        }
        return schemes
    }
}

extension HostRule {
    /// A host and port that fall under the rule.
    fileprivate func sample(isWeb: Bool) -> (host: [UInt8], port: UInt16?) {
        switch self {
        case .any: (isWeb ? Array("example.com".utf8) : [], nil)
        case .empty: ([], nil)
        case .exact(let host, let port): (host, port)
        case .suffix(let suffix): (Array("www.".utf8) + suffix, nil)
        }
    }
}
