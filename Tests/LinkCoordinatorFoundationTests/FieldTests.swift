import Foundation
import LinkCoordinator
import LinkCoordinatorFoundation
import TestSupport
import Testing

@Suite("Decimal, Date, and URL as properties of a model") struct FieldTests {
    struct Offer: LinkModel, Encodable, Equatable {
        var price: Decimal
        var until: Date?
        var steps: [Decimal]
        var page: URL
    }

    @Test("A model with these types is decoded, and encoded unchanged")
    func models() throws {
        let values: Models = [
            "Offer": [
                "price": .number("12.5"), "until": "2026-01-31T12:00:00.25Z",
                "steps": [.number("-1"), .number("0.01")],
                "page": "https://e.example/a%20b",
            ]
        ]
        let offer = try values.model(Offer.self)
        #expect(offer.price == Decimal(string: "12.5") && offer.steps == [-1, Decimal(string: "0.01")])
        #expect(offer.until == Date(timeIntervalSince1970: 1_769_860_800.25))
        #expect(offer.page.path == "/a b")
        #expect(try Models(offer) == values)
    }

    @Test(
        "A decimal keeps every digit",
        arguments: [
            "0", "-1", "12.5", "0.00000000000000000000000000000000000001", "99999999999999999999999999999999999999",
            "-1234567890123456789012345678.9012345678",
        ])
    func decimals(text: String) throws {
        #expect(try #require(Decimal(fieldText: text)).fieldText == text)
    }

    @Test(
        "A text that is not an exact decimal is refused",
        arguments: [
            "", "-", ".5", "5.", "1e3", "1,5", "0x10", "NaN", " 1", "1 ", "1.2.3", String(repeating: "1", count: 39),
        ])
    func refusedDecimals(text: String) { #expect(Decimal(fieldText: text) == nil) }

    @Test("A date agrees with the calendar of Foundation, and is read back unchanged")
    func dates() throws {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        var generator = SeededGenerator(seed: 3339)
        // The years that the calendars of Foundation compute in the proleptic Gregorian calendar on every platform.
        for _ in 0..<2000 {
            let seconds = Int.random(in: -12_000_000_000...252_000_000_000, using: &generator)
            let date = Date(timeIntervalSinceReferenceDate: Double(seconds))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let text = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0,
                parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
            #expect(date.fieldText == text && Date(fieldText: text) == date, "seed \(generator.seed): \(seconds)")
        }
    }

    @Test(
        "The bounds of the calendar and the fraction are read and written",
        arguments: [
            "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2000-02-29T00:00:00Z", "1970-01-01T00:00:00.000001Z",
            "2026-11-22T23:59:59.999999Z", "2000-12-31T23:59:59.5Z",
        ])
    func bounds(text: String) throws { #expect(try #require(Date(fieldText: text)).fieldText == text) }

    @Test(
        "A text that is not a canonical date and time is refused",
        arguments: [
            "", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00:00+00:00", "2026-02-29T12:00:00Z",
            "2026-13-01T12:00:00Z", "2026-00-01T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
            "2026-01-31T12:00:60Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00.1234567890Z",
            "2026-01-31 12:00:00Z", "2026-01-31T12:00:0éZ", "2026-01-00T12:00:00Z", "-026-01-31T12:00:00Z",
        ])
    func refusedDates(text: String) { #expect(Date(fieldText: text) == nil) }
}
