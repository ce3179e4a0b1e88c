import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The map of a table, the page of a route, and the comparison of tables.
    @Suite struct MapTests {
        let tab: Tab
        let console: RunningConsole

        init() throws {
            tab = try Tab.ofTest()
            console = try RunningConsole.offline.get()
            try tab.enter(console)
        }

        @Test("App developer: what routes exist, and what leads to this screen?")
        func map() throws {
            try tab.go(console, "#/map?table=shop")
            try tab.awaitText("7", in: ".map-summary")
            let routes = try tab.texts(".map-row")
            for pattern in ["/p/{id:uuid}", "/p/new", "/orders/{order:int(1..)}", "/o/", "/search", "/legal/{rest+}"] {
                #expect(routes.contains { $0.contains(pattern) }, "\(pattern) in \(routes)")
            }
            // A screen leads to the routes that open it.
            try tab.go(console, "#/map?table=shop&screen=catalog.item")
            let _: Bool = try eventually("only the routes to the screen; \(tab.summary)") {
                let rows = try tab.texts(".map-row")
                return rows.count == 1 && rows[0].contains("catalog.item") ? true : nil
            }
        }

        @Test("The map is filtered by words, and the address holds the filter")
        func search() throws {
            try tab.go(console, "#/map?table=shop")
            try tab.fill(".map-search", with: "order")
            let _: Bool = try eventually("only orders; \(tab.summary)") {
                let rows = try tab.texts(".map-row")
                return !rows.isEmpty && rows.allSatisfy { $0.contains("order") } ? true : nil
            }
            #expect(try tab.address.contains("q=order"))
            try tab.fill(".map-search", with: "no such route")
            try tab.awaitText("No route", in: "main")
        }

        @Test("A route's page shows its pattern, examples, data, variants by version, and what overlaps it")
        func route() throws {
            try tab.go(console, "#/route?table=shop&route=item")
            try tab.awaitText("item", in: "h1")
            try tab.awaitText("/p", in: ".route-patterns")
            let headings = try tab.texts("h2")
            for heading in ["Pattern", "Examples", "Results by version and platform", "Data", "Overlaps"] {
                #expect(headings.contains(heading), "\(headings)")
            }
            try tab.awaitText("4.0.0", in: "main")
            try tab.awaitText("count", in: "main")
            try tab.click("main a", containing: "shop.example/p/")
            try tab.awaitText("Opens Item", in: "h2.answer")
            try tab.back()
            try tab.awaitText("item", in: "h1")
        }

        @Test("App developer: what would my change break? The stacks of both tables are side by side")
        func compare() throws {
            let file = Checkout.root.appending(path: "config/routes/shop.json")
            let served = try String(contentsOf: file, encoding: .utf8)
            // Without its examples, which the change contradicts.
            let end = try #require(served.range(of: ",\n  \"examples\""))
            let candidate = (String(served[..<end.lowerBound]) + "\n}").replacing(">=4.0.0", with: ">=5.0.0")
            #expect(candidate != served)
            try compare(candidate)
            try tab.awaitText("breaks working links", in: "h2.display", seconds: 60)
            // Each difference has a witness, and both decisions as phones.
            _ = try tab.find(".compare-sides .phones")
            let sides = try tab.texts(".compare-sides figure")
            #expect(sides.contains { $0.contains("Served") } && sides.contains { $0.contains("Candidate") }, "\(sides)")
            #expect(sides.contains { $0.contains("outside the app") } && sides.contains { $0.contains("Item") })
        }

        @Test("App developer: with all tables, which one is mapped, and with which is my candidate compared?")
        func oneTable() throws {
            try tab.go(console, "#/map")
            let _: Bool = try eventually("the table in the address and in the switch") {
                let table = try tab.find("#table").property("value").text ?? ""
                return try !table.isEmpty && tab.address.hasSuffix("table=\(table)") ? true : nil
            }
            try tab.go(console, "#/compare?table=content-flow")
            try tab.awaitText("Candidate for content-flow@", in: ".compare-form")
            let file = Checkout.root.appending(path: "config/routes/shop.json")
            try tab.compare(try String(contentsOf: file, encoding: .utf8))
            try tab.awaitText("Candidate for shop@", in: ".compare-form")
            try tab.awaitText("The candidate is the served table", in: "h2.display", seconds: 60)
        }

        @Test("A candidate with errors shows each at its line")
        func problems() throws {
            let file = Checkout.root.appending(path: "config/routes/shop.json")
            let served = try String(contentsOf: file, encoding: .utf8)
            try compare(served.replacing("\"/catalog/item\"", with: "\"/catalog/itme\""))
            try tab.awaitText("The candidate is refused", in: "h2.display", seconds: 60)
            try tab.awaitText("itme", in: ".compare-body")
            try tab.awaitText("Line 25, column", in: ".compare-body")
            try tab.awaitText("/catalog/itme", in: ".compare-line.at")
            try compare("{ this is no table")
            try tab.awaitText("The candidate is refused: 1 problem", in: "h2.display")
        }

        /// Pastes a candidate, and compares it with the served table of the shop.
        private func compare(_ candidate: String) throws {
            try tab.go(console, "#/compare?table=shop")
            try tab.compare(candidate)
        }
    }
}
