/// A date of the proleptic Gregorian calendar.
package struct CivilDate: Sendable {
    /// The year, the month from 1 to 12, and the day from 1 to 31.
    package let year: Int, month: Int, day: Int

    /// Creates the date that is a number of days after 1970-01-01.
    ///
    /// A year begins in March here, so that the leap day is the last day of its year, and 400 years are one era of
    /// 146,097 days.
    package init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = Int(shifted - era * 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        year = yearOfEra + Int(era) * 400 + (fromMarch >= 10 ? 1 : 0)
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
    }

    /// Reads the `YYYY-MM-DD` with which a text begins, from year 0000 to 9999.
    package init?(startOf text: ByteView) {
        guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let year = text.digits(0, 4), let month = text.digits(5, 7), let day = text.digits(8, 10),
            month >= 1, month <= 12, day >= 1, day <= Self.days(inMonth: month, of: year)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number of days from 1970-01-01 to the date, also in years that begin in March.
    package var daysSince1970: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(Int64(shifted), 400)
        let yearOfEra = shifted - Int(era) * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + Int64(yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
    }
}

/// A reader of the parts of a time in the form of RFC 3339, section 5.6, from the start of a text to its end.
package struct TimeReader {
    private var rest: ByteView

    /// Creates a reader of a text.
    package init(_ text: ByteView) { rest = text }

    /// A Boolean value that indicates whether the whole text was read.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Reads a date, and returns the number of days since 1970.
    package mutating func day() -> Int64? {
        guard let date = CivilDate(startOf: rest) else { return nil }
        rest = rest.dropFirst(10)
        return date.daysSince1970
    }

    /// Reads `hh:mm`, `hh:mm:ss`, or `hh:mm:ss` with a fraction.
    package mutating func clock() -> ClockTime? {
        guard let hour = number(), hour <= 23, skip(UInt8(ascii: ":")), let minute = number(), minute <= 59 else {
            return nil
        }
        var time = ClockTime(seconds: (hour * 60 + minute) * 60)
        guard skip(UInt8(ascii: ":")) else { return time }
        guard let second = number(), second <= 60 else { return nil }
        time.seconds += second
        time.second = second
        guard !rest.isEmpty, rest[0] == UInt8(ascii: ".") else { return time }
        var end = 1
        while end < rest.count, rest[end] &- UInt8(ascii: "0") < 10 { end += 1 }
        guard end > 1 else { return nil }
        time.fraction = rest.slice(0, end)
        rest = rest.dropFirst(end)
        return time
    }

    /// Reads an offset from UTC such as `Z` or `-05:30`, and returns its seconds.
    package mutating func offset() -> Int64? {
        if skip(UInt8(ascii: "Z")) || skip(UInt8(ascii: "z")) { return 0 }
        let isWest = skip(UInt8(ascii: "-"))
        guard isWest || skip(UInt8(ascii: "+")), let hours = number(), hours <= 23, skip(UInt8(ascii: ":")),
            let minutes = number(), minutes <= 59
        else { return nil }
        return (hours * 60 + minutes) * (isWest ? -60 : 60)
    }

    /// Reads a byte; returns false if it is not the next one.
    package mutating func skip(_ byte: UInt8) -> Bool {
        guard !rest.isEmpty, rest[0] == byte else { return false }
        rest = rest.dropFirst(1)
        return true
    }

    /// Reads two digits.
    private mutating func number() -> Int64? {
        guard rest.count >= 2, let value = rest.digits(0, 2) else { return nil }
        rest = rest.dropFirst(2)
        return Int64(value)
    }
}

/// A time of day, which borrows its fraction from its text.
package struct ClockTime: Sendable {
    /// The seconds since midnight.
    package var seconds: Int64
    /// The second as written, or nil if there is none; 60 is a leap second.
    package var second: Int64?
    /// The fraction of a second with its point, or an empty text.
    package var fraction: ByteView = .empty

    /// Returns the first digits of the fraction as a number.
    package func fraction(digits: Int) -> Int64 {
        (1...digits).reduce(0) { $0 * 10 + ($1 < fraction.count ? Int64(fraction[$1] &- UInt8(ascii: "0")) : 0) }
    }

    /// The milliseconds since midnight, rounded down.
    package var milliseconds: Int64 { seconds * 1000 + fraction(digits: 3) }
}

/// A date and time in the form of RFC 3339, section 5.6, converted to UTC.
package struct UTCDateTime: Sendable {
    /// The seconds since 1970; a leap second is the second that follows it.
    package let seconds: Int64
    /// The time of day as written.
    package let clock: ClockTime
    /// A Boolean value that indicates whether the text is the one that `append(to:)` writes.
    package let isCanonical: Bool

    /// Reads a text of a year from 0000 to 9999.
    package init?(_ text: ByteView) {
        var reader = TimeReader(text)
        guard let day = reader.day(), reader.skip(UInt8(ascii: "T")) || reader.skip(UInt8(ascii: "t")),
            let clock = reader.clock(), clock.second != nil, let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        seconds = day * 86_400 + clock.seconds - offset
        self.clock = clock
        isCanonical = text[10] == UInt8(ascii: "T") && text[text.count - 1] == UInt8(ascii: "Z")
    }

    /// The milliseconds since 1970, rounded down.
    package var milliseconds: Int64 { seconds * 1000 + clock.fraction(digits: 3) }

    /// Appends the canonical text: `YYYY-MM-DDThh:mm:ss`, the fraction as given, and `Z`.
    package func append(to arena: inout OutputArena) {
        arena.append(secondsSince1970: seconds)
        arena.append(clock.fraction)
        arena.append("Z")
    }

    /// The canonical text.
    package var text: String { OutputArena.text { append(to: &$0) } }

    /// Returns a time in UTC such as `2026-11-20T10:00:00`.
    package static func text(seconds: Int64) -> String { OutputArena.text { $0.append(secondsSince1970: seconds) } }

    /// Returns a time in UTC such as `2026-11-20T10:00:00.123Z`.
    package static func text(milliseconds: Int64) -> String {
        OutputArena.text {
            $0.append(millisecondsSince1970: milliseconds)
            $0.append("Z")
        }
    }
}

extension OutputArena {
    /// Appends a time in UTC such as `2026-11-20T10:00:00`.
    package mutating func append(secondsSince1970 seconds: Int64) {
        let days = floorDivide(seconds, 86_400)
        let second = seconds - days * 86_400
        let date = CivilDate(daysSince1970: days)
        append(Int64(date.year), digits: 4)
        append("-")
        append(Int64(date.month), digits: 2)
        append("-")
        append(Int64(date.day), digits: 2)
        append("T")
        append(second / 3600, digits: 2)
        append(":")
        append(second / 60 % 60, digits: 2)
        append(":")
        append(second % 60, digits: 2)
    }

    /// Appends a time in UTC such as `2026-11-20T10:00:00.123`.
    package mutating func append(millisecondsSince1970 milliseconds: Int64) {
        let seconds = floorDivide(milliseconds, 1000)
        append(secondsSince1970: seconds)
        append(".")
        append(milliseconds - seconds * 1000, digits: 3)
    }

    /// Appends a number with leading zeros.
    package mutating func append(_ value: Int64, digits: Int) {
        var least: Int64 = 1
        for _ in 1..<digits {
            least *= 10
            if value < least { append("0") }
        }
        append(decimal: value)
    }

    /// Returns what a function appends as text.
    package static func text(_ body: (inout OutputArena) -> Void) -> String {
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        body(&arena)
        return arena.finish().string
    }
}

extension ByteView {
    /// Returns the number that the digits from one index up to another one represent, or nil.
    package func digits(_ from: Int, _ to: Int) -> Int? {
        var value = 0
        for index in from..<to {
            let digit = self[index] &- UInt8(ascii: "0")
            if digit >= 10 { return nil }
            value = value &* 10 &+ Int(digit)
        }
        return value
    }
}

/// Returns a quotient, rounded down.
package func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
    number / divisor - (number % divisor < 0 ? 1 : 0)
}
