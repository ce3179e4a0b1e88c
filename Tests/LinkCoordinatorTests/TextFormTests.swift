import LinkCoordinator
import ByteStorage
import TableSupport
import TestSupport
import Testing

/// Calls a closure with a view of a text in memory of exactly its length.
func withView<Result>(_ text: String, _ body: (ByteView) -> Result) -> Result {
    Array(text.utf8).withUnsafeBufferPointer { body(ByteView($0)) }
}

@Suite("Text forms of typed values")
struct TextFormTests {
    private static let long = String(repeating: "9", count: 40)

    @Test(
        "An int is a signed 64-bit number with a single text form",
        arguments: [
            ("0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("1000000000000000000", 1_000_000_000_000_000_000),
        ] as [(String, Int64)])
    func integers(text: String, value: Int64) { #expect(withView(text, TextForms.integer) == value) }

    @Test(
        "Other texts are not an int",
        arguments: [
            "", "-", "+5", "05", "-0", "-05", "7.0", "1e3", " 1", "1 ", "0x1", "٣", "9223372036854775808",
            "-9223372036854775809", "99999999999999999999", "18446744073709551616", long, "1-", "--1",
        ])
    func noIntegers(text: String) { #expect(withView(text, TextForms.integer) == nil) }

    @Test("Ints are read back from their text")
    func integerRoundTrip() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let shift = UInt64.random(in: 0..<64, using: &generator)
            let value = Int64(truncatingIfNeeded: generator.next() >> shift)
            let signed = Bool.random(using: &generator) ? value : 0 &- value
            #expect(withView("\(signed)", TextForms.integer) == signed, "seed \(generator.seed)")
        }
    }

    @Test(
        "UUIDs are accepted in either case, and other texts are rejected",
        arguments: [
            ("B121D5E7-EA65-49F8-8B33-B3C43FA93866", true), ("b121d5e7-ea65-49f8-8b33-b3c43fa93866", true),
            ("00000000-0000-0000-0000-000000000000", true), ("B121D5E7-EA65-49F8-8B33-B3C43FA9386", false),
            ("B121D5E7-EA65-49F8-8B33-B3C43FA938666", false), ("{121D5E7-EA65-49F8-8B33-B3C43FA9386}", false),
            ("B121D5E7EA6549F88B33B3C43FA93866", false), ("B121D5E7–EA65-49F8-8B33-B3C43FA938", false),
            ("G121D5E7-EA65-49F8-8B33-B3C43FA93866", false), ("B121D5E7-EA65-49F8-8B33_B3C43FA93866", false),
            ("@121D5E7-EA65-49F8-8B33-B3C43FA93866", false), ("`121D5E7-EA65-49F8-8B33-B3C43FA93866", false),
            ("", false),
        ])
    func uuids(text: String, isUUID: Bool) { #expect(withView(text, TextForms.isUUID) == isUUID) }

    @Test(
        "Boolean values have four text forms",
        arguments: [
            ("true", true), ("1", true), ("false", false), ("0", false), ("True", nil), ("TRUE", nil), ("yes", nil),
            ("", nil), ("2", nil), ("00", nil), ("truee", nil),
        ] as [(String, Bool?)])
    func booleans(text: String, value: Bool?) { #expect(withView(text, TextForms.boolean) == value) }

    @Test(
        "Dates are those of the calendar",
        arguments: [
            ("2025-01-31", true), ("2024-02-29", true), ("2025-02-29", false), ("2000-02-29", true),
            ("1900-02-29", false), ("2025-04-31", false), ("2025-13-01", false), ("2025-00-10", false),
            ("2025-01-00", false), ("0000-01-01", true), ("9999-12-31", true), ("2025-1-31", false),
            ("2025-01-32", false), ("2025/01/31", false), ("+025-01-31", false), ("2025-01-3１", false), ("", false),
        ])
    func dates(text: String, isDate: Bool) { #expect(withView(text, TextForms.isDate) == isDate) }

    @Test("Exactly the days of four years are dates")
    func calendar() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        for year in 2021...2024 {
            for month in 0...13 {
                for day in 0...32 {
                    let length =
                        (1...12).contains(month) ? lengths[month - 1] + (month == 2 && year == 2024 ? 1 : 0) : 0
                    let text = "\(year)-\(two(month))-\(two(day))"
                    #expect(withView(text, TextForms.isDate) == (day >= 1 && day <= length), "\(text)")
                }
            }
        }
    }

    @Test(
        "Doubles have a canonical text",
        arguments: [
            ("2.50", "2.5"), ("-0", "0"), ("-0.000", "0"), ("0.0", "0"), ("7", "7"), ("-7.0", "-7"), ("0.10", "0.1"),
            ("100", "100"), ("123456789012345", "123456789012345"), ("1234567890123456", nil),
            ("0.00000000000000123456789012345", "0.00000000000000123456789012345"),
            ("1.23456789012345000", "1.23456789012345"),
            ("1.234567890123456", nil), ("000.1", nil), ("01", nil), (".5", nil), ("5.", nil), ("1e3", nil),
            ("+1", nil), ("--1", nil), ("", nil), ("-", nil), ("1.2.3", nil), ("NaN", nil),
            ("0.0000000000000000000000000000001", nil), ("1000000000000000", nil),
        ] as [(String, String?)])
    func doubles(text: String, canonical: String?) {
        #expect(withView(text) { TextForms.double($0)?.string } == canonical)
    }

    @Test(
        "Fields accept the values of their type in canonical form",
        arguments: [
            ("uuid", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "B121D5E7-EA65-49F8-8B33-B3C43FA93866"),
            ("int(1..99)", "99", "99"), ("int(1..99)", "0", nil), ("int(1..99)", "100", nil), ("int(..-1)", "-5", "-5"),
            ("int(..-1)", "0", nil), ("string", "", ""), ("string(1..3)", "", nil), ("string(1..3)", "abc", "abc"),
            ("string(1..3)", "éé", nil), ("bool", "1", "true"), ("bool", "no", nil), ("double", "-0.50", "-0.5"),
            ("date", "2025-02-28", "2025-02-28"), ("enum(a|b)", "b", "b"), ("enum(a|b)", "B", nil),
            ("url(host in shop.example, *.cdn.example)", "https://shop.example/a?b#c", "https://shop.example/a?b#c"),
            ("url(host in shop.example)", "https://SHOP.example:443/", "https://SHOP.example:443/"),
            ("url(host in *.cdn.example)", "https://cdn.example/", nil),
            ("url(host in *.cdn.example)", "https://a.b.cdn.example", "https://a.b.cdn.example"),
            ("url(host in shop.example)", "http://shop.example/", nil),
            ("url(host in shop.example)", "https://me@shop.example/", nil),
            ("url(host in shop.example)", "https://shop.example/a b", nil),
            ("url(host in shop.example)", "https://evil.example/", nil),
            ("url(host in shop.example:8443)", "https://shop.example:8443/", "https://shop.example:8443/"),
            ("url(host in shop.example:8443)", "https://shop.example/", nil),
            ("url(host in shop.example)", "https:shop.example", nil),
            ("list<int>", "5", "5"), ("list<int>", "x", nil),
        ] as [(String, String, String?)])
    func fields(type: String, text: String, canonical: String?) throws {
        let model = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "models": { "M": { "f": "\(type)" } }, "routes": [] }
            """
        let source = try #require(TableSource.inspect(Array(model.utf8)).source)
        let field = try #require(source.models[0].fields.first)
        #expect(field.type.text == type)
        #expect(field.type.canonicalText(text) == canonical)
    }

    @Test(
        "A field without a value has the default of its type",
        arguments: [
            ("int", .required), ("int?", .null), ("int=5", .value("5")), ("bool=1", .value("true")),
            ("double=2.50", .value("2.5")), ("string=", .value("")), ("string=a b=c?", .value("a b=c?")),
            ("list<int>", .emptyList), ("list<int>(0..3)", .emptyList), ("list<int>(1..3)", .required),
        ] as [(String, TableSource.Field.Absence)])
    func absence(type: String, absence: TableSource.Field.Absence) throws {
        let model = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "models": { "M": { "f": "\(type)" } }, "routes": [] }
            """
        #expect(TableSource.inspect(Array(model.utf8)).source?.models[0].fields.first?.absence == absence)
    }
}
