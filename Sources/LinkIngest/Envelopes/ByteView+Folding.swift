internal import ByteStorage

extension ByteView {
    /// Returns a Boolean value that indicates whether these bytes equal a lowercase literal if the case of ASCII
    /// letters is ignored.
    func equalsFoldingCase(_ literal: StaticString) -> Bool {
        let other = ByteView(literal)
        guard count == other.count else { return false }
        for index in 0..<count {
            let byte = self[index]
            let folded = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
            if folded != other[index] { return false }
        }
        return true
    }
}
