public import ByteStorage

extension ByteView {
    /// The hash of a name.
    ///
    /// It only excludes unequal names and selects an entry of a table, so crafted names with equal hashes are compared.
    @inlinable
    @inline(__always)
    public var nameHash: UInt32 {
        let bytes = UnsafeRawPointer(start)
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: count)
        var tail: UInt64 = 0
        if count >= 8 {
            var index = 0
            while index &+ 8 < count {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0xBF58_476D_1CE4_E5B9
                hash ^= hash &>> 29
                index &+= 8
            }
            tail = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        } else if count >= 4 {
            let last = bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            tail = UInt64(bytes.loadUnaligned(as: UInt32.self)) | UInt64(last) &<< 32
        } else if count > 0 {
            tail = UInt64(self[0]) | UInt64(self[count &>> 1]) &<< 8 | UInt64(self[count &- 1]) &<< 16
        }
        hash = (hash ^ tail) &* 0x94D0_49BB_1331_11EB
        hash ^= hash &>> 32
        return UInt32(truncatingIfNeeded: hash ^ (hash &>> 17))
    }
}
