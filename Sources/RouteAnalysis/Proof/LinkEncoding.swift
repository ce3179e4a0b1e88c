internal import LinkCoordinator
internal import ByteStorage

/// Percent-encoding of the texts in generated links.
package enum LinkEncoding {
    /// Returns a text with every byte percent-encoded.
    package static func escape(_ text: [UInt8]) -> String {
        text.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    /// Returns a text with all but unreserved characters percent-encoded (RFC 3986, 2.3).
    package static func encode(_ text: [UInt8]) -> String {
        var arena = OutputArena(chunkBytes: 256)
        arena.begin()
        text.withUnsafeBufferPointer { PercentDecoding.encode(ByteView($0), into: &arena) }
        return arena.finish().string
    }
}
