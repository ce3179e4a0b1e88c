/// A secret that opens the API of a console: the token of scripts, or the cookie of browsers.
///
/// It is 128 random bits, written as 32 hexadecimal digits, and is valid as long as the process runs.
struct AccessToken: Sendable {
    /// The digits.
    let text: String

    /// Creates a token with random bits of the system.
    init() {
        var generator = SystemRandomNumberGenerator()
        let digits = [generator.next(), generator.next()].map { (bits: UInt64) in
            let text = String(bits, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        text = digits.joined()
    }

    /// Returns a Boolean value that indicates whether a text is the token.
    ///
    /// The time does not depend on the position of the first difference.
    func matches(_ other: String) -> Bool {
        let (own, other) = (Array(text.utf8), Array(other.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
