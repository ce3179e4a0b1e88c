/// Percent-encoding for generated links, which escapes all but the unreserved characters of RFC 3986.
enum PercentText {
    /// Returns a path segment with all but the unreserved characters escaped (RFC 3986, 2.3).
    static func segment(_ text: String) -> String { encode(text) { isUnreserved($0) } }

    /// Returns an escaped name or value of a query.
    static func query(_ text: String) -> String { encode(text) { isUnreserved($0) } }

    /// Returns a literal of a pattern in the form that browsers keep: `pchar` (RFC 3986, 3.3) is not escaped.
    static func literal(_ text: [UInt8]) -> String {
        encode(String(decoding: text, as: UTF8.self)) { isUnreserved($0) || "!$&'()*+,;=:@".utf8.contains($0) }
    }

    /// Returns a Boolean value that indicates whether a byte is unreserved in RFC 3986.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }

    private static func encode(_ text: String, keeping: (UInt8) -> Bool) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if keeping(byte) {
                result.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
