internal import LinkCoordinator

/// Texts that distinguish a `decimal` from the same type with other bounds and from other types of numbers.
struct DecimalSamples {
    /// The texts, ending with the ones that are valid if the bounds allow them.
    let texts: [String]

    /// Creates samples for bounds, which are canonical texts.
    init(min: String?, max: String?) {
        let bounds = [min, max].compactMap(\.self)
        // Numbers beyond the bounds. A `double` accepts the ones with few digits.
        let outer = ["-1", "0"] + bounds.map { Self.further($0) } + Self.widest
        // No other type of numbers accepts a whole number with a fraction, or more digits than a `double` has.
        let long = bounds.map { Self.further($0, digits: TextForms.maxDoubleDigits) } + Self.long
        let whole = bounds.filter { !$0.contains(".") }.map { $0 + ".0" }
        texts = ["x"] + outer + long + whole + ["-0", "1.50"] + bounds
    }

    private static let widest = [
        "-" + String(repeating: "9", count: TextForms.maxDoubleDigits),
        String(repeating: "9", count: TextForms.maxDoubleDigits),
    ]

    private static let long = ["0.1234567890123456", "1234567890123456.5"]

    /// Returns a number that is slightly further from zero, with more than the given number of digits.
    private static func further(_ bound: String, digits: Int = 0) -> String {
        let zeros = String(repeating: "0", count: Swift.max(0, digits - bound.utf8.count))
        return bound + (bound.contains(".") ? "" : ".") + zeros + "1"
    }
}
