internal import ByteStorage

/// A valid version in a table.
package struct VersionText: Sendable, Hashable {
    /// The ASCII bytes of the version as written.
    package let bytes: [UInt8]

    /// Creates a version from its text, or returns nil if the text is not a version.
    package init?(_ text: String) {
        bytes = [UInt8](text.utf8)
        let reads = bytes.withUnsafeBufferPointer { Version(ByteView($0)) != nil }
        guard reads else { return nil }
    }

    /// The version as written.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
