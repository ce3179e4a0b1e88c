/// Numbers with three digits behind the point, the same everywhere.
package enum Decimals {
    /// `1.234`; negative numbers become 0.
    package static func text(_ value: Double) -> String {
        let thousandths = Int64((min(max(0, value), 1e12) * 1000).rounded())
        let rest = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
