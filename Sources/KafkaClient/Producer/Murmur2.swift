package import ByteStorage

/// The default partitioner of the Java client for records with a key, named `murmur2_random` in librdkafka.
///
/// All clients that use it put the records of a key in the same partition.
package enum Murmur2 {
    /// Returns the hash of Kafka's `Utils.murmur2` (MurmurHash2, 32 bit, seed 0x9747b28c).
    @inlinable
    package static func hash(_ key: ByteView) -> UInt32 {
        let multiplier: UInt32 = 0x5bd1_e995
        var hash: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: key.count)
        let base = UnsafeRawPointer(key.start)
        var index = 0
        while index &+ 4 <= key.count {
            var word = UInt32(littleEndian: (base + index).loadUnaligned(as: UInt32.self))
            word = word &* multiplier
            word ^= word &>> 24
            word = word &* multiplier
            hash = (hash &* multiplier) ^ word
            index &+= 4
        }
        if index < key.count {
            var rest: UInt32 = 0
            var shift: UInt32 = 0
            while index < key.count {
                rest |= UInt32(key.start[index]) &<< shift
                shift &+= 8
                index &+= 1
            }
            hash = (hash ^ rest) &* multiplier
        }
        hash ^= hash &>> 13
        hash = hash &* multiplier
        return hash ^ (hash &>> 15)
    }

    /// Returns the partition of a key among `count` partitions, which must be at least 1.
    @inlinable
    package static func partition(of key: ByteView, among count: Int32) -> Int32 {
        assert(count > 0)
        return Int32(truncatingIfNeeded: (hash(key) & 0x7fff_ffff) % UInt32(truncatingIfNeeded: count))
    }
}
