import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Views of a fallback, a guard, and a large table, with tables that have them.
    @Suite(
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct ToneTests {
        /// A console with a table that has a guard and a fallback.
        private static let guarded = Result {
            let table = Checkout.root.appending(path: "Tests/LinkdCommandsTests/Tables/anchor.json").path
            return try RunningConsole(["--table", table])
        }

        let tab: Tab

        init() throws { tab = try Tab.ofTest() }

        /// Returns the address of an input to try.
        private func tried(_ input: String) throws -> String {
            let text = try #require(input.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            return "#/try?platform=ios&app=6.1.0&input=\(text)"
        }

        /// Returns a computed style of the first element that matches.
        private func style(_ css: String, _ property: String) throws -> String {
            try tab.run(
                "return getComputedStyle(document.querySelector(arguments[0])).getPropertyValue(arguments[1])",
                [.text(css), .text(property)])
        }

        @Test("A fallback does not look like a link that opened its screen")
        func fallback() throws {
            let console = try Self.guarded.get()
            try tab.enter(console, try tried("shop:///p/new"))
            try tab.awaitText("Opens List", in: "h2.answer")
            let success = try style("h2.answer .tone", "color")
            let icon: String = try tab.run("return document.querySelector('h2.answer .icon path').getAttribute('d')")
            try tab.go(console, try tried("shop:///absent"))
            _ = try tab.find("h2.answer[data-outcome=navigate][data-tone=fallback]")
            #expect(try style("h2.answer .tone", "color") != success)
            #expect(try tab.run("return document.querySelector('h2.answer .icon path').getAttribute('d')") != icon)
            try tab.awaitText("Fallback", in: ".phones figcaption")
            _ = try tab.find(".answer-matrix .cell[data-tone=fallback]")
        }

        @Test("The phone after Then shows the screen that the link leads to once the device has the claim")
        func destination() throws {
            let console = try Self.guarded.get()
            try tab.enter(console, try tried("shop:///orders/12"))
            try tab.awaitText("Waits for session", in: "h2.answer")
            try tab.awaitText("Then, when the device has session, for 15 minutes at most, once", in: ".phones")
            let scenes = try tab.texts(".phones .scene")
            #expect(scenes.count == 2 && scenes[0].contains("Form"), "\(scenes)")
            #expect(scenes[1].contains("Order") && scenes[1].contains("12"), "\(scenes)")
        }

        /// Writes a table with routes of all kinds.
        private func table(routes count: Int) throws -> String {
            let kinds = [
                #""to":{"path":"/main/s0"}"#, #""redirect":"/r0""#, #""exclude":{"outcome":"external"}"#,
                #""to":{"external":"https://shop.example/"}"#, #""exclude":{"outcome":"none"}"#,
            ]
            let routes = (0..<count).map { number in
                #"{"id":"r\#(number)","match":"/r\#(number)",\#(kinds[number == 0 ? 0 : number % kinds.count])}"#
            }
            let screens = (0..<12).map { #""s\#($0)":{}"# }
            let text = """
                {"schemaVersion":1,"table":{"id":"wide","version":"1"},
                 "link":{"schemes":["wide"],"host":"authority","hosts":["*"]},
                 "externals":{"schemes":["https","wide"],"hosts":["*"]},
                 "coordinators":{"main":{"screens":{\(screens.joined(separator: ","))}}},
                 "routes":[\(routes.joined(separator: ","))]}
                """
            let path = FileManager.default.temporaryDirectory.appending(path: "wide-\(UUID().uuidString).json").path
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }

        @Test("The map of 35 routes is seen as a whole, and each color of its legend has one meaning")
        func map() throws {
            let path = try table(routes: 35)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let console = try RunningConsole(["--table", path])
            try tab.enter(console, "#/map?table=wide")
            try tab.awaitText("35 routes", in: ".map-summary")
            let hidden: Double = try tab.run(
                "const e = document.querySelector('.map-rows'); return e.scrollHeight - e.clientHeight")
            #expect(hidden <= 1, "rows are cut off: \(hidden) pixels")
            #expect(try tab.all(".map-row").count == 35)
            let overlap: Double = try tab.run(
                """
                const tops = [...document.querySelectorAll(".map-row")].map(e => e.getBoundingClientRect());
                tops.sort((a, b) => a.top - b.top);
                return Math.max(...tops.slice(1).map((box, index) => tops[index].bottom - box.top));
                """)
            #expect(overlap <= 0.5)
            let colors: [String] = try tab.run(
                """
                return [...document.querySelectorAll(".map-legend [data-outcome] .dot")]
                    .map(e => getComputedStyle(e).backgroundColor);
                """)
            #expect(colors.count == 4 && Set(colors).count == colors.count, "\(colors)")
            let words = try tab.texts(".map-legend [data-outcome]")
            #expect(Set(words).count == words.count && words.contains("Opens outside the app"), "\(words)")
        }
    }

    /// Decisions that a broker has, in cases of few users.
    @Suite(
        .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"),
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct FeedCaseTests {
        let tab: Tab
        let world: ConsoleWorld

        init() throws {
            tab = try Tab.ofTest()
            world = try ConsoleWorld.shared.get()
            try tab.enter(world.console)
        }

        @Test("The facts about the device are below the headline of its decision")
        func facts() throws {
            let device = BrokerEnvironment.uniqueName("facts")
            try world.send("told", link: DecisionTests.product, device: device)
            try tab.go(world.console, "#/decisions?device=\(device)")
            try tab.awaitStatus("1 decision", seconds: 30)
            try tab.click(".feed-layer .feed-row .cell-0 a")
            try tab.awaitText("Opens Item", in: "h1")
            let lines = try tab.texts(".device-facts")
            #expect(lines.count == 1 && lines[0].contains("iOS") && lines[0].contains("app 6.1.0"), "\(lines)")
            let isBelow: Bool = try tab.run(
                """
                const names = ["h1", ".device-facts", ".phones"];
                const [title, facts, phones] = names.map(css => document.querySelector(css));
                const follows = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
                return Boolean(follows(title, facts) && follows(facts, phones));
                """)
            #expect(isBelow)
        }

        @Test("A time in the address that is none is an error that stays", arguments: ["decisions", "problems"])
        func wrongTime(view: String) throws {
            tab.expects(message: "400")
            try tab.open(world.console.address("#/\(view)?from=zzz"))
            try tab.awaitText("`from` is not a time".replacing("`", with: ""), in: ".feed-message .broken")
            #expect(try tab.texts(".feed-message .broken")[0].contains("2026-11-20T10:00:00Z"))
            // New decisions are not followed, because their answers would take the place of the error.
            let hasStream: Bool = try tab.runAsync(
                """
                await new Promise(r => setTimeout(r, 1500));
                return performance.getEntriesByType("resource").some(e => e.name.includes("/api/decisions/live"));
                """)
            #expect(!hasStream)
            #expect(try tab.texts(".feed-message .broken").count == 1)
        }

        @Test("If all streams are in use, the page says so, and not that the server does not answer")
        func streams() throws {
            tab.expects(message: "503")
            let console = try world.anotherConsole([])
            defer { console.process.stop() }
            var others: [RawClient] = []
            for _ in 0..<16 {
                let client = try RawClient(port: console.port)
                client.send(
                    "GET /api/decisions/live HTTP/1.1\r\nHost: \(console.host)\r\n\(console.bearer)\r\n\r\n")
                #expect(try client.readHead().status == 200)
                others.append(client)
            }
            try tab.enter(console, "#/decisions")
            try tab.awaitText("16 pages already show new decisions", in: ".feed-message", seconds: 30)
            #expect(try tab.texts(".feed-message").allSatisfy { !$0.contains("does not answer") })
            #expect(try tab.texts(".rate-box") == ["not live"])
            others.removeAll()
            // A stream is free again, and the page asks by itself.
            let _: Bool = try eventually("a page that is live again; \(tab.summary)", seconds: 60) {
                try tab.texts(".feed-message").contains { $0.contains("already show") } ? nil : true
            }
        }
    }
}
