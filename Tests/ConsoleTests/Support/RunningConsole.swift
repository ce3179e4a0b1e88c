import Foundation
import TestSupport

/// A `linkd console` that was built with these tests, on a free port.
final class RunningConsole: Sendable {
    /// A console without a broker, which tests share that change nothing in it.
    static let offline = Result { try RunningConsole() }

    /// The environment of every console: the shipped files of the checkout, and nothing of the user's settings.
    static let environment = ProcessInfo.processInfo.environment
        .filter { ["PATH", "LD_LIBRARY_PATH"].contains($0.key) }
        .merging(["LINKD_HOME": Checkout.root.appending(path: "config").path]) { $1 }

    let process: GuardedProcess
    /// The port.
    let port: UInt16
    /// The token in the printed address.
    let token: String

    /// Starts a console, and waits until it serves.
    init(_ arguments: [String] = [], environment: [String: String] = [:]) throws {
        process = try GuardedProcess(
            [BuiltProgram.linkd, "console", "--listen", "127.0.0.1:0"] + arguments,
            environment: Self.environment.merging(environment) { $1 })
        (port, token) = try process.awaits(seconds: 60) { process in
            process.output.firstMatch(of: #/http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]+)/#)
                .map { (UInt16($0.1) ?? 0, String($0.2)) }
        }
    }

    /// The name of the cookie that a browser gets for the token.
    var cookieName: String { "linkd_console_\(port)" }

    /// Returns the header of the cookie that a browser gets for the token.
    func cookie() throws -> String {
        let response = try send("GET /?token=\(token)")
        guard let pair = response.headers["set-cookie"]?.split(separator: ";").first else {
            throw DriverFailure("the token was not exchanged: \(response.status)")
        }
        return "Cookie: \(pair)"
    }

    /// The authority of the console.
    var host: String { "127.0.0.1:\(port)" }

    /// The address of a view without the token.
    func address(_ fragment: String = "") -> String { "http://\(host)/\(fragment)" }

    /// The address with the token, as it is printed.
    var printed: String { "http://\(host)/?token=\(token)" }

    /// The header with which scripts send the token.
    var bearer: String { "Authorization: Bearer \(token)" }

    /// Sends a request on a connection of its own, and reads its response.
    ///
    /// - Parameters:
    ///   - line: The method and the path.
    ///   - headers: The header lines without `Host`, `Content-Length`, and `Connection`.
    ///   - host: The value of `Host`, or nil for the console's own.
    ///   - body: The body.
    func send(
        _ line: String, headers: [String] = [], host: String? = nil, body: String = ""
    ) throws -> RawClient.Response {
        try RawClient(port: port).request(
            line, host: host ?? self.host, headers: headers + ["Connection: close"], body: Array(body.utf8))
    }

    /// Sends JSON to an endpoint with all headers that it requires, and returns the answer.
    func post(_ path: String, _ body: JSON) throws -> JSON {
        let response = try send(
            "POST \(path)", headers: [bearer, "Content-Type: application/json", "X-Linkd-Console: 1"],
            body: String(decoding: body.bytes, as: UTF8.self))
        guard response.status == 200 else { throw DriverFailure("\(path): \(response.status) \(response.text)") }
        return try JSON.parse(response.text)
    }

    /// Reads an endpoint.
    func get(_ path: String) throws -> JSON {
        let response = try send("GET \(path)", headers: [bearer])
        guard response.status == 200 else { throw DriverFailure("\(path): \(response.status) \(response.text)") }
        return try JSON.parse(response.text)
    }
}
