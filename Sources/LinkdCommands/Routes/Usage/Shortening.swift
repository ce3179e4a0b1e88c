/// Shortening of requests in output for people, because the start of a long link identifies it.
enum Shortening {
    /// The limit of printed characters.
    private static let limit = 200

    /// Returns the text, or its start and the number of omitted characters, such as `a:b... 7,800 more characters`.
    static func of(_ text: String) -> String {
        let omittedCount = text.count - limit
        return omittedCount > 0
            ? "\(text.prefix(limit))... \(grouped(omittedCount)) more \(omittedCount == 1 ? "character" : "characters")"
            : text
    }

    /// Returns the number with commas between thousands.
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.enumerated().reduce(into: "") { text, one in
            if one.offset > 0, (digits.count - one.offset) % 3 == 0 { text.append(",") }
            text.append(one.element)
        }
    }
}
