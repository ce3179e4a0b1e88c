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
