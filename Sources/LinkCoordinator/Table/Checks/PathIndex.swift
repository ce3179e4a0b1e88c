internal import ByteStorage

/// An index that finds the patterns that may match a path without testing all of them: a trie of literals.
///
/// Scheme, host, and query are ignored.
struct PathIndex {
    /// The position of a pattern in the table.
    struct PatternPosition: Hashable {
        /// The index of the route.
        var route: Int
        /// The index of the pattern in the route.
        var pattern: Int
    }

    private struct Node {
        var literals: [[UInt8]: Int] = [:]
        var others: [Matcher: Int] = [:]
        /// The patterns that end here, and those whose tail begins here.
        var ended: [PatternPosition] = []
        var tailed: [PatternPosition] = []
    }

    private var nodes = [Node()]
    private let source: TableSource

    /// Creates an index of all patterns of a table.
    init(_ source: TableSource) {
        self.source = source
        for (route, one) in source.routes.enumerated() {
            for (index, pattern) in one.patterns.enumerated() {
                add(pattern.path, PatternPosition(route: route, pattern: index))
            }
        }
    }

    private mutating func add(_ pattern: Pattern, _ position: PatternPosition) {
        var at = 0
        for matcher in pattern.matchers.dropLast() { at = child(of: at, matcher) }
        if pattern.matchers.last == .end { nodes[at].ended.append(position) } else { nodes[at].tailed.append(position) }
    }

    private mutating func child(of node: Int, _ matcher: Matcher) -> Int {
        if case .literal(let text) = matcher {
            if let known = nodes[node].literals[text] { return known }
            nodes[node].literals[text] = nodes.count
        } else {
            if let known = nodes[node].others[matcher] { return known }
            nodes[node].others[matcher] = nodes.count
        }
        nodes.append(Node())
        return nodes.count - 1
    }

    /// Returns the patterns that match a path, in the order of the table.
    func patterns(matching segments: [[UInt8]], isCoordinator: ([UInt8]) -> Bool) -> [PatternPosition] {
        var found: [PatternPosition] = []
        let folded = source.foldsPathCase ? segments.map { $0.map(lowerASCII) } : segments
        collect(0, 0, segments, folded, &found)
        return found.filter { position in
            source.routes[position.route].patterns[position.pattern].path.matches(
                segments, foldsCase: source.foldsPathCase, isCoordinator: isCoordinator)
        }.sorted { ($0.route, $0.pattern) < ($1.route, $1.pattern) }
    }

    private func collect(
        _ at: Int, _ depth: Int, _ segments: [[UInt8]], _ folded: [[UInt8]], _ found: inout [PatternPosition]
    ) {
        found += nodes[at].tailed
        guard depth < segments.count else {
            found += nodes[at].ended
            return
        }
        if let child = nodes[at].literals[folded[depth]] { collect(child, depth + 1, segments, folded, &found) }
        for (matcher, child) in nodes[at].others {
            let isMatch = segments[depth].withUnsafeBufferPointer {
                matcher.matches(ByteView($0), foldsCase: source.foldsPathCase)
            }
            if isMatch { collect(child, depth + 1, segments, folded, &found) }
        }
    }
}
