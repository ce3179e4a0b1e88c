import ByteStorage
import Foundation
import LinkCoordinator
import TestSupport
import Testing

@Suite("The text form of a date and time") struct DateTimeTests {
    @Test(
        "A date and time is published in UTC",
        arguments: [
            ("2025-01-31T14:30:00Z", "2025-01-31T14:30:00Z"), ("2025-01-31T14:30:00+00:00", "2025-01-31T14:30:00Z"),
            ("2025-01-31T14:30:00-00:00", "2025-01-31T14:30:00Z"), ("2025-01-31t14:30:00z", "2025-01-31T14:30:00Z"),
            ("2025-01-31T14:30:00z", "2025-01-31T14:30:00Z"), ("2025-01-31t14:30:00Z", "2025-01-31T14:30:00Z"),
            ("2025-01-31T14:30:00+02:00", "2025-01-31T12:30:00Z"),
            ("2025-01-31T14:30:59-05:30", "2025-01-31T20:00:59Z"),
            ("2025-01-31T23:30:00.250-05:30", "2025-02-01T05:00:00.250Z"),
            ("2025-01-31T14:30:00.0Z", "2025-01-31T14:30:00.0Z"),
            ("2025-01-31T14:30:00.000000000+00:01", "2025-01-31T14:29:00.000000000Z"),
            ("2025-01-31T14:30:00.123456789Z", "2025-01-31T14:30:00.123456789Z"),
            ("2025-01-01T00:00:00+00:01", "2024-12-31T23:59:00Z"),
            ("2024-12-31T23:59:59-00:01", "2025-01-01T00:00:59Z"),
            ("2024-03-01T00:00:00+00:01", "2024-02-29T23:59:00Z"),
            ("2025-03-01T00:00:00+00:01", "2025-02-28T23:59:00Z"),
            ("2000-03-01T00:00:00+01:00", "2000-02-29T23:00:00Z"),
            ("1900-03-01T00:00:00+01:00", "1900-02-28T23:00:00Z"),
            ("2024-02-29T12:00:00-12:00", "2024-03-01T00:00:00Z"),
            ("2024-02-28T12:00:00-12:00", "2024-02-29T00:00:00Z"),
            ("2025-05-01T23:59:59+23:59", "2025-05-01T00:00:59Z"),
            ("2025-05-01T00:00:00+23:59", "2025-04-30T00:01:00Z"),
            ("2025-05-31T23:59:59-23:59", "2025-06-01T23:58:59Z"), ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("0000-12-31T23:30:00-00:30", "0001-01-01T00:00:00Z"), ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
            ("9999-12-31T23:59:59.999999999+00:00", "9999-12-31T23:59:59.999999999Z"),
            ("1582-10-10T00:00:00Z", "1582-10-10T00:00:00Z"),
        ])
    func canonical(text: String, canonical: String) {
        #expect(FieldType.dateTime.canonicalText(text) == canonical)
        #expect(FieldType.dateTime.canonicalText(canonical) == canonical)
    }

    @Test(
        "A text that is not a date and time with an offset is refused",
        arguments: [
            "", "2025-01-31", "T", "14:30:00Z", "2025-01-31T14:30:00", "2025-01-31T14:30:00.", "2025-01-31T14:30:00.Z",
            "2025-01-31 14:30:00Z", "2025-01-31_14:30:00Z", "2025-01-3114:30:00Z", "2025-01-31T14:30Z",
            "2025-01-31T14Z",
            "20250131T143000Z", "2025-01-31T14:30:00+0200", "2025-01-31T14:30:00+02", "2025-01-31T14:30:00+2:00",
            "2025-01-31T14:30:00+24:00", "2025-01-31T14:30:00+02:60", "2025-01-31T14:30:00 +02:00",
            "2025-01-31T14:30:00 02:00", "2025-01-31T14:30:00ZZ", "2025-01-31T14:30:00Z ", " 2025-01-31T14:30:00Z",
            "2025-01-31T14:30:00+02:00Z", "2025-01-31T14:30:00Z+02:00", "2025-01-31T14:30:00+02:00:00",
            "2025-01-31T24:00:00Z", "2025-01-31T14:60:00Z", "2025-01-31T14:30:60Z", "2016-12-31T23:59:60Z",
            "2025-01-31T14:30:61Z", "2025-01-31T14:30:00,5Z", "2025-01-31T14:30:00.1234567890Z",
            "2025-01-31T14:30:00.5", "2025-01-31T14:30:00.5.5Z", "2025-01-31T14:30:00.-5Z", "2025-00-31T14:30:00Z",
            "2025-13-01T14:30:00Z", "2025-02-29T14:30:00Z", "2025-01-00T14:30:00Z", "1900-02-29T14:30:00Z",
            "25-01-31T14:30:00Z", "+2025-01-31T14:30:00Z", "-2025-01-31T14:30:00Z", "12025-01-31T14:30:00Z",
            "0000-01-01T00:00:00Z", "0000-12-31T23:59:59Z", "0001-01-01T00:30:00+01:00", "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01", "9999-12-31T12:00:00-23:59", "2025-01-31T14:30:00\u{2212}02:00",
            "２025-01-31T14:30:00Z", "2025-01-31T14:30:00UTC", "2025-01-31T14:30:00GMT", "2025-W05-5T14:30:00Z",
            "2025-031T14:30:00Z", "2025-01-31T14:30:00+02:00[Europe/Berlin]", "2025/01/31T14:30:00Z", "1738333800",
            "2025-01-31T-1:30:00Z", "2025-01-31T14:30:00.123456789+02:00:00", String(repeating: "2", count: 10_000),
        ])
    func refused(text: String) { #expect(FieldType.dateTime.canonicalText(text) == nil) }

    /// A date and time in parts.
    struct Parts {
        var (year, month, day) = (1, 1, 1)
        var (hour, minute, second) = (0, 0, 0)
        var offset = 0

        /// The number of days from the beginning of year 0 to the beginning of each year, counted year by year.
        private static let daysBefore = (0..<9_999).reduce(into: [0]) { days, year in
            days.append(days[year] + (isLeap(year) ? 366 : 365))
        }

        /// The number of days from the beginning of year 0, counted month by month.
        private var days: Int {
            let lengths = [31, Self.isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            return Self.daysBefore[year] + lengths[..<(month - 1)].reduce(0, +) + day - 1
        }

        /// The number of seconds from the beginning of year 0 in UTC.
        var seconds: Int { ((days * 24 + hour) * 60 + minute - offset) * 60 + second }

        private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

        /// Reads a text that has the form of RFC 3339, or returns nil if it has not.
        init?(_ text: String) {
            let shape = String(text.unicodeScalars.map { ("0"..."9").contains($0) ? "0" : Character($0) }).uppercased()
            let fraction = shape.dropFirst(19).first == "." ? shape.dropFirst(20).prefix { $0 == "0" } : nil
            if let fraction, !(1...9).contains(fraction.count) { return nil }
            let rest = shape.dropFirst(19 + (fraction.map { $0.count + 1 } ?? 0))
            guard shape.hasPrefix("0000-00-00T00:00:00"), ["Z", "+00:00", "-00:00"].contains(String(rest)) else {
                return nil
            }
            let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
            (year, month, day) = (numbers[0], numbers[1], numbers[2])
            (hour, minute, second) = (numbers[3], numbers[4], numbers[5])
            if rest != "Z" {
                let (hours, minutes) = (numbers[numbers.count - 2], numbers[numbers.count - 1])
                guard hours < 24, minutes < 60 else { return nil }
                offset = (rest.hasPrefix("-") ? -1 : 1) * (hours * 60 + minutes)
            }
            let lengths = [31, Self.isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            guard hour < 24, minute < 60, second < 60, (1...12).contains(month), (1...lengths[month - 1]).contains(day)
            else { return nil }
        }
    }

    /// The seconds from the beginning of year 1, after a leap year of 366 days, up to the beginning of year 10,000.
    static let range = 31_622_400..<315_569_520_000

    static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns a text with a random time, which is near the end of a month, a year, or the range in many cases.
    static func text(_ generator: inout SeededGenerator) -> String {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        let year =
            [0, 1, 4, 1582, 1900, 2000, 2024, 2025, 9999, number(0...9999)].randomElement(using: &generator) ?? 0
        let month = [1, 2, 3, 12, number(1...12)].randomElement(using: &generator) ?? 1
        let day = [1, 28, 29, 30, 31, number(1...28)].randomElement(using: &generator) ?? 1
        let fraction = number(0...2) == 0 ? "." + (0..<number(1...9)).map { _ in "\(number(0...9))" }.joined() : ""
        let sign = ["Z", "z", "+", "-", "+", "-"].randomElement(using: &generator) ?? "Z"
        let hour = [0, 23, number(0...23)].randomElement(using: &generator) ?? 0
        let offset = sign == "Z" || sign == "z" ? "" : "\(two(number(0...23))):\(two(number(0...59)))"
        return String(repeating: "0", count: 4 - "\(year)".count) + "\(year)-\(two(month))-\(two(day))"
            + "\(number(0...9) == 0 ? "t" : "T")\(two(hour)):\(two(number(0...59))):\(two(number(0...59)))"
            + fraction + sign + offset
    }

    @Test("The conversion to UTC agrees with an independent count of days, and does not change its result")
    func conversion() throws {
        let seed: UInt64 = 33_39
        var generator = SeededGenerator(seed: seed)
        var (converted, refused) = (0, 0)
        for _ in 0..<4_000 {
            let text = Self.text(&generator)
            let canonical = FieldType.dateTime.canonicalText(text)
            guard let parts = Parts(text), Self.range.contains(parts.seconds) else {
                refused += 1
                #expect(canonical == nil, "seed \(seed): \(text)")
                continue
            }
            let result = try #require(canonical, "seed \(seed): \(text)")
            #expect(Parts(result)?.seconds == parts.seconds, "seed \(seed): \(text) became \(result)")
            #expect(result.hasSuffix("Z") && result.contains("T"), "seed \(seed): \(text) became \(result)")
            func fraction(_ text: String) -> Substring { text.dropFirst(19).prefix { $0 == "." || $0.isNumber } }
            #expect(fraction(result) == fraction(text), "seed \(seed): \(text) became \(result)")
            #expect(FieldType.dateTime.canonicalText(result) == result, "seed \(seed): \(text)")
            if result != text { converted += 1 }
        }
        print("dates and times: seed \(seed): \(converted) converted, \(refused) refused of 4,000")
        #expect(converted > 2_000 && refused > 100)
    }

    @Test("The conversion to UTC agrees with Foundation")
    func foundation() throws {
        let seed: UInt64 = 33_40
        var generator = SeededGenerator(seed: seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for _ in 0..<500 {
            let text = Self.text(&generator)
            // Foundation's calendar is not proleptic.
            guard let parts = Parts(text), (1600...9998).contains(parts.year) else { continue }
            let components = DateComponents(
                year: parts.year, month: parts.month, day: parts.day, hour: parts.hour, minute: parts.minute,
                second: parts.second)
            let local = try #require(calendar.date(from: components), "seed \(seed): \(text)")
            let date = local.addingTimeInterval(Double(-parts.offset * 60))
            let utc = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let fields = [utc.month, utc.day, utc.hour, utc.minute, utc.second].map { Self.two($0 ?? -1) }
            let expected = "\(utc.year ?? -1)-\(fields[0])-\(fields[1])T\(fields[2]):\(fields[3]):\(fields[4])"
            let canonical = try #require(FieldType.dateTime.canonicalText(text), "seed \(seed): \(text)")
            #expect(canonical.prefix(19) == expected, "seed \(seed): \(text)")
        }
    }

    @Test("Any bytes are read without a trap, and exactly the texts of the grammar are accepted")
    func anyBytes() {
        let seed: UInt64 = 33_41
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789TtZz:.+- \u{0}é".utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = Array(Self.text(&generator).utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes.remove(at: index)
                case 1: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: index)
                case 2: bytes.removeLast(min(bytes.count - 1, 3))
                default: bytes[index] = alphabet.randomElement(using: &generator) ?? 0
                }
            }
            // The buffer ends with the text, so that a read past the end is found by a sanitizer.
            let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            defer { buffer.deallocate() }
            _ = buffer.initialize(from: bytes)
            let canonical = TextForms.dateTime(ByteView(UnsafeBufferPointer(buffer)))?.text
            let text = String(decoding: bytes, as: UTF8.self)
            let isValid = Parts(text).map { Self.range.contains($0.seconds) } ?? false
            #expect((canonical != nil) == isValid, "seed \(seed): \(text)")
            if isValid { accepted += 1 }
        }
        print("dates and times: seed \(seed): \(accepted) of 20,000 texts are accepted")
        #expect(accepted > 5_000)
    }
}
