internal import ByteStorage

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
