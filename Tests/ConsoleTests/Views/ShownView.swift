import Foundation
import TestSupport
import Testing

/// A view of the console in a state that is worth looking at.
struct ShownView: Sendable, CustomTestStringConvertible {
    /// The name of the pictures, and of the test's case.
    let name: String
    /// The fragment of the address, in which `ROW` is the place of a decision.
    let fragment: String
    /// A selector of what the view shows when it is complete.
    let shows: String
    /// Texts of console messages that the view causes.
    var messages: [String] = []
    /// The input that leads to the state.
    var prepare: (@Sendable (Tab) throws -> Void)?

    var testDescription: String { name }

    /// Creates a view in a state.
    init(
        _ name: String, _ fragment: String, shows: String, messages: [String] = [],
        prepare: (@Sendable (Tab) throws -> Void)? = nil
    ) {
        (self.name, self.fragment, self.shows, self.messages) = (name, fragment, shows, messages)
        self.prepare = prepare
    }

    /// A link to a product of the sample table.
    static let product = "https%3A%2F%2Fshop.example%2Fp%2FB121D5E7-EA65-49F8-8B33-B3C43FA93866"
    /// A link that no route matches.
    private static let unmatched = product.replacing("%2Fp%2F", with: "%2Fpp%2F")

    /// The views that need no broker.
    static let offline = [
        ShownView("try", "#/try", shows: ".start a, .start button"),
        ShownView("try-navigate", "#/try?input=\(product)%3Fcount%3D3&app=6.1.0", shows: ".answer-matrix .cell"),
        ShownView("try-reject", "#/try?input=\(product)%3Fcount%3D500", shows: ".answer-matrix .cell"),
        ShownView("try-external", "#/try?input=\(product)&app=3.9.9", shows: ".answer-matrix .cell"),
        ShownView("try-nearest", "#/try?input=\(unmatched)", shows: ".near, .suggestion"),
        ShownView("try-unreadable", "#/try?input=no%20link", shows: ".answer"),
        ShownView("keys", "#/try", shows: "dialog[open]") { tab in
            _ = try tab.find("#question")
            let _: JSON = try tab.run("document.activeElement.blur()")
            try tab.press("?")
        },
        ShownView("map", "#/map?table=shop", shows: ".map-row"),
        ShownView("map-route", "#/map?table=shop&route=item", shows: ".map-detail a"),
        ShownView("map-coordinators", "#/map?table=coordinator-demo", shows: ".map-row"),
        ShownView("route", "#/route?table=shop&route=item", shows: ".route-variants"),
        ShownView("compare", "#/compare?table=shop", shows: ".compare-text"),
        ShownView("compare-result", "#/compare?table=shop", shows: ".compare-sides .phones") { tab in
            let file = Checkout.root.appending(path: "config/routes/shop.json")
            let served = try String(contentsOf: file, encoding: .utf8)
            let end = served.range(of: ",\n  \"examples\"")?.lowerBound ?? served.endIndex
            try tab.compare(String(served[..<end]).replacing(">=4.0.0", with: ">=5.0.0") + "\n}")
        },
        ShownView("compare-refused", "#/compare?table=shop", shows: ".compare-problem") { tab in
            let file = Checkout.root.appending(path: "config/routes/shop.json")
            try tab.compare(String(contentsOf: file, encoding: .utf8).replacing("/catalog/item", with: "/catalog/itme"))
        },
        ShownView("no-broker", "#/decisions", shows: ".state"),
        ShownView("no-view", "#/absent", shows: ".state.broken", messages: ["view-absent.js"]),
    ]

    /// The views without a broker, one state of each unless the run is long.
    static let offlineOrFew = LongTests.areWanted ? offline : few(offline)
    /// The views of decisions, one state of each unless the run is long.
    static let onlineOrFew = LongTests.areWanted ? online : few(online)

    private static func few(_ views: [ShownView]) -> [ShownView] {
        let names: Set = ["try-navigate", "map-route", "route", "compare-result", "decisions", "decision", "problems"]
        return views.filter { names.contains($0.name) }
    }

    /// The views of decisions, which need a broker.
    static let online = [
        ShownView("decisions", "#/decisions?kind=any", shows: ".feed-layer .feed-row .badge"),
        ShownView(
            "decisions-filter", "#/decisions?outcome=reject&reason=param_invalid", shows: ".feed-layer .feed-row .badge"
        ),
        ShownView("decisions-empty", "#/decisions?device=nobody", shows: ".state"),
        ShownView("decision", "#/decision?ROW", shows: ".timeline"),
        ShownView("problems", "#/problems?by=reason", shows: "svg.chart"),
        ShownView("problems-figures", "#/problems?by=application&kind=any", shows: ".figures td") { tab in
            try tab.click("summary", containing: "Figures")
        },
    ]

    /// Shows the view in a tab that has entered the console, and waits until it is complete.
    func show(in tab: Tab, _ console: RunningConsole) throws {
        var fragment = fragment
        if fragment.contains("ROW") {
            let row = try console.get("/api/decisions?route=item&outcome=navigate&limit=1")["rows"][0]
            let (partition, offset) = (Int(row["partition"].number ?? -1), Int(row["offset"].number ?? -1))
            fragment = fragment.replacing("ROW", with: "partition=\(partition)&offset=\(offset)")
        }
        // From another view, so that nothing of an earlier state remains.
        try tab.open("about:blank")
        try tab.go(console, fragment)
        try prepare?(tab)
        _ = try tab.find(shows)
        try tab.awaitRest()
    }
}

extension Tab {
    /// Pastes a candidate into the view that compares tables, and compares it with the served table.
    func compare(_ candidate: String) throws {
        _ = try find("textarea.compare-text")
        let _: JSON = try run(
            """
            const area = document.querySelector("textarea.compare-text");
            area.value = arguments[0];
            area.dispatchEvent(new Event("input", { bubbles: true }));
            """, [.text(candidate)])
        try click("button.primary", containing: "Compare")
    }
}
