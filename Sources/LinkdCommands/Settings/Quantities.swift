/// Durations as people write them: `250ms`, `30s`, `5m`, `12h`, `7d`; in milliseconds.
enum Durations {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// The milliseconds of a text, or nil when it is none or above what 64 bits hold.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard let (number, unit) = Quantities.split(text) else { return nil }
        guard let found = units.first(where: { $0.name == unit }) else { return nil }
        let (product, over) = number.multipliedReportingOverflow(by: found.milliseconds)
        return over ? nil : product
    }

    /// The shortest text for a duration.
    static func text(_ milliseconds: Int64) -> String {
        guard milliseconds != 0 else { return "0s" }
        for unit in units.reversed() where milliseconds % unit.milliseconds == 0 {
            return "\(milliseconds / unit.milliseconds)\(unit.name)"
        }
        return "\(milliseconds)ms"
    }
}

/// Sizes in bytes: `1048576`, `64KiB`, `1MiB`, `2GiB`.
enum Sizes {
    private static let units: [(name: String, bytes: Int64)] = [
        ("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ]

    /// The bytes of a text, or nil when it is none or above what 64 bits hold.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard let (number, unit) = Quantities.split(text) else { return nil }
        guard let found = units.first(where: { $0.name == unit }) else { return nil }
        let (product, over) = number.multipliedReportingOverflow(by: found.bytes)
        return over ? nil : product
    }

    /// The shortest exact text for a size.
    static func text(_ bytes: Int64) -> String {
        guard bytes != 0 else { return "0" }
        for unit in units.reversed() where bytes % unit.bytes == 0 { return "\(bytes / unit.bytes)\(unit.name)" }
        return "\(bytes)"
    }
}

/// What durations and sizes share.
enum Quantities {
    /// A whole number without sign, and what stands behind it.
    static func split(_ text: some StringProtocol) -> (number: Int64, unit: String)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let number = Int64(digits) else { return nil }
        return (number, String(text.dropFirst(digits.count)))
    }

    /// A whole number in the form that people write, with a sign only where it is negative.
    static func integer(_ text: some StringProtocol) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int64(text)
    }
}
