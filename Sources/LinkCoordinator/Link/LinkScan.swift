package import ByteStorage

/// Searches for the bytes that have a meaning in a link.
extension ByteScan {
    /// Returns the index of the first slash, percent sign, or byte above 0x7F at or after `from`, or the end.
    package static func segmentStop(in view: ByteView, from: Int) -> Int {
        var index = from
        while index &+ 8 <= view.count {
            let word = load(view, index)
            let found = zeros(word ^ 0x2F2F_2F2F_2F2F_2F2F) | zeros(word ^ 0x2525_2525_2525_2525) | (word & highs)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        if index >= view.count { return index }
        let word = tail(of: view, from: index)
        let found = zeros(word ^ 0x2F2F_2F2F_2F2F_2F2F) | zeros(word ^ 0x2525_2525_2525_2525) | (word & highs)
        return min(view.count, index &+ found.trailingZeroBitCount &>> 3)
    }

    /// Returns the offset of the first C0 control character, DEL, backslash, or ill-formed UTF-8 sequence, or nil.
    ///
    /// See RouteTableReference, "Limits".
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

    static func isForbidden(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") }
}
