/// Searches of eight bytes at a time, the shape that is fast without vector instructions.
public enum ByteScan {
    /// The lowest bit of each byte.
    @inlinable
    @inline(__always)
    public static var ones: UInt64 { 0x0101_0101_0101_0101 }

    /// The highest bit of each byte.
    @inlinable
    @inline(__always)
    public static var highs: UInt64 { 0x8080_8080_8080_8080 }

    /// Eight bytes of a view from `index` on, which must lie inside.
    @inlinable
    public static func load(_ view: ByteView, _ index: Int) -> UInt64 {
        UnsafeRawPointer(view.start + index).loadUnaligned(as: UInt64.self)
    }

    /// Bytes of `word` that are zero, as their high bits; the lowest is exact.
    @inlinable
    public static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

    /// The index of the first byte from `from` on that is `a` or `b`, or `view.count`.
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
        if index >= view.count { return index }
        let word = rest(of: view, from: index)
        let found = zeros(word ^ wordA) | zeros(word ^ wordB)
        return min(view.count, index &+ found.trailingZeroBitCount &>> 3)
    }

    /// The bytes of `view` from `index` on, 1 to 7 of them, as a word filled up with zeros.
    @inlinable
    public static func rest(of view: ByteView, from index: Int) -> UInt64 {
        let left = view.count &- index
        // The last eight bytes at once, those before `index` shifted out.
        if view.count >= 8 { return load(view, view.count &- 8) &>> UInt64(truncatingIfNeeded: 64 &- 8 &* left) }
        return short(view.start + index, left)
    }

    /// 1 to 7 bytes as a word filled up with zeros, read as two runs that may overlap.
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

    /// The index of the first byte from `from` on that is `a`, or `view.count`.
    @inlinable
    public static func first(_ a: UInt8, in view: ByteView, from: Int) -> Int {
        var index = from
        let wordA = UInt64(a) &* ones
        while index &+ 8 <= view.count {
            let found = zeros(load(view, index) ^ wordA)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        if index >= view.count { return index }
        let found = zeros(rest(of: view, from: index) ^ wordA)
        return min(view.count, index &+ found.trailingZeroBitCount &>> 3)
    }

    /// How many bytes are `byte`.
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

    /// The first eight bytes as a word, the rest zero.
    @inlinable
    @inline(__always)
    public static func head(of view: ByteView) -> UInt64 {
        if view.count >= 8 { return load(view, 0) }
        return view.isEmpty ? 0 : short(view.start, view.count)
    }

    /// The first eight bytes, ASCII letters in lower case, the rest zero: one word to compare short names by.
    @inlinable
    public static func foldedKey(_ view: ByteView) -> UInt64 {
        foldASCII(head(of: view))
    }

    /// `word` with the ASCII capitals among its bytes in lower case.
    @inlinable
    @inline(__always)
    public static func foldASCII(_ word: UInt64) -> UInt64 {
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let fromA = low &+ 0x3F3F_3F3F_3F3F_3F3F
        let pastZ = low &+ 0x2525_2525_2525_2525
        let capitals = (fromA & ~pastZ & ~word) & highs
        return word | (capitals &>> 2)
    }

    /// One byte, a capital in lower case.
    @inlinable
    public static func foldASCII(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Whether two texts are equal but for the case of ASCII letters.
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
