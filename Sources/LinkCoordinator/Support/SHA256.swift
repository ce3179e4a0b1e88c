package import ByteStorage

/// Computes SHA-256 (FIPS 180-4) for the identity of a table's file and for the bucket of a device.
///
/// It is not intended for secrets. A value computes one digest after another in the same memory.
package struct SHA256: ~Copyable {
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    private static let start: SIMD8<UInt32> = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private static let blockBytes = 64

    private var state = SHA256.start
    private let block: UnsafeMutablePointer<UInt8>
    /// The 64 words that a block is expanded to.
    private let words: UnsafeMutablePointer<UInt32>
    /// The number of bytes of the message so far.
    private var count = 0

    /// Creates the digest of an empty message.
    package init() {
        block = .allocate(capacity: Self.blockBytes)
        words = .allocate(capacity: Self.constants.count)
    }

    deinit {
        block.deallocate()
        words.deallocate()
    }

    /// Adds bytes to the message.
    package mutating func add(_ bytes: ByteView) {
        var offset = 0
        while offset < bytes.count {
            let filled = count % Self.blockBytes
            let part = min(Self.blockBytes - filled, bytes.count - offset)
            (block + filled).update(from: bytes.start + offset, count: part)
            offset += part
            count += part
            if count % Self.blockBytes == 0 { absorb() }
        }
    }

    /// Returns the eight words of the digest, and begins an empty message.
    package mutating func finish() -> SIMD8<UInt32> {
        let bits = UInt64(count) &* 8
        add(byte: 0x80)
        while count % Self.blockBytes != 56 { add(byte: 0) }
        for shift in stride(from: 56, through: 0, by: -8) { add(byte: UInt8(truncatingIfNeeded: bits >> shift)) }
        defer {
            state = Self.start
            count = 0
        }
        return state
    }

    private mutating func add(byte: UInt8) {
        block[count % Self.blockBytes] = byte
        count += 1
        if count % Self.blockBytes == 0 { absorb() }
    }

    /// Returns the digest of `message` in lowercase hexadecimal digits.
    package static func hex(_ message: [UInt8]) -> String {
        var computation = SHA256()
        message.withUnsafeBufferPointer { computation.add(ByteView($0)) }
        let state = computation.finish()
        return state.indices.map { state[$0].hexadecimal(digits: 8) }.joined()
    }

    private mutating func absorb() {
        for index in 0..<16 {
            words[index] = UnsafeRawPointer(block).loadUnaligned(fromByteOffset: index * 4, as: UInt32.self).bigEndian
        }
        for index in 16..<64 {
            let (old, recent) = (words[index - 15], words[index - 2])
            let small0 = Self.rotate(old, 7) ^ Self.rotate(old, 18) ^ old >> 3
            let small1 = Self.rotate(recent, 17) ^ Self.rotate(recent, 19) ^ recent >> 10
            words[index] = words[index - 16] &+ small0 &+ words[index - 7] &+ small1
        }
        var v = state
        Self.constants.withUnsafeBufferPointer { constants in
            for index in 0..<64 {
                let large1 = Self.rotate(v[4], 6) ^ Self.rotate(v[4], 11) ^ Self.rotate(v[4], 25)
                let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
                let first = v[7] &+ large1 &+ choice &+ constants[index] &+ words[index]
                let large0 = Self.rotate(v[0], 2) ^ Self.rotate(v[0], 13) ^ Self.rotate(v[0], 22)
                let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
                v = [first &+ large0 &+ majority, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
            }
        }
        state &+= v
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
}
