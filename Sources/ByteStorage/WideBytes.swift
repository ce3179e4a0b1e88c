/// Operations on sixteen bytes at once, with masks that select some of them.
///
/// Constants have explicit types: with inferred types, Swift 6.3 chooses operators that work byte by byte. For the same
/// reason masks are combined as words, with 0xFF for each selected byte.
public enum WideBytes {
    /// Loads sixteen bytes at `start`.
    @inlinable
    @inline(__always)
    public static func load(_ start: UnsafePointer<UInt8>) -> SIMD16<Int8> {
        UnsafeRawPointer(start).loadUnaligned(as: SIMD16<Int8>.self)
    }

    /// Returns sixteen copies of a byte.
    @inlinable
    @inline(__always)
    public static func all(_ byte: UInt8) -> SIMD16<Int8> { SIMD16<Int8>(repeating: Int8(bitPattern: byte)) }

    /// Returns a mask of the bytes that are equal in both.
    @inlinable
    @inline(__always)
    public static func equal(_ byte: SIMD16<Int8>, in bytes: SIMD16<Int8>) -> SIMD2<UInt64> { words(bytes .== byte) }

    /// Returns a mask of the bytes over 0x7F.
    @inlinable
    @inline(__always)
    public static func highs(in bytes: SIMD16<Int8>) -> SIMD2<UInt64> { words(bytes .< SIMD16<Int8>(repeating: 0)) }

    /// Returns a mask of the bytes that are not plain in a JSON string: `"`, `\`, and those outside 0x20 to 0x7E.
    @inlinable
    @inline(__always)
    public static func stops(in bytes: SIMD16<Int8>) -> SIMD2<UInt64> {
        // As signed numbers bytes over 0x7F are negative, and 0x7F plus one overflows to the smallest number.
        let controls = (bytes &+ SIMD16<Int8>(repeating: 1)) .< SIMD16<Int8>(repeating: 0x21)
        return equal(all(0x22), in: bytes) | equal(all(0x5C), in: bytes) | words(controls)
    }

    @inlinable
    @inline(__always)
    static func words(_ mask: SIMDMask<SIMD16<Int8>>) -> SIMD2<UInt64> {
        unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    }

    /// Returns a Boolean value that indicates whether a mask selects no byte.
    @inlinable
    @inline(__always)
    public static func isNone(_ mask: SIMD2<UInt64>) -> Bool { mask[0] | mask[1] == 0 }

    /// Returns the index of the first selected byte of a mask that is not empty.
    @inlinable
    @inline(__always)
    public static func first(_ mask: SIMD2<UInt64>) -> Int {
        // No branch, because lengths vary: a first word that selects no byte has 64 trailing zeros.
        let low = mask[0].trailingZeroBitCount
        let high = mask[1].trailingZeroBitCount
        return (low &+ (high & (0 &- low &>> 6))) &>> 3
    }
}
