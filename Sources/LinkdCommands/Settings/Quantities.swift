internal import ByteStorage

/// The texts of sizes in bytes, such as `1048576`, `64KiB`, `1MiB`, and `2GiB`.
enum Sizes {
    private static let units: [Quantities.Unit] = [
        ("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ]

    /// Returns the bytes of a text, or nil if the text is not a size or overflows 64 bits.
    static func parse(_ text: some StringProtocol) -> Int64? {
        Quantities.parse(text, units)
    }

    /// Returns the shortest exact text of a size.
    static func text(_ bytes: Int64) -> String {
        bytes == 0 ? "0" : Quantities.text(bytes, units)
    }
}

/// The texts of numbers with a fixed number of decimal places, such as `0.95`, as integers of the last place.
enum FixedPoint {
    /// Returns the integer of a text, or nil if the text is not a number, has more places, or overflows 64 bits.
    static func parse(_ text: String, places: Int) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), parts.allSatisfy(isDigits) else { return nil }
        let fraction = parts.count == 2 ? parts[1] : ""
        guard fraction.count <= places else { return nil }
        return Int64(parts[0] + fraction + String(repeating: "0", count: places - fraction.count))
    }

    private static func isDigits(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Returns the shortest text of an integer of the last place.
    static func text(_ value: Int64, places: Int) -> String {
        var digits = String(value)
        digits = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        var fraction = digits.suffix(places)
        while fraction.last == "0" { fraction.removeLast() }
        return digits.dropLast(places) + (fraction.isEmpty ? "" : "." + fraction)
    }
}
