public import CWideBytes

/// Searches that compare eight bytes at a time, which is fast without vector instructions.
public enum ByteScan {
    /// A word in which the lowest bit of each byte is set.
    @inlinable
    @inline(__always)
    public static var ones: UInt64 { 0x0101_0101_0101_0101 }

    /// A word in which the highest bit of each byte is set.
    @inlinable
    @inline(__always)
    public static var highs: UInt64 { 0x8080_8080_8080_8080 }

    /// Loads eight bytes of a view, starting at `index`, which must all lie inside the view.
    @inlinable
    public static func load(_ view: ByteView, _ index: Int) -> UInt64 {
        UnsafeRawPointer(view.start + index).loadUnaligned(as: UInt64.self)
    }

    /// Returns a word in which a byte has its high bit set if the same byte of `word` is zero.
    ///
    /// Only the lowest set bit is exact: a carry can set bits above it.
    @inlinable
    public static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

    /// Returns the index of the first byte that is `a` or `b`, starting at `from`, or `view.count` if there is none.
    @inlinable
    public static func first(_ a: UInt8, or b: UInt8, in view: ByteView, from: Int) -> Int {
        var index = from
        let wordA = UInt64(a) &* ones
        let wordB = UInt64(b) &* ones
        while index &+ 8 <= view.count {
            let word = load(view, index)
            let found = zeros(word ^ wordA) | zeros(word ^ wordB)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        if index >= view.count { return view.count }
        let word = tail(of: view, from: index)
        let found = zeros(word ^ wordA) | zeros(word ^ wordB)
        return min(view.count, index &+ found.trailingZeroBitCount &>> 3)
    }

    /// Returns the bytes of `view` from `index` to its end, 1 to 7 of them, as a word padded with zeros.
    @inlinable
    public static func tail(of view: ByteView, from index: Int) -> UInt64 {
        let left = view.count &- index
        // Load the last eight bytes at once and shift out those before `index`.
        if view.count >= 8 { return load(view, view.count &- 8) &>> UInt64(truncatingIfNeeded: 64 &- 8 &* left) }
        return short(view.start + index, left)
    }

    /// Returns 1 to 7 bytes as a word padded with zeros, read as two runs that can overlap.
    @inlinable
    public static func short(_ start: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        let raw = UnsafeRawPointer(start)
        if count >= 4 {
            let low = UInt64(raw.loadUnaligned(as: UInt32.self))
            let high = UInt64(raw.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            return low | high &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4))
        }
        if count >= 2 {
            let low = UInt64(raw.loadUnaligned(as: UInt16.self))
            let high = UInt64(raw.loadUnaligned(fromByteOffset: count &- 2, as: UInt16.self))
            return low | high &<< UInt64(truncatingIfNeeded: 8 &* (count &- 2))
        }
        return UInt64(start.pointee)
    }

    /// Returns the index of the first byte that is `a`, starting at `from`, or `view.count` if there is none.
    @inlinable
    public static func first(_ a: UInt8, in view: ByteView, from: Int) -> Int {
        var index = from
        let wordA = UInt64(a) &* ones
        while index &+ 8 <= view.count {
            let found = zeros(load(view, index) ^ wordA)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        if index >= view.count { return view.count }
        let found = zeros(tail(of: view, from: index) ^ wordA)
        return min(view.count, index &+ found.trailingZeroBitCount &>> 3)
    }

    /// Returns the number of bytes that are equal to `byte`.
    @inlinable
    public static func count(of byte: UInt8, in view: ByteView) -> Int {
        let sevens: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        let pattern = UInt64(byte) &* ones
        var index = 0
        var count = 0
        while index &+ 8 <= view.count {
            let word = load(view, index) ^ pattern
            count &+= (~(((word & sevens) &+ sevens) | word | sevens)).nonzeroBitCount
            index &+= 8
        }
        while index < view.count {
            if view.start[index] == byte { count &+= 1 }
            index &+= 1
        }
        return count
    }

    /// Returns the first eight bytes as a word, with zeros for missing bytes.
    @inlinable
    @inline(__always)
    public static func head(of view: ByteView) -> UInt64 {
        if view.count >= 8 { return load(view, 0) }
        return view.isEmpty ? 0 : short(view.start, view.count)
    }

    /// Returns the first eight bytes with ASCII letters in lowercase, as a word for comparisons of short names.
    ///
    /// Missing bytes are zero.
    @inlinable
    public static func foldedKey(_ view: ByteView) -> UInt64 {
        foldASCII(head(of: view))
    }

    /// Returns `word` with the uppercase ASCII letters among its bytes in lowercase.
    @inlinable
    @inline(__always)
    public static func foldASCII(_ word: UInt64) -> UInt64 {
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let fromA = low &+ 0x3F3F_3F3F_3F3F_3F3F
        let pastZ = low &+ 0x2525_2525_2525_2525
        let capitals = (fromA & ~pastZ & ~word) & highs
        return word | (capitals &>> 2)
    }

    /// Returns a byte, in lowercase if it is an uppercase ASCII letter.
    @inlinable
    public static func foldASCII(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Returns a Boolean value that indicates whether two texts are equal when the case of ASCII letters is ignored.
    public static func equalFolded(_ a: ByteView, _ b: ByteView) -> Bool {
        if a.count != b.count { return false }
        var index = 0
        while index < a.count {
            if foldASCII(a.start[index]) != foldASCII(b.start[index]) { return false }
            index &+= 1
        }
        return true
    }
}

/// Returns the value of a hexadecimal digit, or nil if the byte is not one.
@inlinable
public func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
    default: nil
    }
}

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

    /// Returns a mask of the bytes that are not plain in a JSON string: `"`, `\`, and bytes outside 0x20 to 0x7E.
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
    public static func isNone(_ mask: SIMD2<UInt64>) -> Bool { wide_is_none(mask) }

    /// Returns the index of the first selected byte of a mask that is not empty.
    @inlinable
    @inline(__always)
    public static func first(_ mask: SIMD2<UInt64>) -> Int { Int(wide_first(mask)) }
}

/// Searches that compare sixteen bytes at a time in padded text, and read up to `padding` bytes past its end.
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

extension ByteView {
    /// The offset of the first byte that is not valid UTF-8, or nil if all bytes are valid.
    ///
    /// RFC 3629 excludes overlong forms, surrogates, and code points over U+10FFFF.
    public var firstIllFormedUTF8: Int? {
        var index = 0
        while index < count {
            if index &+ 8 <= count {
                let word = UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self)
                if word & 0x8080_8080_8080_8080 == 0 {
                    index &+= 8
                    continue
                }
            }
            let lead = start[index]
            if lead < 0x80 {
                index &+= 1
                continue
            }
            let length = sequenceLength(at: index, lead: lead)
            if length == 0 { return index }
            index &+= length
        }
        return nil
    }

    /// A Boolean value that indicates whether any byte is over 0x7F.
    @inlinable
    public var hasNonASCII: Bool {
        var index = 0
        var seen: UInt64 = 0
        while index &+ 8 <= count {
            seen |= UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self)
            index &+= 8
        }
        var tail: UInt8 = 0
        while index < count {
            tail |= start[index]
            index &+= 1
        }
        return seen & 0x8080_8080_8080_8080 != 0 || tail & 0x80 != 0
    }

    /// Returns the length of the valid sequence that begins at `index` with a byte over 0x7F, or 0 if it is invalid.
    private func sequenceLength(at index: Int, lead: UInt8) -> Int {
        let left = count &- index
        switch lead {
        case 0xC2...0xDF:
            return left >= 2 && isTail(index &+ 1) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3 else { return 0 }
            let second = start[index &+ 1]
            let low: UInt8 = lead == 0xE0 ? 0xA0 : 0x80
            let high: UInt8 = lead == 0xED ? 0x9F : 0xBF
            return second >= low && second <= high && isTail(index &+ 2) ? 3 : 0
        case 0xF0...0xF4:
            guard left >= 4 else { return 0 }
            let second = start[index &+ 1]
            let low: UInt8 = lead == 0xF0 ? 0x90 : 0x80
            let high: UInt8 = lead == 0xF4 ? 0x8F : 0xBF
            return second >= low && second <= high && isTail(index &+ 2) && isTail(index &+ 3) ? 4 : 0
        default:
            return 0
        }
    }

    private func isTail(_ index: Int) -> Bool { start[index] & 0xC0 == 0x80 }
}
