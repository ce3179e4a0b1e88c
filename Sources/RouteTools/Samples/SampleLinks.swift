internal import LinkCoordinator
internal import StrictJSON

/// Sample links, generated from the patterns of a table.
///
/// Each link selects the route that it was generated for. The links are examples in documents, and test inputs for
/// exported patterns.
enum SampleLinks {
    /// Returns a link to the route, with the query parameters that it requires, or nil if none was found.
    static func first(of route: TableSource.Route, in table: RouteTable) -> String? {
        for pattern in route.patterns {
            for link in candidates(pattern, of: route, in: table.source) where selects(link, route, table) {
                return link
            }
        }
        return nil
    }

    /// Returns one link for each pattern of the route, except for patterns without one.
    static func all(of route: TableSource.Route, in table: RouteTable) -> [String] {
        var links: [String] = []
        for pattern in route.patterns {
            let found = candidates(pattern, of: route, in: table.source).first { selects($0, route, table) }
            if let found, !links.contains(found) { links.append(found) }
        }
        return links
    }

    /// Returns the target of a redirecting route, determined by resolving one of its links.
    ///
    /// If that does not succeed, links with the query parameters of other routes are tried.
    static func redirectTarget(of route: TableSource.Route, in table: RouteTable) -> String? {
        guard let link = first(of: route, in: table), let block = table.source.blocks.first else { return nil }
        if let target = table.resolve(link).route, target != route.id.value { return target }
        for other in table.source.routes where !other.query.isEmpty {
            let query = query(of: other, in: table.source, block: block)
            if table.resolve(link + "?" + query).route == other.id.value { return other.id.value }
        }
        return nil
    }

    private static func selects(_ link: String, _ route: TableSource.Route, _ table: RouteTable) -> Bool {
        let decision = table.resolve(link)
        return decision.via.first == route.id.value || (decision.via.isEmpty && decision.route == route.id.value)
    }

    /// Returns links that match the pattern, the simplest first.
    ///
    /// A more specific pattern can match some of them.
    private static func candidates(
        _ pattern: TableSource.RoutePattern, of route: TableSource.Route, in source: TableSource
    ) -> [String] {
        guard let origin = LinkOrigin(source, scheme: pattern.scheme, host: pattern.host) else { return [] }
        let query = query(of: route, in: source, block: origin.block)
        return (0..<SampleValue.attempts).compactMap { attempt in
            self.segments(of: pattern.path, attempt, source).map { segments in
                origin.link(segments: segments) + (query.isEmpty ? "" : "?" + query)
            }
        }
    }

    private static func segments(of pattern: Pattern, _ attempt: Int, _ source: TableSource) -> [String]? {
        var segments: [String] = []
        for (index, matcher) in pattern.matchers.enumerated() {
            let capture = pattern.captures.first { $0.segment == index }
            switch matcher {
            case .end: break
            case .restStar, .restPlus: segments += ["part", "of", "it"].prefix(attempt % 3 + 1)
            case .anySegment(let text): segments.append(String(decoding: text, as: UTF8.self))
            case .coordinatorPath:
                guard let coordinator = source.coordinators[safe: attempt % max(1, source.coordinators.count)]
                else { return nil }
                segments.append(coordinator.name.value)
                let screen = coordinator.screens.first { $0.needs.isEmpty } ?? coordinator.screens.first
                if let screen { segments.append(screen.name.value) }
            default:
                guard let text = SampleValue.segment(matcher, name: capture?.name ?? "", attempt: attempt) else {
                    return nil
                }
                segments.append(text)
            }
        }
        return segments
    }

    /// Returns the constraints of the route and its required values, in the query syntax of the block.
    private static func query(
        of route: TableSource.Route, in source: TableSource, block: TableSource.LinkBlock
    ) -> String {
        let separator = String(decoding: block.query.pairSeparators.prefix(1), as: UTF8.self)
        var pairs: [String] = []
        var named: Set<String> = []
        func add(_ name: String, _ value: String?) {
            guard named.insert(name).inserted else { return }
            let text = block.query.decode == .none ? name : PercentText.encode(name)
            let shown = value.map { block.query.decode == .none ? $0 : PercentText.encode($0) }
            pairs.append(text + (shown.map { "=" + $0 } ?? ""))
        }
        for constraint in route.query {
            switch constraint.test {
            case .equals(let value): add(constraint.name.value, value)
            case .present: add(constraint.name.value, "1")
            case .absent: named.insert(constraint.name.value)
            }
        }
        for binding in route.bindings {
            guard case .query(let name) = binding.source.value,
                let field = source.models.first(where: { $0.name == binding.model })?
                    .field(named: binding.field.value),
                field.absence == .required
            else { continue }
            add(name, SampleValue.field(field.type, name: name))
        }
        return pairs.joined(separator: separator)
    }
}

extension Array {
    /// Returns the element at an index, or nil if there is none.
    package subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
