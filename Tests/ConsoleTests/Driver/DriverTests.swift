import Foundation
import Testing

extension BrowserTests {
    /// The client of the browser itself, with pages that need no server.
    @Suite struct DriverTests {
        let tab: Tab

        init() throws { tab = try #require(Tab.current) }

        private func show(_ html: String) throws {
            try tab.open("data:text/html;base64," + Data(("<!DOCTYPE html>" + html).utf8).base64EncodedString())
        }

        @Test("Text, roles, and names of elements are read, and input reaches them")
        func elements() throws {
            try show(
                """
                <label for=a>Link</label><input id=a><button onclick="this.textContent = a.value">Go</button>
                <p>one</p><p hidden>two</p>
                """)
            let input = try tab.find("input")
            #expect(try input.role == "textbox")
            #expect(try input.label == "Link")
            try input.type("shop:///p/1")
            try tab.click("button", containing: "Go")
            #expect(try tab.find("button").text == "shop:///p/1")
            #expect(try tab.texts("p") == ["one"])
            try tab.fill("input", with: "x")
            #expect(try input.property("value") == "x")
        }

        @Test("Scripts return values, and their errors are errors of the test")
        func scripts() throws {
            try show("<p>x")
            let values: [Int] = try tab.run("return [1, arguments[0]]", [2])
            #expect(values == [1, 2])
            let later: String = try tab.runAsync("await new Promise(r => setTimeout(r, 1)); return arguments[0]", ["y"])
            #expect(later == "y")
            #expect(throws: DriverFailure.self) {
                let _: JSON = try tab.run("throw new Error('no')")
            }
            #expect(throws: DriverFailure.self) {
                let _: JSON = try tab.runAsync("throw new Error('no')")
            }
        }

        @Test("Media, the size of the page, and keys are emulated")
        func emulation() throws {
            try show("<input><button>b</button>")
            try tab.emulate(.dark, reducedMotion: true)
            let query = "return arguments.length && matchMedia(arguments[0]).matches"
            #expect(try tab.run(query, ["(prefers-color-scheme: dark)"]) == true)
            #expect(try tab.run(query, ["(prefers-reduced-motion: reduce)"]) == true)
            try tab.resize(width: 360, height: 640)
            #expect(try tab.run("return innerWidth") == 360)
            try tab.press(.tab, times: 2)
            #expect(try tab.run("return document.activeElement.tagName") == "BUTTON")
            try tab.press(.tab, holding: [.shift])
            #expect(try tab.run("return document.activeElement.tagName") == "INPUT")
            #expect(try tab.screenshot().starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }

        @Test("Messages to the console are found, and expected ones are not")
        func console() throws {
            try show("<script>console.error('first'); console.warn('second'); console.log('third')</script>")
            let problems = try tab.problems()
            #expect(problems.count == 2)
            #expect(problems.first?.contains("first") == true)
            tab.expects(message: "fourth")
            let _: JSON = try tab.run("console.error('a fourth one')")
            #expect(try tab.problems() == [])
        }

        @Test("Tabs are independent, and a missing element fails in time with the text of the page")
        func tabs() throws {
            try show("<title>A</title>")
            let other = try tab.browser.newTab()
            try other.open("data:text/html,<title>B</title>only this")
            #expect(try tab.title == "A")
            #expect(try other.title == "B")
            let failure = #expect(throws: DriverFailure.self) { try other.find("h1", seconds: 0.1) }
            #expect(failure?.description.contains("only this") == true)
            try other.close()
            #expect(try tab.title == "A")
        }
    }
}
