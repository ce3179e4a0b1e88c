internal import ByteStorage

/// A filter for hosts: the last bytes of all names of a table, as a set that also contains others.
///
/// Most links have a host that no platform has, and cost only one look-up.
struct HostEndings {
    private var bits = SIMD4<UInt64>(repeating: 0)
    /// The number of bytes of an ending, or 0 if there are no names.
    private var length = 0

    init() {}

    init(_ names: [ByteView]) {
        length = min(8, names.lazy.map(\.count).min() ?? 0)
        for name in names {
            let number = Self.number(name, length)
            bits[number >> 6] |= 1 << UInt64(number & 63)
        }
    }

    /// Returns a Boolean value that indicates whether a host may be one of the names, or below one of them.
    func mayContain(_ host: ByteView) -> Bool {
        guard length > 0, host.count >= length else { return false }
        let number = Self.number(host, length)
        return bits[number >> 6] & 1 << UInt64(number & 63) != 0
    }

    /// Returns a number from 0 to 255 for the last bytes of a text, the same for both cases of a letter.
    private static func number(_ text: ByteView, _ length: Int) -> Int {
        var word: UInt64 = 0
        var index = text.count &- length
        while index < text.count {
            word = word &<< 8 | UInt64(text.start[index] | 0x20)
            index &+= 1
        }
        return Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> 56)
    }
}
