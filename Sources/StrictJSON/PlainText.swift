internal import ByteStorage

/// The definition of plain text, shared by the reader and the writer.
@usableFromInline
enum PlainText {
    /// Returns the bytes of `word` that end a plain run, as their high bits; the lowest set bit is exact.
    @inlinable
    @inline(__always)
    static func stops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ 0x2222_2222_2222_2222
        let slash = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let quotes = (quote &- ones) & ~quote
        let slashes = (slash &- ones) & ~slash
        let controls = (word &- 0x2020_2020_2020_2020) & ~word
        return (quotes | slashes | controls) & highs
    }
}

/// Returns the number of the four hexadecimal digits at `start`.
func hexValue(_ text: ByteView, _ start: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in start..<start + 4 where index < text.count {
        value = value << 4 | UInt32(hexDigit(text[index]) ?? 0)
    }
    return value
}
