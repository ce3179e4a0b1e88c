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

    /// Loads eight bytes of a view, starting at `index`; all of them must lie inside the view.
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

    /// Returns the first eight bytes as a word; missing bytes are zero.
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
