package import StrictJSON

/// Searches of eight bytes at a time, the shape that is fast without vector instructions.
package enum ByteScan {
    @usableFromInline static let ones: UInt64 = 0x0101_0101_0101_0101
    @usableFromInline static let highs: UInt64 = 0x8080_8080_8080_8080

    @inlinable
    static func load(_ view: ByteView, _ index: Int) -> UInt64 {
        UnsafeRawPointer(view.start + index).loadUnaligned(as: UInt64.self)
    }

    /// Bytes of `word` that are zero, as their high bits; the lowest is exact.
    @inlinable
    static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

    /// The index of the first byte from `from` on that is `a` or `b`, or `view.count`.
    @inlinable
    package static func first(_ a: UInt8, or b: UInt8, in view: ByteView, from: Int) -> Int {
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
    static func rest(of view: ByteView, from index: Int) -> UInt64 {
        let left = view.count &- index
        // The last eight bytes at once, those before `index` shifted out.
        if view.count >= 8 { return load(view, view.count &- 8) &>> UInt64(truncatingIfNeeded: 64 &- 8 &* left) }
        return short(view.start + index, left)
    }

    /// 1 to 7 bytes as a word filled up with zeros, read as two runs that may overlap.
    @inlinable
    static func short(_ start: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
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

    /// Bytes of `word` that are zero, as their high bits, all of them exact.
    @inlinable
    @inline(__always)
    static func exactZeros(_ word: UInt64) -> UInt64 {
        let sevens: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        return ~(((word & sevens) &+ sevens) | word | sevens)
    }

    /// Whether any byte is `a`, `b` or over 0x7F.
    @inlinable
    static func hasAny(_ a: UInt8, or b: UInt8, orHighIn view: ByteView) -> Bool {
        let wordA = UInt64(a) &* ones
        let wordB = UInt64(b) &* ones
        var index = 0
        while index &+ 8 <= view.count {
            let word = load(view, index)
            if zeros(word ^ wordA) | zeros(word ^ wordB) | (word & highs) != 0 { return true }
            index &+= 8
        }
        if index >= view.count { return false }
        let word = rest(of: view, from: index)
        return zeros(word ^ wordA) | zeros(word ^ wordB) | (word & highs) != 0
    }

    /// The index of the first byte from `from` on that is `a`, or `view.count`.
    @inlinable
    package static func first(_ a: UInt8, in view: ByteView, from: Int) -> Int {
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

    /// The end of the plain run from `from` on: the index of the first slash, percent sign or byte over 0x7F.
    @inlinable
    package static func segmentStop(in view: ByteView, from: Int) -> Int {
        var index = from
        while index &+ 8 <= view.count {
            let word = load(view, index)
            let found = zeros(word ^ 0x2F2F_2F2F_2F2F_2F2F) | zeros(word ^ 0x2525_2525_2525_2525) | (word & highs)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        if index >= view.count { return index }
        let word = rest(of: view, from: index)
        let found = zeros(word ^ 0x2F2F_2F2F_2F2F_2F2F) | zeros(word ^ 0x2525_2525_2525_2525) | (word & highs)
        return min(view.count, index &+ found.trailingZeroBitCount &>> 3)
    }

    /// How many bytes are `byte`.
    @inlinable
    package static func count(of byte: UInt8, in view: ByteView) -> Int {
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

    /// The offset of the first C0 control, DEL, backslash or ill-formed UTF-8 (rule N1), or nil.
    package static func firstForbidden(in view: ByteView) -> Int? {
        var index = 0
        var high: UInt64 = 0
        while index &+ 8 <= view.count {
            let word = load(view, index)
            let controls = (word &- 0x2020_2020_2020_2020) & ~word & highs
            let found = controls | zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F) | zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C)
            high |= word
            if found != 0 { return firstForbiddenSlow(in: view) }
            index &+= 8
        }
        while index < view.count {
            let byte = view.start[index]
            if isForbidden(byte) { return firstForbiddenSlow(in: view) }
            high |= UInt64(byte)
            index &+= 1
        }
        return high & highs == 0 ? nil : view.firstIllFormedUTF8
    }

    @inline(never)
    private static func firstForbiddenSlow(in view: ByteView) -> Int? {
        var first: Int?
        for index in 0..<view.count where isForbidden(view[index]) {
            first = index
            break
        }
        guard let illFormed = view.firstIllFormedUTF8 else { return first }
        return min(first ?? illFormed, illFormed)
    }

    @inlinable
    static func isForbidden(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") }

    /// The first eight bytes as a word, the rest zero.
    @inlinable
    @inline(__always)
    static func head(of view: ByteView) -> UInt64 {
        if view.count >= 8 { return load(view, 0) }
        return view.isEmpty ? 0 : short(view.start, view.count)
    }

    /// The first eight bytes, ASCII letters in lower case, the rest zero: one word to compare short names by.
    @inlinable
    package static func foldedKey(_ view: ByteView) -> UInt64 {
        foldASCII(head(of: view))
    }

    /// `word` with the ASCII capitals among its bytes in lower case.
    @inlinable
    @inline(__always)
    package static func foldASCII(_ word: UInt64) -> UInt64 {
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let fromA = low &+ 0x3F3F_3F3F_3F3F_3F3F
        let pastZ = low &+ 0x2525_2525_2525_2525
        let capitals = (fromA & ~pastZ & ~word) & highs
        return word | (capitals &>> 2)
    }

    /// One byte, a capital in lower case.
    @inlinable
    package static func foldASCII(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Whether two texts are equal but for the case of ASCII letters.
    package static func equalFolded(_ a: ByteView, _ b: ByteView) -> Bool {
        if a.count != b.count { return false }
        var index = 0
        while index < a.count {
            if foldASCII(a.start[index]) != foldASCII(b.start[index]) { return false }
            index &+= 1
        }
        return true
    }
}
