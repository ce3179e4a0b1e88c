import Foundation
import LinkCoordinator
import Testing

@Suite("Errors of properties that cannot be read from a field or written into one") struct ModelErrorTests {
    enum Color: String, Codable { case red, blue }
    enum Level: Int, Codable { case low, high }
    struct Inner: Codable { var a = 1 }
    /// A text that is read from a single value.
    struct Name: Codable {
        var text: String
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }
    struct Refusing: Codable {
        struct Failure: Error { let value: String }
        init(from decoder: any Decoder) throws {
            throw Failure(value: try decoder.singleValueContainer().decode(String.self))
        }
    }

    /// A model with one property.
    struct Model<Value: Decodable>: LinkModel {
        static var modelName: String { "Model" }
        var field: Value
    }

    /// A model that is written.
    struct Written<Value: Codable>: LinkModel, Encodable {
        static var modelName: String { "Model" }
        var field: Value
    }

    /// A text that must not occur in an error.
    private static let secret = "s3cr3t"

    private struct Case: Sendable {
        let name: String
        let read: @Sendable (ModelValue?) throws -> Void
        let value: ModelValue?
        let detail: String

        init<Value: Decodable & SendableMetatype>(_ type: Value.Type, _ value: ModelValue?, _ detail: String) {
            name = "\(type) from \(value.map { "\($0)" } ?? "nothing")"
            read = { value in
                _ = try Models(["Model": value.map { ["field": $0] } ?? ["fields": 1, "other": 2]])
                    .model(Model<Value>.self)
            }
            self.value = value
            self.detail = detail
        }
    }

    private static let change = "or change the type of the field in the table"
    private static let text = ModelValue.text(secret)

    private static let unread: [Case] = [
        Case(
            Int.self, nil,
            "field `field` is missing for a property of type `Int`: the model has `fields`, `other`; "
                + "did you mean `fields`?"),
        Case(
            Int.self, .null,
            "field `field` is null, but the type `Int` is not optional; "
                + "declare the property optional, or make the field required in the table"),
        Case(
            [Int].self, .null,
            "field `field` is null, but the type `Array<Int>` is not optional; "
                + "declare the property optional, or make the field required in the table"),
        Case(
            Int8.self, 771_930,
            "field `field` is a number outside the range -128 to 127 of the type `Int8`; "
                + "declare the property with a wider type, or declare the field as `int(-128..127)` in the table"),
        Case(
            UInt.self, -771_930,
            "field `field` is a number outside the range 0 to 9223372036854775807 of the type `UInt`; "
                + "declare the property with a wider type, or declare the field as `int(0..9223372036854775807)` "
                + "in the table"),
        Case(
            Int.self, 7719.5,
            "field `field` is a number with a fraction, but the type `Int` is read from a whole number; "
                + "declare the property as `Double`, or the field as `int` in the table"),
        Case(
            Float.self, .number("7719e300"),
            "field `field` is a number outside the range of the type `Float`; declare the property as `Double`"),
        Case(
            Double.self, text,
            "field `field` is a string, but the type `Double` is read from a number; "
                + "declare the property as `String`, \(change)"),
        Case(
            String.self, 7719,
            "field `field` is a number, but the type `String` is read from a string; "
                + "declare the property as `Int` or `Double`, \(change)"),
        Case(
            Int.self, true,
            "field `field` is a Boolean value, but the type `Int` is read from a whole number; "
                + "declare the property as `Bool`, \(change)"),
        Case(
            Bool.self, [text],
            "field `field` is a list, but the type `Bool` is read from a Boolean value; "
                + "declare the property as an array of single values, \(change)"),
    ]

    private static let structured: [Case] = [
        Case(
            Color.self, text,
            "field `field` is a string that is not a raw value of the type `Color`; "
                + "add a case for it, or allow only raw values of `Color` in the table"),
        Case(
            [Color].self, ["red", text],
            "field `field[1]` is a string that is not a raw value of the type `Color`; "
                + "add a case for it, or allow only raw values of `Color` in the table"),
        Case(
            Level?.self, text,
            "field `field` is a string, but the type `Level` is read from a whole number; "
                + "declare the property as `String`, \(change)"),
        Case(
            UUID.self, text,
            "field `field` is a string that is not a value of the type `UUID`; "
                + "declare the property as `String`, \(change)"),
        Case(
            Name.self, 7719,
            "field `field` is a number, but the type `Name` is read from a string; "
                + "declare the property as `Int` or `Double`, \(change)"),
        Case(
            Inner.self, text,
            "field `field` is a string, but the type `Inner` is read from several values; "
                + "a field has a single value or a list of single values: declare the property as `String`"),
        Case(
            [[Int]].self, [7719],
            "field `field[0]` is a number, but the type `Array<Int>` is read from several values; a field has a "
                + "single value or a list of single values: declare the items of the array as `Int` or `Double`"),
        Case(
            [Int].self, text,
            "field `field` is a string, but the type `Array<Int>` is read from a list; "
                + "declare the property as `String`, \(change)"),
        Case(
            [Int].self, [1, text],
            "field `field[1]` is a string, but the type `Int` is read from a whole number; "
                + "declare the items of the array as `String`, \(change)"),
        Case(
            Refusing.self, text, "`init(from:)` threw an error of type `Failure`"),
    ]

    /// Types of Foundation, which the library does not know.
    ///
    /// LinkCoordinatorFoundation adds `Date`, `Decimal`, and `URL` to every test of the package's process.
    private static let foreign: [Case] = [
        Case(
            Data.self, text,
            "field `field` is a string, but the type `Data` is read from a list; "
                + "declare the property as `String`, \(change)")
    ]

    @Test("A property that cannot be read is named with its type, the kind of the value, and what to do")
    func unread() {
        for one in Self.unread + Self.structured + Self.foreign {
            let error = #expect(throws: ModelError.self, "\(one.name)") { try one.read(one.value) }
            #expect(error?.code == .field)
            #expect(error?.model == "Model")
            #expect(error?.detail == one.detail, "\(one.name)")
            #expect(error?.description.contains(Self.secret) == false, "\(one.name)")
            #expect(error?.detail.contains("7719") == false, "\(one.name)")
        }
    }

    @Test("A property that cannot be written is named with its type and what to do")
    func unwritten() {
        func detail<Value: Codable>(_ value: Value) -> String? {
            let error = #expect(throws: ModelError.self, "\(Value.self)") { try Models(Written(field: value)) }
            return error?.detail
        }
        let several = "but a field has a single value or a list of single values;"
        #expect(
            detail(Inner())
                == "field `field` has several values in the type `Inner`, \(several) "
                + "declare its parts as properties of the model, or adopt ModelFieldValue in `Inner`")
        #expect(
            detail([[1], [2]])
                == "field `field[0]` has several values in the type `Array<Int>`, \(several) "
                + "declare its parts as properties of the model, or adopt ModelFieldValue in `Array<Int>`")
        #expect(
            detail([1, nil])
                == "field `field[1]` is null, but a list has only values; remove nil from the array of `Int`")
        #expect(
            detail([1, Double.nan])
                == "field `field[1]` is infinite or not a number in the type `Double`; use a finite number")
    }

    @Test("A whole number with an exponent is read as an integer")
    func exponent() throws {
        let models: Models = ["Model": ["field": .number("1e+16")]]
        #expect(try models.model(Model<Int>.self).field == 10_000_000_000_000_000)
    }

    @Test(
        "A number with digits after its point, or that an integer cannot hold, is never rounded to an integer",
        arguments: [
            "9007199254740993.5", "4503599627370497.5", "-9223372036854775809", "-9223372036854775808.4",
            "1.00000000000000000000001", "9223372036854775808", "9007199254740993e1", "1e400",
        ])
    func exactIntegers(digits: String) throws {
        let models: Models = ["Model": ["field": .number(digits)]]
        let error = #expect(throws: ModelError.self) { try models.model(Model<Int>.self) }
        #expect(error?.detail.contains("with a fraction") == digits.contains("."))
        let whole: Models = ["Model": ["field": .number("9007199254740993.0")]]
        #expect(try whole.model(Model<Int>.self).field == 9_007_199_254_740_993)
    }

    @Test("A property of the type `Float` is written with its own digits")
    func floats() throws {
        #expect(try Models(Written(field: Float(0.1))) == ["Model": ["field": .number("0.1")]])
        #expect(try Models(Written(field: [Float(1e-7)])) == ["Model": ["field": [.number("0.0000001")]]])
        #expect(throws: ModelError.self) { try Models(Written(field: Float.infinity)) }
    }
}
