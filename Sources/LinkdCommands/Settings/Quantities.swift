/// The texts of durations, such as `250ms`, `30s`, `5m`, `12h`, and `7d`, in milliseconds.
enum Durations {
    private static let units: [Quantities.Unit] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Returns the milliseconds of a text, or nil if the text is not a duration or overflows 64 bits.
    static func parse(_ text: some StringProtocol) -> Int64? {
        Quantities.parse(text, units)
    }

    /// Returns the milliseconds of a sum such as `1d2h` or `90m`, whose units descend, or nil for another text.
    static func sum(_ text: String) -> Int64? {
        var rest = text[...]
        var total: Int64 = 0
        var last = Int64.max
        while let (number, tail) = Quantities.split(rest) {
            let name = tail.prefix { !($0.isASCII && $0.isNumber) }
            guard let unit = units.first(where: { $0.name == name }), unit.factor < last else { return nil }
            let (product, isOver) = number.multipliedReportingOverflow(by: unit.factor)
            let (next, isTotalOver) = total.addingReportingOverflow(product)
            guard !isOver, !isTotalOver else { return nil }
            (total, last) = (next, unit.factor)
            rest = tail.dropFirst(name.count)[...]
            if rest.isEmpty { return total }
        }
        return nil
    }

    /// Returns the shortest text of a duration.
    static func text(_ milliseconds: Int64) -> String {
        milliseconds == 0 ? "0s" : Quantities.text(milliseconds, units)
    }
}

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

/// The parsing that durations, sizes, and integers share.
enum Quantities {
    /// A unit, and its number of the smallest one.
    typealias Unit = (name: String, factor: Int64)

    /// Parses a number with one of the units, of which the smallest one is the first.
    static func parse(_ text: some StringProtocol, _ units: [Unit]) -> Int64? {
        guard let (number, name) = split(text), let unit = units.first(where: { $0.name == name }) else { return nil }
        let (product, isOver) = number.multipliedReportingOverflow(by: unit.factor)
        return isOver ? nil : product
    }

    /// Returns a number with the greatest unit that divides it.
    static func text(_ number: Int64, _ units: [Unit]) -> String {
        let unit = units.last { number % $0.factor == 0 } ?? units[0]
        return "\(number / unit.factor)\(unit.name)"
    }

    /// Splits a text into an unsigned integer and the unit that follows it.
    static func split(_ text: some StringProtocol) -> (number: Int64, unit: String)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let number = Int64(digits) else { return nil }
        return (number, String(text.dropFirst(digits.count)))
    }

    /// Returns the integer of a text with an optional minus sign.
    ///
    /// A plus sign is not accepted.
    static func integer(_ text: some StringProtocol) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int64(text)
    }
}
