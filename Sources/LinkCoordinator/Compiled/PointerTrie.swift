internal import ByteStorage
internal import StrictJSON

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
