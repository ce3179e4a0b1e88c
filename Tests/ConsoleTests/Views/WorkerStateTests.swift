import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The state of the worker of `--worker`, in “What goes wrong”.
    @Suite(
        .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"),
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct WorkerStateTests {
        let tab: Tab
        let world: ConsoleWorld

        init() throws {
            tab = try Tab.ofTest()
            world = try ConsoleWorld.sampled()
            tab.expects(message: "502")
            // A console of a test ends before its tab does.
            tab.expects(message: "ERR_CONNECTION_REFUSED")
        }

        /// Reads the state again at once, as the page does when its tab is seen again.
        private func look() throws {
            let _: JSON = try tab.run("document.dispatchEvent(new Event('visibilitychange'))")
        }

        /// Opens “What goes wrong” of a console whose worker is a server of the test.
        private func enter(_ server: RawServer) throws -> RunningConsole {
            let console = try world.anotherConsole(["--worker", "http://127.0.0.1:\(server.port)"])
            try tab.enter(console, "#/problems")
            return console
        }

        @Test("On call: is my worker alive, how far behind, and what failed last? It goes away, and comes back")
        func comings() throws {
            let server = try RawServer(.page(of: world.workerPort))
            let console = try enter(server)
            defer { console.process.stop() }
            try tab.awaitText("ready", in: "section[aria-label=Worker] .badge")
            let facts = try tab.texts("section[aria-label=Worker] dl")
            for text in ["State", "Rate", "records a second", "Lag", "Since its start", "shop@1"] {
                #expect(facts.contains { $0.contains(text) }, "\(text) in \(facts)")
            }
            #expect(try tab.texts("section[aria-label=Worker] tbody tr").count == 1)
            let lanes = "document.querySelector('[aria-label=Lanes]')"
            let _: JSON = try tab.run("window.before = \(lanes); before.focus()")
            try look()
            let _: Bool = try eventually("the state is drawn again") {
                let isNew: Bool = try tab.run("return before !== \(lanes)")
                return isNew ? true : nil
            }
            #expect(try tab.run("return document.activeElement === \(lanes)") as Bool)
            server.stop()
            try look()
            try tab.awaitText("does not accept connections", in: "section[aria-label=Worker] .state.broken")
            try tab.awaitText("http.listen", in: "section[aria-label=Worker] .state.broken")
            // The records do not depend on the worker.
            #expect(try tab.texts(".problems-lead").joined().contains("since"))
            let other = try RawServer(port: server.port, .page(of: world.workerPort))
            defer { other.stop() }
            try tab.click("section[aria-label=Worker] button", containing: "Try again")
            try tab.awaitText("records a second", in: "section[aria-label=Worker]")
            try tab.awaitAbsence(of: "section[aria-label=Worker] .state.broken")
        }

        /// Answers that are no state of a worker, and what the page says then.
        private static let strange: [(String, RawServer.Answer, String)] = [
            ("endless", .endless, "more than 8 MiB"), ("slow", .slow, "did not end within 2 s"),
            ("silent", .silent, "did not end within 2 s"),
            ("garbage", .bytes((0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 37) }), "not HTTP"),
            ("an error", RawServer.response("no", head: "HTTP/1.1 500 No"), "status 500"),
            ("a page", RawServer.response("<script>window.__pwned=1</script>"), "not JSON"),
            ("no object", RawServer.response("[1]"), "not JSON"),
            ("nested", RawServer.response(String(repeating: "[", count: 100_000)), "not JSON"),
            ("nothing", .bytes([]), "not HTTP"),
        ]

        @Test("On call: what does the page say if something else answers in the place of my worker? It never hangs")
        func strange() throws {
            let server = try RawServer(.page(of: world.workerPort))
            defer { server.stop() }
            let console = try enter(server)
            defer { console.process.stop() }
            for (name, answer, text) in Self.strange {
                server.set(answer)
                try look()
                // Everything else answers meanwhile.
                _ = try console.get("/api/info")
                try tab.click(".segmented label", containing: name.count.isMultiple(of: 2) ? "Campaign" : "Route")
                try tab.awaitText(text, in: "section[aria-label=Worker] .state.broken", seconds: 10)
                try tab.expectHarmless()
            }
        }

        @Test("A state whose texts are hostile shows as text, and one with other types does not break the page")
        func hostile() throws {
            let text = "<img src=x onerror=window.__pwned=1>\u{202E}"
            let state: JSON = [
                "ready": false, "not_ready": [.text(text)], "instance": .text(text), "rates": ["records_per_s": 1],
                "tables": [["id": .text(text), "version": .text(text), "hash": .text(text)]],
                "lanes": [
                    [
                        "lane": 0, "state": .text(text), "partitions": [["lag": 7]], "records": 1,
                        "last_errors": [["code": .text(text), "message": .text(text), "age_ms": 5]],
                    ]
                ],
            ]
            let server = try RawServer(RawServer.response(String(decoding: try state.bytes, as: UTF8.self)))
            defer { server.stop() }
            let console = try enter(server)
            defer { console.process.stop() }
            try tab.awaitText("<img src=x onerror=window.__pwned=1>", in: "section[aria-label=Worker]")
            try tab.awaitText("Last errors", in: "section[aria-label=Worker]")
            try tab.awaitText("7 records", in: "section[aria-label=Worker] dl")
            try tab.expectHarmless()
            for body in [
                "{}", #"{"lanes":7}"#, #"{"lanes":[null]}"#, #"{"tables":"x","rates":[]}"#, #"{"not_ready":{}}"#,
                #"{"lanes":[{"last_errors":5,"partitions":"p"}]}"#,
            ] {
                server.set(RawServer.response(body))
                try look()
                let _: Bool = try eventually("another state for \(body); \(tab.summary)") {
                    try tab.texts("section[aria-label=Worker]").contains { $0.contains("<img") } ? nil : true
                }
                try tab.awaitText("Worker", in: "#worker-title")
                try tab.awaitText("since", in: ".problems-lead")
            }
        }
    }
}
