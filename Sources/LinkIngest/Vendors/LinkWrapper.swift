internal import ByteStorage

/// The parsing of links whose path contains another link, percent-encoded.
enum LinkWrapper {
    /// Returns a Boolean value that indicates whether a link has a scheme, regardless of case, and an authority.
    static func hasScheme(_ scheme: ByteView, _ link: ByteView) -> Bool {
        guard link.count >= scheme.count + 3 else { return false }
        for index in 0..<scheme.count where folded(link[index]) != folded(scheme[index]) { return false }
        return link.slice(scheme.count, scheme.count + 3).equals("://")
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Returns the segment that contains the actual link, or nil if there is none.
    ///
    /// It is the second segment of the path. The first one must be that of the table. Empty segments do not count.
    static func content(of link: ByteView, _ image: LinkImage) -> ByteView? {
        var index = image.wrapperScheme.count + 3
        while index < link.count, link[index] != UInt8(ascii: "/") { index += 1 }
        let first = segment(of: link, from: &index)
        guard first == image.wrapperSegment else { return nil }
        let second = segment(of: link, from: &index)
        return second.isEmpty ? nil : second
    }

    /// Returns the next segment that is not empty, or an empty view at the end of the path.
    private static func segment(of link: ByteView, from index: inout Int) -> ByteView {
        while index < link.count, link[index] == UInt8(ascii: "/") { index += 1 }
        let start = index
        while index < link.count, !isEnd(link[index]) { index += 1 }
        return link.slice(start, index)
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Appends a text without its percent-encoding.
    ///
    /// Returns false if the encoding is malformed or the result has a control character.
    static func decode(_ text: ByteView, into arena: inout OutputArena) -> Bool {
        var index = 0
        while index < text.count {
            var byte = text[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 1 < text.count, let high = hexDigit(text[index]), let low = hexDigit(text[index + 1])
                else {
                    return false
                }
                byte = high << 4 | low
                index += 2
            }
            if byte < 0x20 || byte == 0x7F { return false }
            arena.append(byte: byte)
        }
        return true
    }
}
