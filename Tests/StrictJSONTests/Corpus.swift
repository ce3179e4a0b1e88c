import StrictJSON
import Testing

/// Texts that the reader accepts or refuses, in small tables with one rule each.
enum Corpus {
    /// A text with the expected error, or nil if the reader accepts it.
    struct Item: Sendable, CustomTestStringConvertible {
        var bytes: [UInt8]
        var code: JSONError.Code?

        init(_ text: String, _ code: JSONError.Code? = nil) { self.init(Array(text.utf8), code) }

        init(_ bytes: [UInt8], _ code: JSONError.Code? = nil) {
            self.bytes = bytes
            self.code = code
        }

        var testDescription: String { String(decoding: bytes, as: UTF8.self).debugDescription }
    }

    /// All tables.
    static let items: [Item] =
        numbers + strings + escapes + surrogates + unicode + literals + structures + names + spaces + depths

    private static func of(_ texts: [String], quoted: Bool = false, code: JSONError.Code? = nil) -> [Item] {
        texts.map { Item(quoted ? "\"\($0)\"" : $0, code) }
    }

    static let numbers: [Item] =
        of([
            "0", "-0", "1", "-1", "9", "10", "1234567890", "0.0", "0.5", "-0.5", "1.25", "0.000001", "123.456",
            "1e1", "1E1", "1e+1", "1e-1", "0e0", "0E-0", "-0e+0", "1.5e10", "-1.5E-10", "1e01", "1e-00005",
            "9007199254740993", "18446744073709551615", "9223372036854775808", "-9223372036854775808",
            "123456789012345678901234567890", "0.1234567890123456789012345678901234567890", "1e308", "2.5e-308",
            "1e400", "-1e400", "1e-400", "1e97138966", "1" + String(repeating: "0", count: 400),
        ])
        + of(
            [
                "-", "-a", "-.5", "1.", "1.e1", "1.x", "1e", "1e+", "1e-", "1E", "1ee1", "0.", "-0.", "0e", "1.5e",
                "-e1",
                "1e.5", "1e+-1",
            ].map { $0 + " " }, code: .badNumber)
        + of(["-", "1.", "1e", "1e+", "0."], code: .unexpectedEnd)
        + of(
            [
                "01", "00", "-01", "1a", "1 2", "0x10", "1_000", "1,2", "0b1", "1.2.3", "1e1.5", "1-", "1+1", "0 0",
                "1:",
                "1]", "1}", "1\u{0}", "1\u{A0}", "0.1f", "1d", "100%", "1\\u0030",
            ], code: .trailingBytes)
        + of(["+1", ".5", "Infinity", "NaN", "inf", "\u{0661}", "\u{FF11}", "e1", "#1", "$"], code: .expectedValue)
        + of(["-Infinity", "-NaN", "--1", "-\u{0661}"], code: .badNumber)

    static let strings: [Item] =
        of(
            [
                "", "a", "abcdefg", "abcdefgh", "abcdefghi", "0123456789abcdef", "/", "'", "\u{7F}", "{}[]:,", " ",
                "null", "a'b", "//", "/* x */", "\u{80}", "\u{7FF}", "\u{800}", "\u{10000}", "\u{10FFFF}",
                "e\u{301}", "\u{E9}", "\u{2028}\u{2029}", "\u{FEFF}", "\u{FFFD}", "\u{200B}", "日本語",
                "\u{1F468}\u{200D}\u{1F469}", "1234567\u{E9}", "123456\u{E9}8", "12345678\u{E9}",
                String(repeating: "x", count: 5000), String(repeating: "\u{E9}", count: 500),
            ], quoted: true)
        + controls
        + of(["\"", "\"a", "\"abcdefgh", "\"abcdefghi", "\"\\\"", "\"a\\\\\\\"", "\"\u{E9}"], code: .unexpectedEnd)
        + of(["'a'", "a", "`a`", "\u{201C}a\u{201D}", "\\\"a\\\""], code: .expectedValue)
        + of(["\"a\"b", "\"a\"\"b\"", "\"a\" \"", "\"\"\"", "\"a\",", "\"\"\u{0}"], code: .trailingBytes)

    /// Control characters in a string, at each relevant position of an eight-byte word.
    private static var controls: [Item] {
        var out: [Item] = []
        for control: UInt8 in [0, 1, 8, 9, 10, 13, 27, 31] {
            for lead in [0, 1, 7, 8, 9] {
                out.append(Item([0x22] + [UInt8](repeating: 0x61, count: lead) + [control, 0x22], .controlCharacter))
            }
        }
        return out
    }

    static let escapes: [Item] =
        of(
            [
                #"\""#, #"\\"#, #"\/"#, #"\b"#, #"\f"#, #"\n"#, #"\r"#, #"\t"#, #"\u0000"#, #"\u001f"#, #"\u0041"#,
                #"\u00e9"#, #"\u00E9"#, #"\uFFFF"#, #"\uFEFF"#, #"\ud7ff"#, #"\ue000"#, #"\uAbCd"#, #"a\nb"#, #"\\n"#,
                #"\\\\"#, #"\u0022"#, #"\u005c"#, #"1234567\n"#, #"12345678\n"#, #"\n12345678"#, #"\u0080\u0800"#,
            ], quoted: true)
        + of(
            [
                #"\a"#, #"\v"#, #"\0"#, #"\'"#, #"\x41"#, #"\U0041"#, #"\u{41}"#, #"\ "#, #"\é"#, #"\N"#, #"\1"#,
                #"\e"#,
                #"\u004"#, #"\u00"#, #"\u0"#, #"\u"#, #"\uG000"#, #"\u00g0"#, #"\u 041"#, #"\u+041"#, #"\u-041"#,
                #"\u0x41"#, #"\u00４1"#, "\\\n", "\\\u{0}",
            ], quoted: true, code: .badEscape)
        + of(
            ["\"\\", "\"\\u", "\"\\u00", "\"\\u004", "\"\\u0041", "\"\\ud83d\\u", "\"\\ud83d\\ude0"],
            code: .unexpectedEnd)

    static let surrogates: [Item] =
        of(
            [#"\ud83d\ude00"#, #"\uD800\uDC00"#, #"\uDBFF\uDFFF"#, #"a\ud83d\ude00b"#, #"\ud83D\uDe00\ud83d\ude01"#],
            quoted: true)
        + of(
            [
                #"\ud800"#, #"\udbff"#, #"\udc00"#, #"\udfff"#, #"\ude00\ud83d"#, #"\ud83d\ud83d"#, #"\ud83d\u0041"#,
                #"\ud83dx"#, #"\ud83d\n"#, #"\ud83d\\ude00"#, #"\ud83d \ude00"#, #"\ud83d\ude00\ude00"#,
                #"\ud83dude00"#,
            ], quoted: true, code: .loneSurrogate)
        + [Item(#""\ud83d\ug000""#, .badEscape), Item(#"{"\ud800":1}"#, .loneSurrogate)]

    /// RFC 3629, section 4: the bounds of each byte in well-formed sequences.
    static let unicode: [Item] = {
        let good: [[UInt8]] = [
            [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xE0, 0xBF, 0xBF], [0xE1, 0x80, 0x80],
            [0xEC, 0xBF, 0xBF], [0xED, 0x80, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
            [0xF0, 0x90, 0x80, 0x80], [0xF0, 0xBF, 0xBF, 0xBF], [0xF1, 0x80, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF],
            [0xF4, 0x80, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
        ]
        let bad: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x7F], [0xC2, 0xC0], [0xDF, 0x20],
            [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE0, 0xA0], [0xE1, 0x80], [0xE1, 0x80, 0x7F], [0xE1, 0xC0, 0x80],
            [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xB0, 0x80], [0xED, 0xBF, 0xBF], [0xEF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80], [0xF0, 0x90, 0x80, 0xC0],
            [0xF0, 0x90, 0x7F, 0x80], [0xF1, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xFE, 0xFF],
        ]
        let leads = [0, 7]
        return leads.flatMap { lead -> [Item] in
            let head = [0x22] + [UInt8](repeating: 0x61, count: lead)
            return good.map { Item(head + $0 + [0x22]) } + bad.map { Item(head + $0 + [0x22], .badUTF8) }
        } + [
            Item([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], .badUTF8), Item([0xFF], .expectedValue),
            Item([0xEF, 0xBB, 0xBF, 0x31], .expectedValue), Item([0xEF, 0xBB, 0xBF], .expectedValue),
            Item([0x31, 0xEF, 0xBB, 0xBF], .trailingBytes), Item([0xFE, 0xFF, 0x00, 0x31], .expectedValue),
        ]
    }()

    static let literals: [Item] =
        of(["true", "false", "null"])
        + of(["tru", "fals", "nul", "t", "f", "n"], code: .unexpectedEnd)
        + of(["tRue", "nULL", "fAlse", "trve", "nil", "none", "fa1se", "t rue", "n\u{0}ll"], code: .badLiteral)
        + of(["truex", "nullnull", "true1", "falsefalse", "null,", "true\u{0}"], code: .trailingBytes)
        + of(
            ["True", "FALSE", "undefined", "yes", "//x", "/* */1", ";", "=", "\u{0}", "\u{1F600}", "<a/>"],
            code: .expectedValue)
        + of(["---"], code: .badNumber)

    static let structures: [Item] =
        of([
            "[]", "{}", "[[]]", "[{}]", "{\"a\":{}}", "{\"a\":[]}", "[1]", "[1,2]", "[1,[2,[3]]]", "[null,true,\"x\"]",
            "{\"a\":1}", "{\"a\":1,\"b\":2}", "{\"a\":{\"a\":{\"a\":1}}}", "[{\"a\":1},{\"a\":2}]", "{\"\":0}",
            "{\"a\":[{\"b\":[{}]}],\"c\":\"d\"}", "[[],[],[]]", "[0,-0,0.0]",
        ])
        + of(
            ["", "[", "{", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "[[", "[{", "{\"a\":[", " "],
            code: .unexpectedEnd)
        + of(
            ["[1 2]", "[1}", "[\"a\" \"b\"]", "[1:2]", "[true false]", "{\"a\":1]", "{\"a\":1 \"b\":2}", "{\"a\":1;}"],
            code: .expectedCommaOrEnd)
        + of(
            ["[1,]", "[,]", "[,1]", "[1,,2]", "[}", "{\"a\":}", "{\"a\":,}", "{\"a\"::1}", "[+]", "[#]", "{\"a\":]"],
            code: .expectedValue)
        + of(
            [
                "{,}", "{1:2}", "{a:1}", "{'a':1}", "{\"a\":1,}", "{\"a\":1,,\"b\":2}", "{null:1}", "{[]:1}", "{]",
                "{:1}",
            ], code: .expectedName)
        + of(["{\"a\"}", "{\"a\" 1}", "{\"a\",\"b\"}", "{\"a\"=1}", "{\"a\"1:2}"], code: .expectedColon)
        + of(["[]]", "{}}", "[][]", "{}{}", "[],", "{},", "[] 1", "{}x"], code: .trailingBytes)
        + of(["]", "}", ",", ":", ")", "(1)"], code: .expectedValue)

    static let names: [Item] =
        of([
            #"{"a":1,"A":2}"#, #"{"a":{"b":1},"b":{"b":1}}"#, #"{"a":1,"b":{"a":1}}"#, #"[{"a":1},{"a":1}]"#,
            #"{"":1," ":2}"#, "{\"e\u{301}\":1,\"\u{E9}\":2}", #"{"a":1,"a ":2}"#, #"{"\u0000":1,"":2}"#,
            "{" + (0..<100).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + "}",
        ])
        + of(
            [
                #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":1}"#, #"{"\u00e9":1,"é":2}"#,
                #"{"":1,"":2}"#,
                #"{"x":{"a":1,"a":2}}"#, #"[[{"a":1,"a":2}]]"#, #"{"\/":1,"/":2}"#, #"{"\ud83d\ude00":1,"😀":2}"#,
                #"{"a":{"a":1},"a":2}"#, #"{"a":1,"a":"#,
                #"{"abcdefghijklmnopqrstuvwxyz":1,"abcdefghijklmnopqrstuvwxyz":2}"#,
                "{" + (0..<100).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + ",\"n50\":1}",
                "{" + (0..<17).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + ",\"n16\":1}",
                "{" + (0..<16).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + ",\"n15\":1}",
            ], code: .duplicateName)

    static let spaces: [Item] =
        of([
            " 1", "1 ", "\t1\n", "\r\n1\r\n", " [ ] ", "[ 1 , 2 ]", "{ }", "{ \"a\" : 1 , \"b\" : 2 }",
            "\n[\n1\n,\n2\n]\n",
            "{\t\"a\"\t:\t[\t]\t}", String(repeating: " ", count: 100) + "1",
        ])
        + of(
            ["\u{B}1", "\u{C}1", "\u{A0}1", "\u{85}1", "\u{2003}1", "\u{FEFF}1", "\u{0}1", "[\u{C}1]"],
            code: .expectedValue)
        + of(["1\u{B}", "1\u{C}", "1\u{2028}", "{}\u{A0}", "[]\u{0}"], code: .trailingBytes)
        + of(["{\u{B}}", "{\u{A0}\"a\":1}"], code: .expectedName)

    /// The depth limit of the readers in tests.
    static let depth = 64

    static let depths: [Item] = {
        var out: [Item] = []
        for levels in [1, 2, 63, 64, 65, 66, 400] {
            let code: JSONError.Code? = levels > depth ? .tooDeep : nil
            func around(_ open: String, _ inside: String, _ close: String, _ count: Int) -> Item {
                Item(String(repeating: open, count: count) + inside + String(repeating: close, count: count), code)
            }
            out.append(around("[", "", "]", levels))
            out.append(around("{\"a\":", "{}", "}", levels - 1))
            out.append(around("[{\"a\":", levels % 2 == 0 ? "1" : "[]", "}]", levels / 2))
        }
        return out
    }()
}
