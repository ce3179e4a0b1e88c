/// Values of query and path that the fields of routes tell apart: for each type some it takes, at its bounds, and some
/// that it does not.
struct ValueProbes {
    private let sources: [TableSource]
    private let routes: [(table: Int, route: TableSource.Route)]

    /// Probes for the fields of routes; those that a route redirects to by id are looked at too.
    init(sources: [TableSource], routes: [(table: Int, route: TableSource.Route)]) {
        self.sources = sources
        var all = routes
        for (table, start) in routes {
            var route = start
            for _ in 0..<5 {
                guard case .redirect(.route(let id)) = route.action,
                    let next = sources[table].routes.first(where: { $0.id.value == id.value })
                else { break }
                all.append((table, next))
                route = next
            }
        }
        self.routes = all
    }

    /// Queries to try: all names with a value that fits, then each name in turn with every other.
    func queries(beside fixed: [QueryConstraints.Item]) -> [[QueryConstraints.Item]] {
        var samples: [(name: String, values: [String])] = []
        func add(_ name: String, _ values: [String]) {
            if fixed.contains(where: { $0.name == name }) { return }
            if let place = samples.firstIndex(where: { $0.name == name }) {
                samples[place].values += values.filter { !samples[place].values.contains($0) }
            } else {
                samples.append((name, values))
            }
        }
        for (table, route) in routes {
            for binding in route.bindings {
                if case .query(let name) = binding.source.value {
                    add(name, Self.samples(type(of: binding, sources[table])))
                }
            }
            for constraint in route.variants.compactMap(\.when).flatMap(\.query) + route.query {
                if case .equals(let text) = constraint.test { add(constraint.name.value, [text, text + "x"]) }
                add(constraint.name.value, ["1"])
            }
        }
        let full: [QueryConstraints.Item] = samples.map { ($0.name, $0.values.first) }
        var queries = [fixed, fixed + full]
        for (place, sample) in samples.enumerated() {
            var without = full
            without.remove(at: place)
            queries.append(fixed + without)
            queries.append(fixed + without + [(sample.name, nil)])
            for value in sample.values.dropFirst() {
                var changed = full
                changed[place].value = value
                queries.append(fixed + changed)
            }
        }
        return queries
    }

    /// Patterns that put a value into the place of a capture.
    func paths(of pattern: ProofPattern, _ space: inout PatternSpace) -> [ProofPattern] {
        let own = space.source(of: pattern).path
        var probes: [ProofPattern] = []
        for (table, route) in routes {
            for binding in route.bindings {
                guard case .path(let name) = binding.source.value, let capture = own.capture(named: name) else {
                    continue
                }
                for value in Self.samples(type(of: binding, sources[table])) where !value.isEmpty {
                    var text = Array(value.utf8)
                    if case .segment = capture.extent,
                        case .affix(let prefix, _, let suffix) = own.matchers[capture.segment]
                    {
                        text = prefix + text + suffix
                    }
                    let folded = space.source.foldsPathCase ? text.map(lowerASCII) : text
                    let literal = space.segments.number(of: .literal(folded), folds: space.source.foldsPathCase)
                    probes.append(
                        ProofPattern(
                            route: -1, index: 0, rule: 0,
                            segments: Array(repeating: space.segments.any, count: capture.segment) + [literal],
                            tail: .star, constraints: []))
                }
            }
        }
        return probes
    }

    private func type(of binding: TableSource.Binding, _ source: TableSource) -> FieldType? {
        source.models.first { $0.name.value == binding.model.value }?.field(named: binding.field.value)?.type
    }

    /// Texts that a type takes first, then some that it does not.
    private static func samples(_ type: FieldType?) -> [String] {
        switch type {
        case .int(let min, let max):
            let inside = [Swift.max(min, Swift.min(max, 7)), min, max].map { String($0) }
            let outside = [min > .min ? min - 1 : nil, max < .max ? max + 1 : nil].compactMap { $0.map { String($0) } }
            return inside + outside + ["x", ""]
        case .string(let min, let max):
            let lengths = [Swift.max(min, Swift.min(max, 3)), min, max, min - 1, max + 1].filter {
                $0 >= 0 && $0 <= 300
            }
            return lengths.map { String(repeating: "a", count: $0) }
        case .bool: return ["true", "0", "x", ""]
        case .uuid: return ["B121D5E7-EA65-49F8-8B33-B3C43FA93866", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "x", ""]
        case .date: return ["2025-01-31", "2025-02-30", ""]
        case .double: return ["1.50", "-0", "x", ""]
        case .enumeration(let values):
            return values.prefix(16).map { String(decoding: $0, as: UTF8.self) } + ["zz", ""]
        case .url(let hosts):
            let named = hosts.compactMap { rule -> String? in
                switch rule {
                case .exact(let host, _): String(decoding: host, as: UTF8.self)
                case .suffix(let suffix): "x." + String(decoding: suffix, as: UTF8.self)
                default: nil
                }
            }
            return named.map { "https://\($0)/" } + ["https://any.invalid/", "x", ""]
        case .list(let element, _, _): return samples(element)
        case nil: return ["x"]
        }
    }
}
