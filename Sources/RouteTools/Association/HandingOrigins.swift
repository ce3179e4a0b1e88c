internal import RouteAnalysis
internal import LinkCoordinator

/// The origins of links that a platform can hand over.
///
/// One origin stands for all that nothing distinguishes, for example one host for all hosts of `*.shop.example`.
struct HandingOrigins {
    /// The maximum number of origins of one platform.
    static let maxCount = 2000
    /// The maximum number of comparisons of hosts.
    private static let maxWork = 20_000_000

    private let source: TableSource
    /// The host rules of patterns.
    private let rules: [HostRule]

    /// The only hosts of web links, or none for all hosts.
    private let selected: [String]

    /// Creates the origins of a table.
    ///
    /// - Parameter selected: The only hosts of web links, in lowercase, or none for all hosts.
    init(_ source: TableSource, hosts selected: [String] = []) {
        self.source = source
        self.selected = selected
        var seen = Set<HostRule>()
        rules = source.routes.flatMap(\.patterns).compactMap(\.host).filter { $0 != .any && seen.insert($0).inserted }
    }

    // MARK: Apple

    /// Returns the origins of universal links: https, with each kind of host that the table distinguishes.
    ///
    /// An association file cannot state a port, so hosts with a port are left out.
    func apple() -> [HandingOrigin] {
        guard let index = source.block(listing: "https"), source.blocks[index].hostRole == .authority else { return [] }
        let block = source.blocks[index]
        var seen = Set<[Bool]>()
        var origins: [HandingOrigin] = []
        let samples = selected.isEmpty ? Self.samples(block.hosts.map(\.value) + rules) : selected.map { ($0, nil) }
        for (host, port) in samples where port == nil && !host.isEmpty {
            guard block.hosts.contains(where: { $0.value.matches(host: Array(host.utf8), port: nil) }),
                seen.insert(matches(host, port)).inserted
            else { continue }
            origins.append(HandingOrigin(block: index, scheme: "https", host: host))
        }
        return origins
    }

    // MARK: Android

    /// The properties that distinguish origins.
    private struct Kind: Hashable {
        var block: Int?
        var scheme: String
        var isKnown: Bool
        var host: String
        var rules: [Bool]
        var filters: [Int]
    }

    /// Returns the origins of links that filters can match.
    ///
    /// Without a manifest, they are the origins of the table's web links. `isCut` is true if there are more than the
    /// limit.
    func android(_ filters: [AndroidFilter]?) -> (origins: [HandingOrigin], isCut: Bool) {
        let own = Set(source.blocks.flatMap { $0.schemes.map { $0.value.lowercased() } } + ["https"])
        let schemes = filters.map { Set($0.flatMap(\.schemes)) } ?? own.intersection(["http", "https"])
        var seen = Set<Kind>()
        var origins: [HandingOrigin] = []
        var work = 0
        for scheme in schemes.sorted(by: { ($0 != "https" ? 1 : 0, $0) < ($1 != "https" ? 1 : 0, $1) }) {
            let index = source.block(listing: scheme)
            let block = index.map { source.blocks[$0] }
            let isSegment = block?.hostRole == .segment
            let named = (filters ?? []).filter { $0.schemes.contains(scheme) }.flatMap(\.hosts)
            var hosts = isSegment ? segments(scheme) : Self.samples((block?.hosts.map(\.value) ?? []) + rules)
            hosts += named.map { (Self.sample($0.name), isSegment ? nil : $0.port.flatMap { UInt16($0) }) }
            if hosts.isEmpty { hosts = [("any.invalid", nil)] }
            let isWeb = scheme == "https" || scheme == "http"
            if isWeb, !selected.isEmpty { hosts = selected.map { ($0, nil) } }
            for (host, port) in hosts {
                work += 1 + (filters ?? []).count + named.count
                if work > Self.maxWork || origins.count >= Self.maxCount { return (origins, true) }
                if host.isEmpty && (isWeb || isSegment) { continue }
                let origin = HandingOrigin(block: index, scheme: scheme, host: host, port: port, isSegment: isSegment)
                let text = port.map { String($0) }
                let taking = filters.map { list in
                    list.indices.filter { list[$0].takes(scheme: scheme, host: host, port: text) }
                }
                guard taking?.isEmpty != true else { continue }
                let isKnown =
                    block?.hosts.contains { $0.value.matches(host: Array(host.utf8), port: port) } ?? false
                let kind = Kind(
                    block: index, scheme: scheme, isKnown: isKnown, host: isSegment ? host : "",
                    rules: isSegment ? [] : matches(host, port), filters: taking ?? [])
                if seen.insert(kind).inserted { origins.append(origin) }
            }
        }
        return (origins, false)
    }

    /// Returns a Boolean value that indicates whether a link counts: any link except a web link of a host that is not
    /// selected.
    func isSelected(_ link: LinkPieces) -> Bool {
        if selected.isEmpty || !["http", "https"].contains(link.scheme.lowercased()) { return true }
        return selected.contains(link.host.lowercased())
    }

    /// Returns the routes with links of the selected hosts, or with links of other schemes.
    func selectedRoutes() -> Set<Int> {
        let patterns = source.routes.indices.filter { !source.routes[$0].patterns.isEmpty }
        guard !selected.isEmpty else { return Set(patterns) }
        var routes = Set<Int>()
        for (index, block) in source.blocks.enumerated() {
            for scheme in block.schemes.map({ $0.value.lowercased() }) {
                let isWeb = scheme == "https" || scheme == "http"
                for host in isWeb ? selected : [] {
                    let origin = HandingOrigin(block: index, scheme: scheme, host: host)
                    routes.formUnion(TableLanguage(source, origin).entries.map(\.route))
                }
                if !isWeb {
                    routes.formUnion(
                        patterns.filter { route in
                            source.routes[route].patterns.contains { $0.scheme == nil || $0.scheme == scheme }
                        })
                }
            }
        }
        return routes
    }

    /// Returns first segments that the patterns of a scheme distinguish.
    private func segments(_ scheme: String) -> [(String, UInt16?)] {
        var found: [String] = []
        var seen = Set<String>()
        func add(_ text: String?) {
            if let text, !text.isEmpty, seen.insert(text).inserted { found.append(text) }
        }
        for pattern in source.routes.flatMap(\.patterns) where pattern.scheme == nil || pattern.scheme == scheme {
            switch pattern.path.matchers.first {
            case .enumeration(let values)?: values.forEach { add(String(decoding: $0, as: UTF8.self)) }
            case .anySegment(let text)?: add(String(decoding: text, as: UTF8.self))
            case .coordinatorPath?: source.coordinators.forEach { add($0.name.value) }
            case let matcher?:
                for attempt in 0..<3 {
                    add(SampleValue.segment(matcher, name: pattern.path.captures.first?.name ?? "", attempt: attempt))
                }
            case nil: break
            }
        }
        add("any")
        return found.map { ($0, nil) }
    }

    // MARK: Hosts

    private func matches(_ host: String, _ port: UInt16?) -> [Bool] {
        rules.map { $0.matches(host: Array(host.utf8), port: port) }
    }

    /// Returns a host that a filter matches.
    private static func sample(_ name: String) -> String {
        guard name.hasPrefix("*") else { return name.lowercased() }
        let rest = name.dropFirst().lowercased()
        return rest.isEmpty ? "any.invalid" : rest.hasPrefix(".") ? "any" + rest : "any." + rest
    }

    /// Returns a host of each kind that rules distinguish.
    private static func samples(_ rules: [HostRule]) -> [(String, UInt16?)] {
        var exact = Set<String>()
        for case .exact(let host, _) in rules { exact.insert(String(decoding: host, as: UTF8.self)) }
        var hosts: [(String, UInt16?)] = []
        for rule in rules {
            switch rule {
            case .exact(let host, let port): hosts.append((String(decoding: host, as: UTF8.self), port))
            case .empty: hosts.append(("", nil))
            case .any: hosts.append((free(exact) { "\($0).invalid" }, nil))
            case .suffix(let suffix):
                let end = String(decoding: suffix, as: UTF8.self)
                hosts.append((free(exact) { "\($0).\(end)" }, nil))
            }
        }
        return hosts
    }

    private static func free(_ taken: Set<String>, _ name: (String) -> String) -> String {
        for number in 0...taken.count {
            let host = name(number == 0 ? "any" : "any\(number)")
            if !taken.contains(host) { return host }
        }
        return name("any")
    }
}
