package import ByteStorage

/// A header as views of bytes that somebody else owns; the cheap form of `RecordHeader`.
package struct HeaderView: Sendable {
    /// The name.
    package var name: ByteView
    /// The value; nil is null, which is not an empty one.
    package var value: ByteView?

    /// Makes a header.
    package init(name: ByteView, value: ByteView?) {
        self.name = name
        self.value = value
    }

    /// A copy that owns its bytes.
    package var copied: RecordHeader { RecordHeader(name: name.array, value: value?.array) }
}
