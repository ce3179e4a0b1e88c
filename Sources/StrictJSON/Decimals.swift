/// Numbers with three decimal places, independent of the locale.
package enum Decimals {
    /// Returns a text such as `1.234`.
    ///
    /// A negative number becomes 0.
    package static func text(_ value: Double) -> String {
        let thousandths = Int64((min(max(0, value), 1e12) * 1000).rounded())
        let fraction = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}
