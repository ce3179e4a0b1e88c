import Testing

extension Tab {
    /// Returns the tab of the current test.
    static func ofTest() throws -> Tab { try #require(Tab.current) }

    /// Opens a console with its printed address, and then one of its views.
    func enter(_ console: RunningConsole, _ fragment: String = "") throws {
        try open(console.printed)
        let _: Bool = try eventually("the page of the console; \(summary)") {
            try self.all("main .view > *, main .state").isEmpty ? nil : true
        }
        if !fragment.isEmpty { try go(console, fragment) }
    }

    /// Opens a console with its printed address, and waits until its first view, in which links are tried, is drawn.
    ///
    /// Scripts do not wait for the elements that they use.
    func enterTry(_ console: RunningConsole) throws {
        try enter(console)
        _ = try find("#question")
    }

    /// Opens a view in a console that this browser has entered.
    func go(_ console: RunningConsole, _ fragment: String) throws {
        try open(console.address(fragment))
        try awaitRest()
    }

    /// Waits until nothing is loading, no request is under way, and what is shown is current.
    func awaitRest(seconds: Double = 60) throws {
        let _: Bool = try eventually("a page at rest; \(summary)", seconds: seconds) {
            let isAtRest: Bool = try self.runAsync(
                """
                const count = () => performance.getEntriesByType("resource").length;
                const before = count();
                await new Promise(r => setTimeout(r, 120));
                if (document.querySelector(".state.loading, .is-stale") || count() !== before) return false;
                return document.readyState === "complete" && document.querySelector("main > *") !== null;
                """)
            return isAtRest ? true : nil
        }
    }

    /// Waits until a status begins with a text.
    ///
    /// A number of rows must be at its beginning, because "13 decisions" contains "3 decisions".
    func awaitStatus(_ text: String, seconds: Double = 60) throws {
        let _: Bool = try eventually("a status that begins with \(text)", seconds: seconds) {
            try texts("[role=status]").contains { $0.hasPrefix(text) } ? true : nil
        }
        // The rows of a status are drawn in the next frame.
        let _: Bool = try runAsync("await new Promise(r => requestAnimationFrame(() => setTimeout(r))); return true;")
    }

    /// Expects that hostile text did not become an element, and that no script of it ran.
    func expectHarmless(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let elements: [String] = try run(
            """
            const strange = "img, iframe, object, embed, form[action], base, marquee, video, audio, math, template, "
                + "style, body script, [onerror], [onload], [onclick], [onmouseover], [onfocus], [srcdoc], "
                + "[style*=url]";
            return [...document.querySelectorAll(strange)].map(e => e.outerHTML.slice(0, 200));
            """)
        #expect(elements == [], sourceLocation: sourceLocation)
        #expect(try run("return window.__pwned === undefined") == true, sourceLocation: sourceLocation)
        let links: [String] = try run(
            """
            return [...document.querySelectorAll("a")].map(e => new URL(e.getAttribute("href"), location.href))
                .filter(url => url.origin !== location.origin).map(String);
            """)
        #expect(links == [], "links lead out of the console", sourceLocation: sourceLocation)
        // Bidirectional controls are written as symbols, so that they cannot reorder what is around them.
        let hidden: [String] = try run(
            """
            const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const text = walker.currentNode.data;
                if (/[\\u0000-\\u0008\\u000b-\\u001f\\u007f\\p{Bidi_Control}]/u.test(text)) {
                    found.push(JSON.stringify(text.slice(0, 80)));
                }
            }
            return found;
            """)
        #expect(hidden == [], sourceLocation: sourceLocation)
    }
}
