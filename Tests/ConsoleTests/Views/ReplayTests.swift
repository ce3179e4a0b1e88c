import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The replay of dead letters, while a worker runs on a real broker.
    @Suite(.enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
    struct ReplayTests {
        private static let panel = "section[aria-label=Replay]"
        let tab: Tab

        init() throws { tab = try Tab.ofTest() }

        /// Writes the table of the shop for an application.
        private static func write(_ application: String, to path: String) throws {
            let file = Checkout.root.appending(path: "config/routes/shop.json")
            try String(contentsOf: file, encoding: .utf8).replacing("com.example.shop", with: application)
                .write(toFile: path, atomically: true, encoding: .utf8)
        }

        /// Waits until a fact of the result has a value.
        private func awaitFact(_ name: String, _ value: Int) throws {
            let _: Bool = try eventually("\(name) \(value); \(tab.summary)", seconds: 30) {
                let facts: [String: String] = try tab.run(
                    """
                    const names = [...document.querySelectorAll(arguments[0] + " .facts dt")];
                    return Object.fromEntries(names.map(e => [e.innerText.trim(), e.nextSibling.innerText.trim()]));
                    """, [.text(Self.panel)])
                return facts[name].map { $0.prefix { $0.isNumber } } == "\(value)" ? true : nil
            }
        }

        @Test("On call: my table lacked an application. I have corrected it. Can I get these links back, each once?")
        func replay() throws {
            let folder = try TemporaryFolder()
            let table = folder.path("shop.json")
            try Self.write("com.example.shop", to: table)
            let world = try ConsoleWorld(tables: [table], ["--allow-replay"])
            defer { world.stop() }
            try world.send(
                (0..<3).map { number in
                    try world.event("lost-\(number)", link: "shop:///orders/\(number + 1)", device: "d-\(number)")
                        .replacing("com.example.shop", with: "com.example.later")
                } + ["please open the shop"])
            try tab.enter(world.console, "#/decisions?kind=dead_letter")
            try tab.awaitStatus("4 dead letters", seconds: 30)
            // The dead letters of one reason: the dry run shows what would happen, and does nothing.
            try tab.go(world.console, "#/problems?kind=dead_letter&reason=application_unknown")
            try tab.awaitText("3 dead letters since", in: ".problems-lead")
            // Only the reason of the filter is ticked. The other one would fail whatever the table is.
            _ = try tab.find(Self.panel + " input[value=application_unknown]:checked")
            let boxes: [Bool] = try tab.run(
                "return [...document.querySelectorAll(arguments[0] + ' input[type=checkbox]')].map(e => e.checked)",
                [.text(Self.panel)])
            #expect(boxes.count == 2 && boxes.count { $0 } == 1, "\(boxes)")
            let rows = try tab.texts(Self.panel + " tbody tr")
            #expect(rows.contains { $0.contains("all would fail again: bad_json") }, "\(rows)")
            #expect(rows.contains { $0.contains("application_unknown") && $0.contains("all would fail again") })
            // With no reason, there is nothing to run.
            try tab.click(Self.panel + " input[value=application_unknown]")
            #expect(try tab.find(Self.panel + " button", containing: "Dry run").property("disabled") == true)
            try tab.click(Self.panel + " input[value=application_unknown]")
            try tab.click(Self.panel + " button", containing: "Dry run")
            try awaitFact("Chosen", 3)
            try awaitFact("To replay", 3)
            try awaitFact("Replayed before", 0)
            #expect(try world.console.get("/api/decisions")["total"] == 0)
            let served = try world.console.get("/api/worker")["status"]["tables"][0]["hash"]
            try Self.write("com.example.later", to: table)
            world.worker.signal(SIGHUP)
            let _: Bool = try eventually("the corrected table; \(world.worker.errors.suffix(2000))", seconds: 30) {
                try world.console.get("/api/worker")["status"]["tables"][0]["hash"] != served ? true : nil
            }
            try tab.click(Self.panel + " button.primary", containing: "Replay 3 dead letters")
            try awaitFact("Replayed", 3)
            // The same again: there is nothing left.
            try tab.click(Self.panel + " button", containing: "Dry run")
            try tab.awaitText("There is nothing to replay.", in: Self.panel, seconds: 30)
            try awaitFact("Replayed before", 3)
            try tab.go(world.console, "#/decisions")
            try tab.awaitStatus("3 decisions", seconds: 30)
            #expect(try tab.texts(".feed-layer .feed-row").allSatisfy { $0.contains("order") })
            let response = try world.console.send(
                "POST /api/replay",
                headers: [world.console.bearer, "Content-Type: application/json", "X-Linkd-Console: 1"],
                body: #"{"reason":"application_unknown","ticket":"0123456789abcdef0123456789abcdef"}"#)
            #expect(response.status == 409, "\(response.text)")
        }

        @Test("A console without `--allow-replay` has no button to replay, and refuses the request")
        func refused() throws {
            let world = try ConsoleWorld.sampled()
            try tab.enter(world.console, "#/problems?kind=dead_letter")
            try tab.awaitText("dead letter", in: ".problems-lead")
            try tab.awaitAbsence(of: Self.panel)
            #expect(try !tab.texts("button").contains { $0.contains("Dry run") || $0.contains("Replay") })
            tab.expects(message: "403")
            let status: Int = try tab.runAsync(
                """
                const headers = { "Content-Type": "application/json", "X-Linkd-Console": "1" };
                return (await fetch("/api/replay", { method: "POST", headers, body: "{}" })).status;
                """)
            #expect(status == 403)
            let response = try world.console.send(
                "POST /api/replay",
                headers: [world.console.bearer, "Content-Type: application/json", "X-Linkd-Console: 1"], body: "{}")
            #expect(response.status == 403)
            #expect(try JSON.parse(response.text)["error"]["next"].text?.contains("--allow-replay") == true)
        }
    }
}
