internal import ByteStorage

/// Builds the search structure: one trie for each pair of scheme and host rule, in which equal matchers share a node.
struct TrieBuilder {
    private struct Node {
        var literals: [[UInt8]: Int] = [:]
        var dynamic: [Matcher: Int] = [:]
        var ends: [Matcher: Int] = [:]
    }

    /// A pattern of the table at its leaf.
    private struct Candidate {
        var pattern: Int
        var precedence: Precedence
        var constraints: [CompiledConstraint]
    }

    private struct Origin: Hashable {
        var scheme: Int32
        var host: HostRule
    }

    private var nodes: [Node] = []
    private var leaves: [[Candidate]] = []
    private var roots: [Origin: Int] = [:]

    /// Adds a pattern.
    ///
    /// `scheme` is the number of the scheme, or -1 for any scheme.
    mutating func add(
        _ pattern: TableSource.RoutePattern, scheme: Int32, number: Int, precedence: Precedence,
        constraints: [CompiledConstraint]
    ) {
        var node = root(Origin(scheme: scheme, host: pattern.host ?? .any))
        for matcher in pattern.path.matchers {
            if matcher.isTerminal {
                let leaf = nodes[node].ends[matcher] ?? addLeaf(matcher, at: node)
                leaves[leaf].append(Candidate(pattern: number, precedence: precedence, constraints: constraints))
            } else {
                node = child(of: node, matcher)
            }
        }
    }

    private mutating func root(_ origin: Origin) -> Int {
        if let known = roots[origin] { return known }
        roots[origin] = nodes.count
        nodes.append(Node())
        return nodes.count - 1
    }

    private mutating func addLeaf(_ matcher: Matcher, at node: Int) -> Int {
        nodes[node].ends[matcher] = leaves.count
        leaves.append([])
        return leaves.count - 1
    }

    private mutating func child(of node: Int, _ matcher: Matcher) -> Int {
        if case .literal(let text) = matcher {
            if let known = nodes[node].literals[text] { return known }
            nodes[node].literals[text] = nodes.count
        } else {
            if let known = nodes[node].dynamic[matcher] { return known }
            nodes[node].dynamic[matcher] = nodes.count
        }
        nodes.append(Node())
        return nodes.count - 1
    }

    /// Compiles the trie and adds its literals and origins to `literals`.
    func store(in storage: TableStorage, literals: inout [LiteralTable.Entry]) -> CompiledTrie {
        let sorted = leaves.map { $0.sorted { Precedence.compare($0.precedence, $1.precedence) < 0 } }
        let order = breadthFirst()
        var number = [Int](repeating: 0, count: nodes.count)
        for (position, node) in order.enumerated() { number[node] = position }
        let lasts = lastSegments(in: order)
        let compiledNodes = order.map { node in
            var compiled = compile(nodes[node], sorted, number: number, storage: storage, literals: &literals)
            compiled.lastSegments = lasts[node]
            return compiled
        }
        let compiledLeaves = sorted.map { candidates in
            CompiledLeaf(
                candidates: storage.store(
                    candidates.map {
                        CompiledCandidate(pattern: Int32($0.pattern), constraints: storage.store($0.constraints))
                    }))
        }
        for (origin, node) in roots { literals.append(Self.entry(origin, child: UInt32(number[node]))) }
        let only = roots.count == 1 ? roots[Origin(scheme: -1, host: .any)] : nil
        let placeholder = CompiledNode(
            literalLengths: 0, edges: nil, edgeCount: 0, endLeaf: -1, restLeaf: -1, number: 1, endPattern: -1,
            hasSingleEdge: false, lastSegments: 0)
        let hasPorts = roots.keys.contains { if case .exact(_, .some) = $0.host { true } else { false } }
        return CompiledTrie(
            nodes: storage.store(compiledNodes.isEmpty ? [placeholder] : compiledNodes).baseAddress.unsafelyUnwrapped,
            leaves: storage.store(
                compiledLeaves.isEmpty
                    ? [CompiledLeaf(candidates: UnsafeBufferPointer(start: nil, count: 0))] : compiledLeaves
            )
            .baseAddress.unsafelyUnwrapped,
            root: roots.isEmpty ? 0 : only.map { Int32(number[$0]) } ?? -1, hasOrigins: !roots.isEmpty && only == nil,
            hasPorts: hasPorts)
    }

    /// Returns the nodes ordered by depth, so that nodes visited one after another are close together in memory.
    private func breadthFirst() -> [Int] {
        var order = roots.values.sorted()
        var at = 0
        while at < order.count {
            let node = nodes[order[at]]
            order += node.literals.sorted { compareBytes($0.key, $1.key) < 0 }.map(\.value)
            order += node.dynamic.sorted { Matcher.compare($0.key, $1.key) < 0 }.map(\.value)
            at += 1
        }
        return order
    }

    private func compile(
        _ node: Node, _ leaves: [[Candidate]], number: [Int], storage: TableStorage,
        literals: inout [LiteralTable.Entry]
    ) -> CompiledNode {
        // The numbers begin at 1, because 0 marks an empty slot of the literal table.
        let own = UInt32(literals.count + 1)
        var lengths: UInt64 = 0
        for (text, child) in node.literals {
            lengths |= 1 << UInt64(min(text.count, 63))
            literals.append(LiteralTable.Entry(node: own, text: text, child: UInt32(number[child])))
        }
        var edges: [(Matcher, UInt32)] = node.dynamic.map { ($0.key, UInt32(number[$0.value])) }
        for (matcher, leaf) in node.ends where matcher != .end && matcher != .restStar {
            edges.append((matcher, UInt32(leaf)))
        }
        edges.sort { Matcher.compare($0.0, $1.0) < 0 }
        let hasRest = node.ends[.restStar] != nil
        let first = node.ends[.end].flatMap { leaves[$0].first }
        let compiledEdges = edges.map { CompiledEdge(matcher: CompiledMatcher($0.0, storage: storage), child: $0.1) }
        return CompiledNode(
            literalLengths: lengths, edges: storage.store(compiledEdges).baseAddress,
            edgeCount: UInt32(compiledEdges.count),
            endLeaf: node.ends[.end].map { Int32($0) } ?? -1, restLeaf: node.ends[.restStar].map { Int32($0) } ?? -1,
            number: own, endPattern: first.map { $0.constraints.isEmpty ? Int32($0.pattern) : -1 } ?? -1,
            hasSingleEdge: edges.count == 1 && !hasRest && edges.allSatisfy { !$0.0.isTerminal },
            lastSegments: .max)
    }

    /// Returns, for each node, the bits of the last segments of the patterns below it.
    ///
    /// `order` lists children after their parents.
    private func lastSegments(in order: [Int]) -> [UInt64] {
        var lasts = [UInt64](repeating: 0, count: nodes.count)
        for number in order.reversed() {
            let node = nodes[number]
            for (text, child) in node.literals {
                lasts[number] |= lasts[child]
                if nodes[child].ends[.end] != nil {
                    let head = text.withUnsafeBufferPointer { ByteScan.head(of: ByteView($0)) }
                    lasts[number] |= CompiledNode.bit(ofLast: head)
                }
            }
            for child in node.dynamic.values { lasts[number] |= nodes[child].ends[.end] == nil ? lasts[child] : .max }
            if node.ends.keys.contains(where: { $0 != .end }) { lasts[number] = .max }
        }
        return lasts
    }

    private static func entry(_ origin: Origin, child: UInt32) -> LiteralTable.Entry {
        let kind: UInt32
        let text: [UInt8]
        switch origin.host {
        case .exact(let host, .some(let port)):
            kind = 0
            text = host + [UInt8](":\(port)".utf8)
        case .exact(let host, nil):
            kind = 1
            text = host
        case .empty:
            kind = 1
            text = []
        case .suffix(let suffix):
            kind = 2
            text = suffix
        case .any:
            kind = 3
            text = []
        }
        return LiteralTable.Entry(
            node: LiteralTable.origins(scheme: origin.scheme, kind: kind), text: text, child: child)
    }
}

extension CompiledMatcher {
    /// Compiles a matcher.
    init(_ matcher: Matcher, spellings: [[UInt8]] = [], storage: TableStorage) {
        switch matcher {
        case .literal(let text): self.init(kind: .literal, text: storage.view(text))
        case .enumeration(let values):
            // The lengths of the values as bits. They exclude most segments without a comparison.
            let lengths = values.reduce(UInt64(0)) { $0 | 1 &<< UInt64(Swift.min($1.count, 63)) }
            self.init(
                kind: .enumeration, low: lengths, values: storage.store(values.map(storage.view)),
                spellings: storage.store(spellings.map(storage.view)))
        case .affix(let prefix, let inner, let suffix):
            self.init(
                kind: .affix, text: storage.view(prefix), suffix: storage.view(suffix),
                inner: storage.store([CompiledMatcher(inner, spellings: spellings, storage: storage)]).baseAddress)
        case .int(let min, let max): self.init(kind: .int, min: min, max: max)
        case .bool: self.init(kind: .bool)
        case .date: self.init(kind: .date)
        case .uuid: self.init(kind: .uuid)
        case .characters(let set, let min, let max):
            let bits = set.bits
            self.init(kind: .characters, min: Int64(min), max: Int64(max), low: bits.low, high: bits.high)
        case .any: self.init(kind: .any)
        case .coordinatorPath: self.init(kind: .coordinatorPath)
        case .anySegment(let text): self.init(kind: .anySegment, text: storage.view(text))
        case .restPlus: self.init(kind: .restPlus)
        case .end: self.init(kind: .any)
        case .restStar: self.init(kind: .restStar)
        }
    }
}
