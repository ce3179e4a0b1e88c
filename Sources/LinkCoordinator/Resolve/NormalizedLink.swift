package import ByteStorage

/// The result of phase 1: the parts of a request that the other phases read.
///
/// Its texts are valid as long as the request. The segments of its path are those of the resolver.
package struct NormalizedLink: BitwiseCopyable {
    /// The link block that reads the link.
    package var block: Ref<CompiledLinkBlock>
    /// The scheme of the link.
    package var scheme: ByteView = .empty
    /// The number of the scheme in the table if a pattern mentions it.
    package var schemeNumber: Int32?
    /// The normalized host, or nil if the link has none that patterns can match.
    package var host: ByteView?
    /// The port, if it is not that of the scheme.
    package var port: UInt16?
    /// The path after rewrites.
    package var path = LinkPath()
    /// A Boolean value that indicates whether the path continues that of the device.
    var isRelative = false
    /// The undecoded query.
    var query: ByteView?
    /// The undecoded fragment.
    package var fragment: ByteView?

    init(block: Ref<CompiledLinkBlock>) { self.block = block }

    /// Removes the parts of the last link.
    @inline(__always)
    mutating func reset(block: Ref<CompiledLinkBlock>) {
        self.block = block
        scheme = .empty
        schemeNumber = nil
        host = nil
        port = nil
        path = LinkPath()
        isRelative = false
        query = nil
        fragment = nil
    }
}

/// A path as positions in the resolver's list of segments, of which it is the end.
package struct LinkPath: BitwiseCopyable {
    /// The position of the first segment, in four bytes to be passed in a register.
    private var packedFirst: Int32
    /// The position in `resetAt`, or -1.
    private var packedReset: Int32

    /// Creates a path.
    init(first: Int = 0, resetAt: Int? = nil) {
        packedFirst = Int32(truncatingIfNeeded: first)
        packedReset = Int32(truncatingIfNeeded: resetAt ?? -1)
    }

    /// The position of the first segment.
    ///
    /// The segments before it belong to rewrites, or to the path before a redirect.
    package var first: Int {
        @inline(__always)
        get { Int(packedFirst) }
        @inline(__always)
        set { packedFirst = Int32(truncatingIfNeeded: newValue) }
    }

    /// The position of the segment after the last empty one if empty segments reset a coordinator path.
    var resetAt: Int? {
        @inline(__always)
        get { packedReset < 0 ? nil : Int(packedReset) }
        @inline(__always)
        set { packedReset = Int32(truncatingIfNeeded: newValue ?? -1) }
    }
}

/// The value that a rewrite captured.
struct RewriteValue {
    var name: Int32
    var value: ByteView
}
