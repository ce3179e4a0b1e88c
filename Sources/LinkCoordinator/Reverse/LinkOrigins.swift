internal import ByteStorage

/// A scheme and host for which the links of a pattern can be written.
struct LinkOrigin: Hashable {
    /// The index of the link block.
    var block: Int
    var scheme: String
    /// The host and port as written, or nil if the first segment of the path follows `//`.
    var authority: String?

    /// The start of the link, without the slash of the path.
    var text: String { scheme + "://" + (authority ?? "") }
}

/// The scheme and host that the caller requires of a link.
struct RequiredOrigin {
    /// The scheme, or nil for any.
    var scheme: String?
    /// The host with its port, or nil for any.
    var host: String?

    /// Returns the required host as the only candidate, or nil if any host is allowed.
    ///
    /// The list is empty if the text is not a single host.
    fileprivate var hosts: [HostRule]? {
        guard let host else { return nil }
        guard let rule = try? HostRule.parse(host.lowercased()) else { return [] }
        switch rule {
        case .exact, .empty: return [rule]
        case .any, .suffix: return []
        }
    }
}

extension TableSource {
    /// Returns the origins of links that a pattern can match, in the order of the table, with one host for each host
    /// rule.
    func origins(of pattern: RoutePattern, _ filter: RequiredOrigin = RequiredOrigin()) -> [LinkOrigin] {
        var origins: [LinkOrigin] = []
        let hosts = filter.hosts
        for (index, block) in blocks.enumerated() {
            for scheme in schemes(of: block, for: pattern, requested: filter.scheme) {
                guard block.hostRole == .authority else {
                    if hosts == nil, pattern.host == nil || pattern.host == .any {
                        origins.append(LinkOrigin(block: index, scheme: scheme, authority: nil))
                    }
                    continue
                }
                for authority in authorities(of: block, for: pattern, among: hosts, isWeb: WebURL.isWeb(scheme)) {
                    let origin = LinkOrigin(block: index, scheme: scheme, authority: authority)
                    if !origins.contains(origin) { origins.append(origin) }
                }
            }
        }
        return origins
    }

    /// Returns a description of the origins of a route's links.
    func originsText(of route: Route) -> String {
        let texts = route.patterns.flatMap { origins(of: $0).map(\.text) }.unique
        if texts.isEmpty { return "a scheme and host that the table accepts" }
        let limit = 8
        let more = texts.count > limit ? ", and \(texts.count - limit) more" : ""
        return "a scheme and host that the route accepts, such as "
            + texts.prefix(limit).map { "`\($0)`" }.joined(separator: ", ") + more
    }

    /// Returns the hosts, with their ports, that both the block and the pattern match.
    private func authorities(
        of block: LinkBlock, for pattern: RoutePattern, among hosts: [HostRule]?, isWeb: Bool
    ) -> [String] {
        // If any host matches, the hosts that may be opened externally are candidates too.
        let rules = hosts ?? [pattern.host].compactMap { $0 } + block.hosts.map(\.value) + externals.hosts
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
    private func schemes(of block: LinkBlock, for pattern: RoutePattern, requested: String?) -> [String] {
        let named = blocks.flatMap { $0.schemes.map(\.value) }
        if let requested = requested ?? pattern.scheme {
            guard pattern.scheme?.equalsFolded(requested) ?? true else { return [] }
            if let own = block.schemes.first(where: { $0.value.equalsFolded(requested) }) { return [own.value] }
            let isScheme = Array(requested.utf8).withUnsafeBufferPointer { WebURL.isScheme(ByteView($0)) }
            let isFree = block.acceptsOtherSchemes && !named.contains { $0.equalsFolded(requested) }
            return isScheme && isFree ? [requested] : []
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
