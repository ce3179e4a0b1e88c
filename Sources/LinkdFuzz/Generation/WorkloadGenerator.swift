internal import Foundation

/// A generator of link events for the shop, with the kinds and shares of the benchmarks' workload.
package struct WorkloadGenerator {
    private var random: RandomSource

    /// Creates a generator.
    ///
    /// The same seed yields the same events.
    package init(seed: UInt64) { random = RandomSource(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + random.below(range.count) }

    private mutating func one(of choices: [String]) -> String { random.pick(choices) }

    private mutating func uuid(upper: Bool) -> String {
        let digits = Array(upper ? "0123456789ABCDEF" : "0123456789abcdef")
        return [8, 4, 4, 4, 12].map { length in
            String((0..<length).map { _ in digits[number(0...15)] })
        }.joined(separator: "-")
    }

    private mutating func link() -> String {
        let share = number(0...999)
        let utm = one(of: ["", "&utm_source=push", "&utm_source=mail&utm_campaign=spring%20sale&utm_medium=app"])
        let origin = "https://shop.example"
        switch share {
        case ..<450: return "\(origin)/p/\(uuid(upper: true))?count=\(number(1...99))\(utm)"
        case ..<550:
            let locale = one(of: ["en", "ru", "de"])
            return "https://www.shop.example/\(locale)/p/\(uuid(upper: false))?COUNT=\(number(1...99))\(utm)"
        case ..<600: return "shop:///p/\(uuid(upper: false))"
        case ..<650: return "\(origin)/p/new"
        case ..<750: return "shop:///orders/\(number(1...1_000_000_000))"
        case ..<800: return "\(origin)/o/\(number(1...1_000_000))"
        case ..<900:
            let tags = (0..<number(0...4)).map { _ in "&tag=t\(number(1...30))" }.joined()
            return "\(origin)/search?q=" + one(of: ["red%20shoes", "кроссовки", "%D0%BA%D0%BE%D1%82", "a+b"]) + tags
                + utm
        case ..<930: return "\(origin)/legal/" + one(of: ["terms", "privacy/eu", "imprint"])
        case ..<950: return "shop:///"
        case ..<970: return "\(origin)/p/\(uuid(upper: false))?count=" + one(of: ["0", "100", "two", "07", ""])
        case ..<980: return "https://evil.example/p/\(uuid(upper: false))"
        case ..<990: return "http://shop.example/p/\(uuid(upper: false))"
        default: return "\(origin)/" + one(of: ["nope", "p", "p/1", "orders/012", "orders/x", "legal", "search"])
        }
    }

    /// Returns the key and the value of the event with this number, for one of 50,000 devices.
    package mutating func event(_ index: Int) -> (key: String, value: String) {
        let device = "d-" + String(format: "%06d", number(0...49_999))
        let platform = one(of: ["ios", "android"])
        let app = one(of: ["6.1.0", "6.0.2", "5.10.1", "4.0.0", "3.9.12"])
        let locale = one(of: ["en-GB", "ru", "de-DE"])
        let campaign = one(of: ["spring-sale", "win-back", "order-update"])
        let time = String(format: "2026-11-20T10:%02d:%02dZ", index / 60 % 60, index % 60)
        let value =
            #"{"id":"e-\#(String(format: "%07d", index))","link":"\#(link())","#
            + #""device":{"id":"\#(device)","platform":"\#(platform)","app":"\#(app)","locale":"\#(locale)"},"#
            + #""campaign":"\#(campaign)","sent":"\#(time)"}"#
        return (device, value)
    }
}
