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

/// The result of phase 2: the route for a request, and the pattern and path whose captures its bindings read.
package struct Selection: BitwiseCopyable {
    /// The route, or nil for a coordinator path and for a payload without a link.
    package var route: Ref<CompiledRoute>?
    /// The pattern that matches the path, or nil for a route without patterns that was requested by its id.
    package var pattern: Ref<CompiledPattern>?
    /// The path of the link, or the path to which the last redirect leads.
    package var path = LinkPath()
}

extension Ref<CompiledTableData> {
    /// Returns the index of a route in the table.
    package func number(of route: Ref<CompiledRoute>) -> Int {
        route.pointer - self.routes.baseAddress.unsafelyUnwrapped
    }

    /// Returns the number of a pattern in the table.
    package func number(of pattern: Ref<CompiledPattern>) -> Int { pattern.pointer - self.patterns }
}

extension Ref<CompiledMatcher> {
    /// Returns a Boolean value that indicates whether this matcher matches a segment.
    @inline(__always)
    func matches(_ segment: Ref<Segment>) -> Bool {
        switch self.kind {
        case .literal: segment.key == self.text
        case .any: true
        case .enumeration: self.low &>> UInt64(min(segment.key.count, 63)) & 1 != 0 && isValue(segment.key)
        default: matchesTyped(text: segment.text, key: segment.key)
        }
    }

    private func isValue(_ key: ByteView) -> Bool {
        for value in self.values where value == key { return true }
        return false
    }

    @inline(never)
    func matchesTyped(text segment: ByteView, key: ByteView) -> Bool {
        switch self.kind {
        case .literal: return key == self.text
        case .any: return !segment.isEmpty
        case .enumeration: return isValue(key)
        case .affix:
            guard key.count > self.text.count &+ self.suffix.count, key.hasPrefix(self.text),
                key.hasSuffix(self.suffix),
                let inner = self.inner
            else { return false }
            return Ref(inner).matchesTyped(
                text: segment.slice(self.text.count, segment.count &- self.suffix.count),
                key: key.slice(self.text.count, key.count &- self.suffix.count))
        case .int:
            guard let value = TextForms.integer(segment) else { return false }
            return value >= self.min && value <= self.max
        case .bool: return TextForms.boolean(segment) != nil
        case .date: return TextForms.isDate(segment)
        case .uuid: return TextForms.isUUID(segment)
        case .characters: return matchesCharacters(segment)
        case .coordinatorPath, .anySegment, .restPlus, .restStar: return false
        }
    }

    private func matchesCharacters(_ segment: ByteView) -> Bool {
        if segment.count < Int(self.min) || segment.count > Int(self.max) { return false }
        for index in 0..<segment.count {
            let byte = segment.start[index]
            let half = byte < 64 ? self.low : self.high
            if byte >= 128 || half &>> UInt64(byte & 63) & 1 == 0 { return false }
        }
        return true
    }
}

// Reads the captures of the selected pattern.
extension Resolver {
    /// Returns the canonical text that `matcher` captures from a segment that it matches.
    ///
    /// See RouteTableReference, "Canonical forms".
    mutating func captured(_ matcher: Ref<CompiledMatcher>, in segment: Segment) -> ByteView {
        guard matcher.kind == .affix, let inner = matcher.inner else {
            return canonicalCapture(matcher, segment.text, key: segment.key)
        }
        let prefix = matcher.text.count
        let suffix = matcher.suffix.count
        return canonicalCapture(
            Ref(inner), segment.text.slice(prefix, segment.text.count &- suffix),
            key: segment.key.slice(prefix, segment.key.count &- suffix))
    }

    /// Returns the canonical form of a captured text: uppercase for a UUID, `true` or `false` for a Boolean value, and
    /// the table's spelling for an enumeration.
    mutating func canonicalCapture(_ matcher: Ref<CompiledMatcher>, _ text: ByteView, key: ByteView) -> ByteView {
        switch matcher.kind {
        case .uuid: return texts.uppercased(text)
        case .bool: return TextForms.boolean(text) == true ? ByteView("true") : ByteView("false")
        case .enumeration:
            for index in 0..<matcher.values.count where matcher.values[index] == key {
                return index < matcher.spellings.count ? matcher.spellings[index] : text
            }
            return text
        default: return text
        }
    }

    /// Returns the canonical text of a capture of the selected pattern, by the number of its name, or nil.
    ///
    /// Tails are not included.
    mutating func capture(_ name: Int32) -> ByteView? {
        guard let capture = find(capture: name) else { return nil }
        let segment = path[Int(capture.segment)]
        let from = Int(capture.prefix)
        let suffix = Int(capture.suffix)
        return canonicalCapture(
            capture.ref(\.matcher), segment.text.slice(from, segment.text.count &- suffix),
            key: segment.key.slice(from, segment.key.count &- suffix))
    }

    /// Returns the original bytes of a capture whose values need no conversion, or nil if there is no such capture.
    @inline(__always)
    mutating func captureSlice(_ name: Int32) -> ByteView? {
        guard let capture = find(capture: name) else { return nil }
        let text = path[Int(capture.segment)].text
        return text.slice(Int(capture.prefix), text.count &- Int(capture.suffix))
    }

    /// Returns the capture of the selected pattern by the number of its name, or nil.
    ///
    /// Tails are not included.
    @inline(__always)
    private mutating func find(capture name: Int32) -> Ref<CompiledCapture>? {
        guard let pattern = selection.pattern, var capture = pattern.captures.baseAddress else { return nil }
        let end = capture + pattern.captures.count
        while capture < end {
            if capture.pointee.name == name && !capture.pointee.isTail { return Ref(capture) }
            capture += 1
        }
        return nil
    }

    /// Returns the index of the first segment of a tail that the selected pattern captures, or nil.
    mutating func tail(_ name: Int32) -> Int? {
        guard let pattern = selection.pattern else { return nil }
        for capture in pattern.captures where capture.name == name && capture.isTail {
            return Int(capture.segment)
        }
        return nil
    }

    /// Returns the value that a rewrite captured under this name, or nil.
    mutating func rewritten(_ name: Int32) -> ByteView? {
        for index in 0..<rewrites.count where rewrites[index].name == name { return rewrites[index].value }
        return nil
    }
}
