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
        while index < view.count {
            let byte = view.start[index]
            if byte == a || byte == b { return index }
            index &+= 1
        }
        return index
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
        while index < view.count {
            let byte = view.start[index]
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "%") || byte >= 0x80 { return index }
            index &+= 1
        }
        return index
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
            if byte >= 0x80 || isForbidden(byte) { return firstForbiddenSlow(in: view) }
            index &+= 1
        }
        return high & highs == 0 ? nil : firstForbiddenSlow(in: view)
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

    /// The first eight bytes, ASCII letters in lower case, the rest zero: one word to compare short names by.
    @inlinable
    package static func foldedKey(_ view: ByteView) -> UInt64 {
        if view.count >= 8 { return foldASCII(load(view, 0)) }
        var word: UInt64 = 0
        var index = view.count
        while index > 0 {
            index &-= 1
            word = word &<< 8 | UInt64(view.start[index])
        }
        return foldASCII(word)
    }

    /// `word` with the ASCII capitals among its bytes in lower case.
    @inlinable
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
