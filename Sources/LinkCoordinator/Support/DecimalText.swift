extension Double {
    /// A finite number as text that fields of the types `double` and `decimal` accept: without an exponent, and without
    /// a fraction for a whole number.
    public var fieldText: String { decimalText(self) }
}

/// Returns a finite number as decimal text without an exponent, and without a fraction for a whole number.
///
/// Fields of the types `double` and `decimal` accept no exponent, which the description of a number has below 0.0001
/// and from 2^53. The text has at most 330 characters.
func decimalText(_ value: Double) -> String {
    let text = "\(value)"
    let parts = text.split(separator: "e")
    guard parts.count == 2, let exponent = Int(parts[1]) else {
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
    let sign = parts[0].hasPrefix("-") ? "-" : ""
    let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".")
    let fraction = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
    let digits = mantissa[0] + fraction
    let point = mantissa[0].count + exponent
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    if point >= digits.count { return sign + digits + String(repeating: "0", count: point - digits.count) }
    return sign + digits.prefix(point) + "." + digits.dropFirst(point)
}
