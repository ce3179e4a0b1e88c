import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Hostile text in links, devices, campaigns, and tables shows as text, in each view.
    @Suite(
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct HostileTextTests {
        /// Texts that would be markup, scripts, or a change of direction, if they were not shown as text.
        static let texts = [
            "<img src=x onerror=window.__pwned=1>", "<script>window.__pwned=1</script>",
            "\"><svg onload=window.__pwned=1>", "'-window.__pwned=1-'", "javascript:window.__pwned=1",
            "{{constructor.constructor('window.__pwned=1')()}}", "</textarea><iframe srcdoc='<b>x</b>'></iframe>",
            "\u{202E}gnp.exe\u{202C}", "\u{2066}\u{200F}mark\u{2069}", "\u{0}\u{1}\u{7F}\u{85}", "%3Cimg%20src%3Dx%3E",
            "\u{1F468}\u{200D}\u{1F469}", "أهلا وسهلا", "שלום", String(repeating: "long", count: 2000),
            "&lt;b&gt;", "`code`", "${window.__pwned=1}", "\\u003cb\\u003e", "__proto__", "constructor",
        ]

        let tab: Tab

        init() throws { tab = try Tab.ofTest() }

        @Test("A hostile input of “Try a link” shows as text", arguments: texts.indices)
        func tried(index: Int) throws {
            let console = try RunningConsole.offline.get()
            let text = Self.texts[index]
            try tab.enterTry(console)
            let encoded = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let body = try String(
                decoding: JSON.object([
                    "link": .text("shop:///search?q=" + encoded), "application": "com.example.shop", "id": .text(text),
                    "device": ["id": .text(text), "platform": .text(text), "app": "6.1.0"],
                ]).bytes, as: UTF8.self)
            for input in index < 5 ? [text, "shop:///search?q=" + encoded, "https://" + text, body] : [text, body] {
                let _: JSON = try tab.run(
                    """
                    const input = document.querySelector("#question");
                    input.value = arguments[0];
                    input.dispatchEvent(new Event("input", { bubbles: true }));
                    """, [.text(input)])
                try tab.awaitRest()
                _ = try tab.find(".answer, .answer-head h2, .state.broken, .start")
                try tab.expectHarmless()
            }
        }

        @Test(
            "A hostile address of any view shows as text", arguments: ["try", "map", "route", "decisions", "compare"])
        func address(view: String) throws {
            let console = try RunningConsole.offline.get()
            try tab.enter(console)
            tab.expects(message: "404")
            tab.expects(message: "400")
            for text in Self.texts.prefix(5) {
                let encoded = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                for name in ["input", "table", "route", "q", "screen", "device", "platform", "attr.x", "by"] {
                    let _: JSON = try tab.run(
                        "location.hash = arguments[0]", [.text("#/\(view)?\(name)=\(encoded)&table=shop")])
                }
                try tab.awaitRest()
                try tab.expectHarmless()
            }
        }

        @Test("A view's name from the address is never a path or a module of another place")
        func viewName() throws {
            let console = try RunningConsole.offline.get()
            try tab.enter(console)
            for name in [
                "../main", "%2e%2e/main", "//evil.example/x", "try.js?x=", "<img src=x>", "data:text/javascript,1",
            ] {
                let _: JSON = try tab.run("location.hash = arguments[0]", [.text("#/" + name)])
                try tab.awaitText("There is no view", in: ".state.broken")
                try tab.expectHarmless()
            }
        }

        /// A table whose names and texts are hostile where the format allows it.
        private static func table() throws -> String {
            let text = "<img src=x onerror=window.__pwned=1>"
            let table: JSON = [
                "schemaVersion": 1,
                "table": [
                    "id": "hostile", "version": .text("1<b>"), "applications": .array([.text("com.<b>\u{202E}")]),
                ],
                "link": ["schemes": ["hostile"], "host": "ignored"],
                "models": ["M": ["text": "string"]],
                "coordinators": ["c": ["initial": "s", "screens": ["s": [:], "t": ["needs": ["M"]]]]],
                "routes": [
                    [
                        "id": "a", "match": .text("/\(text.filter { $0 != " " && $0 != "/" })/{x}"),
                        "to": ["path": "/c/t"], "bind": ["M": ["text": "path.x"]],
                    ],
                    [
                        "id": "b", "match": "/b",
                        "to": ["external": .text("https://x.example/?q=\"><script>alert(1)</script>")],
                    ],
                ],
                "fallback": ["outcome": "reject"],
                "examples": [["link": .text("hostile:///b?\u{202E}"), "outcome": "external", "route": "b"]],
            ]
            return String(decoding: try table.bytes, as: UTF8.self)
        }

        @Test("A candidate that is hostile, and its problems, show as text")
        func candidate() throws {
            let console = try RunningConsole.offline.get()
            try tab.enter(console)
            for text in [try Self.table(), "{\"\(Self.texts[0])\": \"\u{202E}<script>\"}", Self.texts[0]] {
                try tab.go(console, "#/compare?table=shop")
                try tab.compare(text)
                _ = try tab.find(".compare-page", seconds: 60)
                try tab.expectHarmless()
            }
        }

        @Test(
            "Hostile events show as text in decisions, a decision, and what goes wrong",
            .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
        func events() throws {
            let world = try ConsoleWorld.shared.get()
            var lines: [String] = []
            for (index, text) in Self.texts.enumerated() where index != 9 {
                let encoded = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                lines.append(
                    try world.event(
                        "h\(index)", link: "shop:///search?q=" + encoded, device: String(text.prefix(200)),
                        campaign: "hostile-" + String(text.prefix(100))))
            }
            try world.send(lines)
            try world.send([Self.texts[0], "{\"id\":\"\(Self.texts[1])\"}", "{\"\u{202E}<b>\":1}"])
            try tab.enter(world.console)
            let _: Bool = try eventually("the decisions", seconds: 30) {
                let rows = try world.console.get("/api/decisions?event=h20")
                return (rows["total"].number ?? 0) > 0 ? true : nil
            }
            for view in [
                "decisions", "decisions?kind=any", "decisions?kind=dead_letter", "problems?by=campaign&kind=any",
            ] {
                try tab.go(world.console, "#/" + view)
                try tab.awaitRest()
                try tab.expectHarmless()
            }
            let rows = try world.console.get("/api/decisions?route=search&limit=40")
            #expect(rows["rows"].elements.count >= 20)
            for row in rows["rows"].elements {
                let place = [row["partition"].number, row["offset"].number].map { Int($0 ?? -1) }
                try tab.go(world.console, "#/decision?partition=\(place[0])&offset=\(place[1])")
                _ = try tab.find("h1.answer")
                try tab.expectHarmless()
            }
        }
    }
}
