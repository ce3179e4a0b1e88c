/// A scheme and host for which the links of a pattern can be written.
struct LinkOrigin: Hashable {
    /// The index of the link block.
    var block: Int
    /// The scheme.
    var scheme: String
    /// The host and port as written, or nil if the first segment of the path follows `//`.
    var authority: String?
}

extension TableSource {
    /// Returns the origins of links that a pattern can match, in the order of the table, with one host for each host
    /// rule.
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

    /// Returns the hosts, with their ports, that both the block and the pattern match.
    private func authorities(of block: LinkBlock, for pattern: RoutePattern, isWeb: Bool) -> [String] {
        // If any host matches, the hosts that may be opened externally are candidates too.
        let rules = [pattern.host].compactMap { $0 } + block.hosts.map(\.value) + externals.hosts
        return rules.compactMap { rule in
            let (host, port) = rule.sample(isWeb: isWeb)
            // An `http` or `https` link without a host is rejected.
            if isWeb && host.isEmpty { return nil }
            let isListed = block.hosts.contains { $0.value.matches(host: host, port: port) }
            guard isListed, pattern.host?.matches(host: host, port: port) ?? true else { return nil }
            return String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
        }
    }

    /// Returns the schemes of a block that a pattern matches.
    ///
    /// For `*`, this includes a scheme that no block lists.
    private func schemes(of block: LinkBlock, for pattern: RoutePattern) -> [String] {
        let named = blocks.flatMap { $0.schemes.map(\.value) }
        if let wanted = pattern.scheme {
            if let own = block.schemes.first(where: { $0.value.equalsFolded(wanted) }) { return [own.value] }
            return block.acceptsOtherSchemes && !named.contains { $0.equalsFolded(wanted) } ? [wanted] : []
        }
        var schemes = block.schemes.map(\.value)
        if block.acceptsOtherSchemes {
            let free = (1...64).map { $0 == 1 ? "app" : "app\($0)" }
            schemes += free.first { one in !named.contains { $0.equalsFolded(one) } }.map { [$0] } ?? []
        }
        return schemes
    }
}

extension HostRule {
    /// Returns a host and port that the rule matches.
    fileprivate func sample(isWeb: Bool) -> (host: [UInt8], port: UInt16?) {
        switch self {
        case .any: (isWeb ? Array("example.com".utf8) : [], nil)
        case .empty: ([], nil)
        case .exact(let host, let port): (host, port)
        case .suffix(let suffix): (Array("www.".utf8) + suffix, nil)
        }
    }
}
