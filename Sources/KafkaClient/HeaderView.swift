package import ByteStorage

/// A header as views of borrowed bytes.
///
/// The owning form is `RecordHeader`.
package struct HeaderView: Sendable {
    /// The name.
    package var name: ByteView
    /// The value, or nil for null, which is different from an empty value.
    package var value: ByteView?

    /// Creates a header.
    package init(name: ByteView, value: ByteView?) {
        self.name = name
        self.value = value
    }

    /// A copy that owns its bytes.
    package var copied: RecordHeader { RecordHeader(name: name.array, value: value?.array) }
}
