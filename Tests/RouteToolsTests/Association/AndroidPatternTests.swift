@testable internal import RouteTools
internal import Testing

/// The patterns of Android, which match from left to right and never go back.
@Suite struct AndroidPatternTests {
    typealias Case = (pattern: String, text: String, matches: Bool)

    private func check(_ kind: AndroidPatternText.Kind, _ cases: [Case]) throws {
        for one in cases {
            let pattern = try AndroidPatternText(one.pattern, kind)
            #expect(pattern.matches(one.text) == one.matches, "\(kind) \(one.pattern) \(one.text)")
        }
    }

    @Test("A path, a prefix, and a suffix are literal texts")
    func literals() throws {
        try check(.literal, [("/a", "/a", true), ("/a", "/a/", false), ("", "", true), ("/.*", "/x", false)])
        try check(.prefix, [("/a", "/a", true), ("/a", "/ab", true), ("/a", "/b", false), ("", "/b", true)])
        try check(
            .suffix,
            [
                (".html", "/a.html", true), (".html", ".html", true), (".html", "/a.htm", false), ("", "/a", true),
                ("aab", "/aaab", true), ("abab", "/ababab", true), ("abab", "/abaab", false), ("a", "", false),
            ])
    }

    @Test("In a simple pattern, `*` repeats the character before it and `.*` stops at the next character")
    func simple() throws {
        try check(
            .simple,
            [
                ("/a", "/a", true), ("/a.c", "/abc", true), ("/a.c", "/ac", false),
                ("/.*", "/", true), ("/.*", "/x/y", true), (".*", "", true), (".*", "/x", true),
                ("/a*b", "/b", true), ("/a*b", "/aaab", true), ("/a*b", "/ab/b", false),
                ("/.*/b", "/x/b", true),
                // The run stops at the first slash, and the rest does not match.
                ("/.*/b", "/x/y/b", false), ("/.*\\.html", "/a.b.html", false), ("/.*\\.html", "/a.html", true),
                ("/.*l", "/hello", false), ("/.*o", "/hello", true),
                // A run at the end of the text counts as missing, but `.*` does not.
                ("/ab*", "/a", false), ("/ab*", "/abb", true), ("/ab*", "/ac", false), ("/ab.*", "/ab", true),
                // An escape makes `*` literal, but a dot stays any character.
                ("/a\\*", "/a*", true), ("/a\\*", "/aa", false), ("/a\\.c", "/abc", true),
                ("/a\\.*", "/a..", true), ("/a\\.*", "/ab", false), ("/.*\\*x", "/ab*x", true),
                ("", "", true), ("", "/", false), ("/a\\", "/a", false),
            ])
    }

    @Test("An advanced pattern has sets and counts, and each takes as much as possible")
    func advanced() throws {
        try check(
            .advanced,
            [
                ("/[a-z]+", "/abc", true), ("/[a-z]+", "/", false), ("/[a-z]+", "/aB", false),
                ("/[^/]+", "/aB1", true), ("/[^/]+", "/a/b", false), ("/[^a-c]", "/d", true),
                ("/[^a-c]", "/b", false), ("/.+", "/a/b", true), ("/.*", "/", true), ("/a{2}", "/aa", true),
                ("/a{2}", "/aaa", false), ("/a{2,}", "/aaaa", true), ("/a{2,3}", "/a", false),
                ("/a{0,1}b", "/b", true), ("/[0-9]{2,3}", "/1234", false),
                // Nothing is given back: the set takes the letter that follows it.
                ("/[a-z]+z", "/abz", false), ("/.*b", "/ab", false), ("/[^.]+\\.html", "/a.html", true),
                ("/[^/]+/b", "/x/b", true), ("/[^/]+/b", "/x/y/b", false),
                ("/[-a]+", "/-a", true), ("/[a\\]]+", "/a]", true), ("/[*+.]+", "/.+*", true),
                ("/a]", "/a]", true), ("/a}", "/a", true), ("/[z-a]", "/m", false),
                ("/a.c", "/abc", true), ("/a\\.c", "/abc", false), ("/a*", "/", true), ("", "", true),
            ])
    }

    @Test(
        "An advanced pattern that Android refuses is an error",
        arguments: [
            "/[", "/[]", "/[^]", "/a{", "/a{x}", "/a{3,2}", "/a{1,x}", "*", "+a", "{2}", "/a**", "/a*{2}", "/a\\",
            "/[a", "/a{-1}", String(repeating: "a", count: 2100),
        ])
    func invalid(pattern: String) {
        #expect(throws: AndroidPatternText.Invalid.self) { try AndroidPatternText(pattern, .advanced) }
    }

    @Test("In a dynamic rule, `*` stops at the next character and `?` is one character")
    func dynamic() {
        let cases: [Case] = [
            ("/a", "/a", true), ("/a", "/a/", false), ("/a/*", "/a/", true), ("/a/*", "/a/b/c", true),
            ("/a/*", "/a", false), ("/a/?*", "/a/", false), ("/a/?*", "/a/b", true), ("/a/*?", "/a/", false),
            ("/?", "/a", true), ("/?", "/ab", false), ("*", "", true), ("*", "/x", true),
            ("/*/b", "/x/b", true), ("/*/b", "/x/y/b", false), ("/*b", "/abab", false), ("a", "/a", false),
        ]
        for one in cases {
            #expect(AndroidPatternText(dynamic: one.pattern).matches(one.text) == one.matches, "\(one)")
        }
    }

    @Test("The two languages of components differ for the same pattern")
    func dialects() throws {
        let link = "https://a.example/x/y/b"
        let apple = try AppleRuleTests.decide(AppleRuleTests.file(#"{"/": "/*/b"}"#), link)
        #expect(apple.isHanded)
        #expect(!AndroidPatternText(dynamic: "/*/b").matches("/x/y/b"))
    }
}
