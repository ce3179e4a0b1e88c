import RouteTools
import Testing

@Suite struct TextTests {
    @Test(
        "Terminal control is escaped",
        arguments: [
            (Array("plain é 漢字".utf8), "plain é 漢字"), (Array("\u{1B}[31mred\u{7}".utf8), "\\x1b[31mred\\x07"),
            (Array("a\nb\tc\r".utf8), "a\\nb\\tc\\r"), (Array("\u{7F}\u{9B}".utf8), "\\x7f\\u{9b}"),
            (Array("\u{202E}abc\u{2066}".utf8), "\\u{202e}abc\\u{2066}"), (Array("\u{61C}".utf8), "\\u{61c}"),
            ([0x61, 0xFF, 0xC3, 0x28], "a\\xff\\xc3("),
            ([0xE2, 0x82], "\\xe2\\x82"), ([], ""), ([0xED, 0xA0, 0x80], "\\xed\\xa0\\x80"),
        ] as [([UInt8], String)])
    func escaping(bytes: [UInt8], shown: String) { #expect(Escaping.visible(bytes) == shown) }
}
