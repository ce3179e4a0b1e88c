import Foundation
import Synchronization

/// A tab of the browser, or another window.
final class Tab: Sendable {
    /// The tab of the current test.
    @TaskLocal static var current: Tab?

    let browser: Browser
    let handle: String
    /// Texts of console messages that the test expects.
    private let expected = Mutex<[String]>([])

    init(browser: Browser, handle: String) {
        self.browser = browser
        self.handle = handle
    }

    /// Sends a command about this tab.
    func call<Value: Decodable>(_ method: String, _ path: String, _ body: JSON? = nil) throws -> Value {
        try browser.call(tab: handle, method, path, body)
    }

    /// Sends a command without a result that matters.
    func perform(_ path: String, _ body: JSON? = [:], method: String = "POST") throws {
        let _: JSON = try call(method, path, body)
    }

    // MARK: Navigation

    /// Loads an address, and waits for the `load` event.
    func open(_ address: String) throws { try perform("/url", ["url": .text(address)]) }

    /// Goes back in the history.
    func back() throws { try perform("/back") }

    /// Goes forward in the history.
    func forward() throws { try perform("/forward") }

    /// Loads the page again.
    func reload() throws { try perform("/refresh") }

    /// The address, with its fragment.
    var address: String {
        get throws { try call("GET", "/url") }
    }

    /// The title of the document.
    var title: String {
        get throws { try call("GET", "/title") }
    }

    /// Closes the tab.
    func close() throws { let _: JSON = try call("DELETE", "/window") }

    // MARK: Elements

    /// Returns the elements that match a CSS selector now.
    func all(_ css: String) throws -> [Element] {
        let found: [[String: String]] = try call("POST", "/elements", ["using": "css selector", "value": .text(css)])
        return found.compactMap { $0.values.first.map { Element(tab: self, id: $0) } }
    }

    /// Waits for a displayed element that matches a CSS selector and whose text contains another text, and returns the
    /// first.
    func find(_ css: String, containing text: String = "", seconds: Double = 60) throws -> Element {
        try eventually("`\(css)`\(text.isEmpty ? "" : " with “\(text)”"); \(self.summary)", seconds: seconds) {
            try self.all(css).first { element in
                if !text.isEmpty, try !element.text.contains(text) { return false }
                return try element.isDisplayed
            }
        }
    }

    /// Waits until no displayed element matches a CSS selector.
    func awaitAbsence(of css: String, seconds: Double = 60) throws {
        let _: Bool = try eventually("no `\(css)`; \(self.summary)", seconds: seconds) {
            try self.all(css).contains { try $0.isDisplayed } ? nil : true
        }
    }

    /// Waits for a text that the page shows.
    func awaitText(_ text: String, in css: String = "body", seconds: Double = 60) throws {
        let _: Bool = try eventually("“\(text)” in `\(css)`; \(self.summary)", seconds: seconds) {
            try self.texts(css).contains { $0.contains(text) } ? true : nil
        }
    }

    /// Returns the displayed texts of the elements that match a CSS selector, with single spaces.
    func texts(_ css: String) throws -> [String] {
        try run(
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
                + ".map(e => e.innerText.replace(/\\s+/g, ' ').trim())", [.text(css)])
    }

    /// Clicks an element as soon as it can be clicked.
    func click(_ css: String, containing text: String = "") throws {
        let _: Bool = try eventually("a click on `\(css)` “\(text)”; \(self.summary)") {
            try self.find(css, containing: text).click()
            return true
        }
    }

    /// Replaces the text of an input.
    func fill(_ css: String, with text: String) throws {
        let element = try find(css)
        try element.clear()
        try element.type(text)
    }

    /// The address and the beginning of the visible text, for the description of a failure.
    var summary: String {
        let text: String? = try? run("return document.body.innerText.replace(/\\s+/g, ' ').slice(0, 600)")
        return "at \((try? address) ?? "?") the page shows: \(text ?? "nothing")"
    }

    // MARK: Scripts

    /// Runs the body of a function, with `arguments`, and returns its result.
    func run<Value: Decodable>(_ script: String, _ arguments: [JSON] = []) throws -> Value {
        try call("POST", "/execute/sync", ["script": .text(script), "args": .array(arguments)])
    }

    /// Runs the body of an asynchronous function, with `arguments`, and returns what it resolves to.
    func runAsync<Value: Decodable>(_ script: String, _ arguments: [JSON] = []) throws -> Value {
        let whole = """
            const done = arguments[arguments.length - 1];
            const values = [...arguments].slice(0, -1);
            (async function () { \(script) }).apply(null, values)
                .then(value => done({ value }), error => done({ error: String(error && error.stack || error) }));
            """
        let result: Outcome<Value> = try call(
            "POST", "/execute/async", ["script": .text(whole), "args": .array(arguments)])
        guard let value = result.value else { throw DriverFailure("script: \(result.error ?? "no value")") }
        return value
    }

    private struct Outcome<Value: Decodable>: Decodable {
        var value: Value?
        var error: String?
    }

    // MARK: Console

    /// Tells that console messages with a text are expected in this test.
    func expects(message text: String) { expected.withLock { $0.append(text) } }

    /// Returns the console messages since the last call that are warnings or errors, without the expected ones.
    ///
    /// Violations of the Content-Security-Policy are among them.
    func problems() throws -> [String] {
        let entries: [JSON] = try call("POST", "/se/log", ["type": "browser"])
        let texts = expected.withLock { $0 }
        return entries.compactMap { entry in
            guard let level = entry["level"].text, ["SEVERE", "WARNING"].contains(level) else { return nil }
            let message = entry["message"].text ?? ""
            return texts.contains { message.contains($0) } ? nil : "\(level): \(message)"
        }
    }
}
