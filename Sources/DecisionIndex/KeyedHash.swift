package import ByteStorage

/// A hash with a secret key, which is the same for equal bytes as long as the process runs.
///
/// Without the key, nobody can choose bytes with a certain hash or find the bytes of a hash.
package struct KeyedHash: Sendable {
    private let salt: (UInt64, UInt64)

    /// Creates a hash with a random key.
    package init() { salt = (.random(in: .min ... .max), .random(in: .min ... .max)) }

    /// Returns the hash of bytes.
    package func callAsFunction(_ bytes: ByteView) -> UInt64 {
        // The hasher of the standard library is SipHash-1-3 with a random key of the process.
        var hasher = Hasher()
        hasher.combine(salt.0)
        hasher.combine(salt.1)
        hasher.combine(bytes: UnsafeRawBufferPointer(bytes.buffer))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns the hash of a text's UTF-8 bytes.
    package func callAsFunction(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { self(ByteView($0)) }
    }
}
