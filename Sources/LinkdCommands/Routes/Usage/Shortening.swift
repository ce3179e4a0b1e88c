/// Shortens requests for people: a link may have thousands of characters, and its first ones say which it is.
enum Shortening {
    /// Most characters that are printed.
    private static let most = 200

    /// The text, or its beginning and how many characters follow: `https://a.example/aaa... 7,800 more characters`.
    static func of(_ text: String) -> String {
        let left = text.count - most
        return left > 0 ? "\(text.prefix(most))... \(grouped(left)) more characters" : text
    }

    /// The number with a comma between thousands.
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.enumerated().reduce(into: "") { text, one in
            if one.offset > 0, (digits.count - one.offset) % 3 == 0 { text.append(",") }
            text.append(one.element)
        }
    }
}
