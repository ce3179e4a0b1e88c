internal import Foundation

/// A running `linkd console` whose memory and answers are measured.
final class MeasuredConsole {
    private let program: GuardedProgram
    /// The endpoints.
    let endpoints: ConsoleEndpoints
    /// The time at which the process was started.
    let begun: ContinuousClock.Instant

    /// Starts a console on a free port, and waits until it serves.
    init(_ linkd: String, _ arguments: [String]) throws {
        begun = ContinuousClock.now
        program = try GuardedProgram(linkd, ["console", "--listen", "127.0.0.1:0"] + arguments)
        let line = try program.line { $0.contains("/?token=") }
        guard let start = line.range(of: "http://127.0.0.1:"), let separator = line.range(of: "/?token="),
            let port = UInt16(line[start.upperBound..<separator.lowerBound])
        else { throw BenchmarkError(text: "the console printed no address: \(line)", code: 70) }
        let token = line[separator.upperBound...].prefix { $0.isHexDigit }
        endpoints = ConsoleEndpoints(port: port, token: String(token))
    }

    /// The time since the start of the process, in seconds.
    var age: Double { (ContinuousClock.now - begun) / .seconds(1) }

    /// Returns the resident memory of the process now, and its maximum, in MB.
    func memory() throws -> (now: Double, most: Double) {
        let path = "/proc/\(program.identifier)/status"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        func value(_ name: String) throws -> Double {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            guard let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Double($0) }) else {
                throw BenchmarkError(text: "the console has ended early", code: 70)
            }
            return kilobytes * 1024 / 1e6
        }
        return (try value("VmRSS"), try value("VmHWM"))
    }

    /// Ends the process.
    func stop() { program.stop() }
}

/// The endpoints of a console, for any thread.
struct ConsoleEndpoints: Sendable {
    /// The port of the loopback interface.
    let port: UInt16
    /// The token.
    let token: String

    /// Opens a connection, sends a request, and returns the connection if the status is 200.
    ///
    /// - Parameters:
    ///   - path: The path with its parameters.
    ///   - body: The JSON text of a `POST`, or nil for a `GET`.
    func open(_ path: String, body: String? = nil) throws -> LoopbackClient {
        let client = try LoopbackClient(port: port)
        var headers = ["Authorization: Bearer \(token)"]
        if body != nil { headers += ["Content-Type: application/json", "X-Linkd-Console: 1"] }
        let status = try client.send(
            "\(body == nil ? "GET" : "POST") \(path)", host: "127.0.0.1:\(port)", headers: headers,
            body: Array((body ?? "").utf8))
        guard status == 200 else {
            let text = String(decoding: try client.rest().prefix(300), as: UTF8.self)
            throw BenchmarkError(text: "\(path): status \(status) \(text)", code: 70)
        }
        return client
    }

    /// Returns the text of an answer.
    func answer(_ path: String, body: String? = nil) throws -> String {
        String(decoding: try open(path, body: body).rest(), as: UTF8.self)
    }

    /// Sends requests one after another, and returns the times of the whole answers in milliseconds.
    func times(_ count: Int, body: ((Int) -> String)? = nil, _ path: (Int) -> String) throws -> [Double] {
        try (0..<count).map { number in
            let (path, body) = (path(number), body?(number))
            return try nanoseconds { _ = try open(path, body: body).rest() } / 1e6
        }
    }
}
