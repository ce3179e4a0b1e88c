/// Searches that compare sixteen bytes at a time in padded text; they read up to `padding` bytes past its end.
public enum WideScan {
    /// The number of bytes that must be readable after the end.
    public static let padding = 16

    /// Returns the address of the first byte that `stops` selects, starting at `start`, or `end` if there is none.
    @inlinable
    @inline(__always)
    public static func first(
        from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>, _ stops: (SIMD16<Int8>) -> SIMD2<UInt64>
    ) -> UnsafePointer<UInt8> {
        var at = start
        while at < end {
            let found = stops(WideBytes.load(at))
            if !WideBytes.isNone(found) { return min(end, at + WideBytes.first(found)) }
            at += 16
        }
        return end
    }

    /// Returns the first eight bytes of a padded range of `count` bytes as a word, with zeros after its end.
    @inlinable
    @inline(__always)
    public static func head(_ start: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        // No branch, because lengths vary: a shift by 64 or more results in zero.
        UnsafeRawPointer(start).loadUnaligned(as: UInt64.self) & ~(UInt64.max << UInt64(truncatingIfNeeded: count &* 8))
    }
}
