import Foundation
import Synchronization
import TestSupport

/// A headless Chromium that is controlled by chromedriver with the WebDriver protocol.
///
/// All tests share one, and each test has a tab.
final class Browser: Sendable {
    /// The shared browser, or the error of its start.
    private static let started = Result { try Browser() }
    private static let environment = ProcessInfo.processInfo.environment

    /// The path of chromedriver in `PATH`, or nil.
    private static let driver = path(of: ["chromedriver"])
    /// The path of Chromium or Chrome in `PATH`, or nil.
    private static let program = path(of: ["chromium", "chromium-browser", "google-chrome"])

    /// A Boolean value that indicates whether a missing browser is a failure.
    static var isRequired: Bool { environment["LINKD_TEST_REQUIRE_BROWSER"] == "1" }

    /// A Boolean value that indicates whether the tests of the browser run.
    static var isWanted: Bool { (driver != nil && program != nil) || isRequired }

    /// Returns the shared browser, and starts it if necessary.
    static func shared() throws -> Browser { try started.get() }

    private let process: GuardedProcess
    private let port: UInt16
    private let session: String
    /// The handle of the tab that commands apply to.
    private let current = Mutex("")

    private static func path(of names: [String]) -> String? {
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return names.lazy.flatMap { name in folders.map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private init() throws {
        guard let driver = Self.driver, let program = Self.program else {
            throw DriverFailure("chromium or chromedriver is not installed, and LINKD_TEST_REQUIRE_BROWSER is 1")
        }
        let kept = Self.environment.filter { ["PATH", "HOME", "LANG"].contains($0.key) }
        (process, port) = try Self.start(driver, environment: kept)
        let options: JSON = [
            "binary": .text(program),
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--force-color-profile=srgb", "--hide-scrollbars",
                // With the pipe, Chromium ends when chromedriver ends.
                "--remote-debugging-pipe", "--disable-dev-shm-usage", "--window-size=1440,900", "--lang=en-US",
            ],
        ]
        let capabilities: JSON = [
            "capabilities": [
                "alwaysMatch": [
                    "browserName": "chrome", "goog:loggingPrefs": ["browser": "ALL"], "goog:chromeOptions": options,
                ]
            ]
        ]
        let created: JSON = try Self.call(port, "POST", "/session", capabilities)
        guard let session = created["sessionId"].text else { throw DriverFailure("no session: \(created)") }
        self.session = session
    }

    /// Starts chromedriver on a free port.
    ///
    /// It selects the port for IPv6, which can be in use for IPv4. Then it ends, so another attempt is made.
    private static func start(_ driver: String, environment: [String: String]) throws -> (GuardedProcess, UInt16) {
        var failure: (any Error)?
        for _ in 0..<10 {
            let process = try GuardedProcess([driver, "--port=0"], environment: environment)
            do {
                return try process.awaits(seconds: 60) { process in
                    process.output.firstMatch(of: #/started successfully on port (\d+)/#)
                        .flatMap { UInt16($0.1) }.map { (process, $0) }
                }
            } catch {
                failure = error
                process.stop()
            }
        }
        throw failure ?? DriverFailure("chromedriver did not start")
    }

    /// Sends a command about the session.
    func call<Value: Decodable>(_ method: String, _ path: String, _ body: JSON? = nil) throws -> Value {
        try Self.call(port, method, "/session/\(session)\(path)", body)
    }

    /// Sends a command about a tab, after the driver has switched to it.
    func call<Value: Decodable>(tab: String, _ method: String, _ path: String, _ body: JSON? = nil) throws -> Value {
        try switchTo(tab)
        return try call(method, path, body)
    }

    private func switchTo(_ tab: String) throws {
        guard current.withLock({ $0 }) != tab else { return }
        let _: JSON = try call("POST", "/window", ["handle": .text(tab)])
        current.withLock { $0 = tab }
    }

    /// Opens an empty tab.
    func newTab() throws -> Tab {
        // Commands need a window that exists, also after the last tab was closed.
        let handles: [String] = try call("GET", "/window/handles")
        if let first = handles.first, !handles.contains(current.withLock({ $0 })) { try switchTo(first) }
        let created: JSON = try call("POST", "/window/new", ["type": "tab"])
        guard let handle = created["handle"].text else { throw DriverFailure("no tab: \(created)") }
        let tab = Tab(browser: self, handle: handle)
        // A page in a window without the focus draws no focus, and which window has it is the system's choice.
        try tab.command("Emulation.setFocusEmulationEnabled", ["enabled": true])
        return tab
    }

    private static func call<Value: Decodable>(
        _ port: UInt16, _ method: String, _ path: String, _ body: JSON?
    ) throws -> Value {
        let client = try RawClient(port: port, seconds: 90)
        let content = method == "POST" ? try (body ?? [:]).bytes : []
        let response = try client.request(
            "\(method) \(path)", host: "127.0.0.1:\(port)",
            headers: ["Content-Type: application/json; charset=utf-8", "Connection: close"], body: content)
        if response.status == 200 {
            return try JSONDecoder().decode(Answer<Value>.self, from: Data(response.body)).value
        }
        let error = try JSONDecoder().decode(Answer<JSON>.self, from: Data(response.body)).value
        let message = (error["message"].text ?? response.text).prefix { $0 != "\n" }
        throw DriverFailure("\(method) \(path): \(message)", code: error["error"].text ?? "")
    }
}

/// The body of a response of the driver.
private struct Answer<Value: Decodable>: Decodable {
    var value: Value
}

/// Suspends the calling thread.
func pause(milliseconds: UInt32) { usleep(milliseconds * 1000) }
