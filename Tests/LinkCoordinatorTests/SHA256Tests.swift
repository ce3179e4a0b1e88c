import ByteStorage
import LinkCoordinator
import Testing

@Suite("SHA-256") struct SHA256Tests {
    /// Digests that Python's `hashlib` computed, by the number of `a` in the message.
    private static let digests: [(count: Int, hex: String)] = [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
        (3, "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"),
        (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
        (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
        (128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"),
        (1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ]

    @Test("The digests of messages around the ends of blocks are those of another implementation", arguments: digests)
    func digest(count: Int, hex: String) {
        #expect(SHA256.hex([UInt8](repeating: UInt8(ascii: "a"), count: count)) == hex)
    }

    @Test("A message in parts has the digest of the whole, also after another message")
    func parts() {
        var computation = SHA256()
        let message = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        for part in [1, 7, 63, 64, 65, 300] {
            for start in stride(from: 0, to: message.count, by: part) {
                Array(message[start..<min(start + part, message.count)]).withUnsafeBufferPointer {
                    computation.add(ByteView($0))
                }
            }
            let digest = computation.finish()
            var text = ""
            for index in 0..<8 {
                let word = String(digest[index], radix: 16)
                text += String(repeating: "0", count: 8 - word.count) + word
            }
            #expect(text == SHA256.hex(message))
        }
    }
}
