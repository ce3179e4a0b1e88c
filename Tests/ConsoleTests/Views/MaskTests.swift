import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// A console with `--mask`, which shows what was decided but not for whom.
    @Suite(
        .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"),
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct MaskTests {
        /// A part of every text of the records that identifies people.
        private static let secret = BrokerEnvironment.uniqueName("secret")
        /// Another one, in the form that a route for products takes.
        private static let product = UUID().uuidString
        /// The number of an order.
        private static let order = "7\(UInt32.random(in: 100_000_000...900_000_000))"
        /// A campaign, which is shown, so that the test finds its records.
        private static let campaign = BrokerEnvironment.uniqueName("masked-campaign")

        let tab: Tab
        let world: ConsoleWorld

        init() throws {
            tab = try Tab.ofTest()
            world = try ConsoleWorld.shared.get()
        }

        /// The records, sent once, and a console that masks them.
        private static let masked = Result {
            let world = try ConsoleWorld.shared.get()
            let links = [
                "https://shop.example/p/\(product)?count=3&utm_source=\(secret)", "shop:///orders/\(order)",
                "shop:///search?q=\(secret)&tag=\(secret)", "https://\(secret)@shop.example/p/\(product)",
                "https://shop.example/absent/\(secret)?x=\(order)#\(secret)", "https://shop.example/legal/\(secret)",
                "https://shop.example/p/\(product)?count=\(secret)", "https://evil.example/\(secret)",
            ]
            var lines = try links.enumerated().map { number, link in
                try world.event(
                    "\(secret)-event-\(number)", link: link, device: "\(secret)-device", campaign: campaign)
            }
            lines += try ["ios", "android"].map { platform in
                let event: JSON = [
                    "id": .text("\(secret)-push-\(platform)"), "application": "com.example.shop",
                    "campaign": .text(campaign), "user": .text(secret), "payloadType": "apns",
                    "payload": ["aps": ["alert": .text(secret), "link": .text("shop:///orders/\(order)")]],
                    "device": [
                        "id": .text("\(secret)-device"), "platform": .text(platform), "app": "6.1.0",
                        "attributes": ["tier": .text(secret)], "claims": [.text(secret)],
                    ],
                ]
                return String(decoding: try event.bytes, as: UTF8.self)
            }
            lines.append("{\"id\":\"\(secret)-dead\",\"link\":{\"\(secret)\":\"\(product)\"}}")
            lines.append("{\"id\":\"\(secret)-late\",\"application\":\"none\",\"link\":\"x://\(secret)/\(order)\"}")
            lines.append("\(secret) \(product) \(order)")
            try world.send(lines)
            let _: Bool = try eventually("the decisions", seconds: 30) {
                let answer = try world.console.get("/api/decisions?campaign=\(campaign)")
                return (answer["total"].number ?? 0) >= 10 ? true : nil
            }
            let _: Bool = try eventually("the dead letters", seconds: 30) {
                let letters = try world.console.get("/api/deadletters?event=\(secret)-dead")
                return (letters["total"].number ?? 0) >= 1 ? true : nil
            }
            return try world.anotherConsole(["--mask"])
        }

        /// Expects that a text of a page or of an answer contains nothing that identifies people.
        private func expectMasked(_ text: String, _ place: String, sourceLocation: SourceLocation = #_sourceLocation) {
            for needle in [Self.secret, Self.product, Self.product.lowercased(), Self.order] {
                guard let found = text.range(of: needle) else { continue }
                let start = text.index(found.lowerBound, offsetBy: -80, limitedBy: text.startIndex) ?? text.startIndex
                Issue.record(
                    "\(place) shows \(text[start..<found.upperBound])", sourceLocation: sourceLocation)
            }
        }

        /// Expects that the document is masked, with its attributes, the values of its fields, and its address.
        private func expectMaskedPage(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let text: String = try tab.run(
                """
                const fields = [...document.querySelectorAll("input, textarea, select")].map(e => e.value);
                return [document.documentElement.outerHTML, document.title, location.href, ...fields].join("\\n");
                """)
            #expect(text.utf8.count > 2000, sourceLocation: sourceLocation)
            expectMasked(text, try tab.address, sourceLocation: sourceLocation)
        }

        @Test("Security: may I show this to everybody? No view has an id of a device, or a parameter of a link")
        func views() throws {
            let console = try Self.masked.get()
            try tab.enter(console)
            for fragment in [
                "decisions", "decisions?kind=any", "decisions?campaign=\(Self.campaign)", "decisions?kind=dead_letter",
                "decisions?kind=problem", "problems", "problems?by=campaign&kind=any", "problems?by=route&kind=any",
                "map?table=shop", "route?table=shop&route=item", "compare?table=shop",
            ] {
                try tab.go(console, "#/" + fragment)
                try expectMaskedPage()
            }
            let rows = try console.get("/api/decisions?limit=200&campaign=\(Self.campaign)")["rows"].elements
            #expect(rows.count >= 10)
            for row in rows {
                let place = [row["partition"].number, row["offset"].number].map { Int($0 ?? -1) }
                try tab.go(console, "#/decision?partition=\(place[0])&offset=\(place[1])")
                _ = try tab.find("h1.answer")
                let _: JSON = try tab.run("document.querySelectorAll('details').forEach(e => { e.open = true; })")
                try expectMaskedPage()
            }
        }

        @Test("Security: may a script read it? No answer has an id of a device, or a parameter of a link")
        func answers() throws {
            let console = try Self.masked.get()
            try tab.enter(console)
            let rows = try console.get("/api/decisions?limit=200&campaign=\(Self.campaign)")["rows"].elements
            let places = rows.map { row in
                "partition=\(Int(row["partition"].number ?? -1))&offset=\(Int(row["offset"].number ?? -1))"
            }
            let paths =
                [
                    "/api/info", "/api/decisions?limit=200", "/api/decisions?limit=200&kind=any&histogram=50",
                    "/api/deadletters?limit=200", "/api/decisions.csv?kind=any", "/api/worker",
                    "/api/map?table=shop", "/api/route?table=shop&route=item",
                ]
                + ["outcome", "route", "reason", "campaign", "application", "table"].map {
                    "/api/chart?kind=any&top=50&by=\($0)"
                } + places.map { "/api/decision?around=20&\($0)" }
            for path in paths {
                let text: String = try tab.runAsync(
                    "const r = await fetch(arguments[0]); return r.status + \" \" + await r.text()", [.text(path)])
                #expect(text.hasPrefix("200 ") || path == "/api/worker", "\(path): \(text.prefix(300))")
                expectMasked(text, path)
            }
            tab.expects(message: "404")
            // Rows as they arrive, from the beginning of the topics on.
            let live: String = try tab.runAsync(
                """
                const reader = (await fetch("/api/decisions/live?kind=any&after=0.0:0,0.1:0,0.2:0,1.0:0,1.1:0,1.2:0"))
                    .body.getReader();
                let text = "";
                while (!text.includes("event: rate")) text += new TextDecoder().decode((await reader.read()).value);
                await reader.cancel();
                return text;
                """)
            #expect(live.contains("cursor"))
            expectMasked(live, "/api/decisions/live")
        }

        @Test("Support: which other decisions did this person get? A masked id is the same everywhere, and filters")
        func sameID() throws {
            let console = try Self.masked.get()
            try tab.enter(console)
            try tab.go(console, "#/decisions?campaign=\(Self.campaign)")
            try tab.awaitStatus("10 decisions")
            let ids = Set(try tab.texts(".feed-layer .feed-row .cell-3"))
            let id = try #require(ids.first)
            #expect(ids.count == 1 && id.hasPrefix("masked-"), "\(ids)")
            try tab.click(".feed-layer .feed-row .cell-3 a")
            try tab.awaitStatus("10 decisions")
            #expect(try tab.address.contains("device=\(id)"))
            #expect(Set(try tab.texts(".feed-layer .feed-row .cell-3")) == [id])
            // The id that somebody knows leads to the same rows.
            try tab.go(console, "#/decisions?device=\(Self.secret)-device")
            try tab.awaitStatus("10 decisions")
            #expect(Set(try tab.texts(".feed-layer .feed-row .cell-3")) == [id])
            try tab.click(".feed-layer .feed-row .cell-0 a")
            try tab.awaitText(id, in: ".source")
            #expect(try tab.texts(".timeline li").count > 1)
            let letter = try console.get("/api/deadletters?event=\(Self.secret)-dead")["rows"][0]
            #expect(letter["event"].text?.hasPrefix("masked-") == true, "\(letter)")
        }
    }
}
