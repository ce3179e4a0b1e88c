internal import ByteStorage

/// What decides a segment at a dynamic edge of the trie, in plain values.
struct MatcherImage {
    enum Kind: UInt8 {
        case literal, enumeration, affix, int, bool, date, uuid, characters, any
        case coordinatorPath, anySegment, restPlus, restStar
    }

    var kind: Kind
    /// Bounds of an int, or lengths of a class.
    var min: Int64 = 0
    var max: Int64 = 0
    /// Characters of a class, as bits; of an enum, `low` has the lengths of its values (63 for all longer ones).
    var low: UInt64 = 0
    var high: UInt64 = 0
    /// Literal, the segment of `anySegment`, or the prefix of an affix.
    var text: ByteView = .empty
    /// The suffix of an affix.
    var suffix: ByteView = .empty
    /// Values of an enum, sorted.
    var values = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// How the table spells each value of an enum, in the same order.
    var spellings = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// What an affix holds between its texts.
    var inner: UnsafePointer<MatcherImage>?
}

/// A dynamic edge: tried in the order of step 3.
struct EdgeImage {
    var matcher: MatcherImage
    /// The node behind it, or for what ends a pattern the leaf.
    var child: UInt32
}

/// A node of the trie; each stands at one depth.
struct NodeImage {
    /// Bit n stands for a literal child of n bytes, bit 63 for longer ones.
    ///
    /// Most questions are answered here, without hashing.
    var literalLengths: UInt64
    var edges: UnsafePointer<EdgeImage>?
    var edgeCount: UInt32
    /// The leaf where a pattern ends here, or -1.
    var endLeaf: Int32
    /// The leaf of a `{rest*}` here, or -1.
    var restLeaf: Int32
    /// The number under which its literals stand in the literal table.
    var number: UInt32
    /// The pattern that a path takes that ends here, where nothing is asked of the query; else -1.
    var endPattern: Int32
    /// Whether there is one edge only, for one segment, and no rest: then there is no other way than it.
    var isLine: Bool
    /// The bits of the literals that patterns behind this node end with; all bits where one ends with anything else.
    ///
    /// A path whose last segment's bit is not among them is taken by none of these patterns: a search passes the node
    /// over, so that one link does not try every pattern of a large table.
    var lastSegments: UInt64

    /// The bit of a last segment, from its first eight bytes.
    @inline(__always)
    static func bit(ofLast head: UInt64) -> UInt64 { 1 &<< ((head &* 0x9E37_79B9_7F4A_7C15) &>> 58) }
}

/// The patterns that end at one place, in the order of steps 4 to 6.
struct LeafImage {
    var candidates: UnsafeBufferPointer<CandidateImage>
}

/// A pattern at a leaf, and what the query must hold for it.
struct CandidateImage {
    var pattern: Int32
    var constraints: UnsafeBufferPointer<ConstraintImage>
}

/// The search structure of a table (2.4).
struct TrieImage {
    var nodes: UnsafePointer<NodeImage>
    var leaves: UnsafePointer<LeafImage>
    /// Root of the patterns without scheme and host, or -1.
    var root: Int32
    /// Whether any pattern names a scheme or a host.
    var hasOrigins: Bool
    /// Whether any pattern names a host with a port.
    var hasPorts: Bool
}

/// A named part of a matched path.
struct CaptureImage {
    /// Number of the name in the table.
    var name: Int32
    var segment: Int32
    var prefix: Int32
    var suffix: Int32
    var isTail: Bool
    var matcher: MatcherImage
}

/// A pattern as the phases after select need it.
package struct PatternImage: BitwiseCopyable {
    /// The index of the pattern's route.
    package var route: Int32
    var captures: UnsafeBufferPointer<CaptureImage>
    /// Its matchers, for building a path from parameters.
    var segments: UnsafeBufferPointer<MatcherImage>
    /// The terminal matcher's kind: `any` stands for a plain end.
    var tail: MatcherImage.Kind
    /// Whether the next pattern is this one without its last segment, a trailing optional.
    var endsInOptional: Bool
}

/// A constraint on the query.
package struct ConstraintImage: BitwiseCopyable {
    enum Test: UInt8 { case equals, present, absent }
    var name: QueryNameImage
    var test: Test
    var value: ByteView
}

/// A query name of the table: NFC, folded where names are insensitive in every block.
package struct QueryNameImage: BitwiseCopyable {
    var text: ByteView
    /// The first eight bytes, folded, as one word.
    var key: UInt64
}
