/// Texts of counts in which the noun agrees with the number.
package enum Counts {
    /// Returns a text such as `1 problem` or `2 problems`.
    package static func text(_ count: Int, _ noun: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns a number with commas between groups of three digits, such as `500,046`.
    package static func grouped(_ number: Int64) -> String {
        var result = ""
        let digits = String(number.magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }
}
