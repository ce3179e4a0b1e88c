public import ByteStorage

/// A validated string in its original form, without its quotes.
public struct JSONString {
    /// The bytes between the quotes, with their escapes.
    public var raw: ByteView
    /// A Boolean value that indicates whether the bytes contain a backslash.
    public var hasEscape: Bool
    /// A Boolean value that indicates whether the bytes contain one over 0x7F.
    public var hasNonASCII: Bool

    /// Creates a string from its validated bytes.
    @inlinable
    public init(raw: ByteView, hasEscape: Bool, hasNonASCII: Bool) {
        self.raw = raw
        self.hasEscape = hasEscape
        self.hasNonASCII = hasNonASCII
    }
}
