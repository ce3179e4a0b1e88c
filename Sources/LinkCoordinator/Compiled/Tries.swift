internal import ByteStorage
internal import StrictJSON

/// A compiled matcher, which tests a segment at a dynamic edge of the trie.
struct CompiledMatcher {
    enum Kind: UInt8 {
        case literal, enumeration, affix, int, bool, date, uuid, characters, any
        case coordinatorPath, anySegment, restPlus, restStar
    }

    var kind: Kind
    /// The bounds of an integer, or of the length of a character class.
    var min: Int64 = 0
    var max: Int64 = 0
    /// The characters of a class, as bits.
    ///
    /// For an enumeration, `low` has the lengths of its values, with bit 63 for longer ones.
    var low: UInt64 = 0
    var high: UInt64 = 0
    /// The literal, the segment of `anySegment`, or the prefix of an affix.
    var text: ByteView = .empty
    /// The suffix of an affix.
    var suffix: ByteView = .empty
    /// The sorted values of an enumeration.
    var values = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The spelling of each value of an enumeration in the table, in the same order.
    var spellings = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The matcher between the prefix and suffix of an affix.
    var inner: UnsafePointer<CompiledMatcher>?
}

/// A dynamic edge of the trie.
///
/// Edges are tried in the order of their matchers.
struct CompiledEdge {
    var matcher: CompiledMatcher
    /// The child node, or the leaf if the matcher ends a pattern.
    var child: UInt32
}

/// A node of the trie.
struct CompiledNode {
    /// The lengths of the literal children: bit n indicates a child of n bytes, and bit 63 one of 63 or more bytes.
    ///
    /// This test ends most lookups of absent literals without hashing.
    var literalLengths: UInt64
    var edges: UnsafePointer<CompiledEdge>?
    var edgeCount: UInt32
    /// The leaf of the patterns that end here, or -1.
    var endLeaf: Int32
    /// The leaf of a `{rest*}` here, or -1.
    var restLeaf: Int32
    /// The number of the node in the literal table.
    var number: UInt32
    /// The pattern of a path that ends here, if it has no query constraints.
    ///
    /// Otherwise -1.
    var endPattern: Int32
    /// A Boolean value that indicates whether the node has exactly one edge, which matches one segment, and no rest.
    ///
    /// If no literal matches, that edge is the only alternative.
    var hasSingleEdge: Bool
    /// The bits of the literals that end patterns below this node.
    ///
    /// All bits are set if a pattern ends with any other matcher.
    ///
    /// If the bit of a path's last segment is not set, no pattern below matches. The search skips the node, so it does
    /// not try every pattern of a large table.
    var lastSegments: UInt64

    /// Returns the bit of a last segment, from its first eight bytes.
    @inline(__always)
    static func bit(ofLast head: UInt64) -> UInt64 { 1 &<< ((head &* 0x9E37_79B9_7F4A_7C15) &>> 58) }
}

/// The patterns that end at the same node, in the order of their precedence.
struct CompiledLeaf {
    var candidates: UnsafeBufferPointer<CompiledCandidate>
}

/// A pattern at a leaf and its query constraints.
struct CompiledCandidate {
    var pattern: Int32
    var constraints: UnsafeBufferPointer<CompiledConstraint>
}

/// The search structure of a table.
struct CompiledTrie {
    var nodes: UnsafePointer<CompiledNode>
    var leaves: UnsafePointer<CompiledLeaf>
    /// The root if there are only patterns without scheme and host, or -1.
    var root: Int32
    /// A Boolean value that indicates whether a pattern specifies a scheme or a host.
    var hasOrigins: Bool
    /// A Boolean value that indicates whether a pattern specifies a host with a port.
    var hasPorts: Bool
}

/// A named part of a matched path.
struct CompiledCapture {
    /// The number of the name in the table.
    var name: Int32
    var segment: Int32
    var prefix: Int32
    var suffix: Int32
    var isTail: Bool
    var matcher: CompiledMatcher
}

/// A compiled pattern, as the phases after the search use it.
package struct CompiledPattern: BitwiseCopyable {
    /// The index of the pattern's route.
    package var route: Int32
    var captures: UnsafeBufferPointer<CompiledCapture>
    /// The matchers of the segments, for building a path from parameters.
    var segments: UnsafeBufferPointer<CompiledMatcher>
    /// The kind of the terminal matcher.
    ///
    /// `any` represents a plain end.
    var tail: CompiledMatcher.Kind
    /// A Boolean value that indicates whether the next pattern is the same without the last, optional segment.
    var endsInOptional: Bool
}

/// A compiled query constraint.
package struct CompiledConstraint: BitwiseCopyable {
    enum Test: UInt8 { case equals, present, absent }
    var name: CompiledQueryName
    var test: Test
    var value: ByteView
}

/// A query name of the table in normalization form C (NFC).
///
/// It is folded if all blocks ignore the case of names.
package struct CompiledQueryName: BitwiseCopyable {
    var text: ByteView
    /// The first eight bytes, folded, as one word.
    var key: UInt64
}

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

/// The JSON pointers (RFC 6901) of tables as a trie.
///
/// One pass over a payload finds the values of all pointers.
struct PointerTrie {
    /// A value of a payload that a pointer refers to or passes through.
    struct Node {
        /// The number of the pointer that ends here, or -1.
        var number: Int32
        /// A Boolean value that indicates whether pointers continue to members of an object.
        var hasMembers: Bool
        /// A filter of the names of these members: bits of their hashes.
        var names: UInt64
        /// The array elements to which pointers continue, in ascending order of their index.
        var elements: UnsafeBufferPointer<Element>
    }

    /// An element of an array.
    struct Element {
        var index: Int
        var node: Int32
    }

    /// The nodes.
    ///
    /// The first is the root.
    var nodes: UnsafeBufferPointer<Node>
    /// The members to which pointers continue.
    ///
    /// The node in the table is the node number plus 1.
    var names: LiteralTable
    /// The number of pointers.
    var count: Int
}

/// Numbers pointers and builds their trie.
///
/// Equal pointers have the same number.
struct PointerTrieBuilder {
    private struct Node {
        var pointer: Int32 = -1
        var children: [[UInt8]: Int] = [:]
        /// The tokens in the order in which they were added.
        var order: [[UInt8]] = []
    }

    private var nodes = [Node()]
    private var count = 0

    /// Returns the number of a pointer, starting at 0.
    mutating func number(of path: JSONPath) -> Int32 {
        var node = 0
        for token in path.tokens {
            let bytes = [UInt8](token.utf8)
            if let next = nodes[node].children[bytes] {
                node = next
                continue
            }
            nodes.append(Node())
            nodes[node].children[bytes] = nodes.count - 1
            nodes[node].order.append(bytes)
            node = nodes.count - 1
        }
        if nodes[node].pointer < 0 {
            nodes[node].pointer = Int32(count)
            count += 1
        }
        return nodes[node].pointer
    }

    private static func hash(_ name: [UInt8]) -> UInt32 { name.withUnsafeBufferPointer { ByteView($0).nameHash } }

    /// Compiles the trie.
    func store(in storage: TableStorage) -> Ref<PointerTrie> {
        var entries: [LiteralTable.Entry] = []
        let compiledNodes = nodes.enumerated().map { number, node in
            for token in node.order {
                let child = UInt32(node.children[token] ?? 0)
                entries.append(LiteralTable.Entry(node: UInt32(number + 1), text: token, child: child))
            }
            let elements = node.order.compactMap { token -> PointerTrie.Element? in
                let index = token.withUnsafeBufferPointer { TextForms.integer(ByteView($0)) }
                guard let index, index >= 0 else { return nil }
                return PointerTrie.Element(index: Int(index), node: Int32(node.children[token] ?? 0))
            }
            return PointerTrie.Node(
                number: node.pointer, hasMembers: !node.order.isEmpty,
                names: node.order.reduce(0) { $0 | 1 << UInt64(Self.hash($1) & 63) },
                elements: storage.store(elements.sorted { $0.index < $1.index }))
        }
        let names = LiteralTable(entries, storage: storage)
        return storage.store([PointerTrie(nodes: storage.store(compiledNodes), names: names, count: count)]).at(0)
    }
}
