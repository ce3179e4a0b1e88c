import Foundation
import LinkCoordinator
import LinkCoordinatorFoundation
import TestSupport
import Testing

/// Tests of `Decimal` and `Date` with fields of a table.
@Suite("Decimal and Date in the fields of a table") struct ExactFieldTests {
    struct Offer: LinkModel, Encodable, Equatable {
        var price: Decimal
        var until: Date
        var start: Date?
        var steps: [Decimal]
    }

    static let file = #"""
        { "schemaVersion": 2, "table": { "id": "t", "version": "1" },
          "link": { "schemes": ["t"], "host": "segment" },
          "models": { "Offer": { "price": "decimal", "until": "datetime", "start": "datetime?",
                                 "steps": "list<decimal>" } },
          "coordinators": { "c": { "screens": { "offer": { "needs": ["Offer"] } } } },
          "routes": [ { "id": "offer", "match": "/offer", "to": { "path": "/c/offer" },
                        "bind": { "Offer": { "price": "query.price", "until": "query.until", "start": "query.start",
                                             "steps": "query.step" } } } ] }
        """#

    @Test("The properties of a link are decoded without a loss of digits")
    func decoded() throws {
        let table = try RouteTable(json: Self.file.utf8)
        let digits = "12345678901234567890123456789012345.678"
        let decision = table.resolve("t://offer?price=\(digits)&until=2026-01-31T14:00:00.250%2B02:00&step=1.50")
        let offer = try decision.model(Offer.self)
        #expect(offer.price.description == digits && offer.steps.map(\.description) == ["1.5"])
        #expect(offer.until == Date(timeIntervalSince1970: 1_769_860_800.25) && offer.start == nil)
    }

    @Test("A model with random values comes back from its link")
    func roundTrip() throws {
        let table = try RouteTable(json: Self.file.utf8)
        let seed: UInt64 = 11_40
        var generator = SeededGenerator(seed: seed)
        func decimal() throws -> Decimal {
            let digits = (0..<Int.random(in: 1...38, using: &generator)).map { _ in
                "\(Int.random(in: 0...9, using: &generator))"
            }
            let significand = try #require(Decimal(string: digits.joined()))
            let sign: FloatingPointSign = Bool.random(using: &generator) ? .minus : .plus
            return Decimal(sign: sign, exponent: -Int.random(in: 0...20, using: &generator), significand: significand)
        }
        func date() -> Date {
            // Quarters of a second are exact in a floating-point number.
            Date(
                timeIntervalSince1970: Double(Int.random(in: -200_000_000_000...900_000_000_000, using: &generator)) / 4
            )
        }
        for _ in 0..<500 {
            let offer = Offer(
                price: try decimal(), until: date(), start: Bool.random(using: &generator) ? date() : nil,
                steps: try (0..<Int.random(in: 0...3, using: &generator)).map { _ in try decimal() })
            let link = try table.link(route: "offer", models: Models(offer))
            let decision = table.resolve(link)
            #expect(try decision.model(Offer.self) == offer, "seed \(seed): \(link)")
        }
    }
}
