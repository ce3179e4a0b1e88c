import Foundation

/// A generator of link events of the shop, with the kinds and frequencies of the benchmark's workload.
struct ShopEvents<Random: RandomNumberGenerator> {
    var random: Random

    private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Returns a UUID of version 4 in lowercase.
    private mutating func uuid() -> String {
        let digits = Array("0123456789abcdef")
        return "xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx".map { character in
            switch character {
            case "x": String(digits[number(0...15)])
            case "v": String(digits[number(8...11)])
            default: String(character)
            }
        }.joined()
    }

    private mutating func link() -> String {
        let campaign = pick(["", "&utm_source=push", "&utm_source=mail&utm_campaign=spring%20sale&utm_medium=app"])
        switch number(0...99) {
        case ..<45: return "https://shop.example/p/\(uuid().uppercased())?count=\(number(1...99))\(campaign)"
        case ..<55:
            return "https://www.shop.example/\(pick(["en", "ru", "de"]))/p/\(uuid())?COUNT=\(number(1...99))\(campaign)"
        case ..<60: return "shop:///p/\(uuid())"
        case ..<65: return "https://shop.example/p/new"
        case ..<75: return "shop:///orders/\(number(1...1_000_000_000))"
        case ..<80: return "https://shop.example/o/\(number(1...1_000_000))"
        case ..<90: return search() + campaign
        case ..<93: return "https://shop.example/legal/\(pick(["terms", "privacy/eu", "imprint"]))"
        case ..<95: return "shop:///"
        case ..<97: return "https://shop.example/p/\(uuid())?count=\(pick(["0", "100", "two", "07", ""]))"
        case ..<98: return "https://evil.example/p/\(uuid())"
        case ..<99: return "http://shop.example/p/\(uuid())"
        default:
            let path = pick(["nope", "p", "p/1", "orders/012", "orders/x", "legal", "search"])
            return "https://shop.example/\(path)"
        }
    }

    private mutating func search() -> String {
        let words = pick(["red%20shoes", "кроссовки", "%D0%BA%D0%BE%D1%82", "a+b"])
        let tags = (0..<number(0...4)).map { _ in "&tag=t\(number(1...30))" }
        return "https://shop.example/search?q=\(words)\(tags.joined())"
    }

    /// Returns the event with this number, for one of 50,000 devices.
    mutating func event(_ index: Int) -> InputRecord {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let device = "d-" + padded(number(0...49_999), 6)
        let platform = pick(["ios", "android"])
        let app = pick(["6.1.0", "6.0.2", "5.10.1", "4.0.0", "3.9.12"])
        let locale = pick(["en-GB", "ru", "de-DE"])
        let campaign = pick(["spring-sale", "win-back", "order-update"])
        let sent = "2026-11-20T10:\(padded(index / 60 % 60, 2)):\(padded(index % 60, 2))Z"
        let value =
            #"{"id":"e-\#(padded(index, 7))","link":"\#(link())","device":{"id":"\#(device)","#
            + #""platform":"\#(platform)","app":"\#(app)","locale":"\#(locale)"},"#
            + #""campaign":"\#(campaign)","sent":"\#(sent)"}"#
        return InputRecord(key: Array(device.utf8), value: Array(value.utf8))
    }
}
