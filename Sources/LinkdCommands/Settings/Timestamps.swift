internal import ByteStorage

/// Conversion between RFC 3339 timestamps and milliseconds since 1970, in UTC.
enum Timestamps {
    /// Returns a timestamp such as `2026-11-20T10:00:00.123Z`.
    static func text(_ milliseconds: Int64) -> String { OutputArena.text { append(milliseconds, to: &$0) } }

    /// Appends a timestamp such as `2026-11-20T10:00:00.123Z`, or `2026-11-20T11:00:00.123+01:00` in local time.
    static func append(_ milliseconds: Int64, local: Bool = false, to out: inout OutputArena) {
        let minutes = local ? Platform.utcOffsetMinutes(at: floorDivide(milliseconds, 1000)) : nil
        let shown = milliseconds &+ (minutes ?? 0) &* 60_000
        let days = floorDivide(shown, 86_400_000)
        let rest = shown &- days &* 86_400_000
        let (year, month, day) = civil(days)
        append(year, 4, "-", to: &out)
        append(month, 2, "-", to: &out)
        append(day, 2, "T", to: &out)
        append(rest / 3_600_000, 2, ":", to: &out)
        append(rest / 60_000 % 60, 2, ":", to: &out)
        append(rest / 1000 % 60, 2, ".", to: &out)
        append(rest % 1000, 3, "", to: &out)
        guard let minutes else { return out.append("Z") }
        out.append(minutes < 0 ? "-" : "+")
        append(abs(minutes) / 60, 2, ":", to: &out)
        append(abs(minutes) % 60, 2, "", to: &out)
    }

    /// Appends a number with leading zeros, and a text.
    private static func append(_ value: Int64, _ count: Int, _ end: StaticString, to out: inout OutputArena) {
        var least: Int64 = 1
        for _ in 1..<count {
            least *= 10
            if value < least { out.append("0") }
        }
        out.append(decimal: value)
        out.append(end)
    }

    /// Parses a timestamp (`2026-11-20`, `2026-11-20T10:00:00Z`, with fraction or offset), a duration before now
    /// (`15m`, `1d2h`), the last time of day (`16:30`), or the start of `today` or `yesterday`.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The time now, in milliseconds since 1970.
    ///   - local: A Boolean value that indicates whether days and times of day are in the local time zone.
    static func parse(_ text: String, now: Int64, local: Bool = false) -> Int64? {
        if let ago = Durations.sum(text) { return now >= ago ? now - ago : 0 }
        if text == "now" { return now }
        if text == "today" { return midnight(0, before: now, local) }
        if text == "yesterday" { return midnight(1, before: now, local) }
        var rest = Substring(text)
        if let time = timeOfDay(&rest), rest.isEmpty {
            guard let today = midnight(0, before: now, local) else { return nil }
            return today + time <= now ? today + time : midnight(1, before: now, local).map { $0 + time }
        }
        rest = Substring(text)
        guard let year = number(&rest, 4), literal(&rest, "-"), let month = number(&rest, 2), literal(&rest, "-"),
            let day = number(&rest, 2), (1...12).contains(month), (1...daysIn(month, of: year)).contains(day)
        else { return nil }
        let midnight = daysSince1970(year, month, day) * 86_400_000
        if rest.isEmpty { return midnight }
        guard literal(&rest, "T") || literal(&rest, "t") || literal(&rest, " "), let time = timeOfDay(&rest) else {
            return nil
        }
        guard let offset = offset(&rest), rest.isEmpty else { return nil }
        return midnight + time - offset
    }

    /// Returns the start of the day that is this number of days before now.
    private static func midnight(_ days: Int64, before now: Int64, _ local: Bool) -> Int64? {
        func shift(_ time: Int64) -> Int64 {
            (local ? Platform.utcOffsetMinutes(at: floorDivide(time, 1000)) ?? 0 : 0) * 60_000
        }
        let (day, isOver) = (floorDivide(now &+ shift(now), 86_400_000) - days).multipliedReportingOverflow(
            by: 86_400_000)
        return isOver ? nil : day - shift(day)
    }

    private static func timeOfDay(_ rest: inout Substring) -> Int64? {
        guard let hour = number(&rest, 2), literal(&rest, ":"), let minute = number(&rest, 2), hour < 24, minute < 60
        else { return nil }
        var milliseconds: Int64 = 0
        if literal(&rest, ":") {
            guard let second = number(&rest, 2), second <= 60 else { return nil }
            milliseconds = second * 1000
            if literal(&rest, ".") {
                let fraction = rest.prefix { $0.isASCII && $0.isNumber }
                guard !fraction.isEmpty, fraction.count <= 9 else { return nil }
                rest = rest.dropFirst(fraction.count)
                milliseconds += Int64((fraction + "00").prefix(3)) ?? 0
            }
        }
        return (hour * 60 + minute) * 60_000 + milliseconds
    }

    private static func offset(_ rest: inout Substring) -> Int64? {
        if literal(&rest, "Z") || literal(&rest, "z") { return 0 }
        let sign: Int64 = literal(&rest, "+") ? 1 : literal(&rest, "-") ? -1 : 0
        guard sign != 0, let hour = number(&rest, 2), literal(&rest, ":"), let minute = number(&rest, 2), hour < 24,
            minute < 60
        else { return nil }
        return sign * (hour * 60 + minute) * 60_000
    }

    private static func number(_ rest: inout Substring, _ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        rest = rest.dropFirst(count)
        return Int64(digits)
    }

    private static func literal(_ rest: inout Substring, _ text: Character) -> Bool {
        guard rest.first == text else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: leap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Conversion between days and dates of the proleptic Gregorian calendar. A year begins in March, so that the leap
    // day is the last day of its year and 400 years are one era of 146,097 days.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = floorDivide(y, 400)
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
        let quotient = a / b
        return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient
    }
}
