/// The texts of durations, such as `250ms`, `30s`, `5m`, `12h`, and `7d`, in milliseconds.
package enum Durations {
    private static let units: [Quantities.Unit] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Returns the milliseconds of a text, or nil if the text is not a duration or overflows 64 bits.
    package static func parse(_ text: some StringProtocol) -> Int64? {
        Quantities.parse(text, units)
    }

    /// Returns the milliseconds of a sum such as `1d2h` or `90m`, whose units descend, or nil for another text.
    package static func sum(_ text: String) -> Int64? {
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
    package static func text(_ milliseconds: Int64) -> String {
        milliseconds == 0 ? "0s" : Quantities.text(milliseconds, units)
    }
}

/// The parsing that durations, sizes, and integers share.
package enum Quantities {
    /// A unit, and its number of the smallest one.
    package typealias Unit = (name: String, factor: Int64)

    /// Parses a number with one of the units, which are in ascending order.
    package static func parse(_ text: some StringProtocol, _ units: [Unit]) -> Int64? {
        guard let (number, name) = split(text), let unit = units.first(where: { $0.name == name }) else { return nil }
        let (product, isOver) = number.multipliedReportingOverflow(by: unit.factor)
        return isOver ? nil : product
    }

    /// Returns a number with the greatest unit that divides it.
    package static func text(_ number: Int64, _ units: [Unit]) -> String {
        let unit = units.last { number % $0.factor == 0 } ?? units[0]
        return "\(number / unit.factor)\(unit.name)"
    }

    /// Splits a text into an unsigned integer and the unit that follows it.
    package static func split(_ text: some StringProtocol) -> (number: Int64, unit: String)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let number = Int64(digits) else { return nil }
        return (number, String(text.dropFirst(digits.count)))
    }

    /// Returns the integer of a text with an optional minus sign.
    ///
    /// A plus sign is not accepted.
    package static func integer(_ text: some StringProtocol) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int64(text)
    }
}
