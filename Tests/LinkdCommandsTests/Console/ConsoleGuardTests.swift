internal import Foundation
internal import Testing

@testable internal import HTTPServer
@testable internal import LinkdCommands

/// The check of a console's requests.
@Suite struct ConsoleGuardTests {
    private static let token = AccessToken()
    private static let check = ConsoleGuard(
        token: token, address: ListenAddress(host: "127.0.0.1", port: 8090), hosts: [], isSecure: false)
    private static let own: HTTPHeaders = ["Host": "127.0.0.1:8090", "Authorization": "Bearer \(token.text)"]

    /// Returns the cookie that a check sets for its token.
    private static func cookie(of check: ConsoleGuard = check, host: String = "127.0.0.1:8090") throws -> String {
        let request = HTTPRequest(
            method: .get, path: "/", query: [HTTPTarget.QueryItem(name: "token", value: token.text)],
            headers: ["Host": host], peer: HTTPPeer(address: "127.0.0.1", port: 5))
        guard case .answer(let response) = check.check(request) else { throw CancellationError() }
        return String(try #require(response.headers["Set-Cookie"]?.split(separator: ";").first))
    }

    /// Returns the status of the refusal, or nil if the request is answered.
    private static func status(
        _ path: String, _ headers: HTTPHeaders, method: HTTPMethod = .get, query: [HTTPTarget.QueryItem] = [],
        _ check: ConsoleGuard = check
    ) -> Int? {
        let request = HTTPRequest(
            method: method, path: path, query: query, headers: headers,
            peer: HTTPPeer(address: "127.0.0.1", port: 5))
        if case .answer(let response) = check.check(request) { return response.status }
        return nil
    }

    private static func with(_ fields: [(String, String)], _ base: HTTPHeaders = own) -> HTTPHeaders {
        var headers = base
        for (name, value) in fields { headers.add(name, value) }
        return headers
    }

    @Test("A request with the token and a name of the console is answered")
    func answers() throws {
        #expect(Self.status("/api/info", Self.own) == nil)
        let cookie: HTTPHeaders = [
            "Host": "localhost:8090", "Cookie": "a=b; \(try Self.cookie()); c=d",
            "Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:8090",
        ]
        #expect(Self.status("/api/info", cookie) == nil)
        #expect(Self.status("/main.js", ["Host": "[::1]:8090"]) == nil)
    }

    @Test(
        "A name that is not the console's is refused, because another site can bind it to the address",
        arguments: ["evil.example", "evil.example:8090", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8090.evil", ""])
    func rebinding(host: String) {
        for path in ["/", "/main.js", "/api/info"] {
            #expect(
                Self.status(path, Self.with([], ["Host": host, "Authorization": "Bearer \(Self.token.text)"])) == 403)
        }
    }

    @Test("A request with two names or none is refused")
    func ambiguousHost() {
        #expect(Self.status("/api/info", Self.with([("Host", "127.0.0.1:8090")])) == 403)
        #expect(Self.status("/api/info", ["Authorization": "Bearer \(Self.token.text)"]) == 403)
    }

    @Test(
        "A request of another site's page is refused",
        arguments: [
            ("Origin", "http://evil.example"), ("Origin", "https://127.0.0.1:8090"), ("Origin", "null"),
            ("Origin", "http://127.0.0.1:8091"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ])
    func crossSite(name: String, value: String) {
        #expect(Self.status("/api/info", Self.with([(name, value)])) == 403)
    }

    @Test(
        "A request without the token is refused",
        arguments: ["", "Bearer", "Bearer 0", "Basic x", "Bearer \(String(repeating: "0", count: 32))"])
    func withoutToken(authorization: String) throws {
        #expect(Self.status("/api/info", ["Host": "127.0.0.1:8090", "Authorization": authorization]) == 401)
        // A wrong header is not repaired by a cookie.
        let both = Self.with(
            [("Cookie", try Self.cookie())],
            ["Host": "127.0.0.1:8090", "Authorization": authorization])
        #expect(Self.status("/api/info", both) == 401)
    }

    @Test("The cookie of a console on another port is not accepted")
    func otherPort() throws {
        let cookie = try Self.cookie().replacing("8090", with: "8091")
        #expect(Self.status("/api/info", ["Host": "127.0.0.1:8090", "Cookie": cookie]) == 401)
    }

    @Test("The token is no cookie, the cookie is no token, and each start has another cookie")
    func session() throws {
        let cookie = try Self.cookie()
        let value = try #require(cookie.split(separator: "=").last)
        #expect(value.utf8.count == 32 && value != Self.token.text)
        let host = ("Host", "127.0.0.1:8090")
        for wrong in [
            ("Cookie", "linkd_console_8090=\(Self.token.text)"), ("Authorization", "Bearer \(value)"),
            ("Cookie", cookie + "0"), ("Cookie", String(cookie.dropLast())),
        ] {
            #expect(Self.status("/api/info", Self.with([host, wrong], [:])) == 401, "\(wrong)")
        }
        let other = ConsoleGuard(
            token: Self.token, address: ListenAddress(host: "127.0.0.1", port: 8090), hosts: [], isSecure: false)
        #expect(Self.status("/api/info", Self.with([host, ("Cookie", cookie)], [:])) == nil)
        #expect(Self.status("/api/info", Self.with([host, ("Cookie", cookie)], [:]), other) == 401)
    }

    @Test("The token of a file and its cookie stay valid after a restart, and the cookie is not the token")
    func tokenFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = "a2b4c6d8-e0f1.a3b5_c7d9~Z"
        try " \(text)\r\n".write(toFile: path, atomically: true, encoding: .utf8)
        func started() throws -> ConsoleGuard {
            let token = try AccessToken(file: path)
            #expect(token.text == text)
            return ConsoleGuard(
                token: token, address: ListenAddress(host: "127.0.0.1", port: 8090), hosts: [], isSecure: false,
                session: AccessToken(sessionOf: token))
        }
        let first = try started()
        let request = HTTPRequest(
            method: .get, path: "/", query: [HTTPTarget.QueryItem(name: "token", value: text)],
            headers: ["Host": "127.0.0.1:8090"], peer: HTTPPeer(address: "127.0.0.1", port: 5))
        guard case .answer(let response) = first.check(request) else {
            Issue.record("the token was not exchanged")
            return
        }
        let cookie = String(try #require(response.headers["Set-Cookie"]?.split(separator: ";").first))
        #expect(!cookie.contains(text))
        let next = try started()
        let host = ("Host", "127.0.0.1:8090")
        for header in [("Cookie", cookie), ("Authorization", "Bearer \(text)")] {
            #expect(Self.status("/api/info", Self.with([host, header], [:]), next) == nil, "\(header.0)")
        }
        let value = try #require(cookie.split(separator: "=").last)
        #expect(Self.status("/api/info", Self.with([host, ("Authorization", "Bearer \(value)")], [:]), next) == 401)
    }

    @Test(
        "A file without a long token of the characters of URLs is refused, and the message has none of it",
        arguments: ["", "short-secret", "a secret with spaces in it, long enough", String(repeating: "x", count: 257)])
    func badTokenFile(text: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: CommandFailure.self) { try AccessToken(file: path) }
        #expect(error?.code == .configuration && error?.reason.contains("secret") == false)
        #expect(throws: CommandFailure.self) { try AccessToken(file: path + ".absent") }
    }

    @Test("A request with an effect needs JSON and the console's own header")
    func effects() {
        let type = ("Content-Type", "application/json; charset=utf-8")
        #expect(Self.status("/api/resolve", Self.with([type, ("X-Linkd-Console", "1")]), method: .post) == nil)
        #expect(Self.status("/api/resolve", Self.with([type]), method: .post) == 403)
        #expect(Self.status("/api/resolve", Self.with([("X-Linkd-Console", "1")]), method: .post) == 415)
        let form = Self.with([("Content-Type", "text/plain"), ("X-Linkd-Console", "1")])
        #expect(Self.status("/api/resolve", form, method: .post) == 415)
    }

    @Test("The token of the address becomes a cookie and leaves the address")
    func exchange() throws {
        let request = HTTPRequest(
            method: .get, path: "/", query: [HTTPTarget.QueryItem(name: "token", value: Self.token.text)],
            headers: ["Host": "127.0.0.1:8090"], peer: HTTPPeer(address: "127.0.0.1", port: 5))
        guard case .answer(let response) = Self.check.check(request) else {
            Issue.record("the token was not exchanged")
            return
        }
        #expect(response.status == 303)
        #expect(response.headers["Location"] == "/")
        let cookie = try #require(response.headers["Set-Cookie"])
        #expect(cookie.contains("SameSite=Strict") && cookie.contains("HttpOnly") && !cookie.contains("Secure"))
        #expect(Self.status("/", ["Host": "127.0.0.1:8090"], query: [.init(name: "token", value: "0")]) == 403)
    }

    @Test("Behind a proxy, its name is the console's, and the cookie needs TLS")
    func proxy() {
        let check = ConsoleGuard(
            token: Self.token, address: ListenAddress(host: "", port: 8090), hosts: ["links.example.com"],
            isSecure: true)
        let headers = Self.with(
            [("Origin", "https://links.example.com")],
            ["Host": "links.example.com", "Authorization": "Bearer \(Self.token.text)"])
        #expect(Self.status("/api/info", headers, check) == nil)
        let request = HTTPRequest(
            method: .get, path: "/", query: [HTTPTarget.QueryItem(name: "token", value: Self.token.text)],
            headers: ["Host": "links.example.com"], peer: HTTPPeer(address: "10.0.0.1", port: 5))
        guard case .answer(let response) = check.check(request) else { return }
        #expect(response.headers["Set-Cookie"]?.contains("; Secure") == true)
    }

    @Test("A text that differs from the token in one digit, or in its length, is not the token")
    func nearTokens() {
        let token = AccessToken()
        let digits = Array(token.text)
        #expect(token.matches(token.text))
        for index in digits.indices {
            for digit in "0123456789abcdefF\0" where digit != digits[index] {
                var other = digits
                other[index] = digit
                #expect(!token.matches(String(other)))
            }
        }
        for other in ["", String(digits.dropLast()), token.text + "0", token.text.uppercased() + " "] {
            #expect(!token.matches(other))
        }
    }

    @Test("Two tokens differ, and each has 32 digits")
    func tokens() {
        let tokens = (0..<100).map { _ in AccessToken().text }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0.utf8.count == 32 })
    }
}
