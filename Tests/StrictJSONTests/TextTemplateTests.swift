import ByteStorage
import StrictJSON
import TestSupport
import Testing

@Suite("A template matches texts that differ from the learned text only in plain values")
struct TextTemplateTests {
    /// Storage for the values of a text, in order.
    ///
    /// A value is stored at its position in the learned text.
    final class Places {
        let views: UnsafeMutablePointer<ByteView>
        var count = 0

        init() {
            views = .allocate(capacity: TextTemplate.maxValues)
            views.initialize(repeating: .empty, count: TextTemplate.maxValues)
        }

        deinit { views.deallocate() }

        var texts: [String] { (0..<count).map { views[$0].string } }

        func next(_ bytes: ClosedRange<Int> = 0...Int.max) -> TextTemplate.Value {
            count += 1
            return TextTemplate.Value(place: views + (count - 1), bytes: bytes)
        }
    }

    private static func learned(
        _ text: String, bytes: ClosedRange<Int> = 0...Int.max, _ template: inout TextTemplate
    ) -> Places {
        let places = Places()
        withExact(Array(text.utf8)) { view in template.learn(view) { _ in places.next(bytes) } }
        return places
    }

    private static func matches(_ text: String, _ template: inout TextTemplate, _ places: Places) -> [String]? {
        withExact(Array(text.utf8)) { view in template.matches(view) ? places.texts : nil }
    }

    static let first = #"{"id":"a","link":"b:c","device":{"id":"d","n":true},"e":"f"}"#

    @Test(
        "The values are returned in order",
        arguments: [
            (#"{"id":"a","link":"b:c","device":{"id":"d","n":true},"e":"f"}"#, ["a", "b:c", "d", "f"]),
            (#"{"id":"","link":"","device":{"id":"","n":true},"e":""}"#, ["", "", "", ""]),
            (
                #"{"id":"sixteen bytes are","link":"more than sixteen bytes, and more than thirty-two","#
                    + #""device":{"id":"exactly sixteen.","n":true},"e":"~ }{:,[]/"}"#,
                [
                    "sixteen bytes are", "more than sixteen bytes, and more than thirty-two", "exactly sixteen.",
                    "~ }{:,[]/",
                ]
            ),
        ])
    func values(text: String, expected: [String]) {
        var template = TextTemplate()
        let places = Self.learned(Self.first, &template)
        #expect(Self.matches(text, &template, places) == expected)
    }

    @Test(
        "A text with other constant parts or values that are not plain does not match",
        arguments: [
            #"{"id":"a","link":"b:c","device":{"id":"d","n":false},"e":"f"}"#,
            #"{"id":"a","link":"b:c","device":{"id":"d","n":true},"e":"f"} "#,
            #" {"id":"a","link":"b:c","device":{"id":"d","n":true},"e":"f"}"#,
            #"{"id":"a\"","link":"b:c","device":{"id":"d","n":true},"e":"f"}"#,
            #"{"id":"a","link":"b:é","device":{"id":"d","n":true},"e":"f"}"#,
            #"{"id":"a","link":"b:c","device":{"id":"d\\","n":true},"e":"f"}"#,
            #"{"id":"a","link":"b:c","device":{"id":"d","n":true},"e":"\u{1F}"}"#,
            #"{"id":"a","link":"b:c","device":{"id":"d","n":true},"e":"\u{7F}"}"#,
            #"{"id":"a","link":"b:c","device":{"id":"d","n":true},"e":null}"#,
            #"{"id":"a","link":"b:c"},"e":"f"}"#, #"{"id":"a"}"#, "{}", "", "\"}", #"{"id":"#,
            #"{"id":"a","link":"b:c","x":"y","device":{"id":"d","n":true},"e":"f"}"#,
        ])
    func refused(text: String) {
        var template = TextTemplate()
        let places = Self.learned(Self.first, &template)
        let text = text.replacing("\\u{1F}", with: "\u{1F}").replacing("\\u{7F}", with: "\u{7F}")
        #expect(Self.matches(text, &template, places) == nil)
        #expect(Self.matches(Self.first, &template, places) == ["a", "b:c", "d", "f"])
    }

    @Test("A value with too few or too many bytes does not match")
    func bounds() {
        var template = TextTemplate()
        let places = Self.learned(#"{"a":"xx"}"#, bytes: 1...3, &template)
        #expect(Self.matches(#"{"a":"x"}"#, &template, places) == ["x"])
        #expect(Self.matches(#"{"a":"xxx"}"#, &template, places) == ["xxx"])
        #expect(Self.matches(#"{"a":""}"#, &template, places) == nil)
        #expect(Self.matches(#"{"a":"xxxx"}"#, &template, places) == nil)
    }

    @Test("Names are constant, and a text without plain values, or with other values, is not learned")
    func learning() {
        var template = TextTemplate()
        #expect(Self.matches("{}", &template, Places()) == nil)
        let places = Self.learned(#"{ "n" : "v" , "é" : null , "a":["b", {"c" :"d"}] }"#, &template)
        #expect(places.count == 3)
        #expect(
            Self.matches(#"{ "n" : "1" , "é" : null , "a":["2", {"c" :"3"}] }"#, &template, places) == ["1", "2", "3"])
        #expect(Self.matches(#"{ "n" : "1" , "é" : true , "a":["2", {"c" :"3"}] }"#, &template, places) == nil)
        for text in [#"{"a":-5}"#, "[]", #"{"a":"é","b":"c"}"#, #"{"b":"c","a":"\n"}"#, #""#] {
            _ = Self.learned(text, &template)
            Self.expect(template, isEmpty: true)
            #expect(Self.matches(text, &template, Places()) == nil)
        }
    }

    private static func expect(_ template: borrowing TextTemplate, isEmpty: Bool) {
        let found = template.isEmpty
        #expect(found == isEmpty)
    }

    @Test("Numbers of digits are values, and other numbers are constant")
    func numbers() {
        var template = TextTemplate()
        let places = Self.learned(#"{"a":5,"b":[-1,2.5,0,1e3],"c":17}"#, &template)
        #expect(places.count == 3)
        #expect(Self.matches(#"{"a":5,"b":[-1,2.5,0,1e3],"c":17}"#, &template, places) == ["5", "0", "17"])
        #expect(
            Self.matches(#"{"a":0,"b":[-1,2.5,99999999999999999999,1e3],"c":1}"#, &template, places)
                == ["0", "99999999999999999999", "1"])
        for text in [
            #"{"a":05,"b":[-1,2.5,0,1e3],"c":17}"#, #"{"a":5,"b":[-1,2.5,0,1e3],"c":017}"#,
            #"{"a":-5,"b":[-1,2.5,0,1e3],"c":17}"#, #"{"a":5,"b":[-1,2.5,0,1e3],"c":-17}"#,
            #"{"a":5.0,"b":[-1,2.5,0,1e3],"c":17}"#, #"{"a":5,"b":[-1,2.5,0,1e3],"c":1.7}"#,
            #"{"a":,"b":[-1,2.5,0,1e3],"c":17}"#, #"{"a":5,"b":[-1,2.5,0,1e3],"c":}"#,
            #"{"a":5,"b":[-2,2.5,0,1e3],"c":17}"#, #"{"a":"5","b":[-1,2.5,0,1e3],"c":17}"#,
            #"{"a":5,"b":[-1,2.5,0,1e3],"c":1e7}"#, #"{"a":5e1,"b":[-1,2.5,0,1e3],"c":17}"#,
        ] {
            #expect(Self.matches(text, &template, places) == nil, "\(text)")
        }
    }

    @Test("A text with too many values or too many constant bytes is not learned")
    func limits() {
        var template = TextTemplate()
        func text(_ count: Int) -> String { "[" + (0..<count).map { "\"\($0)\"" }.joined(separator: ",") + "]" }
        _ = Self.learned(text(TextTemplate.maxValues), &template)
        Self.expect(template, isEmpty: false)
        _ = Self.learned(text(TextTemplate.maxValues + 1), &template)
        Self.expect(template, isEmpty: true)
        let spaces = String(repeating: " ", count: TextTemplate.maxBytes)
        _ = Self.learned("[\"a\"\(spaces)]", &template)
        Self.expect(template, isEmpty: true)
        _ = Self.learned("[\(spaces)\"a\"]", &template)
        Self.expect(template, isEmpty: true)
    }

    /// A text of one to nine members, some of them objects, with gaps of various lengths.
    private static func shape(_ generator: inout SeededGenerator) -> [String] {
        var gaps = ["{"]
        for number in 0..<Int.random(in: 1...9, using: &generator) {
            let name = String(repeating: "n", count: Int.random(in: 0...40, using: &generator)) + "\(number)"
            let inner = Int.random(in: 0...3, using: &generator) == 0
            let other = Int.random(in: 0...3, using: &generator) == 0 ? "\"x\(number)\":[true,null]," : ""
            gaps[gaps.count - 1] += (number == 0 ? "" : ",") + other + "\"\(name)\":" + (inner ? "{\"i\":" : "")
            gaps.append(inner ? "}" : "")
        }
        gaps[gaps.count - 1] += "}"
        return gaps
    }

    private static func value(_ generator: inout SeededGenerator) -> String {
        let longest = [2, 8, 20, 70][Int.random(in: 0..<4, using: &generator)]
        let letters = Array(" !#$%&'()*+,-./0123456789:;<=>?@AZ[]^_`az{|}~")
        return String(
            (0..<Int.random(in: 0...longest, using: &generator)).map { _ in
                letters[Int.random(in: 0..<letters.count, using: &generator)]
            })
    }

    /// A text in which the values with indices in `numbers` have no quotation marks.
    private static func text(_ gaps: [String], _ values: [String], _ numbers: Set<Int>) -> String {
        zip(gaps, values).enumerated().map { index, pair in
            numbers.contains(index) ? pair.0 + pair.1 : "\(pair.0)\"\(pair.1)\""
        }.joined() + gaps[gaps.count - 1]
    }

    @Test("Other plain values always match, and a match is JSON with these strings at these positions")
    func property() throws {
        var generator = SeededGenerator(seed: 0x7E3A)
        var template = TextTemplate()
        var taken = 0
        for round in 0..<3000 {
            let gaps = Self.shape(&generator)
            let numbers = Set(gaps.indices.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 })
            let places = Self.learned(Self.text(gaps, gaps.dropFirst().map { _ in "7" }, numbers), &template)
            for _ in 0..<4 {
                let values = gaps.indices.dropLast().map { index in
                    numbers.contains(index)
                        ? "\(UInt64.random(in: 0...UInt64.max, using: &generator) >> 40)" : Self.value(&generator)
                }
                let text = Self.text(gaps, values, numbers)
                #expect(
                    Self.matches(text, &template, places) == values, "seed \(generator.seed) round \(round) \(text)")
                var bytes = Array(text.utf8)
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8(ascii: "\""), at: place)
                }
                let noted = withExact(bytes) { template.matches($0) ? places.texts : nil }
                guard let noted else { continue }
                taken += 1
                #expect(
                    passed(bytes) == .taken && bytes == Array(Self.text(gaps, noted, numbers).utf8),
                    "seed \(generator.seed) round \(round) \(String(decoding: bytes, as: UTF8.self))")
            }
        }
        print("templates: \(taken) of 12000 changed texts matched (seed \(generator.seed))")
        #expect(taken > 500)
    }
}
