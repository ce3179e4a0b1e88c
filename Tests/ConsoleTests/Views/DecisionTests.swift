import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Decisions and problems, while a worker runs on a real broker.
    @Suite(.enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
    struct DecisionTests {
        static let product = "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866"

        let tab: Tab
        let world: ConsoleWorld

        init() throws {
            tab = try Tab.ofTest()
            world = try ConsoleWorld.shared.get()
            try tab.enter(world.console)
        }

        /// Waits until the list of a filter has a number of rows.
        private func awaitRows(_ count: Int, _ filter: String, kind: String = "decision") throws {
            try tab.go(world.console, "#/decisions?\(filter)")
            try tab.awaitStatus("\(count) \(kind)", seconds: 30)
        }

        @Test("Support: why did this person land on the home screen yesterday?")
        func support() throws {
            let anna = BrokerEnvironment.uniqueName("anna")
            try world.send("before", link: Self.product + "?count=3", device: anna)
            try world.send("landed", link: "shop:///", device: anna, campaign: "win-back")
            try world.send("after", link: "shop:///orders/12", device: anna)
            try tab.go(world.console, "#/decisions")
            try tab.find(".feed-search").type(anna)
            try tab.press(.enter)
            try tab.awaitStatus("3 decisions", seconds: 30)
            // The person's rows: what was decided, newest first.
            let rows = try tab.texts(".feed-layer .feed-row")
            #expect(rows.count == 3 && rows[1].contains("home") && rows[1].contains("win-back"), "\(rows)")
            try tab.click(".feed-layer .feed-row:nth-child(2) .cell-0 a")
            // The decision, its input, the explanation with the link's parts, and the timeline.
            try tab.awaitText("Opens the app at its start", in: "h1")
            try tab.awaitText("Start of the app", in: ".phones")
            _ = try tab.find(".link-parts .part", containing: "shop")
            _ = try tab.find(".phases")
            let timeline = try tab.texts(".timeline li")
            #expect(timeline.count == 3 && timeline[0].contains("order") && timeline[2].contains("item"), "\(timeline)")
            try tab.click("summary", containing: "Event as JSON")
            try tab.awaitText("\"landed\"", in: "pre.code")
            // The table that decided is the served one, so that there is no warning.
            #expect(try tab.texts(".banner") == [])
            try tab.click(".timeline a")
            try tab.awaitText("Opens Order", in: "h1")
            try tab.back()
            try tab.awaitText("Start of the app", in: ".phones")
        }

        @Test("On call: since when, how much, which application, which reason, which campaign?")
        func onCall() throws {
            let campaign = BrokerEnvironment.uniqueName("spring")
            try world.send("bad", link: Self.product + "?count=500", device: "d-1", campaign: campaign, count: 7)
            try world.send("gone", link: "https://shop.example/absent", device: "d-2", campaign: campaign, count: 2)
            let _: Bool = try eventually("9 rejections in the index", seconds: 30) {
                let chart = try world.console.get("/api/chart?by=reason&kind=problem&campaign=\(campaign)")
                return chart["total"].number == 9 ? true : nil
            }
            try tab.go(world.console, "#/problems?campaign=\(campaign)")
            try tab.awaitText("9 problems since", in: ".problems-lead")
            try tab.awaitText("param_invalid (78 %)", in: ".problems-lead")
            // One chart with axes and a legend that filters.
            #expect(try tab.texts(".legend .chip") == ["param_invalid 7", "no_route 2"])
            #expect(try tab.all("svg.chart .axis").count > 1)
            for (by, value) in [
                ("Campaign", campaign), ("Application", "com.example.shop"), ("Reason", "param_invalid"),
            ] {
                try tab.click(".segmented label", containing: by)
                try tab.awaitText(value, in: ".legend")
            }
            // The figures are also a table, for those who cannot see the chart.
            try tab.click("summary", containing: "Figures")
            try tab.awaitText("7", in: ".figures td")
            // From a bar to its records.
            let bar: [String] = try tab.run(
                "const a = document.querySelector('svg.chart a'); return [a.getAttribute('href'), a.ariaLabel]")
            let count = try #require(bar[1].firstMatch(of: #/^param_invalid: (\d)/#).flatMap { Int($0.1) })
            try tab.go(world.console, bar[0])
            try tab.awaitText("\(count) problem", in: "[role=status]")
            #expect(try tab.texts(".feed-layer .feed-row").allSatisfy { $0.contains("param_invalid") })
            // The worker's own state.
            try tab.go(world.console, "#/problems")
            try tab.awaitText("Worker", in: "#worker-title")
            try tab.awaitText("Lag", in: "main")
        }

        @Test("New decisions appear while a worker runs, and a pause holds them back")
        func live() throws {
            let device = BrokerEnvironment.uniqueName("live")
            try tab.go(world.console, "#/decisions?device=\(device)")
            try tab.awaitStatus("0 decisions")
            try world.send("l-1", link: "shop:///orders/1", device: device)
            try tab.awaitStatus("1 decision", seconds: 20)
            #expect(try tab.texts(".feed-layer .feed-row").count == 1)
            try tab.click("button", containing: "Pause")
            try world.send("l-2", link: "shop:///orders/2", device: device, count: 3)
            try tab.awaitText("3 new decisions", in: ".feed-fresh", seconds: 20)
            #expect(try tab.texts(".feed-layer .feed-row").count == 1)
            try tab.click(".feed-fresh")
            try tab.awaitStatus("4 decisions")
            let _: Bool = try eventually("4 rows") {
                try tab.texts(".feed-layer .feed-row").count == 4 ? true : nil
            }
        }

        @Test("Each value of a row is a filter, chips remove filters, and back brings them again")
        func filters() throws {
            let device = BrokerEnvironment.uniqueName("filter")
            let campaign = BrokerEnvironment.uniqueName("c")
            try world.send("f-1", link: Self.product, device: device, campaign: campaign)
            try world.send("f-2", link: "https://shop.example/absent", device: device)
            try awaitRows(2, "device=\(device)")
            for (cell, name, value) in [(1, "outcome", "navigate"), (2, "route", "item"), (4, "campaign", campaign)] {
                try tab.go(world.console, "#/decisions?device=\(device)")
                try tab.click(".feed-layer .feed-row:last-child .cell-\(cell) a")
                try tab.awaitStatus("1 decision")
                #expect(try tab.address.contains("\(name)=\(value)"))
            }
            try tab.click("button[aria-label='Remove the filter campaign']")
            try tab.awaitStatus("2 decisions")
            try tab.back()
            try tab.awaitStatus("1 decision")
            let text: String = try tab.runAsync(
                "return await (await fetch(document.querySelector('a[download]').href)).text()")
            let lines = text.split(whereSeparator: \.isNewline)
            #expect(lines.count == 2 && lines[1].contains(",item,"), "\(text)")
        }

        @Test("Records that cannot be read are dead letters with their reason")
        func deadLetters() throws {
            let marker = BrokerEnvironment.uniqueName("please")
            try world.send([marker])
            try tab.go(world.console, "#/decisions?kind=dead_letter")
            try tab.awaitText("bad_json", in: ".feed-layer", seconds: 30)
            try tab.awaitText("dead letter", in: ".feed-layer")
        }

        @Test("On call: I filter in one tab. Does my other tab keep its own list? Both are live")
        func twoTabs() throws {
            let (one, two) = (BrokerEnvironment.uniqueName("one"), BrokerEnvironment.uniqueName("two"))
            let other = try tab.browser.newTab()
            defer { try? other.close() }
            try tab.go(world.console, "#/decisions?device=\(one)")
            try other.go(world.console, "#/decisions?device=\(two)")
            try world.send("t", link: "shop:///orders/1", device: one)
            try world.send("t", link: "shop:///orders/2", device: two, count: 2)
            try other.awaitStatus("2 decisions", seconds: 20)
            try tab.awaitStatus("1 decision", seconds: 20)
            // A filter, a pause, and the way back in one tab.
            let before = try other.address
            try tab.click(".feed-layer .feed-row .cell-2 a")
            try tab.awaitText("order", in: ".chip")
            try tab.click("button", containing: "Pause")
            try world.send("t-3", link: Self.product, device: two)
            try other.awaitStatus("3 decisions", seconds: 20)
            #expect(try other.address == before)
            #expect(try other.texts(".chip").count == 1)
            #expect(try other.texts(".feed-layer .feed-row").count == 3)
            try tab.back()
            try world.send("t-4", link: "shop:///orders/4", device: one)
            try tab.awaitText("1 new decision", in: ".feed-fresh", seconds: 20)
            try tab.click("button", containing: "Continue")
            try tab.awaitStatus("2 decisions", seconds: 20)
            try other.awaitStatus("3 decisions")
            #expect(try other.problems() == [])
        }

        @Test("Keys move in the list, and Enter opens a decision")
        func keys() throws {
            let device = BrokerEnvironment.uniqueName("keys")
            try world.send("k-1", link: "shop:///orders/1", device: device)
            try world.send("k-2", link: Self.product, device: device)
            try awaitRows(2, "device=\(device)")
            let _: JSON = try tab.run("document.querySelector('[role=grid]').focus()")
            try tab.press(.down, times: 2)
            try tab.press(.enter)
            try tab.awaitText("Order", in: "h1")
            try tab.press(.escape)
            try tab.awaitStatus("2 decisions")
        }
    }
}
