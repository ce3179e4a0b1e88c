import Foundation
import LinkCoordinator
import Testing

@Suite("Types of an app as fields of a model") struct ModelFieldTests {
    /// A number that is not `Codable` as a number.
    struct Cents: Codable, Equatable, ModelFieldValue {
        static var fieldKind: ModelFieldKind { .number }
        var units = 0
        var cents = 0

        init(_ units: Int, _ cents: Int) { (self.units, self.cents) = (units, cents) }

        init?(fieldText: String) {
            let halves = fieldText.split(separator: ".").compactMap { Int($0) }
            guard halves.count == 2 else { return nil }
            self.init(halves[0], halves[1])
        }

        var fieldText: String { "\(units).\(cents)" }
    }

    /// A text with another form than its `Codable` implementation.
    struct Day: Codable, Equatable, ModelFieldValue {
        static var fieldKind: ModelFieldKind { .text }
        var month = 1
        var day = 1

        init(_ month: Int, _ day: Int) { (self.month, self.day) = (month, day) }

        init?(fieldText: String) {
            let parts = fieldText.split(separator: "-").compactMap { Int($0) }
            guard parts.count == 2 else { return nil }
            self.init(parts[0], parts[1])
        }

        var fieldText: String { "\(month)-\(day)" }
    }

    struct Offer: LinkModel, Encodable, Equatable {
        var price: Cents
        var before: Cents?
        var steps: [Cents]
        var start: Day
        var end: Day?
        var days: [Day]
    }

    @Test("A type that conforms to ModelFieldValue is read and written as its text, in lists and optionals too")
    func conforming() throws {
        let full: Models = [
            "Offer": [
                "price": 1.25, "before": .number("2.50"), "steps": [1.5, 2.75], "start": "2-28", "end": "3-1",
                "days": ["2-28", "3-1"],
            ]
        ]
        let offer = Offer(
            price: Cents(1, 25), before: Cents(2, 50), steps: [Cents(1, 5), Cents(2, 75)], start: Day(2, 28),
            end: Day(3, 1), days: [Day(2, 28), Day(3, 1)])
        #expect(try full.model(Offer.self) == offer)
        #expect(try Models(offer) == full)
    }

    @Test("A property that conforms to ModelFieldValue can be nil")
    func nilValues() throws {
        let bare = Offer(price: Cents(0, 5), steps: [], start: Day(1, 1), days: [])
        let values: Models = [
            "Offer": ["price": 0.5, "before": .null, "steps": [], "start": "1-1", "end": .null, "days": []]
        ]
        #expect(try values.model(Offer.self) == bare)
        #expect(try Models(bare).fields["Offer"]?["before"] == nil)
        var written = try Models(bare)
        written.fields["Offer"]?["before"] = .null
        written.fields["Offer"]?["end"] = .null
        #expect(written == values)
    }

    @Test("A text that the type does not accept, or a value of the other kind, is an error without the value")
    func refused() throws {
        struct Priced: LinkModel { var price: Cents }
        struct Listed: LinkModel { var days: [Day?] }
        let cases: [(error: ModelError?, text: String)] = [
            (
                error { try Models(["Priced": ["price": 7719]]).model(Priced.self) },
                "field `price` is a number that is not a value of the type `Cents`; "
                    + "declare the property as `Int` or `Double`, or change the type of the field in the table"
            ),
            (
                error { try Models(["Priced": ["price": "1.25"]]).model(Priced.self) },
                "field `price` is a string, but the type `Cents` is read from a number; "
                    + "declare the property as `String`, or change the type of the field in the table"
            ),
            (
                error { try Models(["Listed": ["days": ["1-1", "7719"]]]).model(Listed.self) },
                "field `days[1]` is a string that is not a value of the type `Day`; "
                    + "declare the items of the array as `String`, or change the type of the field in the table"
            ),
        ]
        for (error, text) in cases { #expect(error?.detail == text) }
    }

    private func error(_ body: () throws -> Any) -> ModelError? {
        #expect(throws: ModelError.self) { _ = try body() }
    }
}
