import Foundation
import TestSupport
import Testing

/// A console behind a proxy with TLS, whose name browsers know.
@Suite struct ProxyTests {
    private static let name = "links.example.com"
    private let process: GuardedProcess
    private let port: UInt16
    private let token: String

    /// Starts the console on a port that is free now, because a console behind a proxy prints only the proxy's name.
    init() throws {
        var last: (any Error)?
        for _ in 0..<5 {
            let port = try RawServer(.silent).port
            let process = try GuardedProcess(
                [BuiltProgram.linkd, "console", "--listen", "127.0.0.1:\(port)", "--behind-proxy", Self.name],
                environment: RunningConsole.environment)
            do {
                token = try process.awaits(seconds: 30) { process in
                    process.output.firstMatch(of: #/https://links\.example\.com/\?token=([0-9a-f]{32})/#)
                        .map { String($0.1) }
                }
                (self.process, self.port) = (process, port)
                return
            } catch {
                last = error
                process.stop()
            }
        }
        throw last ?? DriverFailure("no console")
    }

    private func send(_ line: String, host: String = Self.name, _ headers: [String]) throws -> RawClient.Response {
        try RawClient(port: port).request(line, host: host, headers: headers + ["Connection: close"])
    }

    @Test("Team: is the token safe on its way? Its cookie is only sent over TLS, and not to other sites")
    func cookie() throws {
        let response = try send("GET /?token=\(token)", [])
        #expect(response.status == 303 && response.headers["location"] == "/")
        let attributes = (response.headers["set-cookie"] ?? "").split(separator: "; ").map(String.init)
        let cookie = try #require(attributes.first)
        #expect(cookie.hasPrefix("linkd_console_\(port)=") && !cookie.contains(token))
        #expect(Set(attributes.dropFirst()) == ["Path=/", "SameSite=Strict", "HttpOnly", "Secure"])
        let info = try send("GET /api/info", ["Cookie: \(cookie)"])
        #expect(info.status == 200)
    }

    @Test("A page that the proxy serves with TLS is the console's own", arguments: [name, "LINKS.example.com"])
    func ownOrigin(host: String) throws {
        let headers = [
            "Origin: https://\(host)", "Sec-Fetch-Site: same-origin", "Authorization: Bearer \(token)",
        ]
        #expect(try send("GET /api/info", host: host, headers).status == 200)
    }

    @Test(
        "Another name, or another page, is refused, whatever else the request says",
        arguments: [
            ("evil.example", []), ("links.example.com.evil.example", []), ("sub.links.example.com", []),
            ("links.example.com:8443", []), ("evil.example", ["X-Forwarded-Host: links.example.com"]),
            ("evil.example", ["Forwarded: host=links.example.com;proto=https"]),
            (name, ["Origin: https://evil.example"]), (name, ["Origin: https://links.example.com.evil.example"]),
            (name, ["Origin: https://links.example.com:8443"]), (name, ["Origin: null"]),
            (name, ["Sec-Fetch-Site: same-site"]),
        ])
    func foreign(host: String, headers: [String]) throws {
        let own = ["Authorization: Bearer \(token)"]
        let response = try send("GET /api/info", host: host, own + headers)
        #expect(response.status == 403)
        #expect(!response.text.contains("tables"))
        if host != Self.name {
            #expect(try send("GET /?token=\(token)", host: host, headers).headers["set-cookie"] == nil)
        }
    }
}
