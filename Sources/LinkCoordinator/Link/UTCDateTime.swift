package import ByteStorage

/// A date and time in the form of RFC 3339, section 5.6, converted to UTC.
///
/// It borrows its fraction from the original text. A leap second is not accepted, because most calendars of apps
/// cannot represent it.
///
/// See RouteTableReference, "Dates and times".
package struct UTCDateTime: Sendable {
    /// The length of the longest text, in bytes.
    package static let maxBytes = 35

    /// The maximum number of digits of the fraction of a second.
    package static let maxFractionDigits = 9

    /// The date of the proleptic Gregorian calendar.
    private var year: Int, month: Int, day: Int

    /// The time of the day.
    private let hour: Int, minute: Int, second: Int

    /// The fraction of a second with its point, or an empty text.
    private let fraction: ByteView

    /// A Boolean value that indicates whether the original text is the canonical one.
    package let isCanonical: Bool

    /// Reads a text, or returns nil if the text is not a date and time with an offset, or if the year is not from 1 to
    /// 9999 in UTC.
    @inline(never)
    package init?(_ text: ByteView) {
        guard text.count >= 20, text.count <= Self.maxBytes, Self.hasSeparators(text),
            TextForms.isDate(text.slice(0, 10)), let year = TextForms.digits(text, 0, 4),
            let month = TextForms.digits(text, 5, 7), let day = TextForms.digits(text, 8, 10),
            let hour = TextForms.digits(text, 11, 13), let minute = TextForms.digits(text, 14, 16),
            let second = TextForms.digits(text, 17, 19), hour <= 23, minute <= 59, second <= 59,
            let end = Self.endOfFraction(text), let offset = Self.offset(text.slice(end, text.count))
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        // An offset is less than one day, so the date changes by one day at most.
        let minutes = hour * 60 + minute - offset
        let carried = minutes < 0 ? minutes + Self.minutesOfDay : minutes % Self.minutesOfDay
        self.hour = carried / 60
        self.minute = carried % 60
        self.second = second
        fraction = text.slice(19, end)
        isCanonical = text[10] == UInt8(ascii: "T") && text[end] == UInt8(ascii: "Z")
        if minutes < 0 { stepBack() }
        if minutes >= Self.minutesOfDay { stepForward() }
        guard self.year >= 1, self.year <= 9999 else { return nil }
    }

    private static let minutesOfDay = 24 * 60

    private static func hasSeparators(_ text: ByteView) -> Bool {
        text[10] | 0x20 == UInt8(ascii: "t") && text[13] == UInt8(ascii: ":") && text[16] == UInt8(ascii: ":")
    }

    /// Returns the index after the optional fraction at index 19, or nil if it has no digits or too many.
    private static func endOfFraction(_ text: ByteView) -> Int? {
        guard text[19] == UInt8(ascii: ".") else { return 19 }
        var end = 20
        while end < text.count, text[end] &- UInt8(ascii: "0") < 10 { end += 1 }
        return end > 20 && end <= 20 + maxFractionDigits ? end : nil
    }

    /// Returns the offset from UTC in minutes, or nil if the text is not an offset.
    private static func offset(_ text: ByteView) -> Int? {
        if text.count == 1 { return text[0] | 0x20 == UInt8(ascii: "z") ? 0 : nil }
        guard text.count == 6, text[3] == UInt8(ascii: ":"), let hours = TextForms.digits(text, 1, 3),
            let minutes = TextForms.digits(text, 4, 6), hours <= 23, minutes <= 59
        else { return nil }
        switch text[0] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private mutating func stepBack() {
        day -= 1
        if day > 0 { return }
        month -= 1
        if month == 0 { (year, month) = (year - 1, 12) }
        day = TextForms.days(inMonth: month, of: year)
    }

    private mutating func stepForward() {
        day += 1
        if day <= TextForms.days(inMonth: month, of: year) { return }
        (month, day) = (month + 1, 1)
        if month == 13 { (year, month) = (year + 1, 1) }
    }

    /// Calls a closure with each byte of the canonical text: `YYYY-MM-DDThh:mm:ss`, the fraction as given, and `Z`.
    package func write(to put: (UInt8) -> Void) {
        Self.write(year / 100, to: put)
        Self.write(year % 100, to: put)
        put(UInt8(ascii: "-"))
        Self.write(month, to: put)
        put(UInt8(ascii: "-"))
        Self.write(day, to: put)
        put(UInt8(ascii: "T"))
        Self.write(hour, to: put)
        put(UInt8(ascii: ":"))
        Self.write(minute, to: put)
        put(UInt8(ascii: ":"))
        Self.write(second, to: put)
        for index in 0..<fraction.count { put(fraction[index]) }
        put(UInt8(ascii: "Z"))
    }

    /// The canonical text.
    package var text: String {
        var bytes: [UInt8] = []
        write { bytes.append($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes a number from 0 to 99 as two digits.
    private static func write(_ number: Int, to put: (UInt8) -> Void) {
        put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / 10))
        put(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number % 10))
    }
}
