import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Rules of accessibility, on every view in dark and light.
    @Suite struct AccessibilityTests {
        @Test("Every view without a broker keeps the rules of accessibility", arguments: ShownView.offlineOrFew)
        func offline(view: ShownView) throws {
            try Self.check(view, try RunningConsole.offline.get())
        }

        @Test(
            "Every view of decisions keeps the rules of accessibility",
            .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"),
            arguments: ShownView.onlineOrFew)
        func online(view: ShownView) throws {
            try Self.check(view, try ConsoleWorld.sampled().console)
        }

        /// Records an issue for each violation of a rule in a view.
        static func check(
            _ view: ShownView, _ console: RunningConsole, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            func expectNone(_ rule: String, _ violations: [String]) {
                for violation in violations {
                    Issue.record("\(view.name), \(rule): \(violation)", sourceLocation: sourceLocation)
                }
            }
            let tab = try Tab.ofTest()
            for text in view.messages { tab.expects(message: text) }
            try tab.enter(console)
            let structure = StructureRules(tab: tab)
            try tab.resize(width: 1280, height: 900)
            try tab.emulate(.light)
            try view.show(in: tab, console)
            expectNone("structure", try structure.violations())
            if AxeRules.script != nil { expectNone("axe, light", try AxeRules(tab: tab).violations()) }
            expectNone("contrast, light", try ContrastRule(tab: tab).violations())
            try tab.resize(width: 1280, height: 900)
            expectNone("order of Tab", try FocusRules(tab: tab).order())
            expectNone("focus, light", try FocusRules(tab: tab).visibility())
            let _: JSON = try tab.run("document.activeElement.blur()")
            try tab.emulate(.dark)
            expectNone("contrast, dark", try ContrastRule(tab: tab).violations())
            try tab.resize(width: 1280, height: 900)
            expectNone("focus, dark", try FocusRules(tab: tab).visibility(limit: 4))
            try tab.emulate(.light, reducedMotion: true)
            expectNone("motion", try structure.motion())
            expectNone("width", try structure.overflow())
        }
    }

    /// The rules of accessibility find violations.
    @Suite(
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    struct AccessibilityRuleTests {
        let tab: Tab

        init() throws { tab = try Tab.ofTest() }

        private func show(_ html: String) throws {
            let page = "<!DOCTYPE html><html lang=en><title>t</title><style>body{background:#fff}</style>" + html
            try tab.open("data:text/html;charset=utf-8;base64," + Data(page.utf8).base64EncodedString())
        }

        private static let landmarks = "<header>h</header><nav aria-label=n>n</nav>"

        @Test(
            "Missing names, roles, headings, and landmarks are found",
            arguments: [
                ("<main><h1>a</h1><button></button></main>", "a button has no name"),
                ("<main><h1>a</h1><div tabindex=0>x</div></main>", "has no role"),
                ("<main><h1>a</h1><input></main>", "a textbox has no name"),
                ("<main><h1>a</h1><a href=#></a></main>", "a link has no name"),
                ("<main><h1>a</h1><svg role=img></svg></main>", "has no name"),
                ("<main><h1>a</h1><h3>b</h3></main>", "has level 3 after 1"), ("<main><h2>a</h2></main>", "of level 1"),
                ("<h1>a</h1>", "landmark `main`"), ("<main><h1>a</h1><nav aria-label=n>m</nav></main>", "same name"),
                ("<main><h1 id=a>a</h1><p id=a>b</p></main>", "used twice"),
                ("<main><h1>a</h1><button tabindex=2>b</button></main>", "tabindex 2"),
                ("<main><h1>a</h1><p aria-hidden=true><button>b</button></p></main>", "hidden from assistive"),
                ("<main><h1>a</h1><p aria-describedby=gone>b</p></main>", "names no element"),
            ])
        func structure(html: String, violation: String) throws {
            try show(Self.landmarks + html)
            let found = try StructureRules(tab: tab).violations()
            #expect(found.contains { $0.contains(violation) }, "\(found)")
            try show(Self.landmarks + "<main><h1>a</h1><h2>b</h2><button>c</button></main>")
            #expect(try StructureRules(tab: tab).violations() == [])
        }

        @Test(
            "Text with too little contrast is found",
            arguments: [
                ("color:#767676", true), ("color:#7a7a7a", false), ("color:#000;opacity:.5", false),
                ("color:#949494;font-size:24px", true), ("color:#969696;font-size:24px", false),
                ("color:#fff;background:#fe2020", false), ("color:#fff;background:#b00", true),
                ("color:rgb(0 0 0 / 40%)", false),
            ])
        func contrast(style: String, isEnough: Bool) throws {
            try show("<main><p style='font:400 15px sans-serif;\(style)'>Some words of text</p></main>")
            #expect(try ContrastRule(tab: tab).violations().isEmpty == isEnough)
        }

        @Test("A pale placeholder is found")
        func placeholder() throws {
            try show("<style>::placeholder{color:#aaa}</style><main><input placeholder='Some words of text'></main>")
            #expect(try ContrastRule(tab: tab).violations().count == 1)
        }

        @Test(
            "A trap, an unreachable control, and an order against the page are found",
            arguments: [
                (
                    "<a href=#>a</a><button onkeydown='event.preventDefault()'>b</button><a href=#>c</a>",
                    "does not reach"
                ),
                (
                    "<div style='display:flex;flex-direction:column-reverse'><a href=#>a</a><a href=#>b</a></div>",
                    "above"
                ),
                ("<a href=# tabindex=2>a</a><a href=# tabindex=1>b</a><a href=#>c</a>", "but is before it"),
            ])
        func order(html: String, violation: String) throws {
            try show(html)
            let found = try FocusRules(tab: tab).order()
            #expect(found.contains { $0.contains(violation) }, "\(found)")
        }

        @Test("A focus that is not visible is found, and the browser's own is seen")
        func focus() throws {
            try show("<p><button>a</button></p><p><a href=#>b</a></p>")
            #expect(try FocusRules(tab: tab).order() == [])
            #expect(try FocusRules(tab: tab).visibility() == [])
            try show("<style>:focus{outline:none}</style><p><button>a</button></p><p><a href=#>b</a></p>")
            #expect(try FocusRules(tab: tab).visibility().count == 2)
        }

        @Test("Animations and wide pages are found")
        func motionAndWidth() throws {
            try show(
                "<style>@keyframes k{to{opacity:.5}} p{animation:k 3s infinite;transition:color 1s}</style>"
                    + "<p style='width:500px'>a</p>")
            #expect(try StructureRules(tab: tab).motion().count == 3)
            #expect(try StructureRules(tab: tab).overflow().first == "the page is 508 px wide")
        }

        @Test("axe-core finds a button without a name", .enabled(if: AxeRules.script != nil, "axe-core is not there"))
        func axe() throws {
            try show("<main><h1>a</h1><button></button></main>")
            #expect(try AxeRules(tab: tab).violations().contains { $0.hasPrefix("button-name") })
        }
    }
}
