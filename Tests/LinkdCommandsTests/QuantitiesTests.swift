internal import ByteStorage
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct QuantitiesTests {
    @Test(
        "A duration is an integer with a unit",
        arguments: [
            ("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("12h", 43_200_000), ("7d", 604_800_000), ("0s", 0),
            ("", nil), ("30", nil), ("s", nil), ("-1s", nil), ("+1s", nil), ("1.5s", nil), ("1 s", nil), ("1S", nil),
            ("1w", nil), ("٣s", nil), ("9223372036854775807ms", .max), ("9223372036854775807s", nil),
            ("99999999999999999999ms", nil),
        ] as [(String, Int64?)])
    func durations(text: String, milliseconds: Int64?) { #expect(Durations.parse(text) == milliseconds) }

    @Test(
        "A size is an integer with an optional binary unit",
        arguments: [
            ("1048576", 1 << 20), ("64KiB", 64 << 10), ("1MiB", 1 << 20), ("2GiB", 2 << 30), ("0", 0), ("", nil),
            ("64KB", nil), ("64kib", nil), ("1 MiB", nil), ("-1", nil), ("8589934592GiB", nil), ("1e6", nil),
        ] as [(String, Int64?)])
    func sizes(text: String, bytes: Int64?) { #expect(Sizes.parse(text) == bytes) }

    @Test(
        "A decimal number has at most the decimal places of its type",
        arguments: [
            ("0.95", 9500), ("0", 0), ("1", 10_000), ("1.0", 10_000), ("0.0001", 1), ("007.5", 75_000),
            ("0.00001", nil), ("", nil), (".5", nil), ("5.", nil), ("1.2.3", nil), ("-1", nil), ("+1", nil),
            ("1e-1", nil), ("1,5", nil), ("٣", nil), ("922337203685477.5807", .max), ("922337203685477.5808", nil),
        ] as [(String, Int64?)])
    func decimals(text: String, value: Int64?) { #expect(FixedPoint.parse(text, places: 4) == value) }

    @Test("A printed quantity is read as the same number")
    func roundTrip() {
        var generator = SeededGenerator(seed: 20_261_120)
        for _ in 0..<2000 {
            let number = Int64.random(in: 0...(1 << Int64.random(in: 0...50)), using: &generator)
            #expect(Durations.parse(Durations.text(number)) == number, "seed \(generator.seed)")
            #expect(Sizes.parse(Sizes.text(number)) == number, "seed \(generator.seed)")
            for places in 0...4 {
                let text = FixedPoint.text(number, places: places)
                #expect(FixedPoint.parse(text, places: places) == number, "\(text), seed \(generator.seed)")
            }
        }
    }

    @Test(
        "A time is an RFC 3339 timestamp with any offset, a date, or a duration before now",
        arguments: [
            ("2026-11-20T10:00:00Z", 1_795_168_800_000), ("2026-11-20T10:00:00.123Z", 1_795_168_800_123),
            ("2026-11-20T12:00:00+02:00", 1_795_168_800_000), ("2026-11-20", 1_795_132_800_000),
            ("2024-02-29", 1_709_164_800_000), ("1970-01-01T00:00:00Z", 0), ("10s", 90_000), ("10d", 0),
            ("2026-02-29", nil), ("2026-13-01", nil), ("2026-11-20T24:00:00Z", nil), ("2026-11-20T10:00:00", nil),
            ("tomorrow", nil), ("", nil), ("2026-11-20T10:00:00Zx", nil), ("20261120", nil),
        ] as [(String, Int64?)])
    func times(text: String, milliseconds: Int64?) {
        #expect(Timestamps.parse(text, now: 100_000) == milliseconds)
    }

    @Test("Every printed timestamp is read as the same time")
    func timesRoundTrip() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let time = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &generator)
            #expect(Timestamps.parse(UTCDateTime.text(milliseconds: time), now: 0) == time, "seed \(generator.seed)")
        }
    }
}
