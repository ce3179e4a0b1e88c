/// Sixteen bytes of a text at once, and which of them are meant.
///
/// Constants have their type spelled out: where it is inferred, Swift 6.3 chooses operators that go byte by byte. For
/// the same reason masks are joined as words, 0xFF for each byte that is meant.
public enum WideBytes {
    /// Reads sixteen bytes from `start` on.
    @inlinable
    @inline(__always)
    public static func load(_ start: UnsafePointer<UInt8>) -> SIMD16<Int8> {
        UnsafeRawPointer(start).loadUnaligned(as: SIMD16<Int8>.self)
    }

    /// A byte sixteen times.
    @inlinable
    @inline(__always)
    public static func all(_ byte: UInt8) -> SIMD16<Int8> { SIMD16<Int8>(repeating: Int8(bitPattern: byte)) }

    /// Which bytes are the same in both.
    @inlinable
    @inline(__always)
    public static func equal(_ byte: SIMD16<Int8>, in bytes: SIMD16<Int8>) -> SIMD2<UInt64> { words(bytes .== byte) }

    /// Which bytes are over 0x7F.
    @inlinable
    @inline(__always)
    public static func highs(in bytes: SIMD16<Int8>) -> SIMD2<UInt64> { words(bytes .< SIMD16<Int8>(repeating: 0)) }

    /// Which bytes may not stand for themselves in a plain JSON string: all but those of 0x20 to 0x7E, `"` and `\`.
    @inlinable
    @inline(__always)
    public static func stops(in bytes: SIMD16<Int8>) -> SIMD2<UInt64> {
        // As signed numbers bytes over 0x7F are negative, and one more than 0x7F is the least of them.
        let controls = (bytes &+ SIMD16<Int8>(repeating: 1)) .< SIMD16<Int8>(repeating: 0x21)
        return equal(all(0x22), in: bytes) | equal(all(0x5C), in: bytes) | words(controls)
    }

    @inlinable
    @inline(__always)
    static func words(_ mask: SIMDMask<SIMD16<Int8>>) -> SIMD2<UInt64> {
        unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    }

    /// Whether a mask means no byte.
    @inlinable
    @inline(__always)
    public static func isNone(_ mask: SIMD2<UInt64>) -> Bool { mask[0] | mask[1] == 0 }

    /// Which byte is the first that a mask means; it must mean one.
    @inlinable
    @inline(__always)
    public static func first(_ mask: SIMD2<UInt64>) -> Int {
        // Without a branch, since lengths vary: 64 of the first word's bits are zero where it means no byte.
        let low = mask[0].trailingZeroBitCount
        let high = mask[1].trailingZeroBitCount
        return (low &+ (high & (0 &- low &>> 6))) &>> 3
    }

    /// Which byte is the last that a mask means; it must mean one.
    @inlinable
    @inline(__always)
    public static func last(_ mask: SIMD2<UInt64>) -> Int {
        let high = mask[1].leadingZeroBitCount
        let low = mask[0].leadingZeroBitCount
        return 15 &- (high &+ (low & (0 &- high &>> 6))) &>> 3
    }
}
