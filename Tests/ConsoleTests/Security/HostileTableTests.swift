import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// A served table whose names and texts are hostile where the format allows it.
    @Suite(
        .serialized,
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct HostileTableTests {
        private static let markup = "<img src=x onerror=window.__pwned=1>"
        // Names in angle brackets without a space are names of variables.
        private static let script = "<script >window.__pwned=1</script >"
        private static let turned = "\u{202E}gnp.exe\u{202C}\u{2066}\u{200F}"
        private static let quoted = "\"'><svg onload=window.__pwned=1>\u{1}\u{7F}"
        private static let long = String(repeating: "long ", count: 400)
        /// Names that every object of JavaScript has, at the limit of the length, and of digits.
        private static let names = [
            "constructor", "toString", "hasOwnProperty", "valueOf", "prototype", String(repeating: "n", count: 64),
        ]

        /// The console of the table, which the tests share.
        private static let console = Result {
            let path = FileManager.default.temporaryDirectory.appending(path: "hostile-\(UUID().uuidString).json").path
            try table().write(toFile: path, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: path) }
            return try RunningConsole(["--table", path])
        }

        let tab: Tab

        init() throws { tab = try Tab.ofTest() }

        /// Returns the text of the table.
        ///
        /// - Parameter version: The version of the app that a route needs.
        private static func table(version: String = "4.0.0") throws -> String {
            let fields: [String: JSON] = [
                "toString": .text("string=\(markup.replacing(" ", with: "/"))"), "valueOf": "string?",
            ]
            let models = Dictionary(uniqueKeysWithValues: names.map { ($0, JSON.object(fields)) })
            let screens = Dictionary(
                uniqueKeysWithValues: names.map { ("s-" + $0.prefix(60), ["needs": [.text($0)]] as JSON) })
            let coordinators = Dictionary(
                uniqueKeysWithValues: names.map { ($0, ["screens": .object(screens)] as JSON) })
            let routes = names.enumerated().map { number, name -> JSON in
                let target: JSON = ["path": .text("/\(name)/s-\(name.prefix(60))")]
                return [
                    "id": .text(name), "match": .text("/\(number)\(markup)/{x}"), "status": .text(script),
                    "bind": .object([name: ["toString": "path.x", "valueOf": ["const": .text(quoted + long)]]]),
                    "variants": [
                        [
                            "when": [
                                "app": .text(">=\(version)"), "platform": .array([.text(markup), "ios"]),
                                "attributes": .object([script: .text(turned)]), "query": .object([quoted: "*"]),
                            ], "to": target,
                        ],
                        [
                            "when": ["region": .text(markup)],
                            "to": ["external": "https://x.example/?'-window.__pwned=1-'%3Cimg%3E"],
                        ],
                        ["to": version == "4.0.0" ? target : ["external": "https://x.example/changed"]],
                    ],
                ]
            }
            let table: JSON = [
                "schemaVersion": 1,
                "table": [
                    "id": "constructor", "version": .text(markup + turned),
                    "applications": .array([.text(script), .text(turned), .text(long)]),
                ],
                "link": ["schemes": ["hostile"], "host": "authority", "hosts": ["*"]],
                "externals": ["hosts": ["x.example"]], "models": .object(models),
                "coordinators": .object(coordinators), "routes": .array(routes), "fallback": ["outcome": "reject"],
            ]
            return String(decoding: try table.bytes, as: UTF8.self)
        }

        /// A link that a route matches.
        private static func link(_ number: Int, _ value: String) -> String {
            let path = "\(number)\(markup)/\(value)"
            return "hostile://x/"
                + path.split(separator: "/", maxSplits: 1).map { part in
                    part.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                }.joined(separator: "/")
        }

        @Test("App developer: somebody put markup and scripts into my table. The map and each route show them as text")
        func mapAndRoutes() throws {
            let console = try Self.console.get()
            try tab.enter(console)
            for fragment in ["map?table=constructor", "map?table=constructor&zoom=routes"] {
                try tab.go(console, "#/" + fragment)
                _ = try tab.find(".map-row")
                try tab.awaitText("6 routes", in: ".map-summary")
                try tab.expectHarmless()
            }
            for name in [Self.names[0], Self.names[3], Self.names[5]] {
                try tab.go(console, "#/map?table=constructor&route=\(name)&screen=\(name).s-\(name.prefix(60))")
                _ = try tab.find(".map-detail a")
                try tab.expectHarmless()
                try tab.go(console, "#/route?table=constructor&route=\(name)")
                try tab.awaitText(name, in: "h1")
                try tab.awaitText("<script >", in: "main")
                try tab.expectHarmless()
            }
        }

        @Test("Marketing: what does a link of such a table open? The answer, its phases, and the phones show text")
        func tried() throws {
            let console = try Self.console.get()
            try tab.enterTry(console)
            for (number, name) in Self.names.enumerated() {
                let body: JSON = [
                    "link": .text(Self.link(number, number.isMultiple(of: 2) ? Self.markup : "x")),
                    "application": .text(Self.script),
                    "device": [
                        "id": .text(Self.turned), "app": "6.1.0", "platform": "ios",
                        "region": .text(number == 3 ? Self.markup : "x"),
                    ],
                ]
                let _: JSON = try tab.run(
                    """
                    const input = document.querySelector("#question");
                    input.value = arguments[0];
                    input.dispatchEvent(new Event("input", { bubbles: true }));
                    """, [.text(String(decoding: try body.bytes, as: UTF8.self))])
                try tab.awaitText(name, in: ".source")
                try tab.awaitRest()
                _ = try tab.find("h2.answer[data-outcome=\(number == 3 ? "external" : "navigate")]")
                _ = try tab.find(".answer-matrix .cell")
                try tab.expectHarmless()
            }
        }

        @Test("App developer: what would my change break in such a table? Both sides show text")
        func compared() throws {
            let console = try Self.console.get()
            try tab.enter(console, "#/compare?table=constructor")
            try tab.compare(try Self.table(version: "5.0.0"))
            _ = try tab.find(".compare-sides .phones", seconds: 60)
            try tab.awaitText("<img src=x", in: "main")
            try tab.expectHarmless()
        }
    }
}
