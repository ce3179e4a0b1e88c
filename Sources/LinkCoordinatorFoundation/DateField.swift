internal import ByteStorage
public import Foundation
public import LinkCoordinator

/// A field of the type `datetime` as a property of the type `Date`.
///
/// A `Date` is a floating-point number of seconds, which distinguishes microseconds from about 1730 to 2270.
extension Date: ModelFieldValue {
    /// The kind of the field, a text.
    public static var fieldKind: ModelFieldKind { .text }

    /// The seconds from 1970 to 2001.
    private static let referenceSeconds: Int64 = 978_307_200

    /// Creates a date from the canonical text of a `datetime`, such as `2026-01-31T12:00:00.25Z`.
    public init?(fieldText: String) {
        let interval = Array(fieldText.utf8).withUnsafeBufferPointer { bytes -> TimeInterval? in
            guard bytes.count <= 30, let time = UTCDateTime(ByteView(bytes)), time.isCanonical, time.clock.second != 60
            else { return nil }
            return Double(time.seconds - Self.referenceSeconds) + Double(time.clock.fraction(digits: 9)) / 1e9
        }
        guard let interval else { return nil }
        self.init(timeIntervalSinceReferenceDate: interval)
    }

    /// The date in UTC in the form of RFC 3339, section 5.6, rounded to a microsecond.
    ///
    /// A date outside of the years 1 to 9999 has a text that no field accepts.
    public var fieldText: String {
        let whole = timeIntervalSinceReferenceDate.rounded(.down)
        guard abs(whole) < 1e12 else { return "\(timeIntervalSinceReferenceDate)" }
        let micros = Int(((timeIntervalSinceReferenceDate - whole) * 1e6).rounded())
        let seconds = Int64(whole) + Int64(micros / 1_000_000) + Self.referenceSeconds
        var fraction = micros % 1_000_000 == 0 ? "" : "." + "\(1_000_000 + micros)".dropFirst()
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return UTCDateTime.text(seconds: seconds) + fraction + "Z"
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
