internal import LinkCoordinator
internal import ByteStorage

/// The parsing of RFC 3339 timestamps.
enum EventTime {
    /// Returns the milliseconds since 1970 of an RFC 3339 date-time (section 5.6), or nil.
    ///
    /// Digits after the milliseconds are ignored. A leap second (section 5.7) counts as the second that follows it.
    static func milliseconds(_ text: ByteView) -> Int64? {
        guard text.count >= 20, text.count <= 64, separators(text), TextForms.isDate(text.slice(0, 10)),
            let year = TextForms.digits(text, 0, 4), let month = TextForms.digits(text, 5, 7),
            let day = TextForms.digits(text, 8, 10), let hour = TextForms.digits(text, 11, 13),
            let minute = TextForms.digits(text, 14, 16), let second = TextForms.digits(text, 17, 19),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        var index = 19
        guard let fraction = milliseconds(of: text, from: &index), let offset = zone(text, from: index) else {
            return nil
        }
        let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset
        if second == 60 && (minutes % 1440 + 1440) % 1440 != 1439 { return nil }
        return Int64((minutes * 60 + second) * 1000 + fraction)
    }

    private static func separators(_ text: ByteView) -> Bool {
        text[10] | 0x20 == UInt8(ascii: "t") && text[13] == UInt8(ascii: ":") && text[16] == UInt8(ascii: ":")
    }

    /// Reads an optional fraction of a second at `index`, and returns its milliseconds.
    private static func milliseconds(of text: ByteView, from index: inout Int) -> Int? {
        guard index < text.count, text[index] == UInt8(ascii: ".") else { return 0 }
        index += 1
        let start = index
        var value = 0
        while index < text.count, let digit = TextForms.digits(text, index, index + 1) {
            if index < start + 3 { value = value * 10 + digit }
            index += 1
        }
        if index == start { return nil }
        for _ in index..<max(index, start + 3) { value *= 10 }
        return value
    }

    /// Returns the offset from UTC in minutes of the zone at `index`, which must end the text.
    private static func zone(_ text: ByteView, from index: Int) -> Int? {
        guard index < text.count else { return nil }
        if text[index] | 0x20 == UInt8(ascii: "z") { return index + 1 == text.count ? 0 : nil }
        let east = text[index] == UInt8(ascii: "+")
        guard east || text[index] == UInt8(ascii: "-"), index + 6 == text.count,
            text[index + 3] == UInt8(ascii: ":"), let hours = TextForms.digits(text, index + 1, index + 3),
            let minutes = TextForms.digits(text, index + 4, index + 6), hours <= 23, minutes <= 59
        else { return nil }
        return (hours * 60 + minutes) * (east ? 1 : -1)
    }

    /// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
    ///
    /// The calculation uses years that begin in March.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
