/// Texts of counts in which the noun agrees with the number.
package enum Counts {
    /// Returns a text such as `1 problem` or `2 problems`.
    package static func text(_ count: Int, _ noun: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }
}
