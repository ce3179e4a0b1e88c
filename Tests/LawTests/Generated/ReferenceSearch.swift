import LinkCoordinator

/// Selects a route by definition: the first matching pattern in the order of precedence has it.
struct ReferenceSearch {
    let source: TableSource
    private let coordinators: Set<[UInt8]>
    private let patterns: [(route: TableSource.Route, pattern: TableSource.RoutePattern, key: Precedence)]

    init(_ source: TableSource) {
        self.source = source
        coordinators = Set(source.coordinators.map { Array($0.name.value.utf8) })
        // The order does not depend on the link, so the patterns are sorted once for all links.
        patterns = source.routes.flatMap { route in
            route.patterns.map { (route, $0, route.precedence(of: $0)) }
        }.sorted { Precedence.compare($0.key, $1.key) < 0 }
    }

    /// The parts of a normalized link that the selection uses.
    struct NormalizedParts {
        var block: TableSource.LinkBlock
        var scheme: String
        /// The host and port, or nil if the block reads the authority as a segment.
        var host: (name: [UInt8], port: UInt16?)?
        var segments: [[UInt8]]
        var query: ReferenceQuery
    }

    /// Returns the link's parts under the block that reads it, or nil for a scheme that no block lists.
    func normalized(_ link: GeneratedLink) -> NormalizedParts? {
        let lower = link.scheme.lowercased()
        let listed = source.blocks.first { block in
            block.schemes.contains { $0.value == (block.schemeCase == .exact ? link.scheme : lower) }
        }
        guard let block = listed ?? source.blocks.first(where: \.acceptsOtherSchemes) else { return nil }
        var segments = link.segments
        var host: (name: [UInt8], port: UInt16?)?
        if block.hostRole == .authority {
            host = Self.host(link.authority ?? "")
        } else if let first = link.authoritySegment {
            segments.insert(first, at: 0)
        } else if let authority = link.authority, !authority.isEmpty {
            segments.insert(Self.host(authority, keepsCase: true).name, at: 0)
        }
        for rule in block.rewrites
        where rule.pattern.matches(segments, foldsCase: source.foldsPathCase, isCoordinator: { _ in false }) {
            segments.removeFirst(rule.segmentCount)
        }
        return NormalizedParts(
            block: block, scheme: block.schemeCase == .exact ? link.scheme : lower, host: host, segments: segments,
            query: ReferenceQuery(link.query, block.query))
    }

    private static func host(_ authority: String, keepsCase: Bool = false) -> (name: [UInt8], port: UInt16?) {
        let parts = authority.drop { _ in false }.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let halves = parts.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var name = Array((halves.first ?? "").utf8)
        if !keepsCase {
            name = Array(String(decoding: name, as: UTF8.self).lowercased().utf8)
            if name.last == UInt8(ascii: ".") { name.removeLast() }
        }
        return (name, halves.count > 1 ? UInt16(halves[1]) : nil)
    }

    /// Returns the route of the first matching pattern, and that pattern, or nil.
    func select(_ link: NormalizedParts) -> (route: TableSource.Route, pattern: TableSource.RoutePattern)? {
        patterns.first { matches($0.route, $0.pattern, link) }.map { ($0.route, $0.pattern) }
    }

    /// Returns the number of matching patterns.
    func candidates(_ link: NormalizedParts) -> Int { patterns.count { matches($0.route, $0.pattern, link) } }

    private func matches(
        _ route: TableSource.Route, _ pattern: TableSource.RoutePattern, _ link: NormalizedParts
    ) -> Bool {
        if let scheme = pattern.scheme, scheme != link.scheme { return false }
        if let rule = pattern.host {
            guard let host = link.host, rule.matches(host: host.name, port: host.port) else { return false }
        }
        return pattern.path.matches(
            link.segments, foldsCase: source.foldsPathCase, isCoordinator: { coordinators.contains($0) })
            && route.query.allSatisfy { link.query.holds($0) }
    }
}
