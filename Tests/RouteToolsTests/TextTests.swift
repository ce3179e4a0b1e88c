import RouteTools
import Testing

@Suite struct TextTests {
    @Test(
        "Terminal control is escaped",
        arguments: [
            (Array("plain é 漢字".utf8), "plain é 漢字"), (Array("\u{1B}[31mred\u{7}".utf8), "\\x1b[31mred\\x07"),
            (Array("a\nb\tc\r".utf8), "a\\nb\\tc\\r"), (Array("\u{7F}\u{9B}".utf8), "\\x7f\\u{9b}"),
            (Array("\u{202E}abc\u{2066}".utf8), "\\u{202e}abc\\u{2066}"), ([0x61, 0xFF, 0xC3, 0x28], "a\\xff\\xc3("),
            ([0xE2, 0x82], "\\xe2\\x82"), ([], ""), ([0xED, 0xA0, 0x80], "\\xed\\xa0\\x80"),
        ] as [([UInt8], String)])
    func escaping(bytes: [UInt8], shown: String) { #expect(Escaping.visible(bytes) == shown) }

    @Test("JSON keeps its value, with terminal control as escapes")
    func jsonEscaping() {
        #expect(Escaping.json(#"{"a":"é漢"}"#) == #"{"a":"é漢"}"#)
        #expect(Escaping.json("{\"a\":\"\u{9B}31m\u{202E}\u{7F}\"}") == #"{"a":"\u009b31m\u202e\u007f"}"#)
    }

    @Test(
        "Wide characters occupy two columns, and marks none",
        arguments: [("abc", 3), ("漢字", 4), ("é", 1), ("e\u{301}", 1), ("😀", 2), ("☎️", 2), ("가", 2), ("", 0)])
    func widths(text: String, columns: Int) { #expect(DisplayWidth.width(of: text) == columns) }

    @Test("A text is cut to a number of columns, never inside a character")
    func cut() {
        #expect(DisplayWidth.cut("abcdef", to: 4) == "abc…")
        #expect(DisplayWidth.cut("漢字漢字", to: 4) == "漢…")
        #expect(DisplayWidth.cut("abc", to: 3) == "abc")
        #expect(DisplayWidth.cut("abc", to: 0) == "")
    }
}
