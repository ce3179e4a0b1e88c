/// Strings without surprises: the bytes that nearly all strings of a record are made of, read eight at a time.
extension JSONCursor {
    /// Reads the string at the cursor if all its bytes are of 0x20 to 0x7E and none is a backslash.
    ///
    /// Such a string needs no unescaping, no check of its UTF-8 and, in a link, none of forbidden bytes. For all else
    /// the cursor stays where it is and nil comes back: the general reader then judges what stands there.
    @inlinable
    @inline(__always)
    public mutating func plainString() -> ByteView? {
        var at = position
        guard end - at > 8, at.pointee == UInt8(ascii: "\"") else { return nil }
        at += 1
        let start = at
        while end - at >= 16 {
            let stops = Self.plainStops(UnsafeRawPointer(at).loadUnaligned(as: SIMD2<UInt64>.self))
            if stops[0] | stops[1] == 0 {
                at += 16
                continue
            }
            at +=
                stops[0] != 0
                ? stops[0].trailingZeroBitCount &>> 3 : 8 &+ stops[1].trailingZeroBitCount &>> 3
            if at.pointee != UInt8(ascii: "\"") { return nil }
            position = at + 1
            return ByteView(start: start, count: at - start)
        }
        return plainStringNearEnd(start, at)
    }

    /// As `plainString` for a string whose last bytes are among the last fifteen of the text.
    ///
    /// At least eight bytes stand before the end, so that the last eight are read at once.
    @inline(never)
    @usableFromInline
    mutating func plainStringNearEnd(
        _ start: UnsafePointer<UInt8>, _ from: UnsafePointer<UInt8>
    ) -> ByteView? {
        var at = from
        if end - at >= 8 {
            let stop = Self.plainStops(UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
            if stop == 0 {
                at += 8
            } else {
                return endString(start, at + stop.trailingZeroBitCount &>> 3)
            }
        }
        let left = end - at
        if left == 0 { return nil }
        let last = UnsafeRawPointer(end - 8).loadUnaligned(as: UInt64.self)
        // Zeros are shifted in, which stop a string as control bytes do.
        let stop = Self.plainStops(last &>> UInt64(64 &- 8 &* left))
        let index = stop.trailingZeroBitCount &>> 3
        return index < left ? endString(start, at + index) : nil
    }

    /// Ends a plain string at the byte that stopped it, if that is its closing quote.
    private mutating func endString(
        _ start: UnsafePointer<UInt8>, _ stop: UnsafePointer<UInt8>
    ) -> ByteView? {
        if stop.pointee != UInt8(ascii: "\"") { return nil }
        position = stop + 1
        return ByteView(start: start, count: stop - start)
    }

    /// The bytes of `word` that are no plain ones, as high bits; the lowest set bit is exact.
    ///
    /// Flipping bit 1 moves the quote to 0x20 and leaves the control bytes under it, so that one subtraction finds
    /// both; only a byte that stops borrows from, or carries into, the byte above it.
    @inlinable
    @inline(__always)
    static func plainStops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotesAndControls = (word ^ (2 &* ones)) &- (0x21 &* ones)
        let slashes = (word ^ (0x5C &* ones)) &- ones
        return (quotesAndControls | slashes | (word &+ ones) | word) & 0x8080_8080_8080_8080
    }

    /// As `plainStops` of a word, for sixteen bytes in two.
    @inlinable
    @inline(__always)
    static func plainStops(_ words: SIMD2<UInt64>) -> SIMD2<UInt64> {
        let ones = SIMD2<UInt64>(repeating: 0x0101_0101_0101_0101)
        let two = SIMD2<UInt64>(repeating: 0x0202_0202_0202_0202)
        let slash = SIMD2<UInt64>(repeating: 0x5C5C_5C5C_5C5C_5C5C)
        let bound = SIMD2<UInt64>(repeating: 0x2121_2121_2121_2121)
        let highs = SIMD2<UInt64>(repeating: 0x8080_8080_8080_8080)
        let quotesAndControls = (words ^ two) &- bound
        let slashes = (words ^ slash) &- ones
        return (quotesAndControls | slashes | (words &+ ones) | words) & highs
    }
}
