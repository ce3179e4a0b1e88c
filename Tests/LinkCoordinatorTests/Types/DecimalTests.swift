import ByteStorage
import Foundation
import LinkCoordinator
import TestSupport
import Testing

@Suite("The text form of a decimal") struct DecimalTests {
    static let type = FieldType.decimal(min: nil, max: nil)

    static let largest = String(repeating: "9", count: 38)

    static let accepted: [(String, String)] = [
        ("0", "0"), ("-0", "0"), ("0.0", "0"), ("-0.000", "0"), ("7", "7"), ("-7", "-7"), ("7.0", "7"), ("-7.00", "-7"),
        ("2.50", "2.5"), ("0.10", "0.1"), ("-0.010", "-0.01"), ("100", "100"), ("100.00", "100"), ("10.010", "10.01"),
        ("1234567890123456", "1234567890123456"), ("0.1234567890123456", "0.1234567890123456"),
        (largest, largest), ("-" + largest, "-" + largest), (largest + ".0", largest), ("0." + largest, "0." + largest),
        ("1" + String(repeating: "0", count: 37), "1" + String(repeating: "0", count: 37)),
        ("1.5" + String(repeating: "0", count: 61), "1.5"),
        ("0." + String(repeating: "0", count: 60) + "10", "0." + String(repeating: "0", count: 60) + "1"),
        ("-0." + String(repeating: "0", count: 61), "0"),
    ]

    @Test("A decimal is published without needless zeros", arguments: accepted)
    func canonical(text: String, canonical: String) {
        #expect(Self.type.canonicalText(text) == canonical)
        #expect(Self.type.canonicalText(canonical) == canonical)
    }

    @Test(
        "A text that is not a decimal is refused",
        arguments: [
            "", "-", "+", "+1", "--1", "01", "-01", "00", "000.1", ".5", "-.5", "5.", "-5.", ".", "1.2.3", "1..2",
            "1e3",
            "1E3", "1e-3", "0x1F", "1,5", "1 ", " 1", "1_000", "NaN", "Infinity", "-Infinity", "１", "1\u{0}", "½", "1-",
            "1-2", "--", "-0x0", "1.5-", "$1", "1.5e0", "1/2", "true",
            "1" + String(repeating: "0", count: 38), largest + ".5", "1." + String(repeating: "1", count: 38),
            "0." + String(repeating: "1", count: 39), "1.5" + String(repeating: "0", count: 62),
            "0." + String(repeating: "0", count: 63), String(repeating: "1", count: 10_000),
        ])
    func refused(text: String) { #expect(Self.type.canonicalText(text) == nil) }

    /// Returns a random decimal, sometimes with needless zeros.
    static func number(_ generator: inout SeededGenerator) -> String {
        func digits(_ count: Int) -> String {
            (0..<count).map { _ in String(Int.random(in: 0...9, using: &generator)) }.joined()
        }
        let wholeCount = Int.random(in: 0...20, using: &generator)
        let whole = wholeCount == 0 ? "0" : "\(Int.random(in: 1...9, using: &generator))" + digits(wholeCount - 1)
        let sign = Bool.random(using: &generator) ? "-" : ""
        if Int.random(in: 0..<3, using: &generator) == 0 { return sign + whole }
        let zeros = String(repeating: "0", count: Int.random(in: 0...3, using: &generator))
        return sign + whole + "." + digits(Int.random(in: 1...15, using: &generator)) + zeros
    }

    /// Returns a key that sorts decimals as their values, made by other means than the library's comparison: the sign,
    /// and the digits padded on both sides; the digits of a negative number are replaced by their complements.
    static func sortKey(_ text: String) -> String {
        let isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.split(separator: ".")
        let fraction = parts.count > 1 ? String(parts[1]) : ""
        let digits =
            String(repeating: "0", count: 70 - parts[0].count) + parts[0] + fraction
            + String(repeating: "0", count: 70 - fraction.count)
        let isZero = digits.allSatisfy { $0 == "0" }
        if !isNegative || isZero { return "1" + digits }
        return "0" + digits.map { String(9 - ($0.wholeNumberValue ?? 0)) }.joined()
    }

    /// Returns -1, 0, or 1, as the library compares two canonical texts.
    static func order(_ a: String, _ b: String) -> Int {
        withView(a) { a in withView(b) { b in TextForms.compareDecimals(a, b).signum() } }
    }

    @Test("Canonical texts do not change again, keep their value, and are compared exactly")
    func comparison() throws {
        let seed: UInt64 = 11_38
        var generator = SeededGenerator(seed: seed)
        var equal = 0
        let canonicals = try (0..<4_000).map { _ in
            let text = Self.number(&generator)
            let canonical = try #require(Self.type.canonicalText(text), "seed \(seed): \(text)")
            #expect(Self.type.canonicalText(canonical) == canonical, "seed \(seed): \(text)")
            #expect(Self.sortKey(canonical) == Self.sortKey(text), "seed \(seed): \(text)")
            #expect(Decimal(string: canonical) == Decimal(string: text), "seed \(seed): \(text)")
            return canonical
        }
        for number in 0..<20_000 {
            let a = try #require(canonicals.randomElement(using: &generator))
            // A number that shares most digits with the first one is more likely to be compared wrongly.
            let near = [
                a + (a.contains(".") ? "" : ".") + "1", String(a.dropLast()), a, "-" + a, String(a.dropFirst()),
            ]
            let others = number % 2 == 0 ? near : canonicals
            let other = others.randomElement(using: &generator)
            guard let other, let b = Self.type.canonicalText(other) else { continue }
            let order = Self.order(a, b)
            let (key, otherKey) = (Self.sortKey(a), Self.sortKey(b))
            #expect(order == (key == otherKey ? 0 : key < otherKey ? -1 : 1), "seed \(seed): \(a) and \(b)")
            let (exact, otherExact) = try (#require(Decimal(string: a)), #require(Decimal(string: b)))
            #expect(order == (exact == otherExact ? 0 : exact < otherExact ? -1 : 1), "seed \(seed): \(a) and \(b)")
            #expect(Self.order(b, a) == -order, "seed \(seed): \(a) and \(b)")
            if order == 0 { equal += 1 }
        }
        print("decimals: seed \(seed): \(equal) of 20,000 pairs are equal")
        #expect(equal > 1_000)
    }

    @Test(
        "Bounds are compared with all digits",
        arguments: [
            ("0.01", "999.99", "0.01", true), ("0.01", "999.99", "999.99", true), ("0.01", "999.99", "0.009", false),
            ("0.01", "999.99", "999.990", true), ("0.01", "999.99", "1000", false), ("0.01", "999.99", "-1", false),
            ("0.01", "999.99", "0.0099999999999999999999999999999999999", false),
            ("0.1", nil, "0.1", true), ("0.1", nil, "0.09999999999999999999999999999", false),
            (nil, "0.3", "0.3", true), (nil, "0.3", "0.30000000000000000000000001", false),
            (nil, "0.3", "-" + largest, true), ("-1.5", "-0.5", "-1", true),
            ("-1.5", "-0.5", "-1.50000000000001", false),
            ("-1.5", "-0.5", "-0.4", false), ("-1.5", "-0.5", "0", false), ("0", nil, "-0", true),
            ("0", "0", "0.00", true),
            ("0", "0", "0.0000000001", false), ("9007199254740993", nil, "9007199254740992", false),
            (largest, largest, largest, true), (nil, largest, largest, true), ("-2", "10", "9", true),
            ("2", "10", "3", true),
        ] as [(String?, String?, String, Bool)])
    func bounds(min: String?, max: String?, text: String, isWithin: Bool) {
        #expect((FieldType.decimal(min: min, max: max).canonicalText(text) != nil) == isWithin)
    }

    @Test("Any bytes are read without a trap, and what is accepted has the form of a decimal")
    func anyBytes() {
        let seed: UInt64 = 11_39
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789.-+eE \u{0}é".utf8)
        var accepted = 0
        for _ in 0..<50_000 {
            let count = Int.random(in: 0...70, using: &generator)
            let plain = Bool.random(using: &generator)
            let bytes = (0..<count).map { _ in
                plain ? UInt8.random(in: 48...57, using: &generator) : alphabet.randomElement(using: &generator) ?? 0
            }
            // The buffer ends with the text, so that a read past the end is found by a sanitizer.
            let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
            defer { buffer.deallocate() }
            _ = buffer.initialize(from: bytes)
            guard let canonical = TextForms.decimal(ByteView(UnsafeBufferPointer(buffer)))?.string else { continue }
            accepted += 1
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(Self.sortKey(canonical) == Self.sortKey(text), "seed \(seed): \(text)")
        }
        print("decimals: seed \(seed): \(accepted) of 50,000 texts are accepted")
        #expect(accepted > 5_000)
    }
}
