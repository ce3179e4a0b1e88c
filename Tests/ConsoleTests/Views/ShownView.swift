import Testing

/// A view of the console in a state that is worth looking at.
struct ShownView: Sendable, CustomTestStringConvertible {
    /// The name of the pictures, and of the test's case.
    let name: String
    /// The fragment of the address.
    let fragment: String
    /// A selector of what the view shows when it is complete.
    let shows: String

    /// Texts of console messages that the view causes.
    var messages: [String] = []

    var testDescription: String { name }

    /// Returns the view with this name.
    init(_ name: String, _ fragment: String, shows: String, messages: [String] = []) {
        (self.name, self.fragment, self.shows, self.messages) = (name, fragment, shows, messages)
    }

    /// A link to a product of the sample table.
    static let product = "https%3A%2F%2Fshop.example%2Fp%2FB121D5E7-EA65-49F8-8B33-B3C43FA93866"

    /// The views that need no broker.
    static let offline = [
        ShownView("try", "#/try", shows: "#question"),
        ShownView("try-navigate", "#/try?input=\(product)%3Fcount%3D3&app=6.1.0", shows: ".answer-matrix .cell"),
        ShownView("try-reject", "#/try?input=\(product)%3Fcount%3D500", shows: ".answer-matrix .cell"),
        ShownView("try-external", "#/try?input=\(product)&app=3.9.9", shows: ".answer-matrix .cell"),
        ShownView(
            "try-nearest", "#/try?input=\(product.replacing("%2Fp%2F", with: "%2Fpp%2F"))",
            shows: ".near, .suggestion"),
        ShownView("try-unreadable", "#/try?input=no%20link", shows: ".answer"),
        ShownView("no-view", "#/absent", shows: ".state.broken", messages: ["view-absent.js"]),
    ]

    /// Shows the view in a tab that has entered the console, and waits until it is complete.
    func show(in tab: Tab, _ console: RunningConsole) throws {
        try tab.go(console, fragment)
        _ = try tab.find(shows)
        try tab.awaitRest()
    }
}
