import Foundation
import Testing

extension BrowserTests {
    /// "Try a link", the first view, with the sample table of a shop.
    @Suite struct TryTests {
        static let product = "https://shop.example/p/B121D5E7-EA65-49F8-8B33-B3C43FA93866"

        let tab: Tab
        let console: RunningConsole

        init() throws {
            tab = try Tab.ofTest()
            console = try RunningConsole.offline.get()
            try tab.enterTry(console)
        }

        /// Pastes a text into the input, as the clipboard does.
        private func paste(_ text: String) throws {
            let _: JSON = try tab.run(
                """
                const input = document.querySelector("#question");
                input.focus();
                input.select();
                document.execCommand("insertText", false, arguments[0]);
                """, [.text(text)])
        }

        @Test("Marketing: I want to send this link. What will people see, on old versions too?")
        func link() throws {
            try paste(Self.product + "?count=3")
            try tab.awaitText("Opens Item on top of List", in: "h2.answer")
            // The phone shows the product with its data, and the screens below it.
            try tab.awaitText("B121D5E7-EA65-49F8-8B33-B3C43FA93866", in: ".phones .phone")
            #expect(try tab.texts(".phones .coordinator").count >= 3)
            // Version by version: old versions open a web page.
            _ = try tab.find(".answer-matrix .cell")
            let cells = try tab.texts(".answer-matrix .cell")
            #expect(cells.contains("Item") && cells.contains("shop.example"), "\(cells)")
            try tab.click(".answer-matrix .cell[data-outcome=external]")
            try tab.awaitText("outside the app", in: "h2.answer")
            try tab.awaitText("Web page", in: ".phones")
            #expect(try tab.find("#fact-app").property("value") == "3.9.9")
            // A sentence says what is wrong with a link.
            try paste(Self.product + "?count=500")
            try tab.awaitText("Rejected: count must be a whole number from 1 to 99", in: "h2.answer")
        }

        @Test("Marketing: I want to send this push body. What will people see?")
        func push() throws {
            try paste(
                #"{"aps":{"alert":{"title":"Back","body":"Your size is here"},"link":"\#(Self.product)?count=2"}}"#
            )
            try tab.awaitText("Opens Item on top of List", in: "h2.answer")
            try tab.awaitText("/aps/link", in: ".source")
            try tab.awaitText("2", in: ".phones .bound")
        }

        @Test("Marketing: my event has expired. What would it have opened?")
        func expired() throws {
            try paste(
                #"{"link":"\#(Self.product)","expires":"2020-01-01T00:00:00Z","device":{"id":"d-1","app":"6.0.0"}}"#)
            try tab.awaitText("Opens nothing: the event has expired", in: "h2.answer")
            try tab.awaitText("If it had not expired: Opens Item on top of List", in: ".banner")
            try tab.awaitText("B121D5E7-EA65-49F8-8B33-B3C43FA93866", in: ".phones .phone")
            try tab.awaitText("Item", in: ".answer-matrix .cell")
        }

        @Test("Marketing: what is wrong with my link? The nearest routes are shown")
        func nearest() throws {
            try paste(Self.product.replacing("/p/", with: "/pp/"))
            try tab.awaitText("Rejected: no", in: "h2.answer")
            try tab.awaitText("shop.example/p/B121D5E7", in: ".suggestion")
            // No link is close enough to be meant.
            try paste("https://shop.example/p/abc")
            try tab.awaitText("is not", in: ".near")
        }

        @Test("Before anything is asked, the view shows what to do, and an example answers with a click")
        func start() throws {
            try tab.awaitAbsence(of: "h2.answer")
            try tab.click(".start a, .start button")
            _ = try tab.find("h2.answer")
            #expect(try tab.address.contains("input="))
        }

        @Test("The address holds the whole question, and a colleague who opens it sees the same")
        func deepAddress() throws {
            try paste(Self.product + "?count=3")
            try tab.fill("#fact-app", with: "3.9.9")
            try tab.awaitText("outside the app", in: "h2.answer")
            let address = try eventually("an address with the question") {
                let address = try tab.address
                return address.contains("count%3D3") && address.contains("3.9.9") ? address : nil
            }
            #expect(!address.contains(console.token))
            let other = try tab.browser.newTab()
            defer { try? other.close() }
            try other.open(address)
            try other.awaitText("outside the app", in: "h2.answer")
            #expect(try other.find("#question").property("value").text == Self.product + "?count=3")
            #expect(try other.find("#fact-app").property("value") == "3.9.9")
            #expect(try other.problems() == [])
        }

        @Test("A push body beyond 8 KiB is answered, and the page says that the address does not hold it")
        func longBody() throws {
            let body = #"{"aps":{"alert":"\#(String(repeating: "x", count: 9000))","link":"\#(Self.product)"}}"#
            let _: JSON = try tab.run(
                """
                const input = document.querySelector("#question");
                input.value = arguments[0];
                input.dispatchEvent(new Event("input", { bubbles: true }));
                """, [.text(body)])
            try tab.awaitText("Opens Item", in: "h2.answer")
            try tab.awaitText("beyond 8 KiB", in: ".address-note")
            #expect(try tab.address.utf8.count < 1000)
        }

        @Test("Back and forward show the earlier and the later view")
        func history() throws {
            try tab.go(console, "#/try?input=coordinator%3A%2F%2Fproducts%2Fmerch")
            try tab.awaitText("id is missing", in: "h2.answer")
            try tab.go(console, "#/try?input=" + ShownView.product)
            try tab.awaitText("Opens Item", in: "h2.answer")
            try tab.back()
            try tab.awaitText("id is missing", in: "h2.answer")
            try tab.forward()
            try tab.awaitText("Opens Item", in: "h2.answer")
            try tab.reload()
            try tab.awaitText("Opens Item", in: "h2.answer")
        }

        @Test("The five phases show what each part of the link became")
        func phases() throws {
            try paste(Self.product + "?count=3")
            try tab.awaitText("Opens Item", in: "h2.answer")
            let phases = try tab.texts(".phases h3")
            #expect(
                phases.map { $0.drop { $0.isNumber || $0 == " " } }
                    == ["Normalize", "Select a route", "Choose a variant", "Compose the stack", "Bind the values"])
            // The pointer on a part of the link marks what became of it on the phone.
            try tab.find(".link-parts .part", containing: "B121D5E7").hover()
            try tab.awaitText("B121D5E7", in: ".phones .tied, .phases .tied")
        }

        @Test("The table switch restricts the question to one table")
        func tables() throws {
            _ = try tab.find("#table")
            let options: [String] = try tab.run("return [...document.querySelector('#table').options].map(o => o.text)")
            #expect(options.count == 6 && options.first == "All tables", "\(options)")
            let _: JSON = try tab.run(
                """
                const select = document.querySelector("#table");
                select.value = "coordinator-demo";
                select.dispatchEvent(new Event("change"));
                """)
            let _: Bool = try eventually("the table in the address") {
                try tab.address.contains("table=coordinator-demo") ? true : nil
            }
            try paste(Self.product)
            _ = try tab.find("h2.answer[data-outcome=reject], h2.answer[data-outcome=none]")
        }

        @Test("Marketing: I tried an event before. Is my link answered for the device that the controls show?")
        func facts() throws {
            try paste(#"{"link":"\#(Self.product)","device":{"id":"d-1","platform":"ios","app":"3.1.0"}}"#)
            try tab.awaitText("outside the app", in: "h2.answer")
            #expect(try tab.find("#fact-app").property("value") == "3.1.0")
            try paste(Self.product)
            try tab.awaitText("Opens Item", in: "h2.answer")
            let app = try #require(try tab.find("#fact-app").property("value").text)
            #expect(app != "3.1.0")
            let _: Bool = try eventually("\(app) in the address") {
                try tab.address.contains("app=\(app)") ? true : nil
            }
        }

        @Test("Back from the answer of one table leads to that of all tables")
        func backFromTable() throws {
            let unclaimed = "#/try?input=http%3A%2F%2Fshop.exmple%2Fsearch"
            try tab.go(console, unclaimed)
            try tab.awaitText("Unclaimed", in: "h2.answer")
            try tab.click("a.chip", containing: "shop")
            try tab.awaitText("Rejected: the scheme http is not listed", in: "h2.answer")
            try tab.back()
            try tab.awaitText("Unclaimed", in: "h2.answer")
            #expect(try tab.find("#table").property("value") == "")
        }

        @Test("The decision's JSON is the one that a worker writes, and is copied with a button")
        func json() throws {
            try paste(Self.product)
            try tab.click("summary", containing: "Decision as JSON")
            let text = try tab.find("pre.code").text
            let decision = try JSON.parse(text)
            #expect(decision["route"] == "item" && decision["outcome"] == "navigate")
            try tab.click("button", containing: "Copy")
            try tab.awaitText("Copied", in: "button")
        }

        @Test("Keys: / goes to the input, ? shows the keys, Escape closes them, and arrows move in the matrix")
        func keys() throws {
            try paste(Self.product)
            _ = try tab.find(".answer-matrix .cell")
            let _: JSON = try tab.run("document.activeElement.blur()")
            try tab.press("?")
            try tab.awaitText("Show the keys", in: "dialog")
            try tab.press(.escape)
            try tab.awaitAbsence(of: "dialog")
            try tab.press("/")
            #expect(try tab.run("return document.activeElement.id") == "question")
            _ = try tab.find(".answer-matrix .cell[tabindex='0']")
            let _: JSON = try tab.run("document.querySelector(\".answer-matrix .cell[tabindex='0']\").focus()")
            let before: String = try tab.run("return document.activeElement.ariaLabel")
            try tab.press(.right)
            let after: String = try tab.run("return document.activeElement.ariaLabel")
            #expect(before != after && after.contains("Android"), "\(before), then \(after)")
        }

        @Test("Without a broker, one line says what is missing")
        func withoutBroker() throws {
            let lines = try tab.texts("#status")
            #expect(lines.count == 1 && lines[0].contains("routes and resolving only"), "\(lines)")
        }

        @Test("A view that does not exist is a state with a way on")
        func absentView() throws {
            tab.expects(message: "view-absent.js")
            try tab.go(console, "#/absent")
            try tab.awaitText("There is no view", in: ".state.broken")
            try tab.click("nav a", containing: "Try a link")
            _ = try tab.find("#question")
        }
    }
}
