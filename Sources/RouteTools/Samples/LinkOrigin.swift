internal import LinkCoordinator

/// The start of a table's links: a scheme with a host, or only a scheme if the block reads the host as a segment.
struct LinkOrigin {
    /// The block that reads the link.
    let block: TableSource.LinkBlock
    /// The scheme.
    let scheme: String
    /// The host with its port, or nil if the block reads the host as the first segment.
    let host: String?

    /// Creates the first origin that a pattern's scheme and host rule allow, or returns nil if there is none.
    ///
    /// A rule for many hosts is represented by one of them, for example `*.shop.example` by `www.shop.example`.
    init?(_ source: TableSource, scheme: String? = nil, host rule: HostRule? = nil) {
        for block in source.blocks {
            for name in Self.schemes(of: block, requested: scheme, in: source) {
                if block.hostRole == .segment {
                    guard rule == nil else { continue }
                    self.init(block: block, scheme: name, host: nil)
                    return
                }
                let isWeb = ["http", "https"].contains(name.lowercased())
                guard let host = Self.host(of: block, requested: rule, isWeb: isWeb) else { continue }
                self.init(block: block, scheme: name, host: host)
                return
            }
        }
        return nil
    }

    /// Creates an origin from its parts.
    init(block: TableSource.LinkBlock, scheme: String, host: String?) {
        self.block = block
        self.scheme = scheme
        self.host = host
    }

    /// Returns the link with the given segments and without a query.
    func link(segments: [String]) -> String {
        let path = segments.map(PercentText.encode).joined(separator: "/")
        if let host { return "\(scheme)://\(host)/\(path)" }
        return "\(scheme)://" + (segments.isEmpty ? "/" : path)
    }

    /// Returns the schemes of a block, https first, because a browser opens its links even without the app.
    private static func schemes(
        of block: TableSource.LinkBlock, requested: String?, in source: TableSource
    ) -> [String] {
        let names = block.schemes.map(\.value)
        if let requested {
            if names.contains(requested) { return [requested] }
            let isNamed = source.blocks.contains { $0.schemes.contains { $0.value == requested } }
            return block.acceptsOtherSchemes && !isNamed ? [requested] : []
        }
        let web = names.filter { $0 == "https" }
        return web + names.filter { $0 != "https" } + (names.isEmpty && block.acceptsOtherSchemes ? ["app"] : [])
    }

    private static func host(of block: TableSource.LinkBlock, requested: HostRule?, isWeb: Bool) -> String? {
        // An http or https link must have a host.
        if isWeb && requested == .empty { return nil }
        let rules = block.hosts.map(\.value).filter { !isWeb || $0 != .empty }
        if let requested, requested != .any {
            return rules.contains { $0.overlaps(requested) } ? requested.sample : nil
        }
        let named = rules.first { if case .exact = $0 { true } else { false } }
        return (named ?? rules.first)?.sample
    }
}

extension HostRule {
    /// A host that the rule matches.
    var sample: String {
        switch self {
        case .any: "example.com"
        case .empty: ""
        case .exact(let host, let port): String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
        case .suffix(let suffix): "www." + String(decoding: suffix, as: UTF8.self)
        }
    }
}
