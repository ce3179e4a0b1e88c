import Foundation
import TestSupport
import Testing

/// The token of a console, and the cookie of a browser.
@Suite struct ConsoleTokenTests {
    let console: RunningConsole

    init() throws { console = try RunningConsole.offline.get() }

    @Test(
        "Data needs the token: nothing else is accepted in its place",
        arguments: [
            [], ["Authorization: Bearer WRONG"], ["Authorization: Bearer "], ["Authorization: Bearer"],
            ["Authorization: Bearer PREFIX"], ["Authorization: Bearer TOKEN0"], ["Authorization: Basic TOKEN"],
            ["Authorization: TOKEN"], ["Cookie: NAME=WRONG"], ["Cookie: NAME="], ["Cookie: NAME"],
            ["Cookie: other=SESSION"], ["Cookie: xNAME=SESSION"], ["Cookie: NAME=SESSIONSESSION"], ["X-Token: TOKEN"],
            ["Authorization: Bearer WRONG", "Cookie: NAME=SESSION"],
            ["Authorization: Bearer TOKEN", "Authorization: Bearer WRONG"],
            ["Cookie: NAME=TOKEN"], ["Authorization: Bearer SESSION"], ["Authorization: Bearer SESSION", "COOKIE"],
        ])
    func refused(headers: [String]) throws {
        let wrong = String(console.token.reversed().map { $0 == "0" ? "1" : $0 })
        let cookie = try console.cookie()
        let session = try #require(cookie.split(separator: "=").last)
        #expect(try console.send("GET /api/info", headers: [cookie]).status == 200)
        let filled = headers.map { header in
            header.replacing("COOKIE", with: cookie).replacing("WRONG", with: wrong)
                .replacing("PREFIX", with: console.token.dropLast()).replacing("TOKEN", with: console.token)
                .replacing("NAME", with: console.cookieName).replacing("SESSION", with: session)
        }
        for path in ["/api/info", "/api/map?table=shop", "/api/absent"] {
            let response = try console.send("GET \(path)", headers: filled)
            #expect(response.status == 401, "\(path)")
            #expect(!response.text.contains("shop"))
        }
        let query = try console.send("GET /api/info?token=\(console.token)", headers: filled)
        #expect(query.status == 401)
    }

    @Test("The printed address sets a cookie that scripts cannot read, and that other sites do not send")
    func exchange() throws {
        let response = try console.send("GET /?token=\(console.token)")
        #expect(response.status == 303)
        #expect(response.headers["location"] == "/")
        #expect(response.body == [])
        let attributes = (response.headers["set-cookie"] ?? "").split(separator: "; ").map(String.init)
        let cookie = try #require(attributes.first?.split(separator: "="))
        #expect(cookie.count == 2 && cookie[0] == console.cookieName && cookie[1].utf8.count == 32)
        #expect(cookie.last.map(String.init) != console.token, "whoever reads the cookie does not have the token")
        #expect(Set(attributes.dropFirst()) == ["Path=/", "SameSite=Strict", "HttpOnly"])
        #expect(response.headers["referrer-policy"] == "no-referrer")
        #expect(response.headers["cache-control"] == "no-store")
    }

    @Test(
        "A wrong token in the address sets no cookie",
        arguments: ["", "0", "%00", "TOKEN0", "TOKEN%00", "a&token=TOKEN"])
    func wrongExchange(text: String) throws {
        let response = try console.send("GET /?token=\(text.replacing("TOKEN", with: console.token))")
        #expect([400, 403].contains(response.status))
        #expect(response.headers["set-cookie"] == nil)
        #expect(response.headers["location"] == nil)
    }

    @Test("A token is of 128 bits, and every start has another")
    func tokens() throws {
        let other = try RunningConsole()
        defer { other.process.stop() }
        #expect(console.token.count == 32 && other.token.count == 32)
        #expect(console.token != other.token)
        #expect(try other.send("GET /api/info", headers: [console.bearer]).status == 401)
    }

    @Test("The page and its files contain neither the token nor data")
    func publicFiles() throws {
        for path in ["/", "/index.html", "/main.js", "/console.css", "/icon.svg"] {
            let response = try console.send("GET \(path)")
            #expect(response.status == 200, "\(path)")
            #expect(!response.text.contains(console.token))
        }
    }

    @Test("An address beyond this machine without a proxy is refused", arguments: ["0.0.0.0:0", "[::]:0", ":0"])
    func beyondLoopback(listen: String) throws {
        let result = try ChildProcess.run(
            [BuiltProgram.linkd, "console", "--listen", listen], environment: RunningConsole.environment, seconds: 20)
        #expect(result.status == 64)
        #expect(result.errors.contains("reachable from other machines"))
        #expect(result.errors.contains("--behind-proxy"))
    }

    @Test("Behind a proxy, its name is served, and the cookie is only sent over TLS")
    func behindProxy() throws {
        let console = try GuardedProcess(
            [BuiltProgram.linkd, "console", "--listen", "0.0.0.0:0", "--behind-proxy", "links.example.com"],
            environment: RunningConsole.environment)
        defer { console.stop() }
        let token = try console.awaits(seconds: 30) { process in
            process.output.firstMatch(of: #/https://links\.example\.com/\?token=([0-9a-f]{32})/#).map { String($0.1) }
        }
        #expect(token.count == 32)
    }
}
