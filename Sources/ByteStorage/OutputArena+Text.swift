extension OutputArena {
    /// Appends bytes that are followed by at least `padding` readable bytes, such as those of a table.
    @inlinable
    public mutating func appendPadded(_ bytes: ByteView) {
        reserve(bytes.count &+ Self.slack)
        putPadded(bytes)
    }

    /// Appends a number as decimal text.
    @inlinable
    public mutating func append(decimal value: Int64) {
        reserve(20)
        if value >= 0 && value < 10 {
            put(byte: UInt8(truncatingIfNeeded: value) &+ UInt8(ascii: "0"))
            return
        }
        if value < 0 { put(byte: UInt8(ascii: "-")) }
        var rest = value.magnitude
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20 && rest >= bound {
            digits &+= 1
            // Overflows only at the twentieth digit, after which it is no longer used.
            bound = bound &* 10
        }
        var position = cursor + digits
        cursor = position
        repeat {
            position -= 1
            position.pointee = UInt8(truncatingIfNeeded: rest % 10) &+ UInt8(ascii: "0")
            rest /= 10
        } while rest != 0
    }

    /// Appends ASCII text with its letters in uppercase, the form in which Foundation prints a UUID.
    @inlinable
    public mutating func appendUppercased(_ text: ByteView) {
        reserve(text.count)
        putUppercased(text)
    }
}
