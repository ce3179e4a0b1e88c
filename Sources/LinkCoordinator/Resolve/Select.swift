internal import ByteStorage

// Phase 2: searches for the route and follows redirects, which restart the search.
// See RouteTableReference, "Redirects".
extension Resolver {
    /// Selects the route of the matching pattern with the highest precedence and follows redirects.
    @inline(__always)
    mutating func select(_ path: LinkPath) throws(Rejection) -> Selection {
        selection.path = path
        while true {
            try searchPattern()
            if try follow() { return selection }
        }
    }

    /// Selects the best matching pattern of the current path, and its route.
    @inline(__always)
    package mutating func searchPattern() throws(Rejection) {
        selection.route = nil
        selection.pattern = search()
        guard let pattern = selection.pattern else { throw Rejection(.noRoute) }
        selection.route = tableData.routes.at(Int(pattern.route))
    }

    /// Follows redirects by id.
    ///
    /// Returns `false` if a template requires another search.
    @inline(__always)
    package mutating func follow() throws(Rejection) -> Bool {
        guard let route = selection.route else { return true }
        let action = route.action
        return action == .redirectRoute || action == .redirectTemplate ? try followRedirects(from: route) : true
    }

    @inline(never)
    private mutating func followRedirects(from route: Ref<CompiledRoute>) throws(Rejection) -> Bool {
        var route = route
        while true {
            let action = route.action
            guard action == .redirectRoute || action == .redirectTemplate else { return true }
            let number = tableData.number(of: route)
            if via.count >= Self.maxRedirects || hasRedirected(number) {
                selection.route = nil
                throw Rejection(.redirectLimit, route.id)
            }
            via.append(Int32(number))
            if action == .redirectTemplate {
                try fillPath(route.template)
                return false
            }
            route = tableData.routes.at(Int(route.redirect))
            selection.route = route
        }
    }

    /// The maximum number of redirects of a link.
    static var maxRedirects: Int { 5 }

    private mutating func hasRedirected(_ route: Int) -> Bool {
        for index in 0..<via.count where Int(via[index]) == route { return true }
        return false
    }

    /// Returns the best matching pattern of the current path.
    ///
    /// Patterns with a scheme precede those without one.
    @inline(__always)
    package mutating func search() -> Ref<CompiledPattern>? {
        let number = searchNumber()
        return number < 0 ? nil : Ref(tableData.patterns + number)
    }

    /// Returns the number of the best matching pattern of the current path, or -1.
    private mutating func searchNumber() -> Int {
        let trie = tableData.ref(\.trie)
        lastBit = 0
        if trie.hasOrigins {
            if let scheme = link.schemeNumber, case let found = searchHosts(scheme: scheme), found >= 0 { return found }
            return searchHosts(scheme: -1)
        }
        return trie.root >= 0 ? descend(Int(trie.root), 0) : -1
    }

    /// Searches the host rules from the most specific one, followed by the patterns without a host.
    private mutating func searchHosts(scheme: Int32) -> Int {
        let literals = tableData.literals
        if let host = link.host {
            if let port = link.port, tableData.ref(\.trie).hasPorts {
                let root = rootWithPort(host, port, scheme: scheme)
                if root >= 0, case let found = descend(root, 0), found >= 0 { return found }
            }
            let exact = literals.find(node: LiteralTable.origins(scheme: scheme, kind: 1), text: host)
            if exact >= 0, case let found = descend(exact, 0), found >= 0 { return found }
            // A suffix rule requires at least one label before the suffix.
            var at = 2
            while at < host.count {
                if host[at &- 1] == UInt8(ascii: ".") {
                    let suffix = literals.find(
                        node: LiteralTable.origins(scheme: scheme, kind: 2), text: host.dropFirst(at))
                    if suffix >= 0, case let found = descend(suffix, 0), found >= 0 { return found }
                }
                at &+= 1
            }
        }
        let rest = literals.find(node: LiteralTable.origins(scheme: scheme, kind: 3), text: .empty)
        return rest >= 0 ? descend(rest, 0) : -1
    }

    private mutating func rootWithPort(_ host: ByteView, _ port: UInt16, scheme: Int32) -> Int {
        texts.begin()
        texts.arena.append(host)
        texts.arena.append(byte: UInt8(ascii: ":"))
        texts.arena.append(decimal: Int64(port))
        let key = texts.finish()
        return tableData.literals.find(node: LiteralTable.origins(scheme: scheme, kind: 0), text: key)
    }

    /// Searches from a node: the literal child first, and then the edges in the order of their rank.
    ///
    /// The search backtracks only if there is an alternative.
    ///
    /// The recursion is limited by the number of segments.
    private mutating func descend(_ start: Int, _ segment: Int) -> Int {
        let nodes = tableData.ref(\.trie).nodes
        var node = Ref(nodes + start)
        var at = UnsafePointer(segments.base + (selection.path.first &+ segment))
        let end = UnsafePointer(segments.base + segments.count)
        while at < end {
            let child = literalChild(node, Ref(at))
            let edges = node.edgeCount
            if child >= 0 {
                if edges == 0 && node.restLeaf < 0 {
                    node = Ref(nodes + child)
                    at += 1
                    continue
                }
                let next = index(of: at) &+ 1
                if mayEnd(child, from: next), case let found = descend(child, next), found >= 0 { return found }
            }
            if edges == 0 { return node.restLeaf >= 0 ? choose(node.restLeaf) : -1 }
            guard node.hasSingleEdge, let edge = node.edges else { return searchEdges(node, index(of: at)) }
            if !Ref(edge).ref(\.matcher).matches(Ref(at)) { return -1 }
            node = Ref(nodes + Int(edge.pointee.child))
            at += 1
        }
        if node.endPattern >= 0 { return Int(node.endPattern) }
        if node.endLeaf >= 0, case let found = choose(node.endLeaf), found >= 0 { return found }
        return node.restLeaf >= 0 ? choose(node.restLeaf) : -1
    }

    /// Returns a Boolean value that indicates whether a pattern below a node can end with the path's last segment.
    ///
    /// It is used only where the search could backtrack.
    private mutating func mayEnd(_ node: Int, from segment: Int) -> Bool {
        if selection.path.first &+ segment >= segments.count { return true }
        if lastBit == 0 { lastBit = CompiledNode.bit(ofLast: segments[segments.count &- 1].head) }
        return (tableData.ref(\.trie).nodes + node).pointee.lastSegments & lastBit != 0
    }

    /// Returns the index of a segment in the path, by its address.
    @inline(__always)
    private mutating func index(of segment: UnsafePointer<Segment>) -> Int {
        segment - UnsafePointer(segments.base + selection.path.first)
    }

    @inline(__always)
    private mutating func literalChild(_ node: Ref<CompiledNode>, _ segment: Ref<Segment>) -> Int {
        let key = segment.key
        if node.literalLengths &>> UInt64(truncatingIfNeeded: min(key.count, 63)) & 1 == 0 { return -1 }
        return tableData.literals.find(node: node.number, text: key, head: segment.head)
    }

    private mutating func searchEdges(_ node: Ref<CompiledNode>, _ index: Int) -> Int {
        guard let edges = node.edges else { return -1 }
        for number in 0..<Int(node.edgeCount) {
            let edge = Ref(edges + number)
            let found: Int
            switch edge.ref(\.matcher).kind {
            case .coordinatorPath: found = isCoordinator(index) ? choose(Int32(edge.child)) : -1
            case .anySegment: found = hasSegment(edge.ref(\.matcher).text) ? choose(Int32(edge.child)) : -1
            case .restPlus: found = choose(Int32(edge.child))
            default:
                found =
                    edge.ref(\.matcher).matches(Ref(segments.base + (selection.path.first &+ index)))
                        && mayEnd(Int(edge.child), from: index &+ 1) ? descend(Int(edge.child), index &+ 1) : -1
            }
            if found >= 0 { return found }
        }
        return node.restLeaf >= 0 ? choose(node.restLeaf) : -1
    }

    /// Returns the first pattern of a leaf whose query constraints hold, or -1.
    private mutating func choose(_ leaf: Int32) -> Int {
        for candidate in tableData.ref(\.trie).leaves[Int(leaf)].candidates {
            if candidate.constraints.isEmpty || allHold(candidate.constraints) { return Int(candidate.pattern) }
        }
        return -1
    }

    private mutating func isCoordinator(_ index: Int) -> Bool {
        tableData.literals.find(node: LiteralTable.coordinators, text: path[index].text) >= 0
    }

    private mutating func hasSegment(_ text: ByteView) -> Bool {
        for segment in path where segment.key == text { return true }
        return false
    }

    /// Replaces the path with a redirect's template: captures as text, and tails as whole segments.
    ///
    /// See RouteTableReference, "Redirects".
    private mutating func fillPath(_ template: UnsafeBufferPointer<CompiledTemplatePart>) throws(Rejection) {
        let old = segments.count
        let path = selection.path
        // The position of an empty segment that resets the path moves with its tail. Before a tail, it would remove no
        // screens.
        var resetAt = path.resetAt.map { _ in 0 }
        texts.built.begin()
        for part in template {
            switch part.kind {
            case .bytes: texts.built.append(part.bytes)
            case .segmentEnd:
                try addFilled(texts.built.finish(), after: old)
                texts.built.begin()
            case .capture, .query:
                if let first = tail(part.name) {
                    for index in (path.first + first)..<max(old, path.first + first) {
                        if index == path.resetAt { resetAt = segments.count }
                        try addFilled(segments[index].text, after: old)
                    }
                    if path.resetAt == old { resetAt = segments.count }
                } else {
                    texts.built.append(capture(part.name) ?? rewritten(part.name) ?? .empty)
                }
            }
        }
        selection.path = LinkPath(first: old, resetAt: resetAt)
        if segments.count - old > tableData.maxSegments { throw Rejection(.budget, "segments") }
    }

    /// Adds a segment of the new path.
    ///
    /// An empty segment is dropped.
    private mutating func addFilled(_ text: ByteView, after old: Int) throws(Rejection) {
        if text.isEmpty { return }
        if isDots(text) { throw Rejection(.dotSegment, "segment ", number: segments.count - old) }
        let normal = texts.normalForm(text)
        segments.append(Segment(text: normal, key: tableData.foldsCase ? texts.folded(normal) : normal))
    }
}
