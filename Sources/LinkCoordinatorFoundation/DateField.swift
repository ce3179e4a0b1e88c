public import Foundation
public import LinkCoordinator

/// A field of the type `datetime` as a property of the type `Date`.
///
/// A `Date` is a floating-point number of seconds, which distinguishes microseconds from about 1730 to 2270.
extension Date: ModelFieldValue {
    /// The kind of the field, a text.
    public static var fieldKind: ModelFieldKind { .text }

    /// The number of seconds from 0000-03-01 to 2001-01-01 in the proleptic Gregorian calendar, both at midnight UTC.
    private static let referenceSeconds: Int64 = 730_791 * 86_400

    /// Creates a date from the canonical text of a `datetime`, such as `2026-01-31T12:00:00.25Z`.
    public init?(fieldText: String) {
        guard let time = CanonicalTime(fieldText) else { return nil }
        let seconds = time.secondsSinceMarch0 - Self.referenceSeconds
        self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(time.nanoseconds) / 1e9)
    }

    /// The date in UTC in the form of RFC 3339, section 5.6, rounded to a microsecond.
    ///
    /// A date outside of the years 1 to 9999 has a text that no field accepts.
    public var fieldText: String {
        let whole = timeIntervalSinceReferenceDate.rounded(.down)
        guard abs(whole) < 1e12 else { return "\(timeIntervalSinceReferenceDate)" }
        let rounded = Int(((timeIntervalSinceReferenceDate - whole) * 1e6).rounded())
        let carry: Int64 = rounded == 1_000_000 ? 1 : 0
        return CanonicalTime(
            secondsSinceMarch0: Int64(whole) + carry + Self.referenceSeconds,
            nanoseconds: carry == 1 ? 0 : rounded * 1000
        ).text
    }
}

/// A time in UTC, counted from 0000-03-01 so that a leap day is the last day of its year.
struct CanonicalTime {
    var secondsSinceMarch0: Int64
    var nanoseconds: Int

    /// Creates a time from a count.
    init(secondsSinceMarch0: Int64, nanoseconds: Int) {
        self.secondsSinceMarch0 = secondsSinceMarch0
        self.nanoseconds = nanoseconds
    }

    /// Reads `YYYY-MM-DDTHH:MM:SS`, an optional fraction of at most 9 digits, and `Z`.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 30, bytes.last == UInt8(ascii: "Z") else { return nil }
        for (index, byte) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[index] != byte { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month), hour < 24,
            minute < 60, second < 60
        else { return nil }
        let days = Self.days(year, month, day)
        // A day that its month does not have is a day of the next month.
        guard Self.civil(days) == (year, month, day) else { return nil }
        secondsSinceMarch0 = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        nanoseconds = 0
        guard bytes.count > 20 else { return }
        guard bytes[19] == UInt8(ascii: "."), bytes.count > 21, let fraction = number(20..<(bytes.count - 1)) else {
            return nil
        }
        nanoseconds = (21 + 9 - bytes.count).powerOfTen * fraction
    }

    /// The time in the form that ``init(_:)`` reads, without trailing zeros of the fraction.
    var text: String {
        let days = Int(secondsSinceMarch0.flooredQuotient(86_400))
        let second = Int(secondsSinceMarch0 - Int64(days) * 86_400)
        let (year, month, day) = Self.civil(days)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        var fraction = nanoseconds == 0 ? "" : "." + padded(nanoseconds, 9)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(second / 3600, 2)):"
            + "\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))\(fraction)Z"
    }

    /// Returns the number of days from 0000-03-01 to a date of the proleptic Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let month = (month + 9) % 12
        return 365 * year + year.flooredQuotient(4) - year.flooredQuotient(100) + year.flooredQuotient(400)
            + (153 * month + 2) / 5 + day - 1
    }

    /// Returns the date of the proleptic Gregorian calendar that is a number of days after 0000-03-01.
    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let era = days.flooredQuotient(146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}

extension Int {
    /// Ten to the power of this number, which is from 0 to 9.
    fileprivate var powerOfTen: Int { (0..<self).reduce(1) { power, _ in power * 10 } }
}

extension SignedInteger {
    /// Returns the quotient, rounded down.
    fileprivate func flooredQuotient(_ divisor: Self) -> Self {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }
}

/// A field of the type `decimal`, `double`, or `int` as a property of the type `Decimal`, without a loss of precision.
extension Decimal: ModelFieldValue {
    /// The kind of the field, a number.
    public static var fieldKind: ModelFieldKind { .number }

    /// The largest number of significant digits that a `Decimal` holds exactly.
    static let maxDigits = 38

    /// The length of the longest text that is read, in bytes.
    static let maxBytes = 128

    /// Creates a number from the text of a JSON number without an exponent.
    ///
    /// Returns nil for a number with more than 38 significant digits, which a `Decimal` cannot hold exactly.
    public init?(fieldText: String) {
        let digits = fieldText.hasPrefix("-") ? fieldText.dropFirst() : fieldText[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let isNumber =
            (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }
        let significant = digits.utf8.filter(Self.isDigit).drop { $0 == UInt8(ascii: "0") }
        guard isNumber, significant.count <= Self.maxDigits, fieldText.utf8.count <= Self.maxBytes,
            let value = Decimal(string: fieldText, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self = value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The number without an exponent.
    public var fieldText: String { description }
}
