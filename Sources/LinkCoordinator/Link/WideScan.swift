internal import StrictJSON

/// Searches of sixteen bytes at a time over padded text: up to `behind` bytes behind its end are read.
///
/// Constants have their type spelled out: where it is inferred, Swift 6.3 chooses operators that go byte by byte. For
/// the same reason masks are joined as words.
enum WideScan {
    /// Bytes that must be readable behind the end.
    static let behind = 16

    @inline(__always)
    static func load(_ start: UnsafePointer<UInt8>) -> SIMD16<Int8> {
        UnsafeRawPointer(start).loadUnaligned(as: SIMD16<Int8>.self)
    }

    /// A mask as two words: 0xFF for each byte that is meant.
    @inline(__always)
    static func words(_ mask: SIMDMask<SIMD16<Int8>>) -> SIMD2<UInt64> {
        unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    }

    /// Which bytes are `byte`.
    @inline(__always)
    static func bytes(_ byte: SIMD16<Int8>, in bytes: SIMD16<Int8>) -> SIMD2<UInt64> { words(bytes .== byte) }

    /// Which bytes are over 0x7F.
    @inline(__always)
    static func highs(in bytes: SIMD16<Int8>) -> SIMD2<UInt64> { words(bytes .< SIMD16<Int8>(repeating: 0)) }

    /// A byte sixteen times.
    @inline(__always)
    static func all(_ byte: UInt8) -> SIMD16<Int8> { SIMD16<Int8>(repeating: Int8(bitPattern: byte)) }

    /// The first place from `start` on of a byte that `stops` means, or `end`.
    @inline(__always)
    static func first(
        from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>, _ stops: (SIMD16<Int8>) -> SIMD2<UInt64>
    ) -> UnsafePointer<UInt8> {
        var at = start
        while at < end {
            let found = stops(load(at))
            if found[0] != 0 { return min(end, at + found[0].trailingZeroBitCount &>> 3) }
            if found[1] != 0 { return min(end, at + (8 &+ found[1].trailingZeroBitCount &>> 3)) }
            at += 16
        }
        return end
    }

    /// The first eight bytes of a padded run of `count` bytes as a word, zeros behind its end.
    @inline(__always)
    static func head(_ start: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        let word = UnsafeRawPointer(start).loadUnaligned(as: UInt64.self)
        if count >= 8 { return word }
        return word & ~(UInt64.max &<< UInt64(truncatingIfNeeded: count &* 8))
    }
}
