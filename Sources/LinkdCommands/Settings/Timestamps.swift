internal import ByteStorage

/// Conversion between RFC 3339 timestamps and milliseconds since 1970, in UTC.
enum Timestamps {
    /// Appends a timestamp such as `2026-11-20T10:00:00.123Z`, or `2026-11-20T11:00:00.123+01:00` in local time.
    static func append(_ milliseconds: Int64, local: Bool = false, to out: inout OutputArena) {
        let minutes = local ? Platform.utcOffsetMinutes(at: floorDivide(milliseconds, 1000)) : nil
        out.append(millisecondsSince1970: milliseconds &+ (minutes ?? 0) &* 60_000)
        guard let minutes else { return out.append("Z") }
        out.append(minutes < 0 ? "-" : "+")
        out.append(abs(minutes) / 60, digits: 2)
        out.append(":")
        out.append(abs(minutes) % 60, digits: 2)
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
        return Array(text.utf8).withUnsafeBufferPointer { bytes in
            var reader = TimeReader(ByteView(bytes))
            if let time = clock(&reader), reader.isAtEnd {
                guard let today = midnight(0, before: now, local) else { return nil }
                return today + time <= now ? today + time : midnight(1, before: now, local).map { $0 + time }
            }
            reader = TimeReader(ByteView(bytes))
            guard let day = reader.day() else { return nil }
            if reader.isAtEnd { return day * 86_400_000 }
            guard "Tt ".utf8.contains(where: { reader.skip($0) }), let time = clock(&reader),
                let offset = reader.offset(), reader.isAtEnd
            else { return nil }
            return day * 86_400_000 + time - offset * 1000
        }
    }

    /// Reads a time of day with at most nine digits of a fraction, and returns its milliseconds.
    private static func clock(_ reader: inout TimeReader) -> Int64? {
        reader.clock().flatMap { $0.fraction.count <= 10 ? $0.milliseconds : nil }
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
}
