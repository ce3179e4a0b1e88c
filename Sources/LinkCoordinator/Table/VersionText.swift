internal import ByteStorage

/// A version that a table names, known to read.
package struct VersionText: Sendable, Hashable {
    /// The version as written, ASCII.
    package let bytes: [UInt8]

    /// Takes a text that reads as a version, or gives nil.
    package init?(_ text: String) {
        bytes = [UInt8](text.utf8)
        let reads = bytes.withUnsafeBufferPointer { Version(ByteView($0)) != nil }
        guard reads else { return nil }
    }

    /// The version as written.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
