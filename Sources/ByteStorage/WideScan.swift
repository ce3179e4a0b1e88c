/// Searches of sixteen bytes at a time over padded text: up to `behind` bytes behind its end are read.
public enum WideScan {
    /// Bytes that must be readable behind the end.
    public static let behind = 16

    /// The first place from `start` on of a byte that `stops` means, or `end`.
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

    /// The first eight bytes of a padded run of `count` bytes as a word, zeros behind its end.
    @inlinable
    @inline(__always)
    public static func head(_ start: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        // A shift by 64 and more leaves nothing: no branch, since lengths vary.
        UnsafeRawPointer(start).loadUnaligned(as: UInt64.self) & ~(UInt64.max << UInt64(truncatingIfNeeded: count &* 8))
    }
}
