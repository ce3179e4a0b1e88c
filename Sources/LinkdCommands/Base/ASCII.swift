/// Classes of characters of ASCII.
extension UInt8 {
    /// A Boolean value that indicates whether this is a letter.
    var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }

    /// A Boolean value that indicates whether this is a digit.
    var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    /// A Boolean value that indicates whether this is a space, a tab, or ends a line or a page.
    var isASCIISpace: Bool { self == 0x20 || self != 0x0B && (0x09...0x0D).contains(self) }

    /// Returns a Boolean value that indicates whether this is a letter, a digit, or one of other characters.
    func isASCIIWord(or others: StaticString) -> Bool {
        isASCIILetter || isASCIIDigit || others.withUTF8Buffer { $0.contains(self) }
    }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without white space of ASCII at both ends.
    var trimmed: SubSequence {
        let start = firstIndex { !$0.isASCIISpace } ?? endIndex
        return self[start..<(lastIndex { !$0.isASCIISpace }.map { index(after: $0) } ?? start)]
    }
}
