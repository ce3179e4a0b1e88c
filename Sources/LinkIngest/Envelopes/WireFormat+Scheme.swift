internal import ByteStorage

extension WireFormat {
    /// Returns a Boolean value that indicates whether a text begins with a scheme and a colon (RFC 3986, section 3.1).
    static func hasScheme(_ text: ByteView) -> Bool {
        // Most links have one of these schemes.
        if text.count > 5, text.hasPrefix(ByteView("http")) {
            if text[4] == UInt8(ascii: ":") || text[4] == UInt8(ascii: "s") && text[5] == UInt8(ascii: ":") {
                return true
            }
        }
        for index in 0..<text.count {
            let byte = text[index]
            if byte == UInt8(ascii: ":") { return index > 0 }
            let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26
            let isOther =
                byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
            if !isLetter && !(isOther && index > 0) { return false }
        }
        return false
    }
}
