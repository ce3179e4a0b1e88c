internal import ByteStorage

/// A set of bytes.
struct ByteSet {
    private var bits = SIMD4<UInt64>(repeating: 0)

    init() {}

    /// Adds a byte.
    mutating func insert(_ byte: UInt8) { bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    /// Returns a Boolean value that indicates whether the set has a byte.
    @inline(__always)
    func contains(_ byte: UInt8) -> Bool { bits[Int(byte >> 6)] & 1 << UInt64(byte & 63) != 0 }
}

/// A filter for hosts: the last bytes of all names of a table, as a set that also contains others.
///
/// Most links have a host that no platform has, and cost only one look-up.
struct HostEndings {
    private var numbers = ByteSet()
    /// The number of bytes of an ending, or 0 if there are no names.
    private var length = 0

    init() {}

    init(_ names: [ByteView]) {
        length = min(8, names.lazy.map(\.count).min() ?? 0)
        for name in names { numbers.insert(Self.number(name, length)) }
    }

    /// Returns a Boolean value that indicates whether a host may be one of the names, or below one of them.
    @inline(__always)
    func mayContain(_ host: ByteView) -> Bool {
        length > 0 && host.count >= length && numbers.contains(Self.number(host, length))
    }

    /// Returns a number for the last bytes of a text, the same for both cases of a letter.
    @inline(__always)
    private static func number(_ text: ByteView, _ length: Int) -> UInt8 {
        var word: UInt64 = 0
        var index = text.count &- length
        while index < text.count {
            word = word &<< 8 | UInt64(text.start[index] | 0x20)
            index &+= 1
        }
        return UInt8(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> 56)
    }
}
