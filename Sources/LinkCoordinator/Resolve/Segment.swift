package import ByteStorage

/// A decoded segment of the path.
package struct Segment: BitwiseCopyable {
    /// The text, decoded once, in NFC.
    package var text: ByteView
    /// The text to compare with literals, affixes, and enumerations.
    ///
    /// It is folded if the table folds case.
    var key: ByteView
    /// The first eight bytes of `key` as a word, padded with zeros.
    var head: UInt64

    init(text: ByteView, key: ByteView) {
        self.text = text
        self.key = key
        head = ByteScan.head(of: key)
    }

    /// Creates a segment whose text is its key, with the first word of the text.
    @inline(__always)
    init(plain text: ByteView, head: UInt64) {
        self.text = text
        key = text
        self.head = head
    }
}
